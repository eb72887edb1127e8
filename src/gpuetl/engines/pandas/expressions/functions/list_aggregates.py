"""One value of the elements of each list, on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.no_result import LENGTHS_DIFFER, NULL_ELEMENT
from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, take_or_null
from gpuetl.engines.pandas.columns.lists import Elements, Flags, Ints, beside, flags, lists_at
from gpuetl.engines.pandas.expressions.means import decimal_limbs, nearest_floats, nearest_integers
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import DURATION, FLOAT64, INT64, is_floating
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal

Floats = NDArray[np.float64]


def over_lists(compute: Callable[[Elements], Any]) -> Callable[..., Any]:
    """Return the handler of a function of one list."""
    return lambda lists: over_columns(lambda column: compute(Elements.of(column)), lists)


def known_floats(elements: Elements) -> tuple[Floats, Ints]:
    """Return the elements that are not null as float64, and their rows."""
    known = elements.known
    values = pc.cast(elements.values, FLOAT64, safe=False).to_numpy(zero_copy_only=False)
    return values[known], elements.rows[known]


def counts_of(elements: Elements) -> Ints:
    """Return how many elements of each list are not null."""
    return np.bincount(elements.rows[elements.known], minlength=elements.count).astype(np.int64)


def exact_sums(elements: Elements) -> Any:
    """Return the sums of integers, durations or decimals as decimals of 76 digits, 0 of no values."""
    values = elements.values
    if not is_decimal(values.type):
        numbers = values.cast(INT64) if values.type == DURATION else values
        values = numbers.cast(pa.decimal128(20, 0))
    wide = values.cast(pa.decimal256(76, values.type.scale))
    frame = pa.table({"row": pa.array(elements.rows), "value": wide})
    sums = frame.group_by("row").aggregate([("value", "sum")])
    places = np.full(elements.count, -1, np.int64)
    places[sums["row"].to_numpy()] = np.arange(sums.num_rows)
    found = take_or_null(sums["value_sum"], Masked(np.maximum(places, 0), places >= 0))
    return pc.fill_null(found, pa.scalar(0).cast(pa.decimal256(76, 0)).cast(wide.type))


def total(elements: Elements) -> Any:
    """The sum of the elements, one after the other."""
    valid = counts_of(elements) > 0
    if is_floating(elements.values.type):
        values, rows = known_floats(elements)
        return from_masked(Masked(np.bincount(rows, values, elements.count), valid), FLOAT64)
    sums = pc.if_else(pa.array(valid), exact_sums(elements), pa.scalar(None))
    if is_decimal(elements.values.type):
        return sums.cast(pa.decimal128(MAX_DIGITS, sums.type.scale))
    return (
        sums.cast(pa.decimal256(76, 0))
        .cast(INT64)
        .cast(elements.values.type if elements.values.type == DURATION else INT64)
    )


def mean(elements: Elements) -> Any:
    """The mean of the elements."""
    counts = counts_of(elements)
    divisors, valid = np.maximum(counts, 1), counts > 0
    if is_floating(elements.values.type):
        values, rows = known_floats(elements)
        with np.errstate(invalid="ignore"):
            return from_masked(Masked(np.bincount(rows, values, elements.count) / divisors, valid), FLOAT64)
    sums = exact_sums(elements)
    limbs = decimal_limbs(sums)
    if elements.values.type == DURATION:
        return from_masked(Masked(nearest_integers(limbs, divisors), valid), DURATION)
    return from_masked(Masked(nearest_floats(limbs, divisors, scale=sums.type.scale), valid), FLOAT64)


def compensated_sum(elements: Elements) -> Any:
    """The sum of the elements, one after the other; what rounding loses is added again."""
    values, rows = known_floats(elements)
    sums, errors = np.zeros(elements.count), np.zeros(elements.count)
    with np.errstate(all="ignore"):
        for value, row in zip(values, rows, strict=True):
            added = value - errors[row]
            following = sums[row] + added
            errors[row], sums[row] = (following - sums[row]) - added, following
    return from_masked(Masked(sums, counts_of(elements) > 0), FLOAT64)


def product(elements: Elements) -> Any:
    """The product of the elements, one after the other."""
    values, rows = known_floats(elements)
    found = np.ones(elements.count)
    with np.errstate(all="ignore"):
        np.multiply.at(found, rows, values)
    return from_masked(Masked(found, counts_of(elements) > 0), FLOAT64)


def edge(last: bool) -> Callable[[Elements], Any]:
    """Return what gives the least element, or the greatest."""

    def compute(elements: Elements) -> Any:
        order = elements.order()
        order = order[elements.known[order]]
        return at_row(elements, order, last)

    return compute


def at_row(elements: Elements, places: Ints, last: bool) -> Any:
    """Return the first, or the last, of each row's elements among those at `places`, which are in the order of rows."""
    rows = elements.rows[places]
    ends = np.searchsorted(rows, np.arange(elements.count), "right" if last else "left") - last
    found = np.bincount(rows, minlength=elements.count) > 0
    chosen = places[np.where(found, ends, 0)] if len(places) else np.zeros(elements.count, np.int64)
    return take_or_null(elements.values, Masked(chosen, found))


def any_value(elements: Elements) -> Any:
    """The first element that is not null."""
    return at_row(elements, np.flatnonzero(elements.known), last=False)


def count(elements: Elements) -> Any:
    """The number of elements that are not null."""
    return from_masked(Masked(counts_of(elements), elements.valid), INT64)


def truth(of_all: bool) -> Callable[[Elements], Any]:
    """Return what tells whether all elements are true, or any."""

    def compute(elements: Elements) -> Any:
        hits = flags(pc.fill_null(elements.values.cast(pa.bool_()), of_all))
        odd = np.bincount(elements.rows[~hits if of_all else hits], minlength=elements.count) > 0
        return from_masked(Masked(~odd if of_all else odd, counts_of(elements) > 0), pa.bool_())

    return compute


def joined(lists: Any, separator: Any) -> Any:
    """The strings with what stands between them; nulls are left out."""

    def compute(column: Any) -> Any:
        strings = column if column.type.value_type == pa.string() else column.cast(pa.list_(pa.string()))
        return pc.binary_join(without_nulls(strings), separator.as_py())

    return over_columns(compute, lists)


def without_nulls(lists: Any) -> Any:
    """Return lists without the elements that are null."""
    elements = Elements.of(lists)
    known = np.flatnonzero(elements.known)
    return lists_at(elements.values, known, elements.rows[known], elements.valid)


def position(lists: Any, value: Any) -> Any:
    """The place of the first element that equals a value, or is null as it is."""

    def compute(lists: Any, value: Any) -> Any:
        lists, value = beside(lists, value)
        elements = Elements.of(lists)
        there = value.take(pa.array(elements.rows))
        equal = pc.fill_null(pc.equal(elements.values, there), False)
        both_null = pc.and_(pc.is_null(elements.values), pc.is_null(there))
        places = np.flatnonzero(flags(pc.or_(equal, both_null)))
        found = np.zeros(elements.count, np.int64)
        rows, first = np.unique(elements.rows[places], return_index=True)
        found[rows] = places[first] - elements.parts.starts[rows] + 1
        return from_masked(Masked(found, found > 0), INT64)

    return over_columns(compute, lists, value)


def paired(
    compute: Callable[[Floats, Floats, Callable[[Floats], Floats]], Floats], of_empty: bool = True
) -> Callable[..., Any]:
    """Return the handler of a function of two lists of one length: of their elements, and of what sums a row's.

    Empty lists have no result unless `of_empty`.
    """

    def handler(left: Any, right: Any) -> Any:
        return over_columns(_paired, left, right)

    def _paired(left: Any, right: Any) -> Any:
        both = [Elements.of(column) for column in beside(left, right)]
        valid: Flags = both[0].valid & both[1].valid
        if (both[0].parts.lengths != both[1].parts.lengths)[valid].any():
            raise EvaluationError(LENGTHS_DIFFER)
        x, y = (chosen(each, valid) for each in both)
        rows, count = both[0].rows[valid[both[0].rows]], both[0].count
        with np.errstate(all="ignore"):
            found = compute(x, y, lambda values: np.bincount(rows, values, count).astype(np.float64, copy=False))
        known = valid if of_empty else valid & (both[0].parts.lengths > 0)
        return from_masked(Masked(found, known), FLOAT64)

    def chosen(elements: Elements, valid: Flags) -> Floats:
        values = elements.values.filter(pa.array(valid[elements.rows]))
        if values.null_count:
            raise EvaluationError(NULL_ELEMENT)
        found: Floats = pc.cast(values, FLOAT64, safe=False).to_numpy(zero_copy_only=False)
        return found

    return handler


def cosine(x: Floats, y: Floats, sums: Callable[[Floats], Floats]) -> Floats:
    """The cosine of the angle between two lists."""
    found: Floats = np.clip(sums(x * y) / np.sqrt(sums(x * x) * sums(y * y)), -1, 1)
    return found


HANDLERS: dict[str, Callable[..., Any]] = {
    "list_sum": over_lists(total),
    "list_mean": over_lists(mean),
    "list_fsum": over_lists(compensated_sum),
    "list_product": over_lists(product),
    "list_min": over_lists(edge(last=False)),
    "list_max": over_lists(edge(last=True)),
    "list_count": over_lists(count),
    "list_any_value": over_lists(any_value),
    "list_bool_and": over_lists(truth(of_all=True)),
    "list_bool_or": over_lists(truth(of_all=False)),
    "array_to_string": joined,
    "list_position": position,
    "list_dot_product": paired(lambda x, y, sums: sums(x * y)),
    "list_distance": paired(lambda x, y, sums: np.sqrt(sums((x - y) * (x - y)))),
    "list_cosine_similarity": paired(cosine, of_empty=False),
}
