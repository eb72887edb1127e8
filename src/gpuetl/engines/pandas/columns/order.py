"""Sorting: keys as integers whose order is the contract's, packed into 64-bit integer columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import canonical, has_numbers, take_rows, to_masked, whole
from gpuetl.plan.node import Node, SortKey, shown_order
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import note
from gpuetl.threads import in_threads
from gpuetl.types.data_types import STRING, is_floating

# Sort keys packed into 64-bit integer columns by their measured ranges.


Ints = NDArray[np.int64]
UInts = NDArray[np.uint64]
WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class PackedColumn:
    """Rows' keys, or a part of them, as unsigned integers of `bits` bits that have the keys' order."""

    values: UInts
    bits: int

    def joined(self, less: PackedColumn) -> PackedColumn:
        """Return this column with a less significant one packed below it."""
        return PackedColumn((self.values << np.uint64(less.bits)) | less.values, self.bits + less.bits)


def pack_keys(keys: Sequence[Ints]) -> list[PackedColumn]:
    """Pack keys, the most significant first, into as few 64-bit columns as their ranges need."""
    columns: list[PackedColumn] = []
    for key in keys:
        column = measured(key)
        if columns and columns[-1].bits + column.bits <= WORD_BITS:
            columns[-1] = columns[-1].joined(column)
        else:
            columns.append(column)
    return columns


def measured(key: Ints) -> PackedColumn:
    """Return a key less its least value, and the bits that its range needs."""
    if not len(key):
        return PackedColumn(key.view(np.uint64), 0)
    low = key.min()
    span = int(key.max()) - int(low)
    return PackedColumn(key.view(np.uint64) - low.view(np.uint64), span.bit_length())


def argsort_packed(columns: Sequence[PackedColumn]) -> Ints:
    """Return the row numbers that sort stably by columns, the most significant first.

    Least significant part first, as a radix sort: each pass sorts values that hold as many bits of the key as the
    row's place leaves room for.  NumPy sorts values with vector instructions, many times as fast as it finds an order.
    """
    count = len(columns[0].values)
    place_bits = max(count - 1, 1).bit_length()
    part_bits = WORD_BITS - place_bits
    places = np.arange(count, dtype=np.uint64)
    rows: Ints | None = None
    for column in reversed(columns):
        for shift in range(0, column.bits, part_bits):
            values = column.values if rows is None else column.values[rows]
            part = (values >> np.uint64(shift)) << np.uint64(place_bits)
            permuted = (np.sort(part | places) & np.uint64((1 << place_bits) - 1)).view(np.int64)
            rows = permuted if rows is None else rows[permuted]
    return places.view(np.int64) if rows is None else rows


# Sorting: keys as integers whose order is the contract's, packed into one where their ranges allow.


SAMPLE_ROWS = 1 << 15
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class SortedRows:
    """Rows in order, and where they differ from the row before.

    `rows` lists the row numbers, None where they are in order already.  In that order, `new_group` marks rows that
    differ in the leading keys, and `new_value` rows that differ in any (the first row does).
    """

    rows: Ints | None
    new_group: Flags
    new_value: Flags

    @property
    def ties(self) -> int:
        """How many rows differ in no key from the row before."""
        return int(len(self.new_value) - self.new_value.sum())

    def apply(self, frame: pa.Table) -> pa.Table:
        """Return the frame's rows in order."""
        return frame if self.rows is None else take_rows(frame, self.rows)


def note_ties(operation: Node, keys: Sequence[SortKey], ties: int) -> None:
    """Note rows that tie in the order: their order may differ from engine to engine.

    Names that begin with a colon are the planner's, such as a sample's hash: rows that tie there are equal.
    """
    if ties and not any(key.column.startswith(":") for key in keys):
        tied = f"some rows tie in ({shown_order(keys)})"
        note(f"{operation.origin}: {tied}; add a column to the order that tells them apart")


def sort_rows(frame: pa.Table, keys: Sequence[SortKey], leading: int = 0, presorted: bool = False) -> SortedRows:
    """Sort stably: NaN greatest, nulls where each key says, strings by UTF-8 bytes.

    `leading` is how many of the keys make a group; `presorted` rows are in order, as the planner knows.  Keys are
    packed into integer columns by their measured ranges, so that there are few to sort by.
    """
    ordinals = in_threads(lambda key: ordinal(frame.column(key.column), key), keys)
    columns = pack_keys(ordinals)
    rows = None if presorted or _in_order(columns) else argsort_packed(columns)
    if rows is not None:
        ordinals = in_threads(lambda values: values[rows], ordinals)
    same = np.ones(frame.num_rows, bool)
    same[:1] = False
    for values in ordinals[:leading]:
        same[1:] &= values[1:] == values[:-1]
    new_group = ~same
    for values in ordinals[leading:]:
        same[1:] &= values[1:] == values[:-1]
    return SortedRows(rows, new_group, ~same)


def sorted_order(frame: pa.Table, keys: Sequence[SortKey]) -> Ints:
    """Return the row numbers that sort stably."""
    return argsort_packed(pack_keys(in_threads(lambda key: ordinal(frame.column(key.column), key), keys)))


def least_rows(frame: pa.Table, keys: Sequence[SortKey], count: int) -> pa.Table:
    """Return, in the order of the frame, the rows that may be among the first `count`; O(rows)."""
    if count >= frame.num_rows or not keys:
        return frame
    weighty = pack_keys([ordinal(frame.column(key.column), key) for key in keys])[0].values
    greatest = np.partition(weighty, count - 1)[count - 1] if count else 0
    return take_rows(frame, np.flatnonzero(weighty <= greatest) if count else np.zeros(0, np.int64))


def ordinal(column: Any, key: SortKey) -> Ints:
    """Return integers in the order of the key; nulls are an integer beyond all values."""
    column = whole(column)
    values, valid = ordered_values(column)
    if key.descending:
        values = ~values  # reverses the order and cannot overflow
    if valid.all():
        return values
    return _with_nulls(values, valid, key.nulls_first)


def ordered_values(column: Any) -> tuple[Ints, Flags]:
    """Return integers in the order of the values, NaN the greatest, and which are not null."""
    if not has_numbers(column.type):
        ranked = rank_values(column)
        return ranked.ranks, ranked.valid
    masked = to_masked(canonical(column))
    if is_floating(column.type):
        bits = masked.values.astype(np.float64).view(np.int64)
        return bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF)), masked.valid
    if column.type == pa.uint64():
        return (masked.values ^ np.uint64(1 << 63)).view(np.int64), masked.valid
    return masked.values.astype(np.int64), masked.valid


@dataclass(frozen=True)
class RankedValues:
    """A column as ranks of its distinct `values`, which ascend; the rank under a null is 0."""

    ranks: Ints
    valid: Flags
    values: Any


def rank_values(column: Any) -> RankedValues:
    """Rank the distinct values of a string or decimal column.

    Strings that mostly differ, by a sample, are sorted themselves.  A hash table of them is slower, and takes 30 to 160
    bytes a row: it grows fourfold at once.
    """
    column = whole(column)
    if column.type == STRING and not column.null_count and strings_mostly_differ(column):
        return rank_by_sorting(column)
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order.to_numpy()] = np.arange(len(order))
    ranks[-1] = 0
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    indices = pc.fill_null(encoded.indices, len(order)).to_numpy(zero_copy_only=False)
    return RankedValues(ranks[indices], valid, encoded.dictionary.take(order))


def strings_mostly_differ(column: Any) -> bool:
    """Return whether few strings have an equal one, on average less than a half; False where there are few strings.

    Of n sampled rows of N, n² / 2N pairs are equal where each row is equal to one other.  Repeats in the sample count
    these pairs.  With two rows a value a dictionary takes half to nine tenths of the time of a sort.
    """
    step = len(column) // SAMPLE_ROWS
    if not step:
        return False
    sample = column.take(pa.array(np.arange(0, len(column), step)))
    repeats = len(sample) - pc.count_distinct(sample).as_py()
    return bool(repeats * 4 * len(column) < len(sample) ** 2)


def rank_by_sorting(column: Any) -> RankedValues:
    """Rank the distinct values of a string array without nulls: one sort, and one pass over its result."""
    order = pc.sort_indices(column)
    ordered = column.take(order)
    is_new = np.ones(len(column), bool)
    is_new[1:] = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
    ranks = np.empty(len(column), np.int64)
    ranks[order.to_numpy()] = np.cumsum(is_new) - 1
    values = ordered if is_new.all() else ordered.filter(pa.array(is_new))
    return RankedValues(ranks, np.ones(len(column), bool), values)


def distinct_strings(columns: Sequence[Any]) -> Any:
    """Return the distinct values of string columns, ascending, without null."""
    values = pa.chunked_array([whole(column) for column in columns], pa.string()).drop_null().unique()
    return values.take(pc.sort_indices(values))


def places_among(limits: Any, column: Any) -> Any:
    """Return where each string is among ascending strings: 2i + 1 where it is the i-th, 2i where it is before that.

    Null stays null.  A binary search of all rows at once: O(rows * log(limits)).
    """
    strings = whole(column)
    low, high = np.zeros(len(strings), np.int64), np.full(len(strings), len(limits))
    for _ in range(len(limits).bit_length()):
        middle = (low + high) // 2
        is_less = _compared(pc.less, limits, middle, strings) & (low < high)
        low, high = np.where(is_less, middle + 1, low), np.where(is_less, high, middle)
    places = 2 * low + _compared(pc.equal, limits, low, strings)
    return pa.array(places, mask=None if not strings.null_count else strings.is_null().to_numpy(zero_copy_only=False))


def _compared(compare: Callable[[Any, Any], Any], limits: Any, places: Ints, strings: Any) -> Flags:
    """Compare the limits at some places with strings; false beside null, and where a place is behind the last limit."""
    gathered = limits.take(pa.array(places, mask=places >= len(limits)))
    flags: Flags = compare(gathered, strings).fill_null(False).to_numpy(zero_copy_only=False)
    return flags


def _with_nulls(values: Ints, valid: Flags, first: bool) -> Ints:
    """Put nulls before or after all values; where the range is full, values are ranked to make room."""
    kept = values[valid]
    if not len(kept):
        return np.zeros(len(values), np.int64)
    limits = np.iinfo(np.int64)
    if kept.min() == limits.min or kept.max() == limits.max:
        kept = np.unique(kept, return_inverse=True)[1].astype(np.int64)
    result = np.empty(len(values), np.int64)
    result[valid] = kept
    result[~valid] = kept.min() - 1 if first else kept.max() + 1
    return result


def _in_order(columns: Sequence[PackedColumn]) -> bool:
    """Return whether rows are in order already, where one column holds the keys or there are none."""
    return not columns or (len(columns) == 1 and bool((columns[0].values[1:] >= columns[0].values[:-1]).all()))
