"""Out of memory: what waits is spilled, what idles is freed, and the step is done once more."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from typing import TypeVar

from gpuetl.backends.backend import Backend
from gpuetl.errors import OutOfMemory
from gpuetl.plan.node import Origin
from gpuetl.sizes import size

Result = TypeVar("Result")
TELLS = re.compile(r"cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY")
"""In errors of the CUDA runtime and driver that Python gets as another kind than `MemoryError`."""
ASKED = re.compile(r"(?:allocat(?:e|ing)|of size) ([\d.,]*\d) ?([KMGT]?i?B\b)?")
"""As RMM, CuPy, NumPy and Arrow word what they did not get."""


class Guard:
    """Does steps, which may be done again.

    Parameters
    ----------
    backend
        The one that does the steps.
    frees
        Give memory back; they return what hindered them from it, if anything.
    """

    def __init__(self, backend: Backend, *frees: Callable[[], str]) -> None:
        self.backend, self.frees = backend, list(frees)

    def run(self, origin: Origin, step: Callable[[], Result], rows: int = 0) -> Result:
        """Return what a step gives; do it again where memory runs out the first time.

        Raises
        ------
        OutOfMemory
            With the step and what was asked for, where it did not suffice the second time either; `rows` tell whether
            smaller partitions gave the step fewer.
        """
        hindered: list[str] = []
        try:
            return done_again(step, lambda: hindered.append(self.free()))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            told = ";  ".join(filter(None, (self.told(error), *hindered)))
            let_go(error)
        raise OutOfMemory.during(origin, told, rows)

    def free(self) -> str:
        """Free what can be freed; return what hindered that."""
        hindered = [free() for free in self.frees]
        self.backend.release()
        return ";  ".join(filter(None, hindered))

    def told(self, error: BaseException) -> str:
        """Say what was asked for, where the error tells, and what was in use then."""
        asked = next((found for cause in causes(error) if (found := ASKED.search(str(cause)))), None)
        use = self.backend.memory_use()
        amount = f"{asked[1]} {asked[2] or 'B'} were asked for, with " if asked else ""
        return f"{amount}{size(use.in_use)} in use of {size(use.limit)}"


def done_again(step: Callable[[], Result], free: Callable[[], object]) -> Result:
    """Return what a step gives; where memory runs out the first time, free some and do it once more."""
    try:
        return step()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        let_go(error)
    free()
    return step()


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error, or what it was raised from, says that memory ran out."""
    return any(
        isinstance(cause, MemoryError) or (isinstance(cause, RuntimeError) and TELLS.search(str(cause)))
        for cause in causes(error)
    )


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


def let_go(error: BaseException | None) -> None:
    """Clear the local variables of the functions that an error came through, and of those that led to it.

    They would hold frames as long as anybody holds the error.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
