"""CSV files in pieces: where records begin, so that a large file is read in parts that fit memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gpuetl.formats.csv_blocks import starts_of_block
from gpuetl.formats.csv_header import Header, header_of
from gpuetl.formats.csv_options import CsvOptions, Dialect, csv_options
from gpuetl.formats.csv_quotes import line_count
from gpuetl.formats.csv_records import check_quotes, open_quote, record_count, whole_records
from gpuetl.formats.csv_text import BLOCK_BYTES, blocks, plain, text_between
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.format import Piece
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened_to_look
from gpuetl.places.paths import FilePath
from gpuetl.places.watching import Look
from gpuetl.threads import in_threads

PIECE_BYTES = 1 << 22
"""Of text that is looked at and read at a time; NumPy takes about 5 times as much beside it."""
MERGED_PIECES = 4
LONGEST_RECORD = 1 << 28
"""Bytes of a record beyond which a quote is taken not to be closed."""


class TextExtent(NamedTuple):
    """A piece of a file's text: bytes, the line in which it begins, from 1, and the records before it in the file.

    `last` says that no piece follows.
    """

    start: int
    stop: int
    line: int
    records: int
    last: bool


def pieces_of(dataset: Dataset, file: DataFile) -> Sequence[Piece]:
    """Return the pieces of a file, which begin where a record does.

    A file of plain text of up to `PIECE_BYTES`, or of what the engine takes whole, is one piece of unknown rows and is
    not looked at.  Others are looked at once, from their beginning to their end: this finds where records begin, and
    archives that are damaged.  Their pieces have known rows, unless bad rows are set aside.

    Raises
    ------
    DatasetError
        For a file that cannot be unpacked, and for a quote that is not closed.
    """
    options = csv_options(dataset)
    size = file.state.size if file.state else 0
    whole = 0 if options.on_bad_row == "quarantine" else dataset.whole_file_bytes
    if not options.is_stream(file.path.name) and size <= max(PIECE_BYTES, whole):
        return [Piece(-1, {"": size})]
    header = header_of(dataset, file)
    with opened_to_look(file.path, file.state) as source:
        found = list(extents(source, options, header))
    total = max(1, found[-1][0].stop)
    shares = ({"": size * (extent.stop - extent.start) // total} for extent, _ in found)
    pieces = [Piece(rows, share, extent) for (extent, rows), share in zip(found, shares, strict=True)]
    return pieces if options.on_bad_row != "quarantine" else merged(pieces)


def merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Return several pieces as one of unknown rows: each becomes a partition, and bad rows are none of its rows."""
    return [one_of(pieces[start : start + MERGED_PIECES]) for start in range(0, len(pieces), MERGED_PIECES)]


def one_of(pieces: Sequence[Piece]) -> Piece:
    """Return pieces that follow each other as one."""
    first, last = pieces[0].extent, pieces[-1].extent
    assert isinstance(first, TextExtent)
    assert isinstance(last, TextExtent)
    file_bytes = sum(piece.file_bytes[""] for piece in pieces)
    return Piece(-1, {"": file_bytes}, first._replace(stop=last.stop, last=last.last))


def extents(source: OpenFile, options: CsvOptions, header: Header) -> Iterator[tuple[TextExtent, int]]:
    """Yield the pieces of a file's text with the records that each has."""
    if (starts := plain_starts(source, options, header)) is not None:
        yield from extents_between(source, options, header, starts)
        return
    dialect, empty_lines = options.dialect, len(header.names) == 1
    start, line, records = header.start, header.line, 0
    total, look = source.state.size, Look("text of", str(source.path))
    for text, last in whole_texts(source, options, header):
        look.at(min(start, total), total)
        if last:
            check_quotes(text, dialect, source.path, line)
        rows = record_count(text, dialect, empty_lines)
        yield TextExtent(start, start + len(text), line, records, last), rows
        start, line, records = start + len(text), line + line_count(text), records + rows
    look.end(total)


class Start(NamedTuple):
    """Where a piece begins, and the records and lines of the text before it; -1 for those that are not counted."""

    place: int
    records: int
    lines: int


def plain_starts(source: OpenFile, options: CsvOptions, header: Header) -> list[Start] | None:
    """Return where the pieces of a file of plain text begin, and its end; None for a file that is to be parsed.

    That is one with comments, escaped characters, or quotes that do not open and close fields in turn.  Threads look at
    the blocks of the file, each once.
    """
    dialect, size = options.dialect, source.state.size
    if options.is_stream(source.path.name) or dialect.comment or dialect.escape or not header.start:
        return None
    places, empty_lines = range(header.start, size, PIECE_BYTES), len(header.names) == 1
    each = in_threads(lambda place: starts_of_block(source, dialect, place, PIECE_BYTES, empty_lines), places)
    starts, quotes, records, lines = [Start(header.start, 0, 0)], 0, 0, 0
    for place, block in zip(places, each, strict=True):
        ends = block.records[quotes % 2]
        if not block.quotes.regular[quotes % 2]:
            return None
        if place > header.start and ends.first >= 0 and place + ends.first < size:
            starts.append(Start(place + ends.first, records + ends.records_before, lines + ends.lines_before))
        quotes, records, lines = quotes + block.quotes.quotes, records + ends.records, lines + block.lines
    if quotes % 2:
        return None
    records += bool(each) and not each[-1].ends_line
    counted = all(block.lines >= 0 for block in each)
    starts.append(Start(size, records, lines))
    return starts if counted else [Start(start.place, -1, -1) for start in starts]


def extents_between(
    source: OpenFile, options: CsvOptions, header: Header, starts: Sequence[Start]
) -> Iterator[tuple[TextExtent, int]]:
    """Yield the pieces between some bytes of a file of plain text, with the records that each has."""
    dialect, empty_lines = options.dialect, len(header.names) == 1

    def counted(span: tuple[Start, Start]) -> tuple[int, int]:
        start, stop = span
        if stop.records >= 0:
            return stop.records - start.records, stop.lines - start.lines
        text = source.read_at(start.place, stop.place - start.place)
        return record_count(text, dialect, empty_lines), line_count(text)

    spans = list(pairwise(starts))
    line, records = header.line, 0
    counts = in_threads(counted, spans) if starts[-1].records < 0 else map(counted, spans)
    for (start, stop), (rows, lines) in zip(spans, counts, strict=True):
        yield TextExtent(start.place, stop.place, line, records, stop is starts[-1]), rows
        line, records = line + lines, records + rows


def whole_texts(source: OpenFile, options: CsvOptions, header: Header) -> Iterator[tuple[bytes, bool]]:
    """Yield the text after the header in parts of whole records; the last one is marked, and may be empty."""
    parts = skip(blocks(source, options), header.start)
    return whole_parts(parts, options.dialect, source.path, header.line)


def whole_parts(parts: Iterator[bytes], dialect: Dialect, path: FilePath, line: int) -> Iterator[tuple[bytes, bool]]:
    """Yield text, whose first record begins in a line, in parts of whole records; the last one is marked."""
    text, wanted = bytearray(), PIECE_BYTES
    while True:
        block = next(parts, b"")
        text += block
        if not block:
            yield bytes(text), True
            return
        while len(text) >= wanted:
            part = bytes(text[:wanted])
            end = whole_records(part, dialect)
            if end:
                yield part[:end], False
                line += line_count(part[:end])
                del text[:end]
                wanted = PIECE_BYTES
                continue
            wanted *= 2
            if wanted > LONGEST_RECORD:
                raise open_quote(path, line)


def skip(parts: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Yield blocks without their first bytes."""
    for block in parts:
        if count < len(block):
            yield block[count:]
        count = max(0, count - len(block))


# The text of pieces, for those who parse it.


class CsvText(NamedTuple):
    """Whole records, and the line in which they begin, from 1."""

    data: bytes
    line: int


def plain_records(source: OpenFile, dialect: Dialect, start: int, stop: int, line: int) -> Iterator[CsvText]:
    """Yield the records between two bytes of a file of plain text, the first of which begins in a line.

    Raises
    ------
    DatasetError
        For a quote that is not closed.
    """
    for text, last in whole_parts(plain(source, BLOCK_BYTES, start, stop), dialect, source.path, line):
        if last:
            check_quotes(text, dialect, source.path, line)
        yield CsvText(text, line)
        line += line_count(text)


def texts_of(dataset: Dataset, file: DataFile, source: OpenFile, groups: Sequence[RowGroup]) -> Iterator[CsvText]:
    """Yield the records of pieces; a piece without an extent is all that follows the header."""
    for group in groups:
        if isinstance(group.extent, TextExtent):
            yield text_of(dataset, source, group.extent)
        else:
            header = header_of(dataset, file)
            text = CsvText(b"".join(blocks(source, csv_options(dataset)))[header.start :], header.line)
            check_quotes(text.data, csv_options(dataset).dialect, file.path, text.line)
            yield text


def text_of(dataset: Dataset, source: OpenFile, extent: TextExtent) -> CsvText:
    """Return the records of a piece."""
    return CsvText(text_between(source, csv_options(dataset), extent.start, extent.stop, extent.last), extent.line)
