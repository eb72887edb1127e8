"""Out of memory: what waits is spilled, what idles is freed, and the step is done once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gpuetl.engines.interface import Backend
from gpuetl.errors import OutOfMemory
from gpuetl.out_of_memory import asked_for, done_again, is_out_of_memory, let_go
from gpuetl.sizes import size
from gpuetl.telemetry.origin import Origin

Result = TypeVar("Result")


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
        use = self.backend.memory_use()
        return f"{asked_for(error)}{size(use.in_use)} in use of {size(use.limit)}"
