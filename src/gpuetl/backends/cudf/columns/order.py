"""The order of rows by keys, and where groups and values begin in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.backends.cudf.columns.gather import take_rows
from gpuetl.backends.cudf.columns.words import Digit, key_digits, pack
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.plan.node import Node, SortKey
from gpuetl.report.recorder import note


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows in order, and where they differ from the row before.

    `rows` lists the row numbers (int32), None where they are in order already.  In that order, `new_group` marks
    (uint8) rows that differ in the leading keys, and `new_value` rows that differ in any; the first row does.
    """

    rows: Array | None
    new_group: Array
    new_value: Array

    @property
    def ties(self) -> int:
        """How many rows differ in no key from the row before."""
        return int(len(self.new_value) - int(self.new_value.sum()))

    def apply(self, frame: Frame, machine: Machine) -> Frame:
        """Return the frame's rows in order."""
        return frame if self.rows is None else take_rows(frame, self.rows, machine)

    def group_starts(self, machine: Machine) -> Array:
        """Return where each group begins (int32)."""
        return machine.arrays.nonzero(self.new_group)[0].astype("int32")


def sort_rows(frame: Frame, keys: Sequence[SortKey], leading: int, presorted: bool, machine: Machine) -> SortedRows:
    """Sort stably: NaN greatest, nulls where each key says, strings by UTF-8 bytes.

    `leading` is how many of the keys make a group; `presorted` rows are in order, as the planner knows.
    """
    digits = [key_digits(frame.columns[key.column], key, machine) for key in keys]
    group = pack([digit for own in digits[:leading] for digit in own], machine)
    rest = pack([digit for own in digits[leading:] for digit in own], machine)
    words = pack([*group, *rest], machine)
    rows = None if presorted or not words else machine.sorted_order([word.values for word in words])
    new_group = changes(frame.rows, group, rows, machine)
    return SortedRows(rows, new_group, new_group | changes(frame.rows, rest, rows, machine))


def changes(count: int, words: Sequence[Digit], rows: Array | None, machine: Machine) -> Array:
    """Mark (uint8) the rows that differ from the one before in any word; the first row does."""
    arrays = machine.arrays
    marks = arrays.zeros(count, "uint8")
    marks[:1] = 1
    for word in words:
        values = word.values if rows is None else word.values[rows]
        marks[1:] |= (values[1:] != values[:-1]).astype("uint8")
    return marks


def note_ties(operation: Node, keys: Sequence[SortKey], ties: int) -> None:
    """Tell the user of rows that the order does not tell apart: their order may differ from engine to engine.

    Names that begin with a colon are the planner's, such as a sample's hash: rows that tie there are equal.
    """
    if ties and not all(key.column.startswith(":") for key in keys):
        names = ", ".join(key.column for key in keys)
        note(f"{operation.origin}: some rows tie in ({names}); add a column to the order that tells them apart")
