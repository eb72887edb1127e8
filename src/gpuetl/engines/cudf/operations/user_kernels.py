"""How a user's kernels run: in a time limit, and with errors that name the kernel.  The host waits for each of them.

A kernel may never end.  So the host asks the device again and again whether the kernel has ended.  Python then still
handles signals such as Ctrl-C, and the time limit is noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.arrays import filled, joined
from gpuetl.engines.cudf.kernel_guards import GUARD, PATTERN, damage
from gpuetl.engines.cudf.machine import SLOW_S, Array, Machine
from gpuetl.errors import EvaluationError
from gpuetl.lost_device import fault_message, is_fault, lose_device, running_kernel
from gpuetl.messages import coded
from gpuetl.plan.nodes import Kernel, KernelReduction
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import show_progress
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.kernel_options import current_options

CHECK = "Find the access with `gpuetl kernel check`, or with `gpuetl run --sanitize`."
OUT_OF_TIME = "Look for a loop that does not end, or raise --kernel-timeout.  Start Python again to use the GPU."


_CURRENT: ContextVar[str] = ContextVar("user's kernel", default="")


@contextmanager
def user_kernel(operation: Kernel | KernelReduction, machine: Machine) -> Iterator[None]:
    """Launch a user's kernel in the block, and wait for it at the end.

    Raises
    ------
    EvaluationError
        Where it ends in a fault, or does not end in time.
    """
    name = named(operation)
    token = _CURRENT.set(name)
    try:
        with running_kernel(name):
            try:
                yield
                finish_user_kernel(machine)
            except RuntimeError as error:
                if not is_fault(error):
                    raise
                lose_device()
                raise EvaluationError(fault_message(name, error), CHECK) from error
    finally:
        _CURRENT.reset(token)


def finish_user_kernel(machine: Machine) -> None:
    """Wait for what the user's kernel, in whose block this is called, has been asked to do; elsewhere do nothing.

    Raises
    ------
    EvaluationError
        Where it takes longer than the options allow.
    """
    if not (name := _CURRENT.get()):
        return
    limit = current_options().timeout_s
    if not machine.wait(limit, partial(say_it_runs, name)):
        what = f"{name} did not end within {limit:g} s"
        raise EvaluationError(coded("GE2013", what), OUT_OF_TIME)


def say_it_runs(name: str) -> None:
    """Show on the screen that a kernel has not ended: some that access memory far outside their arrays never do."""
    plain = name.removeprefix("kernel ").replace("'", "")
    show_progress(Origin("kernel", f"{plain} has run for {SLOW_S} s; Ctrl-C ends the run"), 0, 1)


def named(operation: Kernel | KernelReduction) -> str:
    """Return how messages name a kernel: with its file."""
    contract = operation.contract
    file = contract.cuda if isinstance(contract, KernelContract) else contract.reference
    return f"kernel '{contract.entry}' ({file})"


class GuardedArray:
    """An array between two guard bands, `GUARD` elements each, in device memory."""

    def __init__(self, name: str, array: Array, machine: Machine) -> None:
        self.name, self.machine, size = name, machine, array.dtype.itemsize
        self.dtype, self.rows = array.dtype, len(array)
        self.whole = filled((self.rows + 2 * GUARD) * size, PATTERN, "uint8", machine)
        self.inside = self.whole[GUARD * size : (GUARD + self.rows) * size].view(array.dtype)
        self.inside[:] = array

    def damage(self) -> str:
        """Say which guard values have changed; empty where none has."""
        host: NDArray[Any] = self.machine.host(
            joined([self.whole[: self.band], self.whole[len(self.whole) - self.band :]], self.machine)
        )
        return damage(self.name, host[: self.band].view(self.dtype), host[self.band :].view(self.dtype))

    @property
    def band(self) -> int:
        """The bytes of a band."""
        return GUARD * int(self.dtype.itemsize)


def guarded(arrays: dict[str, Array], machine: Machine) -> tuple[dict[str, Array], list[GuardedArray]]:
    """Return outputs between guard bands where the run is to be sanitized, and what looks at them; else as they are."""
    if not current_options().sanitize:
        return arrays, []
    bands = [GuardedArray(name, array, machine) for name, array in arrays.items()]
    return {band.name: band.inside for band in bands}, bands


def check_guards(operation: Kernel, bands: Iterable[GuardedArray]) -> None:
    """Refuse what a kernel wrote outside of its outputs.

    Raises
    ------
    EvaluationError
        With the kernel, the output, and how far outside it wrote.
    """
    if found := [text for band in bands if (text := band.damage())]:
        what = f"{named(operation)} wrote outside of its outputs: {'; '.join(found)}"
        hint = "Compare the row with n_rows before you write.  `gpuetl kernel check` shows small examples."
        raise EvaluationError(coded("GE1308", what), hint)
