"""A call of a window function over sorted rows, and where groups and runs of ties begin and end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gpuetl.engines.cudf.windows.steps import Fold, Scan
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, DataType

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
    rows
        How many there are.
    """

    call: Call
    time: Column | None
    rows: int

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
