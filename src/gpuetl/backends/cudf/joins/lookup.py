"""Rows of one side found by their keys: in a table by code where keys range narrowly, else in one by hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.arrays import filled
from gpuetl.backends.cudf.columns.keys import Keys
from gpuetl.backends.cudf.columns.words import Layout, measured, signed
from gpuetl.backends.cudf.device.columns import buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.joins.keys import JoinKeys
from gpuetl.backends.cudf.joins.numbered import sorted_lookup
from gpuetl.backends.cudf.joins.slots import Lookup
from gpuetl.backends.cudf.machine import Array, Machine

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
        arrays, rows = self.machine.arrays, others.rows
        found, count = arrays.empty(rows, "int32"), arrays.zeros(1, "uint64")
        module = self.machine.compiled(find_source(self, others))
        columns = [*buffers_of(others.columns), *([] if self.layout else buffers_of(self.keys.columns))]
        arguments = [rows, self.size, int(slots), self.owners, found, count, *placement(self.layout), *columns]
        self.machine.launch(module, "find", rows, arguments)
        return found, count


def lookup_of(keys: JoinKeys, machine: Machine) -> Lookup:
    """Make the right side's rows ready to be found."""
    rows = keys.right.rows
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
    module = machine.compiled(build_source(own, keys.nulls_equal, layout))
    arguments = [own.rows, size, owners, slots, repeated, *placement(layout), *own.arguments]
    machine.launch(module, "build", own.rows, arguments)
    return TableLookup(slots, owners, bool(repeated[0]), machine, own, keys.nulls_equal, layout)


def placement(layout: Layout | None) -> list[Any]:
    """Return the least value, the bits and the shift of each digit."""
    if layout is None:
        return []
    shifts = [sum(layout.bits[digit + 1 :]) for digit in range(len(layout.bits))]
    return [value for d, shift in enumerate(shifts) for value in (signed(layout.least[d]), layout.bits[d], shift)]


def placement_parameters(layout: Layout | None) -> list[str]:
    """Return the parameters that go with `placement`."""
    digits = range(len(layout.bits)) if layout else ()
    return [f"int64_t least{digit}, int64_t bits_of{digit}, int64_t shift{digit}" for digit in digits]


def slot_statements(layout: Layout) -> str:
    """Return the statements that compute the slot of `digits`, -1 for a key beyond the ranges that were measured."""
    return "\n".join(
        f"            if (digits.known[{digit}]) {{\n"
        f"                const uint64_t part = digits.of[{digit}] - uint64_t(least{digit});\n"
        f"                if (part >> bits_of{digit}) slot = -1;\n"
        f"                else if (slot >= 0) slot |= part << shift{digit};\n"
        f"            }}"
        for digit in range(len(layout.bits))
    )


def build_source(own: Keys, nulls_equal: bool, layout: Layout | None) -> str:
    """Return the kernel `build`."""
    parameters = ["int64_t rows, int64_t size, int32_t* owners, int32_t* slots, uint64_t* repeated"]
    if layout:
        made = f"slot = 0;\n{slot_statements(layout)}\n            again = claim(owners + slot, int32_t(row)) >= 0;"
    else:
        made = "slot = insert_by_hash(keys, digits, int32_t(row), owners, size - 1, again);"
    return f"""{headers_text(["rows.cuh", "lookup.cuh"])}{own.struct("Keys")}
KERNEL build({", ".join([*parameters, *placement_parameters(layout), *own.parameters])}) {{
    const Keys keys = {own.made()};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
        int64_t slot = -1;
        if ({"true" if nulls_equal else "all_known(digits)"}) {{
            bool again = false;
            {made}
            if (again) *repeated = 1;
        }}
        slots[row] = int32_t(slot);
    }}
}}
"""


def find_source(lookup: TableLookup, others: Keys) -> str:
    """Return the kernel `find`."""
    own, layout = lookup.keys, lookup.layout
    parameters = [
        "int64_t rows, int64_t size, int64_t want_slots, const int32_t* owners, int32_t* found, uint64_t* count"
    ]
    columns = {f"other {name}": vector for name, vector in others.columns.items()}
    made = f"const OtherKeys others = {others.made('OtherKeys')};"
    structs = others.struct("OtherKeys")
    if layout:
        place = f"slot = 0;\n{slot_statements(layout)}"
    else:
        made += f"\n    const Keys keys = {own.made(first=len(columns))};"
        structs += own.struct("Keys")
        columns |= own.columns
        place = "slot = find_by_hash(keys, digits, owners, size - 1);"
    return f"""{headers_text(["rows.cuh", "lookup.cuh"])}{structs}
KERNEL find({", ".join([*parameters, *placement_parameters(layout), *column_parameters(columns)])}) {{
    {made}
    Tally hits;
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = others[row];
        int64_t slot = -1;
        if ({"true" if lookup.nulls_equal else "all_known(digits)"}) {{
            {place}
        }}
        const int32_t owner = slot < 0 ? -1 : owners[slot];
        found[row] = owner < 0 ? -1 : want_slots ? int32_t(slot) : owner;
        hits.count += owner >= 0;
    }}
    hits.store(count);
}}
"""
