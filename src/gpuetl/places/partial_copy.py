"""Parts of a file of a store as a local file, for libraries that take a path or read on several threads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gpuetl.places.filesystem import OpenFile
from gpuetl.places.objects.ranges import Range, read_all, requests_of


@contextmanager
def partial_copy(file: OpenFile, ranges: Iterable[Range], known: Mapping[int, bytes]) -> Iterator[Path]:
    """Give the path of a file in memory that has some ranges of a file in their places, and holes elsewhere.

    `known` are bytes that need no request, by their offsets.  The memory is that of the ranges, in whole pages.

    Raises
    ------
    DatasetError
        For a file that has changed since it was opened.
    OSError
        Where it cannot be read.
    """
    descriptor = os.memfd_create("gpuetl-parts")
    try:
        os.truncate(descriptor, file.state.size)
        read_all(requests_of(ranges), lambda one: write_at(descriptor, one.start, part_of(file, one)))
        for start, data in known.items():
            write_at(descriptor, start, data)
        yield Path(f"/proc/{os.getpid()}/fd/{descriptor}")
    finally:
        os.close(descriptor)


def part_of(file: OpenFile, one: Range) -> bytes:
    """Return a range of a file; raise `OSError` where the file ends before it."""
    data = file.read_at(one.start, one.end - one.start)
    if len(data) != one.end - one.start:
        raise OSError(f"the file ends at {one.start + len(data):,}, and {one.end:,} bytes were expected")
    return data


def write_at(descriptor: int, start: int, data: bytes) -> None:
    """Write all bytes at a place."""
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, start)
        view, start = view[written:], start + written
