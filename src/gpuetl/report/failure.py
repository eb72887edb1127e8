"""Why a run ended early, as data: the kind of failure, its code, its stage and step, and the message."""

from __future__ import annotations

from typing import Literal

from gpuetl import messages
from gpuetl.errors import ContractBroken, GpuetlError, OutOfMemory, StepError
from gpuetl.messages import printable, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.uncaught import unexpected

FailureKind = Literal["error", "expectations", "out of memory", "interrupted", "bug"]


@dataclass(frozen=True)
class Failure:
    """Why a run failed.

    Parameters
    ----------
    kind
        `interrupted` is Ctrl-C or a signal that ends the process, `bug` an error that gpuetl did not expect.
    code
        Such as GE2004; empty for an interrupt.
    message
        All lines of the message, as the terminal shows them.
    outcome
        What became of the sinks: `no sink has changed`.
    relation, name, step
        Where it happened: `stage`, its name, and the step from 1, or 0.  Empty where that is not one place.
    """

    kind: FailureKind
    code: str
    message: str
    outcome: str
    relation: str = ""
    name: str = ""
    step: int = 0

    @property
    def where(self) -> str:
        """The stage and step, as messages name them; nothing where it is not one place."""
        return str(Origin(self.relation, self.name, self.step)) if self.relation else ""

    @property
    def text(self) -> str:
        """The message and the outcome."""
        return self.message if self.outcome in self.message else f"{self.message}\n{self.outcome}"


def failure_of(error: BaseException, outcome: str) -> Failure:
    """Return the failure of a run that ended with this exception; it takes no look at a device that may be lost."""
    origin = getattr(error, "origin", None) if isinstance(error, StepError) else None
    where = (origin.kind, origin.name, origin.step) if isinstance(origin, Origin) else ("", "", 0)
    if isinstance(error, ContractBroken):
        return Failure("expectations", code_of(error), str(error), outcome, *where)
    if isinstance(error, GpuetlError):
        kind: FailureKind = "out of memory" if isinstance(error, OutOfMemory) else "error"
        return Failure(kind, code_of(error), str(error), outcome, *where)
    if isinstance(error, MemoryError):
        return Failure("out of memory", "GE2007", f"out of host memory: {error}".rstrip(": "), outcome)
    if isinstance(error, Exception):
        what, advice = unexpected(error)
        message = printable(redacted("\n".join((messages.with_code(what, what), advice))))
        return Failure("bug", messages.code_of(what), message, outcome)
    signal = str(error)
    return Failure("interrupted", "", f"interrupted ({signal})" if signal else "interrupted", outcome)


def code_of(error: BaseException) -> str:
    """Return the code of an error, of a step's error that of its problem."""
    problem = getattr(error, "problem", None)
    problems = getattr(error, "problems", ())
    first = problem or (problems[0] if problems else None)
    return messages.code_of(first.message) if first is not None else messages.code_of(error)
