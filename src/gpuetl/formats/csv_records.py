"""Records of CSV files: where quoted fields and records end, and blocks of bytes that hold whole records."""

from __future__ import annotations

import io
import re
from codecs import getincrementaldecoder
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.formats.csv_options import Dialect
from gpuetl.formats.csv_quotes import (
    NEWLINE,
    RETURN,
    are_regular,
    is_plain,
    line_ends,
    line_of,
    quotes_before,
    regular_quotes,
)
from gpuetl.formats.csv_tokens import (
    Comment,
    QuotedField,
    goes_on,
    quoted_fields,
    split_fields,
    token_lines,
    tokens,
)
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath

# Quotes of CSV files: where fields in quotes end, and quotes that no rule of CSV allows.


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN_CHARACTERS = 80


class Quotes(NamedTuple):
    """Whether a text has quotes, and whether text follows the closing quote of a field."""

    present: bool
    text_after: bool


def check_quotes(text: bytes, dialect: Dialect, path: FilePath, line: int = 1) -> Quotes:
    """Look at the quotes of records, the first of which begins in a line, and refuse a last quote that is not closed.

    A text whose quotes are all regular takes one pass at the speed of memory.  Only others are parsed: they may have
    quotes inside of fields that do not begin with one, which are characters like others.

    Raises
    ------
    DatasetError
        With the line in which the open quote stands.
    """
    if not dialect.quote or text.find(dialect.quote.encode()) < 0:
        return Quotes(present=False, text_after=False)
    if is_plain(text, dialect) and are_regular(text, dialect):
        return Quotes(present=True, text_after=False)
    return irregular_quotes(path, text, dialect, line)


def irregular_quotes(path: FilePath, text: bytes, dialect: Dialect, line: int = 1) -> Quotes:
    """Parse the fields of a text, and refuse one whose last quote is not closed.

    Where text follows the closing quote of a field before, the error names that field: it is the cause.
    """
    first, shown = 0, ""
    for field in quoted_fields(text, dialect):
        if not shown and goes_on(text, field.end, dialect):
            first = field.opening
            shown = text[first : min(field.end + 1, first + 8 * SHOWN_CHARACTERS)].decode("utf-8", "replace")
        if not field.closed:
            at = line - 1 + line_of(text, first if shown else field.opening)
            raise text_after_quote(path, at, shown) if shown else open_quote(path, at)
    return Quotes(present=True, text_after=bool(shown))


def whole_records(text: bytes, dialect: Dialect) -> int:
    """Return where the last record of a text ends with its line end: the rest goes on in what follows the text.

    The text begins where a record does.  0 means that no record ends in it.
    """
    quotes = regular_quotes(text, dialect)
    if quotes is not None and not len(quotes):
        return max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
    ends = np.concatenate([*line_ends(text), np.zeros(0, np.int64)])
    if text.endswith(b"\r"):
        ends = ends[:-1]  # a \n may follow
    if quotes is not None:
        ends = ends[~quotes_before(quotes, ends)]
    else:
        inside = np.zeros(len(ends), np.bool_)
        for token in tokens(text, dialect):
            if not isinstance(token, Comment):
                first, last = np.searchsorted(ends, token_lines(token))
                inside[first:last] = True
        ends = ends[~inside]
    return int(ends[-1]) + 1 if len(ends) else 0


def record_count(text: bytes, dialect: Dialect, empty_lines: bool) -> int:
    """Count the records of a text, which is cheap where no line is empty and nothing is in quotes."""
    no_empty_line = empty_lines or (not text.startswith(b"\n") and text.find(b"\n\n") < 0)
    if text.find(b"\r") < 0 and no_empty_line:
        quotes = regular_quotes(text, dialect)
        if quotes is not None:
            return text.count(b"\n") - inside_count(quotes, text) + (not text.endswith(b"\n") and bool(text))
    return len(CsvRecords(text, dialect, empty_lines))


def inside_count(quotes: NDArray[np.int64], text: bytes) -> int:
    r"""Count the \n between quotes that open and close in turn."""
    if not len(quotes):
        return 0
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == NEWLINE)
    return int(np.count_nonzero(quotes_before(quotes, ends)))


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
    r"""A text whose reads never end with the \r of a \r\n.

    Arrow drops a \n at the start of a block if the block before it ends with \r.  Inside of a field in quotes that \n
    belongs to the value, so the value would silently lose it.
    """

    def __init__(self, text: bytes) -> None:
        self.text, self.place = text, 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, and none at the end of the text; `size` is 2 or more."""
        end = len(self.text) if size < 0 else self.place + size
        data = self.text[self.place : end]
        if len(data) > 1 and data.endswith(b"\r"):
            data = data[:-1]
        self.place += len(data)
        return data


# Where the records of a CSV file stand: for messages about single rows, which name lines and show what is written.


DECODED_BLOCK_BYTES = 1 << 24
LONGEST_TEXT = 2000
"""Characters of a record that are shown."""


class CsvRecords:
    """The records of a text; lines and records are found in one pass over it.

    Parameters
    ----------
    text
        Whole records, without the header.
    empty_lines
        Whether an empty line is a record, as it is in a file of one column.
    first_line
        The line of the file, from 1, in which the text begins.
    """

    def __init__(self, text: bytes, dialect: Dialect, empty_lines: bool, first_line: int = 1) -> None:
        self.data, self.dialect, self.first_line = text, dialect, first_line
        self.line_ends = np.concatenate([*line_ends(self.data), np.zeros(0, np.int64)])
        self.comments = list[int]()
        inside, after_quotes = self.inside_quotes()
        ends = self.line_ends[~inside]
        self.starts = np.concatenate([np.zeros(1, np.int64), ends + 1])
        self.stops = np.concatenate([ends, np.array([len(self.data)])])
        if self.starts[-1] == len(self.data):
            self.starts, self.stops = self.starts[:-1], self.stops[:-1]
        kept = ~np.isin(self.starts, np.array(self.comments, np.int64))
        if not empty_lines:
            bytes_ = np.frombuffer(self.data, np.uint8)
            alone = (self.stops == self.starts + 1) & (bytes_[self.starts] == RETURN)  # the rest of "\r\n"
            kept &= (self.stops > self.starts) & ~alone
        self.starts, self.stops = self.starts[kept], self.stops[kept]
        irregular = np.unique(np.searchsorted(self.starts, np.array(after_quotes, np.int64), side="right") - 1)
        self.text_after_quote: tuple[int, ...] = tuple(irregular.tolist())
        """The records with a field that goes on after its closing quote."""

    def __len__(self) -> int:
        return len(self.starts)

    def inside_quotes(self) -> tuple[NDArray[np.bool_], list[int]]:
        """Tell which line ends stand in a field in quotes, and where a field goes on after its closing quote."""
        inside, after = np.zeros(len(self.line_ends), np.bool_), list[int]()
        quotes = regular_quotes(self.data, self.dialect)
        if quotes is not None:
            return quotes_before(quotes, self.line_ends) if len(quotes) else inside, after
        for token in tokens(self.data, self.dialect):
            if isinstance(token, Comment):
                self.comments.append(token.start)
                continue
            if isinstance(token, QuotedField) and goes_on(self.data, token.end, self.dialect):
                after.append(token.value)
            first, last = np.searchsorted(self.line_ends, token_lines(token))
            inside[first:last] = True
        return inside, after

    def is_utf8(self) -> bool:
        """Tell whether all bytes are UTF-8."""
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
        return int(np.searchsorted(self.line_ends, self.starts[record])) + self.first_line

    def written(self, record: int) -> bytes:
        """Return a record as it is written, without its line end."""
        return bytes(self.data[self.starts[record] : self.stops[record]]).removesuffix(b"\r")

    def text(self, record: int) -> str:
        """Return a record as it is written; a long one is cut short, and other bytes than UTF-8 are marked."""
        return shortened(self.written(record).decode("utf-8", "replace"))

    def fields(self, record: int) -> list[bytes]:
        """Return the fields of a record as they are written, with their quotes."""
        return split_fields(self.written(record), self.dialect)


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text, cut short where it is long, with how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
