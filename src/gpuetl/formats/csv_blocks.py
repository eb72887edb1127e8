"""Where records begin and end in the blocks of a CSV file, each looked at by itself."""

from __future__ import annotations

from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.formats.csv_options import Dialect
from gpuetl.formats.csv_quotes import (
    COMPARED_BYTES,
    NEWLINE,
    BlockQuotes,
    borders_of,
    line_ends,
    places_of,
    quotes_before,
    regular_from,
)
from gpuetl.places.filesystem import OpenFile

_THREAD = local()


class BlockStarts(NamedTuple):
    r"""The quotes of a block, and the records that end in it, after an even or an odd number of quotes before it.

    `lines` counts the ends of lines; -1 says that records and lines are not counted, since some lines end with \r.
    `ends_line` says that the last byte ends one.
    """

    quotes: BlockQuotes
    records: tuple[RecordEnds, RecordEnds]
    lines: int
    ends_line: bool


class RecordEnds(NamedTuple):
    """Where the first record of a block begins, -1 if none does, and the records and lines before it in the block.

    `records` counts those that end in the block.
    """

    first: int
    records_before: int
    lines_before: int
    records: int


NO_RECORD = RecordEnds(-1, 0, 0, 0)


def starts_of_block(source: OpenFile, dialect: Dialect, start: int, size: int, empty_lines: bool) -> BlockStarts:
    """Look at a block of a file; its first record begins after the first line end that is not in quotes."""
    buffer, stop = block_text(source, start - 1, size + 2)
    if buffer.find(b"\r", 0, stop) < 0 and (not dialect.quote or buffer.find(dialect.quote.encode(), 0, stop) < 0):
        return starts_of_plain_block(buffer, stop, size, empty_lines)
    text = bytes(memoryview(buffer)[:stop])
    bytes_ = np.frombuffer(text, np.uint8)
    has_returns = text.find(b"\r") >= 0
    places = (np.concatenate([*line_ends(text)]) if has_returns else places_of(bytes_, NEWLINE)) - 1
    places = places[(places >= -1) & (places < size)]  # in the block, and the byte before it
    if has_returns and len(text) < size + 2 and text.endswith(b"\r"):
        places = places[:-1]
    empty = places[1:][np.diff(places) == 1] if not empty_lines else places[:0]
    places = places[1:] if len(places) and places[0] < 0 else places
    lines = -1 if has_returns else len(places)
    ends_line = len(places) > 0 and int(places[-1]) == min(size, len(text) - 1) - 1
    if not dialect.quote or text.find(dialect.quote.encode()) < 0:
        found = record_ends(places, np.ones(len(places), np.bool_), empty)
        return BlockStarts(BlockQuotes(0, (True, True)), (found, NO_RECORD), lines, ends_line)
    at = places_of(bytes_[: size + 1], ord(dialect.quote))
    at = at[1:] if len(at) and at[0] == 0 else at
    inside, empty_inside = quotes_before(at - 1, places), quotes_before(at - 1, empty)
    records = [record_ends(places, inside == odd, empty[empty_inside == odd]) for odd in (False, True)]
    regular = [regular_from(bytes_, at, borders_of(dialect), before) for before in (0, 1)]
    return BlockStarts(BlockQuotes(len(at), (regular[0], regular[1])), (records[0], records[1]), lines, ends_line)


def block_text(source: OpenFile, start: int, size: int) -> tuple[bytearray, int]:
    """Read up to `size` bytes from a place on into the thread's own memory; return it, and how many it has.

    New memory for each block would cost more than all that is looked for in it.
    """
    buffer: bytearray | None = getattr(_THREAD, "buffer", None)
    if buffer is None or len(buffer) < size:
        buffer = _THREAD.buffer = bytearray(size)
    size = min(size, source.state.size - start)
    source.read_into(memoryview(buffer)[:size], start)
    return buffer, size


def starts_of_plain_block(buffer: bytearray, stop: int, size: int, empty_lines: bool) -> BlockStarts:
    r"""Count the lines of a block of `size` bytes without quotes and \r; the byte before it is the first one."""
    bytes_, lines, empty = np.frombuffer(buffer, np.uint8, stop), 0, 0
    end = min(size + 1, stop)
    for start in range(1, end, COMPARED_BYTES):
        ends = bytes_[start - 1 : min(start + COMPARED_BYTES, end)] == NEWLINE
        lines += int(np.count_nonzero(ends[1:]))
        if not empty_lines:
            empty += int(np.count_nonzero(ends[1:] & ends[:-1]))
    first = buffer.find(b"\n", 1, end)
    ends_line = bool(lines) and buffer[end - 1] == NEWLINE
    if first < 0:
        return BlockStarts(BlockQuotes(0, (True, True)), (NO_RECORD, NO_RECORD), 0, ends_line)
    is_row = empty_lines or buffer[first - 1] != NEWLINE
    found = RecordEnds(first, int(is_row), 1, lines - empty)
    return BlockStarts(BlockQuotes(0, (True, True)), (found, NO_RECORD), lines, ends_line)


def record_ends(lines: NDArray[np.int64], outside: NDArray[np.bool_], empty: NDArray[np.int64]) -> RecordEnds:
    """Return where records end, of the ends of lines and which of them are not in quotes; `empty` end empty lines."""
    if not outside.any():
        return NO_RECORD
    place = int(np.argmax(outside))
    first = int(lines[place])
    return RecordEnds(first + 1, int(first not in empty[:1]), place + 1, int(np.count_nonzero(outside)) - len(empty))
