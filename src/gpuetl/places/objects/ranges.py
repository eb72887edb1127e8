"""Which requests read many ranges of an object: near ones together, long ones in parts, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

from gpuetl.records import dataclass

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
    """Return the requests that read ranges: no byte twice, and few bytes that nobody wants."""
    ordered = sorted((one for one in ranges if one.end > one.start), key=lambda one: one.start)
    if not ordered:
        return []
    waste = int(sum(one.end - one.start for one in ordered) * MOST_WASTE)
    merged = [ordered[0]]
    for one in ordered[1:]:
        gap = one.start - merged[-1].end
        if gap <= 0 or (gap <= WIDEST_GAP and gap <= waste):
            waste -= max(gap, 0)
            merged[-1] = Range(merged[-1].start, max(one.end, merged[-1].end))
        else:
            merged.append(one)
    return [part for one in merged for part in cut(one)]


def cut(whole: Range) -> list[Range]:
    """Return a range in parts of about the same length, none longer than one request."""
    size = whole.end - whole.start
    count = -(-size // LONGEST_REQUEST)
    bounds = [whole.start + size * number // count for number in range(count + 1)]
    return [Range(start, end) for start, end in pairwise(bounds)]


def read_all(ranges: Sequence[Range], read: Callable[[Range], None]) -> None:
    """Call `read` with each range, several at a time; the first error ends it."""
    if len(ranges) == 1:
        read(ranges[0])
        return
    futures = [request_threads().submit(read, one) for one in ranges]
    try:
        for future in futures:
            future.result()
    finally:
        for future in futures:
            future.cancel()
