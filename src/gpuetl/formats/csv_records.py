"""Records of CSV files: where quoted fields and records end, and blocks of bytes that hold whole records."""

from __future__ import annotations

import io
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.paths import FilePath
from gpuetl.threads import in_threads

# Quotes of CSV files: where fields in quotes end, and quotes that no rule of CSV allows.


QUOTE_BLOCK_BYTES = 1 << 22
FIRST_QUOTES = 64
QUOTE, RETURN, NEWLINE = b'"\r\n'
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN_CHARACTERS = 80


class Quotes(NamedTuple):
    """Whether a file has quotes, and whether text follows the closing quote of a field."""

    present: bool
    text_after: bool


def check_quotes(source: OpenFile, delimiter: str) -> Quotes:
    """Look at the quotes of a file, and refuse one whose last quote is not closed.

    A file whose quotes are all regular takes one pass at the speed of memory.  Only other files are parsed: they may
    have quotes inside of fields that do not begin with one, which are characters like others.

    Raises
    ------
    DatasetError
        With the line in which the open quote stands.
    """
    blocks = range(0, source.state.size, QUOTE_BLOCK_BYTES)
    each = in_threads(partial(quotes_of_block, source, delimiter), blocks)
    count, regular = 0, True
    for block in each:
        regular = regular and block.regular[count % 2]
        count += block.quotes
    if regular and count % 2 == 0:
        return Quotes(count > 0, text_after=False)
    text = source.read_bytes()  # a file that is mapped and becomes shorter would end the process
    return irregular_quotes(source.path, text, delimiter)


def irregular_quotes(path: FilePath, text: bytes, delimiter: str) -> Quotes:
    """Parse the fields of a file, and refuse one whose last quote is not closed.

    Where text follows the closing quote of a field before, the error names that field: it is the cause.
    """
    first, shown = 0, ""
    for field in quoted_fields(text, delimiter):
        if not shown and goes_on(text, field.end(), delimiter):
            first = opening(field)
            shown = text[first : min(field.end() + 1, first + 8 * SHOWN_CHARACTERS)].decode("utf-8", "replace")
        if not field["end"]:
            line = line_of(text, first if shown else opening(field))
            raise text_after_quote(path, line, shown) if shown else open_quote(path, line)
    return Quotes(present=True, text_after=bool(shown))


class BlockQuotes(NamedTuple):
    """The quotes of a block: how many there are, and whether they are regular after an even or an odd number."""

    quotes: int
    regular: tuple[bool, bool]


def quotes_of_block(source: OpenFile, delimiter: str, start: int) -> BlockQuotes:
    """Look at the quotes of the block that begins at a byte of a file.

    Quotes of a regular file open and close fields in turn: one that opens follows a delimiter, a line end or the quote
    with which it is a pair, and one that closes comes before one of these.
    """
    text = source.read_at(max(0, start - 1), QUOTE_BLOCK_BYTES + 1 + (start > 0))
    if start == 0:
        mark = len(BYTE_ORDER_MARK) * text.startswith(BYTE_ORDER_MARK)
        text = b"\n" * (1 + mark) + text[mark:]  # a file begins and ends where a line does
    bytes_ = np.frombuffer(text + b"\n", np.uint8)
    at = np.flatnonzero(bytes_[1 : 1 + QUOTE_BLOCK_BYTES] == QUOTE) + 1
    ends = np.zeros(256, np.bool_)
    ends[[QUOTE, RETURN, NEWLINE, delimiter.encode()[0]]] = True

    def regular(quotes: NDArray[np.int64], before: int) -> bool:
        opens, closes = quotes[before::2], quotes[1 - before :: 2]
        return bool(ends[bytes_[opens - 1]].all() and ends[bytes_[closes + 1]].all())

    first = [regular(at[:FIRST_QUOTES], before) for before in (0, 1)]  # tells the two apart at little cost
    return BlockQuotes(len(at), (first[0] and regular(at, 0), first[1] and regular(at, 1)))


@lru_cache
def quoted_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a field in quotes after what comes before a field; `end` is empty in an open one."""
    begins = rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n]|" + re.escape(delimiter.encode()) + rb")"
    return re.compile(begins + rb'"(?P<value>[^"]*(?:""[^"]*)*)(?P<end>"?)')


@lru_cache
def field_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a field with the delimiter before it, if there is one, up to the end of its record."""
    mark = re.escape(delimiter.encode())
    return re.compile(rb'(?:\A|%b)((?:"[^"]*(?:""[^"]*)*"?)?[^\r\n%b]*)' % (mark, mark))


@lru_cache
def record_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a record with its line end; a quote that is not closed takes all that follows."""
    mark = re.escape(delimiter.encode())
    field = rb'(?:"[^"]*(?:""[^"]*)*(?:"|\Z))?[^\r\n%b]*' % mark
    return re.compile(rb"%b(?:%b%b)*(?P<end>\r\n|\r|\n|)" % (field, mark, field))


def record_end(text: bytes, start: int, delimiter: str) -> tuple[int, int]:
    """Return where the record that begins at `start` ends, and where the next one begins."""
    record = record_pattern(delimiter).match(text, start)
    return (record.start("end"), record.end()) if record else (start, start)


def quoted_fields(text: bytes, delimiter: str) -> Iterator[re.Match[bytes]]:
    """Yield the fields that begin with a quote, in order."""
    return quoted_pattern(delimiter).finditer(text)


def opening(field: re.Match[bytes]) -> int:
    """Return where the opening quote of a field stands."""
    return field.start("value") - 1


def goes_on(text: bytes, end: int, delimiter: str) -> bool:
    """Tell whether a field goes on after its closing quote, which stands before `end`."""
    return end < len(text) and text[end] not in (RETURN, NEWLINE, delimiter.encode()[0])


def split_fields(record: bytes, delimiter: str) -> list[bytes]:
    """Return the fields of a record as they are written, with their quotes; the record has no line end."""
    return [field[1] for field in field_pattern(delimiter).finditer(record)]


def fields_with_text_after(fields: list[bytes], delimiter: str) -> tuple[int, ...]:
    """Return which of the fields go on after their closing quote, from 0."""
    return tuple(
        place
        for place, field in enumerate(fields)
        for quoted in quoted_pattern(delimiter).finditer(field)
        if quoted.start() == 0 and quoted.end() < len(field)
    )


def line_of(text: bytes, place: int) -> int:
    """Return the line, from 1, of a place."""
    return 1 + sum(int(np.searchsorted(ends, place)) for ends in line_ends(text))


def line_ends(data: bytes) -> Iterator[NDArray[np.int64]]:
    r"""Yield where lines end, block by block: at \n, and at \r that no \n follows."""
    bytes_ = np.frombuffer(data, np.uint8)
    for start in range(0, len(bytes_), QUOTE_BLOCK_BYTES):
        block = bytes_[start : start + QUOTE_BLOCK_BYTES]
        following = bytes_[start + 1 : start + QUOTE_BLOCK_BYTES + 1]
        ends = block == NEWLINE
        alone = block == RETURN
        alone[: len(following)] &= following != NEWLINE
        yield np.flatnonzero(ends | alone) + start


def open_quote(path: FilePath, line: int) -> DatasetError:
    """Word a quote that is not closed."""
    hint = "Close it; inside of a field in quotes, a quote is written twice."
    return DatasetError(coded("GE1415", f"{path}: the quote that opens in line {line} is not closed.  {hint}"))


def text_after_quote(path: FilePath, line: int, shown: str) -> DatasetError:
    """Word text after a closing quote; `shown` is the field or the row as it is written."""
    first = re.split("[\r\n]", shown, maxsplit=1)[0][:SHOWN_CHARACTERS]
    shown = first if first == shown else f"{first}…"
    hint = "Inside of a field in quotes, write a quote twice.  Or is a quote before it not closed?"
    return DatasetError(coded("GE1460", f"{path}:{line}: text follows the closing quote of a field: {shown}"), hint)


# The bytes of a CSV file in blocks that do not end between \r and \n.


class CsvBlocks(io.RawIOBase):
    r"""A file whose reads never end with the \r of a \r\n.

    Arrow drops a \n at the start of a block if the block before it ends with \r.  Inside of a field in quotes that \n
    belongs to the value, so the value would silently lose it.
    """

    def __init__(self, source: OpenFile) -> None:
        self.file = source.open()
        self.kept = b""

    def readable(self) -> bool:
        """Return true."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, and none at the end of the file; `size` is 2 or more."""
        data = self.kept + self.file.read(max(-1, size - len(self.kept)))
        self.kept = b""
        if len(data) > 1 and data.endswith(b"\r"):
            data, self.kept = data[:-1], b"\r"
        return data

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        super().close()


# Where the records of a CSV file stand: for messages about single rows, which name lines and show what is written.


DECODED_BLOCK_BYTES = 1 << 24
LONGEST_TEXT = 2000
"""Characters of a record that are shown."""


class CsvRecords:
    """The records of a file, the header first; lines and records are found in one pass over the file.

    Parameters
    ----------
    empty_lines
        Whether an empty line is a record, as it is in a file of one column.
    """

    def __init__(self, path: OpenFile, delimiter: str, empty_lines: bool) -> None:
        self.data = path.read_bytes()  # a file that is mapped and becomes shorter would end the process
        self.delimiter = delimiter
        self.line_ends = np.concatenate([*line_ends(self.data), np.zeros(0, np.int64)])
        inside, after_quotes = self.inside_quotes()
        ends = self.line_ends[~inside]
        self.starts = np.concatenate([np.zeros(1, np.int64), ends + 1])
        self.stops = np.concatenate([ends, np.array([len(self.data)])])
        if self.starts[-1] == len(self.data):
            self.starts, self.stops = self.starts[:-1], self.stops[:-1]
        if not empty_lines:
            bytes_ = np.frombuffer(self.data, np.uint8)
            alone = (self.stops == self.starts + 1) & (bytes_[self.starts] == RETURN)  # the rest of "\r\n"
            kept = (self.stops > self.starts) & ~alone
            self.starts, self.stops = self.starts[kept], self.stops[kept]
        irregular = np.unique(np.searchsorted(self.starts, np.array(after_quotes, np.int64), side="right") - 1)
        self.text_after_quote: tuple[int, ...] = tuple(irregular.tolist())
        """The records with a field that goes on after its closing quote."""

    def inside_quotes(self) -> tuple[NDArray[np.bool_], list[int]]:
        """Tell which line ends stand in a field in quotes, and where a field goes on after its closing quote."""
        inside, after = np.zeros(len(self.line_ends), np.bool_), list[int]()
        if self.data.find(b'"') < 0:
            return inside, after
        for field in quoted_fields(self.data, self.delimiter):
            if goes_on(self.data, field.end(), self.delimiter):
                after.append(field.start("value"))
            first, last = np.searchsorted(self.line_ends, [field.start("value"), field.end("value")])
            inside[first:last] = True
        return inside, after

    def is_utf8(self) -> bool:
        """Tell whether all bytes of the file are UTF-8."""
        decoder = getincrementaldecoder("utf-8")()
        try:
            for start in range(0, len(self.data), DECODED_BLOCK_BYTES):
                decoder.decode(self.data[start : start + DECODED_BLOCK_BYTES])
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def line(self, record: int) -> int:
        """Return the line, from 1, in which a record begins."""
        return int(np.searchsorted(self.line_ends, self.starts[record])) + 1

    def written(self, record: int) -> bytes:
        """Return a record as it is written, without its line end."""
        return bytes(self.data[self.starts[record] : self.stops[record]]).removesuffix(b"\r")

    def text(self, record: int) -> str:
        """Return a record as it is written; a long one is cut short, and other bytes than UTF-8 are marked."""
        return shortened(self.written(record).decode("utf-8", "replace"))

    def fields(self, record: int) -> list[bytes]:
        """Return the fields of a record as they are written, with their quotes."""
        return split_fields(self.written(record), self.delimiter)


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text, cut short where it is long, with how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
