"""What frames come to by the order of their values: quantiles, and how many distinct values there are.

All frames walk down the bits of integer keys together, as in a wavelet matrix (Claude & Navarro 2012, "The wavelet
matrix"): of each bit, two running counts say how many keys of a frame have it.  So the cost of a frame does not depend
on its rows: O(rows * log(rows)) in all.  No level is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked
from gpuetl.engines.pandas.relational.frame_rows import FrameRows, Frames
from gpuetl.engines.pandas.relational.segmented_scans import Ints
from gpuetl.engines.pandas.relational.window_rows import WindowRows


def frame_median(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the median of each row's frame, nulls skipped; null where the frame has no value."""
    return frame_quantile(rows, x, frame_starts, 0.5)


def frame_quantile(rows: WindowRows, x: Masked, frame_starts: Frames, q: float) -> Masked:
    """Return the value at q * (count - 1) of each row's frame, linear between its neighbours; NaN is greatest."""
    frames, values = FrameRows.of(frame_starts), x.values.astype(np.float64)
    order = ordered_rows(rows, x)
    places = np.empty_like(order)
    places[order] = np.arange(len(order)) - rows.segments.first_row  # groups stay where they are
    sizes = frames.sums(x.valid)
    place = q * np.maximum(sizes - 1, 0)
    low = np.floor(place).astype(np.int64)
    share = place - low

    def value_at(chosen: Ints, number: Ints) -> NDArray[np.float64]:
        found = keys_by_order(places, frames.first[chosen], frames.stops()[chosen], number)
        result: NDArray[np.float64] = values[order[rows.segments.first_row[chosen] + found]]
        return result

    chosen = np.flatnonzero(sizes > 0)
    below = np.zeros(len(order))
    below[chosen] = value_at(chosen, low[chosen])
    above, between = below.copy(), np.flatnonzero((sizes > 0) & (share > 0))
    above[between] = value_at(between, low[between] + 1)
    with np.errstate(invalid="ignore"):
        mixed = below * (1 - share) + above * share
    return Masked(np.where(below == above, below, mixed) + 0.0, sizes > 0)


def frame_count_distinct(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return how many distinct values each row's frame has; NaN is one, nulls are none."""
    frames, order = FrameRows.of(frame_starts), ordered_rows(rows, x)
    values, valid = x.values[order], x.valid[order]
    before, here = values[:-1], values[1:]
    same = before == here
    if values.dtype.kind == "f":
        same |= np.isnan(before) & np.isnan(here)
    same &= valid[1:] & valid[:-1] & (rows.segments.position[1:] > 0)
    first = rows.segments.first_row
    previous = np.zeros(len(order), np.int64)
    """One more than the place in the group of the row before with the same value; of a null, its own."""
    previous[order[1:][same]] = (order[:-1] - first[1:] + 1)[same]
    previous = np.where(x.valid, previous, rows.segments.position + 1)
    stop = np.maximum(frames.stops(), frames.first)
    return Masked.all_valid(keys_below(previous, frames.first, stop, frames.first - first + 1))


def ordered_rows(rows: WindowRows, x: Masked) -> Ints:
    """Return the rows by segment and value, nulls last, equal ones in their order."""
    order: Ints = np.lexsort((x.values, ~x.valid, rows.segments.segment_of_row))
    return order


def keys_by_order(keys: Ints, start: Ints, stop: Ints, place: Ints) -> Ints:
    """Return the key with number `place`, from 0, in order among those from `start` up to, and without, `stop`."""
    result = np.zeros(len(start), np.int64)
    for zeros, before in levels(keys):
        low = (stop - start) - (before[stop] - before[start])
        is_set = place >= low
        result = result << 1 | is_set
        place = np.where(is_set, place - low, place)
        start, stop = (np.where(is_set, zeros + before[at], at - before[at]) for at in (start, stop))
    return result


def keys_below(keys: Ints, start: Ints, stop: Ints, limit: Ints) -> Ints:
    """Return how many keys from `start` up to, and without, `stop` are below a limit."""
    bits = int(keys.max(initial=0)).bit_length()
    beyond = limit >> bits > 0
    result = np.where(beyond, stop - start, 0)
    for place, (zeros, before) in enumerate(levels(keys)):
        is_set = (limit >> (bits - 1 - place) & 1).astype(np.bool_)
        low = (stop - start) - (before[stop] - before[start])
        result += np.where(is_set & ~beyond, low, 0)
        start, stop = (np.where(is_set, zeros + before[at], at - before[at]) for at in (start, stop))
    return result


def levels(keys: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield of each bit of keys from 0 on, from the highest on, how many lack it, and how many before each have it.

    The keys are in their own order first, and split stably by each bit that was yielded, those without it first.
    """
    for bit in reversed(range(int(keys.max(initial=0)).bit_length())):
        is_set: NDArray[Any] = (keys >> bit & 1).astype(np.bool_)
        before = np.append(0, np.cumsum(is_set, dtype=np.int64))
        yield len(keys) - int(before[-1]), before
        keys = np.concatenate([keys[~is_set], keys[is_set]])
