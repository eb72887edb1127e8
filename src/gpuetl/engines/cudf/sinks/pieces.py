"""What a file is put together from: bytes on the host, and parts of arrays on the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from gpuetl.engines.cudf.machine import Array


class Span(NamedTuple):
    """So many bytes of a contiguous array, from a byte of it on."""

    array: Array
    start: int
    size: int


Piece: TypeAlias = bytes | Span


def piece_bytes(piece: Piece) -> int:
    """Return a piece's size."""
    return piece.size if isinstance(piece, Span) else len(piece)


def total_bytes(pieces: Iterable[Piece]) -> int:
    """Return the size of pieces one after another."""
    return sum(map(piece_bytes, pieces))


def chunks(offset: int, piece: Piece, most: int) -> Iterator[tuple[int, Piece]]:
    """Yield the parts of a piece that lies at an offset, of up to so many bytes, each with its own offset."""
    size = piece_bytes(piece)
    for start in range(0, size, most):
        yield offset + start, cut(piece, start, min(most, size - start))


def cut(piece: Piece, start: int, size: int) -> Piece:
    """Return so many bytes of a piece."""
    if isinstance(piece, Span):
        return Span(piece.array, piece.start + start, size)
    return piece[start : start + size]
