"""Twins of the closed set's kernels, which are known by their arguments' places: columns by their addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from gpuetl.backends.cudf.columns.compact import TILE
from gpuetl.backends.cudf.columns.gather import OFFSETS
from gpuetl.backends.cudf.columns.gather import WIDTHS as GATHERED_WIDTHS
from gpuetl.backends.cudf.columns.pieces import WIDTHS
from gpuetl.backends.cudf.machine import Struct
from gpuetl.backends.cudf.rehearsal.computed import RESULTS, made_up
from gpuetl.backends.cudf.rehearsal.launch import Rehearsed, set_bits, set_valid


def gather(rehearsed: Rehearsed, rows: int, tile: int, numbers: Any, told: Any, columns: Struct) -> None:
    """Gather values, sizes of texts behind a first 0, and validity."""
    count, *words = columns.words.tolist()
    there = numbers >= 0
    for place in range(count):
        source, target, valid, made, kind = words[5 * place : 5 * place + 5]
        sized = kind >= len(GATHERED_WIDTHS)
        width = OFFSETS[kind - len(GATHERED_WIDTHS)] if sized else GATHERED_WIDTHS[kind]
        found = memory(source, rehearsed.sizes[source]).reshape(-1, width)
        at = np.clip(numbers, 0, len(found) - 1 - sized)  # numbers that are made up may be too large
        own = there & valid_rows(valid, rehearsed.sizes[valid] * 8)[at] if valid else there
        if sized:
            offsets, sizes = found.view(f"int{8 * width}").ravel(), memory(target, (rows + 1) * 4).view("int32")
            sizes[0], sizes[1:] = 0, np.where(own, offsets[at + 1] - offsets[at], 0)
            told[place, 1] = sizes.sum()
        else:
            memory(target, rows * width).reshape(rows, width)[:] = np.where(own[:, None], found[at], 0)
        if made:
            set_valid(memory(made, -(-rows // 32) * 4), own)
            told[place, 0] = np.count_nonzero(~own)


def count(rehearsed: Rehearsed, rows: int, tiles: int, values: Any, *given: Any) -> None:
    """Count the rows of tiles that pass a test."""
    *test, counts = given
    padded = np.zeros(tiles * TILE, np.int32)
    padded[:rows] = passes(values, *test)
    counts[:] = padded.reshape(-1, TILE).sum(1)


def number(rehearsed: Rehearsed, rows: int, tiles: int, values: Any, *given: Any) -> None:
    """Write the numbers of rows that pass a test, and behind them that of all rows."""
    *test, _ends, _more, numbers = given
    found = np.flatnonzero(passes(values, *test))
    numbers[-1:] = rows
    numbers[: len(found)] = found


def passes(values: Any, least: int, greatest: int, wanted: int) -> Any:
    """Return which values pass the test."""
    found = values.astype(np.int64)
    return ((found >= least) & (found <= greatest)) == bool(wanted)


def copy_texts(rehearsed: Rehearsed, rows: int, numbers: Any, *given: Any) -> None:
    """Copy the texts of some rows side by side."""
    data, starts, made, offsets = given
    texts, begins = data.tobytes(), starts[np.clip(numbers, 0, len(starts) - 1)].tolist()
    sizes = np.diff(offsets).tolist()
    copied = b"".join([texts[begin : begin + size] for begin, size in zip(begins, sizes, strict=True) if size])
    made[: len(copied)] = np.frombuffer(copied, np.uint8)


def pack_valid(rehearsed: Rehearsed, rows: int, flags: Any, words: Any, nulls: Any) -> None:
    """Write flags as validity words."""
    valid = flags != 0
    set_valid(words, valid)
    nulls[0] += np.uint64(np.count_nonzero(~valid))


def stack(rehearsed: Rehearsed, rows: int, count: int, *given: Any) -> None:
    """Copy values and validity of pieces below each other."""
    *counts, table = given
    widths = [width for width, columns in zip(WIDTHS, counts, strict=True) for _ in range(columns)]
    ends, addresses = np.split(table, [count])
    *sources, targets = addresses.reshape(-1, 2, len(widths)).tolist()
    sizes = np.diff(ends, prepend=0).tolist()
    for column, width in enumerate(widths):
        parts = [memory(source[0][column], size * width) for source, size in zip(sources, sizes, strict=True)]
        memory(targets[0][column], rows * width)[:] = np.concatenate(parts)
        if targets[1][column]:
            valid = [valid_rows(source[1][column], size) for source, size in zip(sources, sizes, strict=True)]
            set_valid(memory(targets[1][column], -(-rows // 32) * 4), np.concatenate(valid))


def memory(address: int, size: int) -> Any:
    """Return the bytes at an address."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def valid_rows(address: int, rows: int) -> Any:
    """Return truth values of validity words, all true where there are none."""
    return set_bits(memory(address, -(-rows // 32) * 4))[:rows] if address else np.ones(rows, bool)


def enter(rehearsed: Rehearsed, rows: int, *given: Any) -> None:
    """Give each text a slot, which the first row that has it owns."""
    *_, owners, slots, overflow, data, offsets, words = given
    held, ends = data.tobytes(), offsets.tolist()
    texts = [held[start:end] for start, end in pairwise(ends[: rows + 1])]
    taken = {text: slot for slot, text in enumerate(dict.fromkeys(texts))}
    if len(taken) > len(owners):
        overflow[0] = 1
        return
    found = np.fromiter(map(taken.__getitem__, texts), np.int32, rows)
    valid = np.ones(rows, bool) if isinstance(words, int) else set_bits(words)[:rows]
    slots[:rows] = np.where(valid, found, 0)
    owners[found[valid][::-1]] = np.flatnonzero(valid)[::-1]


def number_texts(rehearsed: Rehearsed, rows: int, slots: Any, by_slot: Any, numbers: Any, *given: Any) -> None:
    """Give each text the number of its slot."""
    numbers[:] = by_slot[slots]


def find_edges(rehearsed: Rehearsed, groups: int, rows: int, last: int, codes: Any, places: Any) -> None:
    """Write the place of each group's first or last row, -1 where it has none."""
    bounds = bounds_of(codes, groups)
    starts, ends = bounds[:-1], bounds[1:]
    places[:] = np.where(starts == ends, -1, ends - 1 if last else starts)


def measure_groups(rehearsed: Rehearsed, groups: int, rows: int, codes: Any, sizes: Any) -> None:
    """Write how many rows each group has."""
    sizes[:] = np.diff(bounds_of(codes, groups))


def find_quantiles(rehearsed: Rehearsed, groups: int, rows: int, *given: Any) -> None:
    """Make up quantiles."""
    *_, found, words = given
    found[:] = made_up(found, True, RESULTS)
    set_valid(words, np.ones(groups, bool))


def bounds_of(codes: Any, groups: int) -> Any:
    """Return where each group begins, and where the last one ends."""
    return np.searchsorted(codes, np.arange(groups + 1))


def tally(rehearsed: Rehearsed, rows: int, size: int, codes: Any, counts: Any) -> None:
    """Count rows by their code."""
    counts[:] += np.bincount(codes, minlength=size).astype(np.int32)


def count_codes(rehearsed: Rehearsed, rows: int, codes: Any, counts: Any) -> None:
    """Count rows by their code; a last code has none."""
    counts[:] += np.bincount(codes[codes >= 0], minlength=len(counts))


def pair_few(rehearsed: Rehearsed, rows: int, codes: Any, counts: Any, starts: Any, ends: Any, *given: Any) -> None:
    """Pair each left row with the right rows of its code, or with none."""
    by_code, left, right = given
    sizes = np.diff(ends, prepend=0)
    left[:] = np.repeat(np.arange(len(codes)), sizes)
    place = np.arange(len(left)) - (ends - sizes)[left]
    code = codes[left]
    found = (code >= 0) & (place < counts[code])
    right[:] = np.where(found, by_code[np.where(found, starts[code] + place, 0)], -1)


def make_canonical(rehearsed: Rehearsed, rows: int, values: Any, made: Any) -> None:
    """Copy values."""
    made[:] = values


def convert_longer(rehearsed: Rehearsed, rows: int, factor: int, converted: Any, *given: Any) -> None:
    """Convert times to microseconds."""
    converted[:] = given[1] * factor


def convert_shorter(rehearsed: Rehearsed, rows: int, factor: int, converted: Any, *given: Any) -> None:
    """Convert times to microseconds."""
    converted[:] = given[1] // factor


def count_valid(rehearsed: Rehearsed, words: int, words_a_column: int, rows: int, valid: Any, counts: Any) -> None:
    """Count the valid rows of words of several columns."""
    found = set_bits(valid[:words]).reshape(-1, words_a_column * 32).copy()
    found[:, rows:] = False
    counts[1:] = found.reshape(-1, 32).sum(1)


def page_starts(rehearsed: Rehearsed, items: int, starts_a_column: int, page_rows: int, *given: Any) -> None:
    """Find where pages begin among all rows, and among the valid ones of columns."""
    rows, words_a_column, through, starts = given
    first, *columns = starts.reshape(-1, starts_a_column)
    first[:] = np.minimum(np.arange(starts_a_column) * page_rows, rows)
    for column, own in enumerate(columns):
        before = through[column * words_a_column :]
        own[:] = before[(first + 31) // 32] - before[0]


CLOSED_TWINS: dict[str, Callable[..., None]] = {
    "gather": gather, "count": count, "number": number, "copy_texts": copy_texts, "pack_valid": pack_valid,
    "stack": stack, "enter": enter, "enter_hashes": enter, "number_texts": number_texts, "find_edges": find_edges,
    "measure_groups": measure_groups, "find_quantiles": find_quantiles, "tally": tally,
    "count_codes": count_codes, "pair_few": pair_few, "make_canonical": make_canonical,
    "convert_longer": convert_longer, "convert_shorter": convert_shorter,
    "count_valid": count_valid, "page_starts": page_starts,
}  # fmt: skip
"""By the names of kernels without the types that follow; others decide nothing."""
