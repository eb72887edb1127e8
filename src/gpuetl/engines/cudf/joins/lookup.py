"""Rows of one side found by their keys: in a table by code where keys range narrowly, else in one by hash."""

from __future__ import annotations

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import filled
from gpuetl.engines.cudf.columns.keys import MOST_DIGITS, Keys, Words, launch_digits
from gpuetl.engines.cudf.columns.layout import Layout
from gpuetl.engines.cudf.columns.words import launch_placed, measured
from gpuetl.engines.cudf.joins.keys import JoinKeys
from gpuetl.engines.cudf.joins.numbered import sorted_lookup
from gpuetl.engines.cudf.joins.slots import Lookup
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass

TABLE_SLOTS = 8
"""A table by code may have this many slots for each row."""
SMALL_TABLE, LARGEST_TABLE = 1 << 16, 1 << 30
"""Any side may have as small a table; slots have 31 bits."""
MOST_HASHED = 1 << 29
"""Slots by hash are twice the rows at least, and have 31 bits."""


@dataclass(frozen=True, eq=False)
class TableLookup(Lookup):
    """A table of the rows of `keys`: by code, as the layout packs them, or by hash."""

    keys: Keys
    nulls_equal: bool
    layout: Layout | None

    def find(self, others: Keys, slots: bool) -> tuple[Array, Array]:
        """Look each key up."""
        machine, rows = self.machine, others.rows
        found, count = machine.arrays.empty(rows, "int32"), machine.arrays.zeros(1, "uint64")
        arguments = [int(self.nulls_equal), int(slots), self.owners, found, count]
        digits = others.described(machine)
        if self.layout:
            launch_placed("lookup", "find_by_code", others, digits, code_places(self.layout), arguments, machine)
        else:
            sides = [*others.struct(digits, machine), *self.keys.struct(self.keys.described(machine), machine)]
            launch_digits("lookup", "find_by_hash", len(digits), rows, [self.size, *arguments], sides, machine)
        return found, count


def lookup_of(keys: JoinKeys, machine: Machine) -> Lookup:
    """Make the right side's rows ready to be found. Keys of more than 16 digits are sorted."""
    rows = keys.right.rows
    if keys.right.digits > MOST_DIGITS:
        return sorted_lookup(keys, machine)
    if chosen("join_by_table"):
        layout = measured(keys.right, machine)
        slots = 1 << sum(layout.bits)
        if slots <= min(max(SMALL_TABLE, TABLE_SLOTS * rows), LARGEST_TABLE):
            return built(keys, layout, slots, machine)
    if chosen("join_by_hash") and rows < MOST_HASHED:
        return built(keys, None, 1 << max(6, (2 * rows - 1).bit_length()), machine)
    return sorted_lookup(keys, machine)


def built(keys: JoinKeys, layout: Layout | None, size: int, machine: Machine) -> TableLookup:
    """Put the right side's rows into a table of so many slots."""
    arrays, own = machine.arrays, keys.right
    owners, slots = filled(size, -1, "int32", machine), arrays.empty(own.rows, "int32")
    repeated = arrays.zeros(1, "uint64")
    arguments = [int(keys.nulls_equal), owners, slots, repeated]
    digits = own.described(machine)
    if layout:
        launch_placed("lookup", "build_by_code", own, digits, code_places(layout), arguments, machine)
    else:
        struct = own.struct(digits, machine)
        launch_digits("lookup", "build_by_hash", len(digits), own.rows, [size, *arguments], struct, machine)
    return TableLookup(slots, owners, bool(repeated[0]), machine, own, keys.nulls_equal, layout)


def code_places(layout: Layout) -> list[Words]:
    """Return a `Place` of device/keys.cuh for each digit. A code has all digits side by side."""
    places = range(len(layout.bits))
    return [[layout.least[at], 0, layout.bits[at] | sum(layout.bits[at + 1 :]) << 8] for at in places]
