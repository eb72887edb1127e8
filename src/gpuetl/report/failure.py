"""Why a run ended early, as data: the kind of failure, its code, its stage and step, and the message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal

from gpuetl import messages
from gpuetl.errors import ContractBroken, GpuetlError, InvalidPipeline, OutOfMemory, Problem, StepError
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import printable, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.uncaught import unexpected

FailureKind = Literal["error", "invalid", "expectations", "out of memory", "interrupted", "bug"]


@dataclass(frozen=True)
class ProblemReport:
    """One thing that is wrong, as the commands' `--json` and `Problem.to_dict` have it.

    Parameters
    ----------
    code
        Such as GE1003; empty for an interrupt.
    message
        What is wrong, with the value.
    within
        The stage and step, source or sink; empty where it is of none.
    file, line, column, width
        Where it stands in the pipeline's text: lines and columns count from 1.  None where that is not known.
    row
        The row that shows it.
    hint
        What to do next.
    """

    code: str
    message: str
    within: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    width: int | None = None
    row: str = ""
    hint: str = ""

    @classmethod
    def of(cls, problem: Problem) -> ProblemReport:
        """Return a problem as data."""
        return cls(**problem.to_dict())


@dataclass(frozen=True)
class Failure:
    """Why a run failed.

    Parameters
    ----------
    kind
        `invalid` is a pipeline or an option that is wrong, or an engine that cannot run: nothing has run.
        `interrupted` is Ctrl-C or a signal that ends the process, `bug` an error that gpuetl did not expect.
    code
        Such as GE2004; empty for an interrupt.
    message
        All lines of the message, as the terminal shows them.
    outcome
        What became of the sinks: `no sink has changed`.
    relation, name, step
        Where it happened: `stage`, its name, and the step from 1, or 0.  Empty where that is not one place.
    problems
        Everything that was wrong, each with its code, place and next step.
    """

    kind: FailureKind
    code: str
    message: str
    outcome: str
    relation: str = ""
    name: str = ""
    step: int = 0
    problems: tuple[ProblemReport, ...] = field(default=(), repr=False)

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
    problems = tuple(problems_of(error))
    if isinstance(error, GpuetlError):
        return Failure(kind_of(error), code_of(error), str(error), outcome, *where, problems)
    if isinstance(error, MemoryError):
        return Failure("out of memory", problems[0].code, problems[0].message, outcome, problems=problems)
    if isinstance(error, Exception):
        what, advice = unexpected(error)
        message = printable(redacted("\n".join((messages.with_code(what, what), advice))))
        return Failure("bug", messages.code_of(what), message, outcome, problems=problems)
    return Failure("interrupted", "", problems[0].message, outcome, problems=problems)


def kind_of(error: GpuetlError) -> FailureKind:
    """Return the kind of an error that gpuetl raises on purpose."""
    if isinstance(error, ContractBroken):
        return "expectations"
    if isinstance(error, OutOfMemory):
        return "out of memory"
    return "invalid" if error.exit_code == ExitCode.INVALID else "error"


def problems_of(error: BaseException) -> Iterable[ProblemReport]:
    """Yield what an exception says is wrong, at least one problem."""
    found: Iterable[Problem | None] = (getattr(error, "problem", None),)
    known = [one for one in (error.problems if isinstance(error, InvalidPipeline) else found) if one]
    if known:
        yield from map(ProblemReport.of, known)
    elif isinstance(error, GpuetlError):
        message, _, hint = printable(redacted(str(error.args[0] if error.args else error))).partition("\n")
        yield ProblemReport(code_of(error), message, hint=hint)
    elif isinstance(error, MemoryError):
        yield ProblemReport("GE2007", f"out of host memory: {error}".rstrip(": "))
    elif isinstance(error, Exception):
        what, advice = unexpected(error)
        yield ProblemReport(messages.code_of(what), printable(redacted(what)), hint=advice)
    else:
        signal = str(error)
        yield ProblemReport("", f"interrupted ({signal})" if signal else "interrupted")


def code_of(error: BaseException) -> str:
    """Return the code of an error, of a step's error that of its problem."""
    problem = getattr(error, "problem", None)
    problems = getattr(error, "problems", ())
    first = problem or (problems[0] if problems else None)
    return messages.code_of(first.message) if first is not None else messages.code_of(error)
