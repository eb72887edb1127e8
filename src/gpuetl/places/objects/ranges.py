"""Which requests read many ranges of an object: near ones together, long ones in parts, a bounded number at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

from gpuetl.records import dataclass

T = TypeVar("T")

SMALL_BYTES = 256 << 10
"""An object up to this size is read whole, by one request: its footer and its rows are asked for anyway."""
LONGEST_REQUEST = 8 << 20
"""One connection of S3 gives about 90 MB/s: longer ranges are read by several requests."""
WIDEST_GAP = 64 << 10
"""Bytes between two ranges that are read rather than asked for apart: a request takes as long as 1 to 5 MB do."""
MOST_WASTE = 0.04
"""The most bytes in gaps, as a share of those that are wanted."""
REQUESTS_IN_FLIGHT = 32


@dataclass(frozen=True)
class Range:
    """Bytes of an object, from `start` to before `end`."""

    start: int
    end: int


@cache
def request_threads() -> ThreadPoolExecutor:
    """Return the threads that wait for requests, which bound how many are in flight in this process."""
    return ThreadPoolExecutor(REQUESTS_IN_FLIGHT, "gpuetl-request")


def requests_of(ranges: Iterable[Range]) -> list[Range]:
    """Return the requests that read ranges: no byte twice, and few bytes of the gaps.

    A request ends where a range does, unless a range is longer than one request: so few ranges are in two of them.
    """
    ordered = sorted((one for one in ranges if one.end > one.start), key=lambda one: one.start)
    waste = int(sum(one.end - one.start for one in ordered) * MOST_WASTE)
    requests: list[Range] = []
    for one in ordered:
        last = requests[-1] if requests else Range(0, 0)
        gap = one.start - last.end
        if one.end <= last.end:
            continue
        is_near = bool(requests) and gap <= min(WIDEST_GAP, waste)
        if is_near and one.end - last.start <= LONGEST_REQUEST:
            waste -= max(gap, 0)
            requests[-1] = Range(last.start, one.end)
        else:
            requests += cut(Range(max(one.start, last.end), one.end))
    return requests


def cut(whole: Range) -> list[Range]:
    """Return a range in parts of about the same length, none longer than one request."""
    size = whole.end - whole.start
    count = -(-size // LONGEST_REQUEST)
    bounds = [whole.start + size * number // count for number in range(count + 1)]
    return [Range(start, end) for start, end in pairwise(bounds)]


def runs_of(requests: Iterable[Range]) -> list[list[Range]]:
    """Return requests in order, those that follow each other without a gap as one list."""
    runs: list[list[Range]] = []
    for one in requests:
        if runs and runs[-1][-1].end == one.start:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def read_all(ranges: Sequence[Range], read: Callable[[Range], T]) -> list[T]:
    """Return `read` of each range, several at a time; the first error ends it."""
    if len(ranges) == 1:
        return [read(ranges[0])]
    futures = [request_threads().submit(read, one) for one in ranges]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


os.register_at_fork(after_in_child=request_threads.cache_clear)
