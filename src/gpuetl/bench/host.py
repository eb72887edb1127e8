"""What the host can carry: copies in memory, files in the page cache, by one and by many threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gpuetl.telemetry.hardware_limits import Ceiling, best_seconds
from gpuetl.threads import thread_count

HOST_BYTES = 1 << 30
FILE_THREADS = (1, 4, 8, 16)
CHUNK_BYTES = 16 << 20

Piece = Any
"""A part of an array of bytes."""


def host_ceilings(folder: Path, size: int = HOST_BYTES) -> Iterator[Ceiling]:
    """Measure copies of `size` bytes, and files of as many bytes in all below `folder`, which are removed again.

    Raises
    ------
    OSError
        Where the folder cannot be written, or has no room.
    """
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    for threads in sorted({1, thread_count()}):
        seconds = timed_on(threads, lambda piece: np.copyto(target[piece], source[piece]), size)
        yield Ceiling("host memory", threads_text(threads), 2 * size, seconds)
    with TemporaryDirectory(dir=folder, prefix="gpuetl-bench-") as made:
        for threads in FILE_THREADS:
            yield Ceiling("host to file", threads_text(threads), size, written(Path(made), threads, source))
        for threads in FILE_THREADS:  # each reads all pieces of the last way to write, which are in the page cache
            yield Ceiling("file to host", threads_text(threads), size, read(Path(made), threads, target))


def timed_on(
    threads: int, work: Callable[[slice], object], size: int, prepare: Callable[[], object] = lambda: None
) -> float:
    """Return the seconds that threads take for the pieces of so many bytes, a piece each."""
    pieces = slices(size, threads)
    with ThreadPoolExecutor(threads) as pool:
        return best_seconds(lambda: list(pool.map(work, pieces)), prepare)


def slices(size: int, count: int) -> Sequence[slice]:
    """Cut a number of bytes into about equal pieces."""
    bounds = [size * place // count for place in range(count + 1)]
    return [slice(*pair) for pair in pairwise(bounds)]


def written(folder: Path, threads: int, source: Piece) -> float:
    """Return the seconds in which fresh files are written, one a thread; they stay."""

    def write(piece: slice) -> None:
        with file_of(folder, piece).open("xb", buffering=0) as file:
            for start in range(piece.start, piece.stop, CHUNK_BYTES):
                file.write(source[start : min(start + CHUNK_BYTES, piece.stop)])

    def clear() -> None:
        for path in folder.iterdir():
            path.unlink()

    return timed_on(threads, write, len(source), clear)


def read(folder: Path, threads: int, target: Piece, files: int = FILE_THREADS[-1]) -> float:
    """Return the seconds in which threads read the folder's files, which so many threads have written."""
    pieces = slices(len(target), files)

    def read_some(numbers: slice) -> None:
        for piece in pieces[numbers]:
            with file_of(folder, piece).open("rb", buffering=0) as file:
                view = memoryview(target[piece])
                done = 0
                while done < len(view):
                    done += file.readinto(view[done : done + CHUNK_BYTES])

    return timed_on(threads, read_some, len(pieces))


def file_of(folder: Path, piece: slice) -> Path:
    """Return the file of a piece."""
    return folder / f"{piece.start}"


def threads_text(count: int) -> str:
    """Return a number of threads in words."""
    return "1 thread" if count == 1 else f"{count} threads"
