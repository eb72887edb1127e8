"""Twins of the closed set's kernels over arrays and lists, by their arguments' places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.launch import Rehearsed, set_bits, set_valid


def valid_rows(words: Any, rows: int) -> Any:
    """Return truth values of validity words, all true where there are none."""
    return np.ones(rows, bool) if isinstance(words, int) else set_bits(words)[:rows]


def at(values: Any, places: Any) -> Any:
    """Return the values at places, or at the nearest."""
    return values[np.clip(places, 0, len(values) - 1)]


def scan(rehearsed: Rehearsed, rows: int, part: int, parts: int, before: int, first: int, *given: Any) -> None:
    """Write sums."""
    values, _, sums = given
    sums[:] = np.cumsum(values, dtype=np.int64) - (values if before else 0) + first


def iota(rehearsed: Rehearsed, rows: int, step: int, numbers: Any) -> None:
    """Write numbers in a row."""
    numbers[:] = np.arange(rows) * step


def fill(rehearsed: Rehearsed, rows: int, value: int, made: Any) -> None:
    """Write one value."""
    made[:] = np.int64(value).astype(made.dtype)


def choose(rehearsed: Rehearsed, rows: int, words: Any, values: Any, others: int, made: Any) -> None:
    """Write values, and a constant for nulls."""
    made[:] = np.where(valid_rows(words, rows), values, np.int64(others).astype(made.dtype))


def pick(rehearsed: Rehearsed, rows: int, places: Any, values: Any, missing: int, made: Any) -> None:
    """Write the values at places."""
    made[:] = np.where(places < 0, np.int64(missing).astype(made.dtype), at(values, places))


def scatter(rehearsed: Rehearsed, rows: int, places: Any, values: Any, made: Any) -> None:
    """Write values to places."""
    there = (places >= 0) & (places < len(made))
    made[places[there]] = (np.arange(rows) if isinstance(values, int) else values)[there]


def set_marks(rehearsed: Rehearsed, rows: int, places: Any, marks: Any) -> None:
    """Mark places."""
    marks[places[(places >= 0) & (places < len(marks))]] = 1


def shift(rehearsed: Rehearsed, rows: int, first: int, step: int, last: int, plus: int, *given: Any) -> None:
    """Write every so many number."""
    values, made = given
    made[:] = values[np.minimum(first + np.arange(rows) * step, last)] + np.int64(plus)


def unpack(rehearsed: Rehearsed, rows: int, words: Any, flags: Any) -> None:
    """Write bits as bytes."""
    flags[:] = valid_rows(words, rows)


def mark_both(rehearsed: Rehearsed, rows: int, left: Any, right: Any, marks: Any) -> None:
    """Mark what both mark."""
    marks[:] = left & right


def mark_not_negative(rehearsed: Rehearsed, rows: int, values: Any, marks: Any) -> None:
    """Mark numbers that are not negative."""
    marks[:] = values >= 0


def mark_changes(rehearsed: Rehearsed, rows: int, values: Any, marks: Any) -> None:
    """Mark numbers that differ from the one before."""
    marks[:] = np.diff(values, prepend=values[:1] - 1) != 0


def join_valid(rehearsed: Rehearsed, rows: int, left: Any, right: Any, words: Any, nulls: Any) -> None:
    """Write words of what is valid in both."""
    valid = valid_rows(left, rows) & valid_rows(right, rows)
    set_valid(words, valid)
    nulls[0] += np.uint64(np.count_nonzero(~valid))


def count_not_negative(rehearsed: Rehearsed, rows: int, values: Any, count: Any) -> None:
    """Count numbers."""
    count[0] += np.uint64(np.count_nonzero(values >= 0))


def count_numbers(rehearsed: Rehearsed, rows: int, numbers: Any, count: Any) -> None:
    """Write one more than the greatest."""
    count[0] = numbers.max(initial=-1) + 1


def list_elements(rehearsed: Rehearsed, elements: int, rows: int, starts: Any, *given: Any) -> None:
    """Write the elements of lists."""
    offsets, places, numbers = given
    own = np.repeat(np.arange(rows), np.diff(starts))
    numbers[:] = at(offsets, at(places, own)) + np.arange(elements) - starts[own]


def measure_lists(rehearsed: Rehearsed, rows: int, least: int, offsets: Any, words: Any, repeats: Any) -> None:
    """Write how many rows each list gives."""
    repeats[:] = np.maximum(np.diff(offsets) * valid_rows(words, rows), least)


def explode(rehearsed: Rehearsed, items: int, rows: int, ends: Any, offsets: Any, words: Any, *given: Any) -> None:
    """Write the row, the place and the element of each item."""
    numbers, places, elements, found = given
    numbers[:] = np.repeat(np.arange(rows), np.diff(ends, prepend=0))
    places[:] = np.arange(items) - np.concatenate([[0], ends])[numbers]
    found[:] = (np.diff(offsets) * valid_rows(words, rows) > 0)[numbers]
    elements[:] = np.where(found, offsets[numbers] + places, -1)


def choose_list(rehearsed: Rehearsed, rows: int, column: int, words: Any, choice: Any) -> None:
    """Choose a column."""
    choice[valid_rows(words, rows)] = column


def place_lists(rehearsed: Rehearsed, rows: int, choice: Any, places: Any) -> None:
    """Write the places of lists."""
    places[:] = np.where(choice < 0, -1, choice * rows + np.arange(rows))


def number_pieces(rehearsed: Rehearsed, rows: int, pieces: int, hashes: Any, numbers: Any) -> None:
    """Number pieces."""
    numbers[:] = hashes.view(np.uint64) % np.uint64(pieces)


def find_ends(rehearsed: Rehearsed, pieces: int, rows: int, numbers: Any, order: Any, ends: Any) -> None:
    """Write where pieces end."""
    ends[:] = np.searchsorted(numbers[order], np.arange(pieces), side="right")


def count_partners(rehearsed: Rehearsed, rows: int, least: int, codes: Any, counts: Any, repeats: Any) -> None:
    """Write how many rows each left row gives; a last count is 0."""
    repeats[:] = np.maximum(counts[codes], least)


def pair_all(rehearsed: Rehearsed, pairs: int, others: int, left: Any, right: Any) -> None:
    """Pair all rows."""
    left[:], right[:] = np.divmod(np.arange(pairs), max(1, others))


def find_owners(rehearsed: Rehearsed, rows: int, want_codes: int, codes: Any, owners: Any, *given: Any) -> None:
    """Write the owners of codes."""
    found, count = given
    owner = np.where(codes < 0, -1, at(owners, codes)) if len(owners) else np.full(rows, -1)
    found[:] = np.where(owner < 0, -1, codes if want_codes else owner)
    count[0] = np.count_nonzero(owner >= 0)


def count_others(rehearsed: Rehearsed, runs: int, rows: int, starts: Any, others: Any) -> None:
    """Write how many rows are in other runs."""
    others[:] = rows - np.diff(starts, append=rows)


TWINS: dict[str, Callable[..., None]] = {
    twin.__name__: twin
    for twin in (
        scan, iota, fill, choose, pick, scatter, set_marks, shift, unpack, mark_both, mark_changes, mark_not_negative,
        join_valid, count_not_negative, count_numbers, list_elements, measure_lists, explode, choose_list, place_lists,
        number_pieces, find_ends, count_partners, pair_all, find_owners, count_others,
    )
}  # fmt: skip
"""By the names of kernels without the types that follow; others decide nothing."""
