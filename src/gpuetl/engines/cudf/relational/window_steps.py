"""What window functions are made of, as data: equal steps are computed once, and many of them in one kernel."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeAlias

from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, NAMED, DataType

ROW_NUMBER = NAMED["int32"]
"""How row numbers are stored, of which -1 is no row: rows are fewer than 2^31, as libcudf wants."""


class StepResult:
    """What a step gives: values of a type and their validity, or row numbers."""

    result_type: DataType | None

    @property
    def stored(self) -> DataType:
        """The type of what is stored."""
        return self.result_type or ROW_NUMBER

    @property
    def numbers_rows(self) -> bool:
        """Whether it gives row numbers."""
        return self.result_type is None


@dataclass(frozen=True)
class Fold(StepResult):
    """A fold of windows.cuh: the states of rows, how they combine, and what a state comes to.

    Parameters
    ----------
    struct
        Its C++ type; `{0}`, `{1}` and so on stand for the types of the columns' accessors.
    columns
        The names of the columns that it reads.
    result_type
        The type of what it comes to; None for the numbers of rows.
    constants
        What it gets after the columns: arguments of the kernel, so that another constant needs no other program.
    can_fail
        Whether a state may come to nothing that the type holds.
    state_bytes
        As many as a state takes, or more.
    """

    struct: str
    columns: tuple[str, ...] = ()
    result_type: DataType | None = None
    constants: tuple[int, ...] = ()
    can_fail: bool = False
    state_bytes: int = 16


@dataclass(frozen=True)
class Scan:
    """For each row, what the rows of its group up to it fold into; or, backward, those from it on."""

    fold: Fold
    backward: bool = False


@dataclass(frozen=True)
class PresentRows:
    """The rows in which a column has a value, numbered over all groups."""

    column: str


@dataclass(frozen=True)
class PerRow(StepResult):
    """A device function of each row.

    It is called with the row, columns, what scans gave for the row, what others gave for all rows, and constants, which
    are arguments of the kernel.
    """

    function: str
    columns: tuple[str, ...] = ()
    reads: tuple[Scan, ...] = ()
    reads_all: tuple[Scan | PresentRows, ...] = ()
    constants: tuple[int, ...] = ()
    result_type: DataType | None = None
    can_fail: bool = False

    @property
    def backward(self) -> bool:
        """Whether it reads of rows what backward scans give, and nothing else."""
        return not self.reads_all and all(scan.backward for scan in self.reads)


@dataclass(frozen=True)
class FrameFold:
    """For each row, what the rows of its frame fold into: those from `start` up to it, `longest` of them at most.

    With an `end`, those from `start` up to, and without, the row that it gives.

    With `nth`, the fold counts rows, and what is given is the number of the row with that count.
    """

    fold: Fold
    start: PerRow
    longest: int
    end: PerRow | None = None
    nth: int | None = None


@dataclass(frozen=True)
class FrameOrder(StepResult):
    """For each row, what the values of its frame come to by their order; frames as those of `FrameFold`.

    That is the quantile at the float64 of the bits `q`, or how many distinct values there are where it is None.
    """

    column: str
    q: int | None
    result_type: DataType
    start: PerRow
    longest: int
    end: PerRow | None = None


Step: TypeAlias = Scan | PerRow | FrameFold | FrameOrder


def result_source(step: Step) -> Fold | PerRow | FrameOrder:
    """Return the fold or function whose `result_type` is that of a step."""
    if isinstance(step, FrameFold) and step.nth is not None:
        return FIRST_ROW.fold
    return step if isinstance(step, PerRow | FrameOrder) else step.fold


@dataclass(frozen=True)
class Values:
    """A call's values: those of a step, null also where one of some columns is."""

    step: Step
    null_where: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read beside the step."""
        return self.null_where


@dataclass(frozen=True)
class ShiftedValues:
    """A call's values: a column's, of the rows that a step gives; of no row, the row's own in the column `default`."""

    column: str
    step: Step
    default: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read beside the step."""
        return (self.column, self.default) if self.default else (self.column,)


@dataclass(frozen=True)
class RowNumbers:
    """The numbers of rows that a step gives, for what needs all of them."""

    step: Step
    columns: tuple[str, ...] = ()


CallPlan: TypeAlias = Values | ShiftedValues
"""How one call is computed."""

Output: TypeAlias = Values | ShiftedValues | RowNumbers
"""What a kernel writes."""


# A call of a window function over sorted rows, and where groups and runs of ties begin and end.


MICROSECOND, DAY = timedelta(microseconds=1), 86_400_000_000
FIRST_ROW = Scan(Fold("RowOf<FirstMet, Everywhere>", state_bytes=4))
LAST_ROW = Scan(FIRST_ROW.fold, backward=True)
RUN_BEGIN = Scan(Fold("RowOf<LastMet, RunBegins>", state_bytes=4))
RUN_END = Scan(Fold("RowOf<LastMet, RunEnds>", state_bytes=4), backward=True)


@dataclass(frozen=True)
class WindowCall:
    """A call over sorted rows, whose arguments are columns and constants.

    Parameters
    ----------
    call
        The call.
    time
        The first key of the order, where it is an ascending date or timestamp.
    key
        The same, where it is an ascending number, too.
    rows
        How many there are.
    """

    call: Call
    time: Column | None
    rows: int
    key: Column | None = None

    def argument(self, name: str) -> Column | Literal | None:
        """Return an argument; None where it was left out."""
        slots = [slot.name for slot in self.call.function.arguments]
        given = dict(zip(slots, self.call.args, strict=False)).get(name)
        if isinstance(given, Literal) and given.value is None:
            return None
        assert given is None or isinstance(given, Column | Literal)  # other arguments are columns before
        return given

    @property
    def x(self) -> Column:
        """The column of values."""
        return self.column("x")

    def column(self, name: str) -> Column:
        """Return an argument that is a column."""
        column = self.argument(name)
        assert isinstance(column, Column)
        return column

    def constant(self, name: str, default: Any) -> Any:
        """Return a constant, or what stands for one that was left out."""
        given = self.argument(name)
        return given.value if isinstance(given, Literal) else default

    @property
    def offset(self) -> int:
        """How many rows before or after; beyond all of them where it is as many as there are."""
        return min(int(self.constant("offset", 1)), self.rows)

    @property
    def dtype(self) -> DataType:
        """The result's type."""
        return self.call.dtype


def unit(time: Column) -> int:
    """Return how many microseconds a time counts by: constants that it is compared with are in this unit."""
    return DAY if time.dtype == DATE else 1


def length_in(time: Column, length: timedelta) -> int:
    """Return the most whole units of a time that are no longer than a length."""
    return length // MICROSECOND // unit(time)
