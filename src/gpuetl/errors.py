"""Every exception of gpuetl, and the form of a problem: where, what with the value, one next step."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Self

from gpuetl import messages
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import (
    CONTROLS,
    SHOWN_CHARACTERS,
    coded,
    cut,
    one_line,
    printable,
    readable,
    recoded,
    redacted,
    without_secrets,
)
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.report.run_report import RunReport

SHOWN_PROBLEMS = 20
"""Of a file's problems, in the error's text; the error has all of them."""
HINTED_PROBLEMS = 200
"""Of a file's problems, those that list and compare names; later ones go without, so that thousands take seconds."""
SHOWN_NAMES, SHOWN_NAMES_CHARACTERS = 30, 500
"""Of names that a hint lists: how many, and how long they are together."""
FILE_CHARACTERS = 150
"""Of a file's path in a place: its end tells files apart."""
MOST_COMPARED = 1_000
"""Names that a misspelt one is compared with: of more, only those that begin or end like it."""
FIELDS = re.compile(r"Expected (?P<expected>\d+) columns, got (?P<got>\d+)")
"""As Arrow words a row of a CSV file that has more or fewer fields than the header."""


@dataclass(frozen=True)
class Span:
    """A half-open range of characters of an expression's text."""

    start: int
    stop: int


@dataclass(frozen=True)
class Place:
    """A range on one line of a file: `line` and `column` count from 1, `width` is the caret's length.

    Column 0 is the whole line, as of a script that builds a pipeline.  `source` is empty where the text is not known.
    """

    file: str
    line: int
    column: int
    source: str
    width: int = 1

    def __str__(self) -> str:
        file = self.file if len(self.file) <= FILE_CHARACTERS else f"…{self.file[-FILE_CHARACTERS:]}"
        return f"{one_line(file)}:{self.line}" + (f":{self.column}" if self.column else "")

    def underlined(self) -> str:
        """Return the source line, indented, with a caret under the range; nothing where the line is not known."""
        text = CONTROLS.sub(" ", without_secrets(self.source).rstrip())  # the caret stays below its character
        if not self.column:
            return f"    {text.strip()[:SHOWN_CHARACTERS]}" if text else ""
        margin = max(len(text) - len(text.lstrip()), self.column - 1 - SHOWN_CHARACTERS // 2)
        text, column = text[margin : margin + SHOWN_CHARACTERS], self.column - 1 - margin
        width = max(1, min(self.width, len(text) - column))
        return f"    {text}\n    {' ' * column}{'^' * width}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a pipeline, where it stands, the row that shows it, and what to do next."""

    message: str
    hint: str = ""
    place: Place | None = None
    within: str = ""
    row: str = ""

    def __str__(self) -> str:
        parts = (str(self.place or ""), self.within, self.message)
        head = ": ".join(readable(one_line(redacted(part))) for part in parts if part)
        head = messages.with_code(readable(head), self.message)
        lines = (head, self.place and self.place.underlined(), shown(self.row), shown(self.hint))
        return printable(redacted("\n".join(part for part in lines if part)))

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data.

        `file`, `line`, `column` and `width` are None where the place is not known; `line` and `column` count from 1.
        """
        place = self.place
        return {
            "code": messages.code_of(self.message),
            "message": shown(one_line(self.message)),
            "within": shown(one_line(self.within)),
            "file": redacted(place.file) if place else None,
            "line": place.line if place else None,
            "column": (place.column or None) if place else None,
            "width": place.width if place and place.column else None,
            "row": shown(self.row),
            "hint": shown(self.hint),
        }


def shown(text: str) -> str:
    """Return a text as users see it.  Values of variables go first: a part of one that is cut would stay."""
    return readable(printable(redacted(text)))


class GpuetlError(Exception):
    """The base of all errors that gpuetl raises on purpose; `exit_code` is the command line's."""

    exit_code: int = ExitCode.FAILED
    report: RunReport | None = None
    """What a run that ended with this error had done until then; None if none had begun."""

    def __str__(self) -> str:
        return printable(redacted(messages.with_code(self._text(), self)))

    def _text(self) -> str:
        return shown(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """Return the lines that notebooks show: see `tracebacks.py`."""
        from gpuetl.tracebacks import short_traceback

        return "".join(short_traceback(self)).splitlines()


class InvalidPipeline(GpuetlError):
    """A pipeline that cannot run as it is written; carries all of its problems."""

    exit_code = ExitCode.INVALID

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        if (more := len(self.problems) - len(shown)) > 0:
            shown.append(f"… and {more:,} more problem{'s' * (more > 1)}")
        super().__init__("\n\n".join(shown))

    @classmethod
    def because(cls, message: str, hint: str = "", within: str = "") -> Self:
        """Build the error of a single problem that has no place in a file."""
        return cls([Problem(message, hint, within=within)])

    def _text(self) -> str:
        return Exception.__str__(self)  # its problems are readable, and have codes at the ends of lines


class InvalidExpression(GpuetlError):
    """An expression that does not parse or has no type; `span` points into its text."""

    exit_code = ExitCode.INVALID

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        self.message, self.span, self.hint = message, span, hint
        super().__init__(recoded(f"{message}\n{hint}", message) if hint else message)

    @classmethod
    def unknown_function(cls, name: str, have: Iterable[str], span: Span | None = None) -> Self:
        """Word a call of a function that the closed table does not hold."""
        return cls(
            coded("GE1022", f"unknown function '{name}'"),
            span,
            suggestion(name, have) or "docs/functions.md lists all functions.",
        )

    @classmethod
    def too_deep(cls, limit: int) -> Self:
        """Word an expression of more operators below each other than are taken."""
        hint = "Split the expression into columns, or use IN."
        return cls(coded("GE1114", f"more than {limit} operators build on each other"), None, hint)


class InvalidType(InvalidExpression, ValueError):
    """A name that is no type, in Python."""


class MisusedExpression(InvalidExpression, TypeError):
    """An expression in a place where Python asks for a value, such as a condition of `if`."""


class UnknownColumn(InvalidExpression):
    """The most frequent mistake: an expression of a column that is not there."""

    def __init__(self, name: str, have: Iterable[str], span: Span | None = None, advice: str = "") -> None:
        self.name, self.advice = name, advice
        names = list(have)
        if name == "*":
            self.advice = advice = advice or "with_columns keeps all columns, and drop leaves some out."
        super().__init__(
            coded("GE1003", f"unknown column '{name}'"), span, have_hint(name, names, suggestion(name, names) or advice)
        )


class UnknownMethod(GpuetlError, AttributeError):
    """A table or an expression has no method of a name, or a module no function; `hint` says what to write."""

    exit_code = ExitCode.INVALID

    def __init__(self, of: str, name: str, hint: str = "", kind: str = "method") -> None:
        super().__init__(coded("GE1214", f"{of} has no {kind} '{name}'" + f"\n{hint}" * bool(hint)))
        self.name = name


class EvaluationError(GpuetlError):
    """A value for which an operation has no result: an overflow, a cast that loses, a kernel's forbidden null.

    Parameters
    ----------
    what
        What happened, with the value.
    hint
        What to do, where that is known.
    row
        The row of the operation's first frame, from 0, where one is to blame.
    reads
        The columns of that frame whose values explain it.
    """

    shown = ""
    """Lines that explain it instead: the values of a row of another frame, the line of a user's file."""

    output = ""
    """The column that was to be computed, where it is known."""

    def __init__(self, what: str, hint: str = "", row: int | None = None, reads: Iterable[str] = ()) -> None:
        self.what, self.hint, self.row, self.reads = what, hint, row, tuple(reads)
        super().__init__(what)

    @classmethod
    def of_column(cls, name: str, error: EvaluationError) -> EvaluationError:
        """Name the column that was to be computed: of a name that the planner made, what stands before its colon."""
        error.output = name.partition(":")[0]
        error.args = (recoded(f"column '{error.output}': {error.args[0]}", error),)
        return error


class StepError(GpuetlError):
    """An error of one step, source or sink, which points at it in the user's text.

    `origin` names it, where it is known: the `Origin` of a node.  `output` is the column whose expression failed.
    """

    origin: Hashable = None
    output = ""
    problem: Problem | None = None

    def _text(self) -> str:
        return Exception.__str__(self)

    @classmethod
    def at(cls, origin: Hashable, message: str, hint: str = "", output: str = "") -> Self:
        """Say what happened at a step; the text has no place before `pointed` gives it one."""
        if output:
            message = recoded(f"column '{output}': {message}", message)
        return cls().with_problem(Problem(message, hint, within=str(origin)), origin, output)

    def with_problem(self, problem: Problem, origin: Hashable = None, output: str = "") -> Self:
        """Take another text, and where the error came up if that is said; return the error."""
        self.problem, self.args = problem, (str(problem),)
        self.origin, self.output = origin or self.origin, output or self.output
        return self

    def pointed(self, place: Place | None) -> Self:
        """Take the place in the user's text; return the error."""
        return self.with_problem(replace(self.problem, place=place)) if self.problem and place else self


class RunFailed(StepError):
    """A run that stopped; its message names the stage, the step and what to do next."""

    failing: tuple[int, int, int] | None = None
    """The number of the physical node, its partition and the row that failed, of a worker: the driver knows files."""

    @classmethod
    def unreadable(cls, path: str, error: Exception) -> Self:
        """Word a file that cannot be read or is not what its source says; what a library says is a line of its own."""
        reported, reason, code = first_line(error), system_reason(error), "GE1403"
        if isinstance(error, StoreFailure):
            return cls().with_problem(Problem(coded(code, f"cannot read {path}: {reason}")))
        if found := FIELDS.search(reported):
            reason, code = f"a row has {found['got']} fields, and the header has {found['expected']}", "GE1411"
        elif "CRC checksum" in reported:
            reason, code = "the checksum of a page does not match", "GE1445"
        elif "utf" in reported.lower():
            reason = "a string is not UTF-8"
        elif type(error) is ValueError:
            reported, reason = "", reported
        elif isinstance(error, NotImplementedError):
            reason = "its reader does not support what it holds"
        hint = "Check the file, or take it out of the source's path."
        message = coded(code, f"cannot read {path}: {reason or 'it is damaged, or not in the declared format'}")
        return cls().with_problem(Problem(message, hint, row=f"Reader error: {reported}" if reported else ""))


class OutOfMemory(RunFailed):
    """Memory that did not suffice for a step, also when it was freed of all else.

    `where` is the stage and step, `rows` how many it was given, and `gathered` whether these are all rows of the
    sources however they are split.
    """

    where: str = ""
    what: str = ""
    rows: int = 0
    gathered: bool = False

    @classmethod
    def during(cls, origin: Hashable, detail: str, rows: int = 0) -> Self:
        """Name the step, and say what was asked for and in use."""
        error = cls.at(origin, coded("GE2007", f"out of memory: {detail}"))
        error.where, error.what, error.rows = str(origin), f"{origin}: out of memory: {detail}", rows
        return error

    def advised(self, advice: str) -> Self:
        """Return the error with what to do."""
        if self.problem is None:
            return self
        text = f"{self.problem.message}.  {advice}, or run where there is more memory."
        message = recoded(text, self.problem.message)
        return self.with_problem(replace(self.problem, message=message))


class SinkExists(StepError):
    """A sink in mode `error` whose target is already there."""

    @classmethod
    def refused(cls, sink: Hashable, path: str) -> Self:
        """Name the sink and the modes that would go on."""
        advice = "Choose mode: overwrite, append or replace_partitions, or remove it."
        return cls.at(sink, coded("GE1501", f"{path} exists.  {advice}"))


class ContractBroken(GpuetlError):
    """Rows that break a stage's rules, of which one has `on_fail: fail`; no sink has changed.

    `report` is that of the run, whose `checks` have every rule and the first rows that break it.
    """

    exit_code = ExitCode.CONTRACT_BROKEN


class EngineUnavailable(GpuetlError):
    """An engine that this machine or this version cannot run."""

    exit_code = ExitCode.INVALID


class PackageMissing(GpuetlError):
    """A package that something needs which is asked for, and that is not installed."""

    exit_code = ExitCode.INVALID


@dataclass
class Problems:
    """Collects the problems of one file, so that all of them are reported at once.

    `found` are errors: the pipeline cannot run.  `warnings` are not: the run continues and reports them.
    """

    found: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    _known: set[Problem] = field(default_factory=set, init=False, repr=False)
    _known_warnings: set[Problem] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        self._known.update(self.found)
        self._known_warnings.update(self.warnings)

    def add(self, message: str, hint: str = "", place: Place | None = None, within: str = "") -> None:
        """Keep one problem; the same text at the same place is kept once."""
        problem = Problem(message, hint, place if place and place.file else None, within)  # Python's data has no place
        if problem not in self._known:
            self._known.add(problem)
            self.found.append(problem)

    @property
    def hints_names(self) -> bool:
        """Whether a problem still gets names that are near: each hint costs as much as there are names."""
        return len(self.found) < HINTED_PROBLEMS

    def warn(self, message: str, hint: str = "", place: Place | None = None, within: str = "") -> None:
        """Keep one warning; the same text at the same place is kept once."""
        warning = Problem(message, hint, place if place and place.file else None, within)
        if warning not in self._known_warnings:
            self._known_warnings.add(warning)
            self.warnings.append(warning)

    def check(self) -> None:
        """Raise `InvalidPipeline` if an error was found, with all errors, file by file in their order."""
        if self.found:
            raise InvalidPipeline(self.in_order())

    def in_order(self) -> list[Problem]:
        """Return the problems in the order of the file; those without a place come first."""
        files = list(dict.fromkeys(problem.place.file for problem in self.found if problem.place))

        def order(problem: Problem) -> tuple[int, ...]:
            place = problem.place
            return (files.index(place.file), place.line, place.column) if place else (-1,)

        return sorted(self.found, key=order)


def nearest(name: str, have: Iterable[str]) -> str | None:
    """Return the one of `have` that a misspelt name may mean, if any is near."""
    if len(name) > SHOWN_CHARACTERS:
        return None
    return next(iter(difflib.get_close_matches(name, _alike(name, have), n=1, cutoff=0.6)), None)


def _alike(name: str, have: Iterable[str]) -> list[str]:
    """Return the names that are compared with a misspelt one, which takes about 10 µs each."""
    names = [other for other in have if len(other) <= SHOWN_CHARACTERS]
    if len(names) <= MOST_COMPARED:
        return names
    start, end = name[:2], name[-2:]
    return [other for other in names if other.startswith(start) or other.endswith(end)][:MOST_COMPARED]


def suggestion(name: str, have: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" for the nearest of `have`, or nothing."""
    near = nearest(name, have)
    return f"Did you mean '{near}'?" if near else ""


def have_hint(name: str, have: Iterable[str], advice: str = "", noun: str = "Columns", limit: int = SHOWN_NAMES) -> str:
    """List what exists, and what to do, by default the nearest name: the second line of an unknown-name problem.

    `noun` says what the names are, in the plural and with a capital letter.
    """
    names = [one_line(name) for name in sorted(set(have))]
    listed = listing(names, limit)
    return f"{noun}: {listed or 'none'}. {advice or suggestion(name, names)}".rstrip()


def listing(names: Sequence[str], limit: int = SHOWN_NAMES) -> str:
    """Return names with commas between them: the first `limit`, or fewer long ones, and how many more there are."""
    shown: list[str] = []
    left = SHOWN_NAMES_CHARACTERS
    for name in names[:limit]:
        shown.append(cut(name))
        left -= len(shown[-1])
        if left <= 0:
            break
    more = len(names) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


class StoreFailure(OSError):
    """A request that an object store refused, or did not answer; `strerror` has the reason in the user's words."""


def system_reason(error: BaseException) -> str:
    """Return the words of the system, or of a store, for why a file cannot be read or written: "Permission denied"."""
    if isinstance(error, StoreFailure):
        return str(error.strerror)
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else ""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, without its full stop."""
    text = error.args[0] if isinstance(error, GpuetlError) and error.args else error  # without its code
    lines = str(text).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
