"""Keys of both sides numbered together by sorting: the way for keys that are looked up in no table."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import choose, count_not_negative, filled, scan, scatter
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.keys import Key, Keys
from gpuetl.engines.cudf.columns.order import sort_keys
from gpuetl.engines.cudf.joins.keys import JoinKeys, as_type
from gpuetl.engines.cudf.joins.slots import Lookup
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass
from gpuetl.types.data_types import common_type


@dataclass(frozen=True, eq=False)
class SortedLookup(Lookup):
    """Keys whose codes are known on both sides: `others` (int32) are the other side's, and only these can be found."""

    others: Array

    def find(self, others: Keys, slots: bool) -> tuple[Array, Array]:
        """Take the codes, which are those of the other side's rows."""
        arrays, rows = self.machine.arrays, len(self.others)
        found, count = arrays.empty(rows, "int32"), arrays.zeros(1, "uint64")
        arguments = [rows, int(slots), self.others, self.owners, found, count]
        self.machine.launch(self.machine.closed("pairs"), "find_owners", rows, arguments)
        return found, count


def sorted_lookup(keys: JoinKeys, machine: Machine) -> SortedLookup:
    """Number the keys of both sides in their order, from 0, and look where they are on the right."""
    arrays = machine.arrays
    rows = keys.left.rows + keys.right.rows
    pairs = [(ours, theirs) for ours, theirs in zip(keys.left.keys, keys.right.keys, strict=True)]
    both = Keys(tuple(on_both_sides(*pair, machine) for pair in pairs), rows)
    order = sort_keys(both, len(pairs), False, machine)
    ranks = scan(order.new_value, machine, "int32", first=-1)
    codes = ranks
    if order.rows is not None:
        codes = arrays.empty(rows, "int32")
        scatter(codes, order.rows, machine, ranks)
    if not keys.nulls_equal:
        for key in both.keys:
            codes = choose(key.column.valid, codes, -1, machine)
    others, slots = codes[: keys.left.rows], codes[keys.left.rows :]
    owners = filled(rows, -1, "int32", machine)
    scatter(owners, slots, machine)
    repeated = count_not_negative(owners, machine) < count_not_negative(slots, machine)
    return SortedLookup(slots, owners, repeated, machine, others)


def on_both_sides(ours: Key, theirs: Key, machine: Machine) -> Key:
    """Return a key of both sides in one type, the right rows below the left ones."""
    dtype = common_type(ours.column.dtype, theirs.column.dtype)
    assert dtype is not None
    column = stacked([as_type(key.column, dtype, machine) for key in (ours, theirs)], machine)
    return Key(column, column.valid is not None)
