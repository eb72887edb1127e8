"""The rows of a source beyond the watermark of the last successful run.

A run reads the rows with `W_old < column <= W_new`.  `W_new` is the greatest value of the column less the lateness.
So each row is read once, whatever the order in which rows come, unless one comes later than the lateness allows.  Such
rows are found by a count: how many rows are at or below `W_old` now, and how many there were when the last run ended.

The greatest value and the counts come from the statistics of Parquet files where these suffice.  What they leave open
is a query on the engine, which reads one column of the row groups that are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, cast

from gpuetl.errors import RunFailed
from gpuetl.formats.dataset import Dataset
from gpuetl.io.data_file import RowGroup
from gpuetl.messages import coded
from gpuetl.plan.incremental import Selection, Watermark
from gpuetl.plan.nodes import Read
from gpuetl.run.incremental.choice import Bounds, Choice, Query
from gpuetl.state.source_state import WatermarkState, WatermarkValue
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import DATE, DataType, is_integer

Value = Any
"""A `WatermarkValue`: two of one column compare."""


class Extent(NamedTuple):
    """The values of a column in a row group, or in a file whose path has the value; -1 are rows that are not known."""

    least: Value
    greatest: Value
    rows: int
    group: RowGroup | None


class Extents(NamedTuple):
    """What metadata says of a column: the extents of its values, and the number of nulls, None where not known."""

    each: Sequence[Extent]
    nulls: int | None

    @property
    def newest(self) -> Value | None:
        """The greatest value; None where there is none."""
        return max((one.greatest for one in self.each), default=None)

    def rows_upto(self, limit: Value) -> int | None:
        """Return how many rows are at or below a value; None where that is not known."""
        counts = [0 if one.least > limit else one.rows if one.greatest <= limit else -1 for one in self.each]
        return sum(counts) if all(count >= 0 for count in counts) else None

    def open_at(self, limits: Iterable[Value]) -> list[RowGroup]:
        """Return the row groups that have rows on both sides of one of the values, as far as is known."""
        return [
            one.group
            for one in self.each
            if one.group is not None and any(one.least <= limit < one.greatest for limit in limits)
        ]

    def without(self, groups: Iterable[RowGroup]) -> Extents:
        """Return the extents of the other row groups."""
        left_out = set(map(id, groups))
        return self._replace(each=[one for one in self.each if one.group is None or id(one.group) not in left_out])

    def has_between(self, after: Value | None, upto: Value) -> bool:
        """Tell whether a row is sure to lie between two values: an end of a row group does."""
        ends = (end for one in self.each for end in (one.least, one.greatest))
        return any((after is None or end > after) and end <= upto for end in ends)


def extents_of(dataset: Dataset, column: str) -> Extents | None:
    """Return what metadata says of a column; None where it does not bound all of its values.

    Raises
    ------
    DatasetError
        For a file whose metadata cannot be read.
    """
    if column in dataset.partitions:
        values = [dataset.partition_value(file, column) for file in dataset.files]
        each = [Extent(value, value, -1, None) for value in values if value is not None]
        return Extents(each, 0 if None not in values else None)
    if not dataset.file_format.states_types:  # text is read to find row groups, and says nothing of values
        return None
    found, nulls = list[Extent](), 0
    for group in dataset.row_groups:
        if group.rows == 0:
            continue
        if group.rows < 0 or column not in group.ranges:
            return None
        least, greatest, none = group.ranges[column]
        nulls += none
        if least is not None:
            if not is_value(least, dataset.schema[column]):
                return None
            found.append(Extent(least, greatest, group.rows - none, group))
    return Extents(found, nulls)


def is_value(value: Value, dtype: DataType) -> bool:
    """Tell whether a value of metadata compares with those of a type: times with a zone do not with others."""
    if is_integer(dtype) or dtype == DATE:
        return type(value) is (date if dtype == DATE else int)
    return isinstance(value, datetime) and (value.tzinfo is not None) == bool(dtype.tz)


class Counts(NamedTuple):
    """Rows at or below the last run's watermark, and at or below this one's; None where that is not known."""

    old: int | None
    upto: int | None


def choose_rows(read: Read, wanted: Watermark, before: WatermarkState | None, path: str, query: Query | None) -> Choice:
    """Return the rows of a source beyond the watermark; without a query as far as metadata tells.

    Raises
    ------
    RunFailed
        Where rows came too late, if the source says so.
    DatasetError
        For files that cannot be listed or described.
    """
    dataset, after = read.dataset, cast("Value | None", before.value if before else None)
    extents = extents_of(dataset, wanted.column)
    if extents is not None:
        newest, nulls = extents.newest, extents.nulls
    elif query is not None:
        newest, nulls = asked_newest(read, wanted, query)
    else:
        text = f"rows {range_text(wanted, after, None)}; the newest is found when it runs"
        selection = Selection(dataset.name, "watermark", True, text, numbers(after, None, None), is_known=False)
        return Choice(selection, dataset, Bounds(wanted.column, wanted.dtype, after, None), is_complete=False)
    upto = limit_of(newest, wanted.lateness)
    moves = upto is not None and (after is None or upto > after)
    limit = upto if moves else after
    sure = has_rows(extents, after, limit) if moves else False
    needs_counts = limit is not None and not is_path(read, wanted) and (wanted.late != "ignore" or sure is None)
    counts = counted_rows(read, wanted, extents, after, limit, query) if needs_counts else Counts(None, None)
    is_counted = None not in counts
    has_new = (counts.upto != counts.old if is_counted else True) if sure is None else sure
    late = late_rows(before, counts, wanted)
    warnings = [*null_warning(dataset.name, wanted.column, nulls), *late_warning(dataset.name, wanted, after, late)]
    values = numbers(after, limit if has_new else after, newest) | {"nulls": nulls, "late": late}
    if not has_new:
        text = nothing_text(wanted, after, limit, newest)
        selection = Selection(dataset.name, "watermark", False, text, values, warnings=tuple(warnings))
        return Choice(selection, dataset.with_files(()))
    text = f"rows {range_text(wanted, after, limit)}"
    if newest is not None and wanted.lateness:
        text += f"; the newest is {shown(newest)}"
    values["rows"] = counts.upto - counts.old if counts.upto is not None and counts.old is not None else None
    assert limit is not None
    state = WatermarkState(path, wanted.column, wanted.dtype, limit, counts.upto if wanted.late != "ignore" else None)
    selection = Selection(dataset.name, "watermark", True, text, values, warnings=tuple(warnings))
    bounds = Bounds(wanted.column, wanted.dtype, after, limit)
    return Choice(selection, dataset, bounds, state, is_complete=is_counted or not needs_counts)


def has_rows(extents: Extents | None, after: Value | None, limit: Value) -> bool | None:
    """Tell whether rows lie between two watermarks, as far as metadata tells; None where it does not."""
    if extents is None:
        return None
    if extents.has_between(after, limit):
        return True
    spans = (one.least <= limit and (after is None or one.greatest > after) for one in extents.each)
    return None if any(spans) else False


def is_path(read: Read, wanted: Watermark) -> bool:
    """Tell whether the watermark's values are in the paths of files, whose rows are not counted."""
    return wanted.column in read.dataset.partitions


def asked_newest(read: Read, wanted: Watermark, query: Query) -> tuple[Value | None, int]:
    """Return the greatest value of a column, and the number of nulls, by a query."""
    found = query(read, wanted.column, {}, {"newest": "max(w)", "nulls": "count(*) - count(w)"})
    return found["newest"], int(str(found["nulls"]))


def limit_of(newest: Value | None, lateness: timedelta | int) -> Value | None:
    """Return the watermark: the greatest value, less the lateness; None where there is none."""
    try:
        return None if newest is None else newest - lateness
    except OverflowError:  # before the first day that there is
        return None


def counted_rows(
    read: Read, wanted: Watermark, extents: Extents | None, after: Value | None, limit: Value, query: Query | None
) -> Counts:
    """Return how many rows are at or below two watermarks.

    Where some row groups have rows on both sides of a watermark, the engine counts those of these row groups.
    """
    limits = {"upto": limit} | ({} if after is None else {"old": after})
    known = {name: None if extents is None else extents.rows_upto(value) for name, value in limits.items()}
    if None in known.values() and query is not None:
        if extents is not None:
            open_groups = extents.open_at(limits.values())
            closed = extents.without(open_groups)
            known = {name: closed.rows_upto(value) for name, value in limits.items()}
            read = read_of(read, open_groups)
        found = query(read, wanted.column, limits, {name: f"count_if(w <= ${name})" for name in limits})
        known = {name: (known[name] or 0) + int(str(found[name])) for name in limits}
    return Counts(known.get("old", 0), known["upto"])


def read_of(read: Read, groups: Sequence[RowGroup]) -> Read:
    """Return a source with some of its row groups."""
    return Read(dataset=read.dataset.with_row_groups(tuple(groups)), columns=read.columns, origin=read.origin)


def late_rows(before: WatermarkState | None, counts: Counts, wanted: Watermark) -> int | None:
    """Return how many rows came that the last run's watermark had passed; None where that is not known.

    It is negative where rows are gone.
    """
    if before is None or before.rows is None or counts.old is None or wanted.late == "ignore":
        return None
    return counts.old - before.rows


# Words.


def shown(value: WatermarkValue) -> str:
    """Return a value as messages have it."""
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def range_text(wanted: Watermark, after: Value | None, upto: Value | None) -> str:
    """Say which rows are read."""
    parts = [] if after is None else [f"after {shown(after)}"]
    parts += [] if upto is None else [f"up to {shown(upto)}"]
    return f"with {wanted.column} {', '.join(parts)}" if parts else f"by {wanted.column}"


def nothing_text(wanted: Watermark, after: Value | None, limit: Value | None, newest: Value | None) -> str:
    """Say that there is no row to read."""
    if newest is None:
        return f"nothing new: no row has a value in {wanted.column}"
    if limit is None or (after is not None and limit <= after):
        wait = f", and rows of the last {lateness_text(wanted)} wait" if wanted.lateness else ""
        have = f"the newest row has {wanted.column} {shown(newest)}{wait}"
        return f"nothing new after {shown(after)}: {have}" if after is not None else f"nothing new: {have}"
    return f"nothing new: no row {range_text(wanted, after, limit)}; the newest is {shown(newest)}"


def lateness_text(wanted: Watermark) -> str:
    """Return the lateness in words."""
    if isinstance(wanted.lateness, int):
        return f"{wanted.lateness:,}"
    days, rest = divmod(wanted.lateness, timedelta(days=1))
    if days and not rest:
        return f"{days:,} day{'s' * (days != 1)}"
    return str(wanted.lateness)


def numbers(after: Value | None, upto: Value | None, newest: Value | None) -> dict[str, Any]:
    """Return watermarks for a report."""
    values: Mapping[str, Value | None] = {"after": after, "upto": upto, "newest": newest}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in values.items()}


def null_warning(source: str, column: str, nulls: int | None) -> list[str]:
    """Warn of rows without a watermark, which no run reads."""
    if nulls == 0:
        return []
    if nulls is None:
        what = f"files have no value of '{column}' in their paths, and no run reads them"
    else:
        count = "1 row has" if nulls == 1 else f"{nulls:,} rows have"
        what = f"{count} no value in '{column}', and no run reads {'it' if nulls == 1 else 'them'}"
    return [coded("GE1544", f"source '{source}': {what}.  Fill the column where the files are made")]


def late_warning(source: str, wanted: Watermark, after: Value | None, late: int | None) -> list[str]:
    """Warn of rows that came too late; raise `RunFailed` where the source says so."""
    if not late or after is None:
        return []
    if late < 0:
        what = f"{-late:,} rows with {wanted.column} up to {shown(after)} are gone since the last run"
        return [coded("GE1545", f"source '{source}': {what}.  So rows that came too late cannot be counted this time")]
    count = "1 row" if late == 1 else f"{late:,} rows"
    what = f"{count} with {wanted.column} up to {shown(after)} came after a run had read these rows"
    if wanted.late == "error":
        hint = (
            "Set a greater lateness for the time to come. To read such rows: gpuetl run --full-refresh. To go on "
            "without them, set late: warn."
        )
        raise RunFailed.at(Origin("source", source), coded("GE1545", what), hint)
    fix = "Set a greater lateness, or read everything again with gpuetl run --full-refresh"
    return [coded("GE1545", f"source '{source}': {what}, and no run reads {'it' if late == 1 else 'them'}.  {fix}")]
