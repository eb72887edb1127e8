"""Values of other rows of the group, and what a row's value is beside them."""

from __future__ import annotations

from gpuetl.engines.cudf.windows.call import FIRST_ROW, LAST_ROW, WindowCall
from gpuetl.engines.cudf.windows.steps import CallPlan, Fold, Moved, PerRow, PresentRows, Scan, Values
from gpuetl.expressions.ir import Column
from gpuetl.types.data_types import FLOAT64


def lag(call: WindowCall) -> CallPlan:
    """Go back by rows, or by rows that have a value; no row before is the row itself."""
    if call.constant("ignore_nulls", False) and call.offset:
        step = PerRow("present_before", (), (FIRST_ROW,), (PresentRows(call.x.name),), (call.offset,))
        return moved(call, step)
    return moved(call, PerRow("row_before", reads=(FIRST_ROW,), constants=(call.offset,)))


def lead(call: WindowCall) -> CallPlan:
    """Go on by rows, as in `lag`."""
    if call.constant("ignore_nulls", False) and call.offset:
        step = PerRow("present_after", (call.x.name,), (LAST_ROW,), (PresentRows(call.x.name),), (call.offset,))
        return moved(call, step)
    return moved(call, PerRow("row_after", reads=(LAST_ROW,), constants=(call.offset,)))


def first(call: WindowCall) -> CallPlan:
    """Take the row of the group's first, or the nearest from there on that counts."""
    found = counting_rows("LastMet", call)
    return moved(call, of_group(Scan(found, backward=True)) if found else FIRST_ROW)


def last(call: WindowCall) -> CallPlan:
    """Take the row of the group's last, or the last in the group that counts."""
    found = counting_rows("FirstMet", call)
    return moved(call, of_group(Scan(found, backward=True)) if found else LAST_ROW)


def of_group(scan: Scan) -> PerRow:
    """Return what a backward scan gives for the whole group: at its first row."""
    return PerRow("row_of_group", reads=(FIRST_ROW,), reads_all=(scan,))


def ffill(call: WindowCall) -> CallPlan:
    """Take the last row so far that has a value."""
    return moved(call, Scan(present(call.x, "LastMet")))


def bfill(call: WindowCall) -> CallPlan:
    """Take the next row that has a value."""
    return moved(call, Scan(present(call.x, "LastMet"), backward=True))


def moved(call: WindowCall, step: PerRow | Scan) -> CallPlan:
    """Return the values of other rows, and of `default` where there is none."""
    default = call.argument("default") if call.call.function.name in ("lag", "lead") else None
    return Moved(call.x.name, step, default.name if isinstance(default, Column) else None)


def counting_rows(state: str, call: WindowCall) -> Fold | None:
    """Return the fold of the rows that `first` and `last` look at; None where these are all."""
    only, skips = call.argument("only"), call.constant("ignore_nulls", False)
    if not isinstance(only, Column):
        return present(call.x, state) if skips else None
    if not skips:
        return Fold(f"RowOf<{state}, Chosen<{{0}}>>", (only.name,), state_bytes=4)
    return Fold(f"RowOf<{state}, ChosenPresent<{{0}}, {{1}}>>", (only.name, call.x.name), state_bytes=4)


def present(x: Column, state: str) -> Fold:
    """Return the fold of the rows where `x` is not null."""
    return Fold(f"RowOf<{state}, Present<{{0}}>>", (x.name,), state_bytes=4)


def diff(call: WindowCall) -> CallPlan:
    """Subtract the value of a row before."""
    step = PerRow("difference", (call.x.name,), (FIRST_ROW,), (), (call.offset,), call.dtype, can_fail=True)
    return Values(step)


def pct_change(call: WindowCall) -> CallPlan:
    """Divide by the value of a row before."""
    return Values(PerRow("relative_change", (call.x.name,), (FIRST_ROW,), (), (call.offset,), FLOAT64))
