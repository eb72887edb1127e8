"""Whether this process can still use its GPU.

After an illegal access every CUDA call of the process fails.  A kernel that never ends cannot be stopped from inside
its process.  In both cases nothing may wait for the device any more: waiting threads would hang, and the CUDA
libraries may crash when they free their memory.  So the command line then ends the process at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpuetl.messages import coded

FAULT = re.compile(
    r"(?P<outside>illegal(?: memory)? ?(?:address|access)|invalid ?address ?space|\bILLEGAL_ADDRESS)"
    r"|(?P<misaligned>misaligned ?address)"
    r"|(?P<assertion>device-side assert|cudaErrorAssert)"
    r"|(?P<other>illegal ?instruction|launch ?(?:failure|failed)|hardware stack error|invalid ?pc|\bILLEGAL_)",
    re.IGNORECASE,
)
"""How CUDA words that a kernel left its arrays, or was ended by the hardware or by an assertion."""

CAUSES = {
    "outside": "read or wrote memory outside its arrays",
    "misaligned": "used an address that is not a multiple of its type's size",
    "assertion": "has an assert() that failed",
    "other": "ended in a fault, which __trap() raises too",
}
"""What a kernel did, by the group of `FAULT` that matches."""

LIBRARIES = ("cupy", "cupy_backends", "rmm", "pylibcudf")

_running: list[str] = []
_lost: list[Callable[[], bool]] = []


@contextmanager
def running_kernel(name: str) -> Iterator[None]:
    """Note that a user's kernel runs in the block: another thread may be the first to see its fault.

    It stays where the device is lost.
    """
    _running.append(name)
    try:
        yield
    finally:
        if not is_lost():
            _running.remove(name)


def suspects() -> str:
    """Return the user's kernels that were running, as a message names them; empty where there was none."""
    return " or ".join(dict.fromkeys(_running))


def is_fault(error: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised from, says that a kernel ended in a fault."""
    return _fault(error) is not None


def fault_message(name: str, error: BaseException) -> str:
    """Return the message for a kernel that ended in a fault."""
    fault = _fault(error)
    cause = CAUSES[str(fault.lastgroup) if fault else "other"]
    return coded("GE2012", f"{name} {cause}, and the GPU stopped")


def _fault(error: BaseException | None) -> re.Match[str] | None:
    """Return where an error, or one that it was raised from, says that a kernel ended in a fault."""
    while error is not None:
        if isinstance(error, RuntimeError) and (fault := FAULT.search(str(error))):
            return fault
        error = error.__cause__ or error.__context__
    return None


def lose_device(recovered: Callable[[], bool] = lambda: False) -> None:
    """Note that nothing may wait for the device until it has `recovered`.

    Errors that come up while its memory is freed are not shown.
    """
    if not _lost:
        show = sys.unraisablehook

        def show_others(error: Any) -> None:
            if not is_lost() or not (_of_cuda(error.exc_value) or _module(error.object) in LIBRARIES):
                show(error)

        sys.unraisablehook = show_others
    _lost.append(recovered)


def is_lost() -> bool:
    """Return whether the device cannot be used or waited for."""
    return any(not recovered() for recovered in _lost)


def _of_cuda(error: BaseException | None) -> bool:
    return _module(type(error)) in LIBRARIES or "cuda" in str(error).lower()


def _module(thing: object) -> str:
    """Return the top module that defines a class or function; empty for what has none."""
    return str(getattr(thing, "__module__", "")).partition(".")[0]
