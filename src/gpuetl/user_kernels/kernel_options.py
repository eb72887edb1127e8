"""How users' CUDA kernels run: the options of a run as the code around a launch reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gpuetl.records import dataclass


@dataclass(frozen=True)
class KernelOptions:
    """For how many seconds a kernel may run (None is no limit), and whether guard bands are around its outputs."""

    timeout_s: float | None = None
    sanitize: bool = False


NO_LIMITS = KernelOptions()
_OPTIONS: ContextVar[KernelOptions] = ContextVar("kernel options", default=NO_LIMITS)


@contextmanager
def kernel_options(options: KernelOptions) -> Iterator[None]:
    """Run the kernels of the block with these options."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def current_options() -> KernelOptions:
    """Return the options of the run that is under way."""
    return _OPTIONS.get()
