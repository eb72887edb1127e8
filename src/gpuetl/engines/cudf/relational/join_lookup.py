"""Rows of two sides with equal keys, found in a table by code or by hash, or by numbers of sorted keys."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.arrays import (
    NOT_NEGATIVE,
    ZERO,
    above,
    choose,
    count_not_negative,
    filled,
    numbers_where,
    pick,
    scan,
    scatter,
    set_marks,
)
from gpuetl.engines.cudf.columns.concat import shared_codes, stacked
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.keys import MOST_COMPONENTS, Key, Keys, Layout, Words, launch_components
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import sort_keys
from gpuetl.engines.cudf.columns.packed_keys import launch_placed, measured
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.expressions.ir import Cast, Column
from gpuetl.plan.nodes import AsofJoin, Join
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL, DataType, common_type

# Which rows of two sides go together.


FEW = 32
"""Partners of a row that one thread writes, as device/closed/pairs.cu has it; a warp writes more."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows that go together, in the order of the left ones, then of the right ones.

    `left` None stands for every left row once, in order; -1 in `right` for none.
    """

    left: Array | None
    right: Array


@dataclass(frozen=True, eq=False)
class KeyCodes:
    """The codes (int32) of the left and the right side's keys, from 0 below `size`; -1 matches nothing."""

    left: Array
    right: Array
    size: int


def count_codes(codes: Array, size: int, machine: Machine) -> Array:
    """Return how often each code stands (int64), and a last 0."""
    counts = machine.arrays.zeros(size + 1, "int64")
    machine.launch(machine.closed("pairs"), "count_codes", len(codes), [len(codes), codes, counts])
    return counts


def unmatched_right(keys: KeyCodes, machine: Machine) -> Array:
    """Return the numbers of the right rows whose code no left row has."""
    matched = machine.arrays.zeros(keys.size, "uint8")
    set_marks(matched, keys.left, machine)
    return numbers_where(pick(matched, keys.right, machine), machine, ZERO)


def single_partners(partners: Array, count: Array, inner: bool, machine: Machine) -> Pairs:
    """Pair each left row with the one that is found for it, -1 for none, of which there are `count`."""
    if not inner or int(count[0]) == len(partners):
        return Pairs(None, partners)
    kept = numbers_where(partners, machine, NOT_NEGATIVE)
    return Pairs(kept, pick(partners, kept, machine))


def paired(keys: KeyCodes, counts: Array, repeats: Array, ends: Array, total: int, machine: Machine) -> Pairs:
    """Pair each left row with the right rows of its code, of which there are `counts`.

    Each left row has `repeats` pairs, which end before its place in `ends`, `total` in all; one more than it has
    partners is its own with none.
    """
    arrays = machine.arrays
    by_code = machine.sorted_order([keys.right.view("uint32")])  # those of code -1 come last
    starts = scan(counts, machine, before=True)
    left, right = arrays.empty(total, "int32"), arrays.empty(total, "int32")
    module, rows = machine.closed("pairs"), len(keys.left)
    arguments = [keys.left, counts, starts, ends, by_code, left, right]
    machine.launch(module, "pair_few", rows, [rows, *arguments])
    many = numbers_where(repeats, machine, above(FEW))
    machine.launch(module, "pair_many", len(many) * 32, [len(many), many, *arguments])
    return Pairs(left, right)


# The keys of a join's two sides, in types that compare.


@dataclass(frozen=True, eq=False)
class JoinKeys:
    """Keys of the left and of the right side; rows with a null match nothing unless `nulls_equal`."""

    left: Keys
    right: Keys
    nulls_equal: bool


def join_keys(operation: Join | AsofJoin, left: Frame, right: Frame, machine: Machine) -> JoinKeys:
    """Return the keys of both sides; NaN equals NaN, -0.0 is 0.0."""
    pairs = [
        comparable(left.columns[ours], right.columns[theirs], machine)
        for ours, theirs in zip(operation.left_on, operation.right_on, strict=True)
    ]
    flags = [operation.nulls_equal and any(side.valid is not None for side in pair) for pair in pairs]
    sides = ([Key(pair[side], flag) for pair, flag in zip(pairs, flags, strict=True)] for side in range(2))
    ours, theirs = map(tuple, sides)
    return JoinKeys(Keys(ours, left.rows), Keys(theirs, right.rows), operation.nulls_equal)


def comparable(left: Vector, right: Vector, machine: Machine) -> tuple[Vector, Vector]:
    """Return a key of both sides as numbers that compare as the values do: strings are numbered together."""
    dtype = common_type(left.dtype, right.dtype)
    assert dtype is not None
    if not same_components(left.dtype, right.dtype):
        left, right = as_type(left, dtype, machine), as_type(right, dtype, machine)
    if not has_bytes(dtype):
        return left, right
    ours, theirs = shared_codes([left, right], machine)
    return ours, theirs


def comparable_sources(left: Kind, right: Kind) -> list[KernelSource]:
    """List the programs of `comparable`."""
    dtype = common_type(left.dtype, right.dtype)
    assert dtype is not None
    if same_components(left.dtype, right.dtype):
        return []
    casts = [(cast_to(kind.dtype, dtype), kind) for kind in (left, right) if kind.dtype != dtype]
    return [text for cast, kind in casts for text in evaluated({"": cast}, Kinds({"": kind})).sources]


def same_components(left: DataType, right: DataType) -> bool:
    """Return whether values of two types have the same components where they are equal."""
    signed, unsigned = pa.types.is_signed_integer, pa.types.is_unsigned_integer
    return bool(left == right or (signed(left) and signed(right)) or (unsigned(left) and unsigned(right)))


def as_type(vector: Vector, dtype: DataType, machine: Machine) -> Vector:
    """Return the column in a type that holds all of its values."""
    if vector.dtype == dtype:
        return vector
    return evaluate({"": cast_to(vector.dtype, dtype)}, {"": vector}, vector.rows, machine)[""]


def cast_to(source: DataType, target: DataType) -> Cast:
    """Return the cast of a key, the column without a name, to another type."""
    return Cast(Column("", source), target, implicit=target != NULL and source == NULL)


# What a join asks of a side's rows, however they are found: which slot has a key, and which row has a slot.


@dataclass(frozen=True, eq=False)
class Lookup(ABC):
    """A side's rows by slot.

    `slots` (int32) are those of its rows, -1 for a null key that matches nothing; `owners` (int32) is a row that has
    the slot's key, -1 where none has; `repeated` tells whether two rows have the same.
    """

    slots: Array
    owners: Array
    repeated: bool
    machine: Machine

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.owners)

    @abstractmethod
    def find(self, others: Keys, slots: bool) -> tuple[Array, Array]:
        """Return each row's slot, or the row that owns it, as int32, -1 for none; and how many are found (uint64)."""


# Keys of both sides numbered together by sorting: the way for keys that are looked up in no table.


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


def on_both_sides(left_key: Key, right_key: Key, machine: Machine) -> Key:
    """Return a key of both sides in one type, the right rows below the left ones."""
    dtype = common_type(left_key.column.dtype, right_key.column.dtype)
    assert dtype is not None
    column = stacked([as_type(key.column, dtype, machine) for key in (left_key, right_key)], machine)
    return Key(column, column.valid is not None)


# Rows of one side found by their keys: in a table by code where keys range narrowly, else in one by hash.


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
        components = others.described(machine)
        if self.layout:
            launch_placed("lookup", "find_by_code", others, components, code_places(self.layout), arguments, machine)
        else:
            sides = [*others.struct(components, machine), *self.keys.struct(self.keys.described(machine), machine)]
            launch_components("lookup", "find_by_hash", len(components), rows, [self.size, *arguments], sides, machine)
        return found, count


def lookup_of(keys: JoinKeys, machine: Machine) -> Lookup:
    """Make the right side's rows ready to be found. Keys of more than 16 components are sorted."""
    rows = keys.right.rows
    if keys.right.components > MOST_COMPONENTS:
        return sorted_lookup(keys, machine)
    if chosen("join_by_table"):
        layout = measured(keys.right, machine)
        slots = 1 << sum(layout.bits)
        if slots <= min(max(SMALL_TABLE, TABLE_SLOTS * rows), LARGEST_TABLE):
            return build_lookup(keys, layout, slots, machine)
    if chosen("join_by_hash") and rows < MOST_HASHED:
        return build_lookup(keys, None, 1 << max(6, (2 * rows - 1).bit_length()), machine)
    return sorted_lookup(keys, machine)


def build_lookup(keys: JoinKeys, layout: Layout | None, size: int, machine: Machine) -> TableLookup:
    """Put the right side's rows into a table of so many slots."""
    arrays, own = machine.arrays, keys.right
    owners, slots = filled(size, -1, "int32", machine), arrays.empty(own.rows, "int32")
    repeated = arrays.zeros(1, "uint64")
    arguments = [int(keys.nulls_equal), owners, slots, repeated]
    components = own.described(machine)
    if layout:
        launch_placed("lookup", "build_by_code", own, components, code_places(layout), arguments, machine)
    else:
        struct = own.struct(components, machine)
        launch_components("lookup", "build_by_hash", len(components), own.rows, [size, *arguments], struct, machine)
    return TableLookup(slots, owners, bool(repeated[0]), machine, own, keys.nulls_equal, layout)


def code_places(layout: Layout) -> list[Words]:
    """Return a `Place` of device/keys.cuh for each component. A code has all components side by side."""
    places = range(len(layout.bits))
    return [[layout.least[at], 0, layout.bits[at] | sum(layout.bits[at + 1 :]) << 8] for at in places]
