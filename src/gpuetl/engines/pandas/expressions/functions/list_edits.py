"""Lists made of values and of lists, on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import OTHER_SIZE, RANGE_TOO_LONG, SIZE_OF_NO_LIST, STEP_OF_ZERO
from gpuetl.engines.pandas.columns.column import ListParts, over_columns, to_masked
from gpuetl.engines.pandas.columns.keys import encode_keys
from gpuetl.engines.pandas.columns.lists import Elements, Flags, Ints, beside, flags, lists_at, lists_of
from gpuetl.errors import EvaluationError

MOST_IN_RANGE = 1 << 24
FAR = 1 << 32
"""A place that no list has."""


def gathered(dtype: pa.DataType, *values: Any) -> Any:
    """Return a list of the values of each row."""
    if not values:
        return pa.scalar([], dtype)

    def lists(*columns: Any) -> Any:
        columns, count = beside(*columns), len(columns)
        rows = len(columns[0])
        below = pa.concat_arrays([column.cast(dtype.value_type) for column in columns])
        places = np.arange(count)[None, :] * rows + np.arange(rows)[:, None]
        return lists_of(below.take(pa.array(places.ravel())), np.full(rows, count))

    return over_columns(lists, *values)


def ranged(inclusive: bool) -> Callable[..., Any]:
    """Return the handler of `range`, or of `generate_series`."""

    def handler(start: Any, stop: Any = None, step: Any = None) -> Any:
        if stop is None:
            start, stop = pa.scalar(0, pa.int64()), start
        return over_columns(lambda *bounds: _ranged(inclusive, *bounds), start, stop, step or pa.scalar(1, pa.int64()))

    return handler


def _ranged(inclusive: bool, *bounds: Any) -> Any:
    columns = [to_masked(column) for column in beside(*bounds)]
    valid = np.logical_and.reduce([column.valid for column in columns])
    starts, stops, steps = (column.values for column in columns)
    found: list[range] = []
    for at in range(len(valid)):
        start, stop, step = int(starts[at]), int(stops[at]), int(steps[at])
        found.append(range(start, stop + inclusive * (1 if step > 0 else -1), step) if valid[at] and step else range(0))
    lengths = np.array(list(map(numbers_in, found)), np.int64)
    if (lengths > MOST_IN_RANGE).any():
        raise EvaluationError(RANGE_TOO_LONG)
    values = np.concatenate([np.zeros(0, np.int64), *(np.array(each, np.int64) for each in found)])
    return lists_of(pa.array(values), lengths, valid)


def numbers_in(numbers: range) -> int:
    """Return how many numbers a range has, of many a few more than one may have; Python's len counts in 63 bits."""
    span = numbers.stop - numbers.start if numbers.step > 0 else numbers.start - numbers.stop
    return min(max(0, -(-span // abs(numbers.step))), MOST_IN_RANGE + 1)


def over_elements(places: Callable[[Elements], Ints]) -> Callable[..., Any]:
    """Return the handler of a function of one list: of those of its elements that stand at `places`."""

    def handler(lists: Any) -> Any:
        def compute(column: Any) -> Any:
            elements = Elements.of(column)
            found = places(elements)
            return lists_at(elements.values, found, elements.rows[found], elements.valid)

        return over_columns(compute, lists)

    return handler


def reversed_places(elements: Elements) -> Ints:
    """The elements from the last to the first."""
    ends = elements.parts.starts + elements.parts.lengths - 1
    places = np.arange(len(elements.rows))
    return (ends[elements.rows] - (places - elements.parts.starts[elements.rows])).astype(np.int64)


def distinct_places(elements: Elements) -> Ints:
    """The first of equal elements, without nulls."""
    known = np.flatnonzero(elements.known)
    values = elements.values.take(pa.array(known))
    groups = encode_keys([pa.array(elements.rows[known]), values], len(known))
    return known[np.sort(groups.first_rows)]


def ordered(lists: Any, order: Any = None, nulls: Any = None) -> Any:
    """The elements in order."""
    words = [word.as_py().lower() for word in (order, nulls) if word is not None]

    def compute(column: Any) -> Any:
        elements = Elements.of(column)
        places = elements.order("desc" in words, "nulls first" in words)
        return lists_at(elements.values, places, elements.rows, elements.valid)

    return over_columns(compute, lists)


def graded(lists: Any, order: Any = None, nulls: Any = None) -> Any:
    """The places of the elements in order."""
    words = [word.as_py().lower() for word in (order, nulls) if word is not None]

    def compute(column: Any) -> Any:
        elements = Elements.of(column)
        found = elements.order("desc" in words, "nulls first" in words)
        places = found - elements.parts.starts[elements.rows] + 1
        return lists_of(pa.array(places, pa.int64()), elements.parts.lengths, elements.valid)

    return over_columns(compute, lists)


def cut(lists: Any, first: Any, last: Any, step: Any = None) -> Any:
    """The elements from one place to another, all or those at a step."""
    return over_columns(_cut, lists, first, last, pa.scalar(1, pa.int64()) if step is None else step)


def _cut(lists: Any, first: Any, last: Any, step: Any) -> Any:
    lists, *bounds = beside(lists, first, last, step)
    elements, (begin, end, steps) = Elements.of(lists), map(to_masked, bounds)
    lengths = elements.parts.lengths
    valid = elements.valid & begin.valid & end.valid & steps.valid
    first_place, last_place, stride = (np.clip(each.values, -FAR, FAR) for each in (begin, end, steps))
    if (valid & (stride == 0)).any():
        raise EvaluationError(STEP_OF_ZERO)
    stride = np.where(stride == 0, 1, stride)
    low, high = np.where(stride < 0, last_place, first_place), np.where(stride < 0, first_place, last_place)
    low = np.maximum(np.where(low < 0, low + lengths + 1, low), 1)
    high = np.minimum(np.where(high < 0, high + lengths + 1, high), lengths)
    counts = np.where(valid, np.maximum((high - low) // np.abs(stride) + 1, 0), 0)
    rows = np.repeat(np.arange(len(valid)), counts)
    before = np.cumsum(counts) - counts
    beginning = elements.parts.starts + np.where(stride < 0, high, low) - 1
    places = (np.arange(len(rows)) - before[rows]) * stride[rows] + beginning[rows]
    return lists_at(elements.values, places, rows, valid)


def joined(dtype: pa.DataType, *lists: Any) -> Any:
    """The elements of all lists, one list after the other."""
    if not lists:
        return pa.scalar([], dtype)

    def compute(*columns: Any) -> Any:
        parts = [Elements.of(column.cast(dtype)) for column in beside(*columns)]
        values = pa.concat_arrays([part.values for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        places = np.argsort(rows, kind="stable")
        return lists_at(values, places, rows[places], np.ones(parts[0].count, np.bool_))

    return over_columns(compute, *lists)


def matches(left: Any, right: Any) -> tuple[Elements, Elements, Any]:
    """Return two columns of lists taken apart, and which elements of the first are = one of the second in their row."""
    ours, theirs = (Elements.of(column) for column in beside(left, right))
    both = pa.concat_arrays([ours.values, theirs.values])
    codes = encode_keys([pa.array(np.concatenate([ours.rows, theirs.rows])), both], len(both)).codes
    usable = flags(pc.fill_null(pc.equal(both, both), False)) if len(both) else np.zeros(0, np.bool_)
    count = len(ours.rows)
    found = np.isin(codes[:count], codes[count:][usable[count:]]) & usable[:count]
    return ours, theirs, found


def first_places(lists: Any) -> Any:
    """The places from 1 of the first of equal elements, without nulls."""

    def compute(column: Any) -> Any:
        elements = Elements.of(column)
        return _numbered(elements, distinct_places(elements), elements.valid)

    return over_columns(compute, lists)


def shared(left: Any, right: Any) -> Any:
    """The distinct elements of one list that are in another."""

    def compute(left: Any, right: Any) -> Any:
        ours, places, valid = _shared(left, right)
        return lists_at(ours.values, places, ours.rows[places], valid)

    return over_columns(compute, left, right)


def shared_places(left: Any, right: Any) -> Any:
    """The places from 1 of these."""
    return over_columns(lambda *lists: _numbered(*_shared(*lists)), left, right)


def _shared(left: Any, right: Any) -> tuple[Elements, Ints, Flags]:
    ours, theirs, found = matches(left, right)
    places = distinct_places(ours)
    places = places[found[places]]
    valid = ours.valid & theirs.valid
    return ours, places[valid[ours.rows[places]]], valid


def _numbered(elements: Elements, places: Ints, valid: Flags) -> Any:
    rows = elements.rows[places]
    numbers = pa.array(places - elements.parts.starts[rows] + 1, pa.int64())
    return lists_of(numbers, np.bincount(rows, minlength=elements.count), valid)


def overlaps(left: Any, right: Any) -> Any:
    """Whether an element of one list is in another."""

    def compute(left: Any, right: Any) -> Any:
        ours, theirs, found = matches(left, right)
        hits = np.bincount(ours.rows[found], minlength=ours.count) > 0
        return pa.array(hits, mask=~(ours.valid & theirs.valid))

    return over_columns(compute, left, right)


def covers(left: Any, right: Any) -> Any:
    """Whether each element of the second list is in the first."""

    def compute(left: Any, right: Any) -> Any:
        theirs, ours, found = matches(right, left)
        missed = np.bincount(theirs.rows[~found & theirs.known], minlength=ours.count) > 0
        return pa.array(~missed, mask=~(ours.valid & theirs.valid))

    return over_columns(compute, left, right)


def selected(lists: Any, places: Any) -> Any:
    """The elements at some places."""
    return over_columns(_selected, lists, places)


def _selected(lists: Any, places: Any) -> Any:
    lists, places = beside(lists, places)
    elements, asked = Elements.of(lists), Elements.of(places)
    wanted = to_masked(asked.values.cast(pa.int64()))
    lengths, starts = elements.parts.lengths[asked.rows], elements.parts.starts[asked.rows]
    at = np.where(wanted.values > 0, wanted.values - 1, wanted.values + lengths)
    inside = wanted.valid & (wanted.values != 0) & (at >= 0) & (at < lengths)
    valid = elements.valid & asked.valid
    kept = valid[asked.rows]
    return lists_at(elements.values, np.where(inside, starts + at, -1)[kept], asked.rows[kept], valid)


def masked(lists: Any, mask: Any) -> Any:
    """The elements beside which the mask is true."""
    return over_columns(_masked, lists, mask)


def _masked(lists: Any, mask: Any) -> Any:
    lists, mask = beside(lists, mask)
    elements, chosen = Elements.of(lists), Elements.of(mask)
    true = flags(pc.fill_null(chosen.values.cast(pa.bool_()), False))
    at = np.arange(len(chosen.rows)) - chosen.parts.starts[chosen.rows]
    valid = elements.valid & chosen.valid
    kept = true & (at < elements.parts.lengths[chosen.rows]) & valid[chosen.rows]
    rows = chosen.rows[kept]
    return lists_at(elements.values, elements.parts.starts[rows] + at[kept], rows, valid)


def resized(lists: Any, *filler_and_size: Any) -> Any:
    """The elements up to a size; more are fillers, or null."""
    *filler, size = filler_and_size

    def compute(lists: Any, size: Any, *filler: Any) -> Any:
        lists, size, *fillers = beside(lists, size, *filler)
        wanted, valid = to_masked(size), flags(lists.is_valid())
        beyond = (wanted.values < 0) | (wanted.values > MOST_IN_RANGE)
        if (valid & wanted.valid & beyond).any():
            raise EvaluationError(SIZE_OF_NO_LIST)
        return _resized(lists, np.where(valid & wanted.valid, wanted.values, 0), valid, *fillers)

    return over_columns(compute, lists, size, *filler)


def repeated_lists(lists: Any, count: Any) -> Any:
    """The elements several times."""

    def compute(lists: Any, count: Any) -> Any:
        lists, count = beside(lists, count)
        elements, wanted = Elements.of(lists), to_masked(count)
        lengths, valid = elements.parts.lengths, elements.valid & wanted.valid
        times = np.where(valid & (lengths > 0), np.maximum(wanted.values, 0), 0)
        if (times > MOST_IN_RANGE // np.maximum(lengths, 1)).any():
            raise EvaluationError(SIZE_OF_NO_LIST)
        sizes = times * lengths
        rows = np.repeat(np.arange(len(sizes)), sizes)
        place = (np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]) % np.maximum(lengths, 1)[rows]
        return lists_at(elements.values, elements.parts.starts[rows] + place, rows, valid)

    return over_columns(compute, lists, count)


def of_size(lists: Any, size: Any) -> Any:
    """The lists, which have so many elements."""
    lengths = pc.list_value_length(lists)
    if pc.any(pc.not_equal(lengths, size)).as_py():
        raise EvaluationError(OTHER_SIZE)
    return lists


def padded(lists: Any, size: Any) -> Any:
    """As many elements, of which those that are missing are null; a null list has none."""

    def compute(lists: Any, size: Any) -> Any:
        lists, size = beside(lists, size)
        return _resized(lists, to_masked(size).values, np.ones(len(lists), np.bool_))

    return over_columns(compute, lists, size)


def _resized(lists: Any, sizes: Ints, valid: Flags, *filler: Any) -> Any:
    elements = Elements.of(lists)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    missing = np.full(len(sizes), -1, np.int64)
    values = elements.values
    if filler:
        (fillers,) = filler
        missing = Elements.of(fillers).parts.starts + len(values)
        values = pa.concat_arrays([values, Elements.of(fillers).values])
    own = place < elements.parts.lengths[rows]
    return lists_at(values, np.where(own, elements.parts.starts[rows] + place, missing[rows]), rows, valid)


def zipped(dtype: pa.DataType, *lists: Any) -> Any:
    """Structs of the elements of lists of one length."""

    def compute(*columns: Any) -> Any:
        parts = [Elements.of(column) for column in beside(*columns)]
        fields = list(dtype.value_type)
        structs = pa.StructArray.from_arrays([part.values for part in parts], fields=fields)
        return lists_of(structs, parts[0].parts.lengths)

    return over_columns(compute, *lists)


def flattened(lists: Any) -> Any:
    """The elements of the lists in lists."""

    def compute(column: Any) -> Any:
        outer = Elements.of(column)
        inner: ListParts = Elements.of(outer.values).parts
        counts = np.bincount(outer.rows, inner.lengths, minlength=outer.count).astype(np.int64)
        return lists_of(inner.values, counts, outer.valid)

    return over_columns(compute, lists)


HANDLERS: dict[str, Callable[..., Any]] = {
    "list_value": gathered,
    "range": ranged(inclusive=False),
    "generate_series": ranged(inclusive=True),
    "list_slice": cut,
    "list_concat": joined,
    "list_reverse": over_elements(reversed_places),
    "list_sort": ordered,
    "list_grade_up": graded,
    "list_distinct": over_elements(distinct_places),
    "list_intersect": shared,
    "list_first_places": first_places,
    "list_shared_places": shared_places,
    "list_has_any": overlaps,
    "list_has_all": covers,
    "list_select": selected,
    "list_where": masked,
    "flatten": flattened,
    "list_resized": resized,
    "list_padded": padded,
    "list_repeat": repeated_lists,
    "list_of_size": of_size,
    "list_zipped": zipped,
}
"""`list_value`, `list_concat` and `list_zipped` take the type of the result first."""
