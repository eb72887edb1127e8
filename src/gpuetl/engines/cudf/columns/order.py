"""The order of rows by keys, and where groups and values begin in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import iota, numbers_where
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take_rows
from gpuetl.engines.cudf.columns.keys import Keys, Layout, keys_of
from gpuetl.engines.cudf.columns.packed_keys import (
    MOST_OUTPUTS,
    Marks,
    Unpacked,
    is_unpackable,
    mark_columns,
    mark_words,
    measured,
    packed,
    single,
)
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.plan.node import Node, SortKey, shown_order
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import NULL


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows in order, and where they differ from the row before.

    `rows` lists the row numbers (int32), None where they are in order already.  In that order, `new_group` marks
    (uint8) rows that differ in the leading keys, and `new_value` rows that differ in any; the first row does.
    `columns` are those of the frame that are known in that order, strings by their numbers in the dictionary.
    """

    rows: Array | None
    marks: Marks
    columns: Mapping[str, Vector] = field(default_factory=dict)

    @property
    def new_group(self) -> Array:
        """Where groups begin."""
        return self.marks.groups

    @property
    def new_value(self) -> Array:
        """Where values begin."""
        return self.marks.values

    @property
    def ties(self) -> int:
        """How many rows differ in no key from the row before."""
        return int(self.marks.ties[0])

    def apply(self, frame: Frame, machine: Machine) -> Frame:
        """Return the rows, in order, of the frame that was sorted."""
        if self.rows is None:
            return frame
        others = frame.select(tuple(name for name in frame.columns if name not in self.columns))
        gathered = take_rows(others, self.rows, machine, permuted=True)
        known = {name: output.as_codes_of(frame.columns[name].dictionary) for name, output in self.columns.items()}
        return frame.updated({**gathered.columns, **known})

    def group_starts(self, machine: Machine) -> Array:
        """Return where each group begins (int32)."""
        return numbers_where(self.new_group, machine)


def sort_rows(
    frame: Frame, keys: Sequence[SortKey], leading: int, presorted: bool, machine: Machine, whole: bool = False
) -> SortedRows:
    """Sort stably: NaN greatest, nulls where each key says, strings by UTF-8 bytes.

    `leading` is how many of the keys make a group; `presorted` rows are in order, as the planner knows.  With `whole`
    the rows are going to be taken whole, by `apply`.
    """
    typed = [key for key in keys if frame.columns[key.column].dtype != NULL]
    own = keys_of(frame.columns, typed, frame.rows, machine)
    group = [key for key in keys[:leading] if key in typed]
    unpackable = [(key.column, at) for at, key in enumerate(typed) if is_unpackable(frame.columns[key.column])]
    unpack_columns = unpackable if whole and chosen("keys_from_words") else ()
    return sort_keys(own, len(group), presorted, machine, unpack_columns=unpack_columns)


def sort_keys(
    keys: Keys, leading: int, presorted: bool, machine: Machine, layout: Layout | None = None,
    unpack_columns: Sequence[tuple[str, int]] = (),
) -> SortedRows:  # fmt: skip
    """Sort stably by keys, which are measured unless they were; `rows` are places among those that the keys select.

    Where packed keys are sorted, `unpack_columns` are computed from them: each has a name and its key's place.
    """
    if presorted or not keys.keys:
        return SortedRows(None, mark_columns(keys, leading, machine))
    layout = layout or measured(keys, machine)
    if layout.in_order and chosen("notice_order"):
        return SortedRows(None, mark_columns(keys, leading, machine))
    words = packed(keys, layout, machine)
    if not words:
        return SortedRows(None, single(keys.rows, machine))
    rows = machine.sorted_order(words)
    unpacked = {name: Unpacked.of(keys, place, machine) for name, place in unpack_columns[:MOST_OUTPUTS]}
    marks = mark_words(words, keys, leading, layout, rows, [*unpacked.values()], machine)
    return SortedRows(rows, marks, {name: each.column for name, each in unpacked.items()})


def sorted_order(keys: Keys, machine: Machine) -> Array:
    """Return the row numbers (int32) that sort stably by keys."""
    words = packed(keys, measured(keys, machine), machine)
    return machine.sorted_order(words) if words else iota(keys.rows, machine)


def note_ties(operation: Node, keys: Sequence[SortKey], ties: int) -> None:
    """Tell the user of rows that the order does not tell apart: their order may differ from engine to engine.

    Names that begin with a colon are the planner's, such as a sample's hash: rows that tie there are equal.
    """
    if ties and not any(key.column.startswith(":") for key in keys):
        tied = f"some rows tie in ({shown_order(keys)})"
        note(f"{operation.origin}: {tied}; add a column to the order that tells them apart")
