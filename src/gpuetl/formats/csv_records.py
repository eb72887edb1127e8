"""Records of CSV files: where quoted fields and records end, and blocks of bytes that hold whole records."""

from __future__ import annotations

import io
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import lru_cache, partial
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.formats.csv_options import Dialect
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.paths import FilePath
from gpuetl.threads import in_threads

# Quotes of CSV files: where fields in quotes end, and quotes that no rule of CSV allows.


QUOTE_BLOCK_BYTES = 1 << 22
COMPARED_BYTES = 1 << 18
FIRST_QUOTES = 64
RETURN, NEWLINE = b"\r\n"
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
    if is_plain(text, dialect):
        count, regular = 0, True
        for block in in_threads(partial(quotes_of_block, text, dialect), range(0, len(text), QUOTE_BLOCK_BYTES)):
            regular = regular and block.regular[count % 2]
            count += block.quotes
        if regular and count % 2 == 0:
            return Quotes(present=True, text_after=False)
    return irregular_quotes(path, text, dialect, line)


def is_plain(text: bytes, dialect: Dialect) -> bool:
    """Tell whether a text has neither comments nor characters that are escaped."""
    return not any(mark and text.find(mark.encode()) >= 0 for mark in (dialect.escape, dialect.comment))


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


class BlockQuotes(NamedTuple):
    """The quotes of a block: how many there are, and whether they are regular after an even or an odd number."""

    quotes: int
    regular: tuple[bool, bool]


def quotes_of_block(text: bytes, dialect: Dialect, start: int) -> BlockQuotes:
    """Look at the quotes of the block that begins at a byte of a text.

    Quotes of a regular text open and close fields in turn: one that opens follows a delimiter, a line end or the quote
    with which it is a pair, and one that closes comes before one of these.
    """
    bytes_ = np.frombuffer(text, np.uint8)
    at = places_of(bytes_[start : start + QUOTE_BLOCK_BYTES], ord(dialect.quote)) + start
    borders = borders_of(dialect)
    return BlockQuotes(len(at), (regular_from(bytes_, at, borders, 0), regular_from(bytes_, at, borders, 1)))


def borders_of(dialect: Dialect) -> NDArray[np.bool_]:
    """Return which bytes may stand next to the quotes around a field."""
    borders = np.zeros(256, np.bool_)
    borders[[ord(dialect.quote), RETURN, NEWLINE, ord(dialect.delimiter)]] = True
    return borders


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


def places_of(bytes_: NDArray[np.uint8], value: int) -> NDArray[np.int64]:
    """Return where a byte stands; a part of the text is compared at a time, which stays in the cache."""
    starts = range(0, len(bytes_), COMPARED_BYTES)
    parts = [np.flatnonzero(bytes_[start : start + COMPARED_BYTES] == value) + start for start in starts]
    return np.concatenate([*parts, np.zeros(0, np.int64)])


def record_ends(lines: NDArray[np.int64], outside: NDArray[np.bool_], empty: NDArray[np.int64]) -> RecordEnds:
    """Return where records end, of the ends of lines and which of them are not in quotes; `empty` end empty lines."""
    if not outside.any():
        return NO_RECORD
    place = int(np.argmax(outside))
    first = int(lines[place])
    return RecordEnds(first + 1, int(first not in empty[:1]), place + 1, int(np.count_nonzero(outside)) - len(empty))


def regular_from(bytes_: NDArray[np.uint8], quotes: NDArray[np.int64], borders: NDArray[np.bool_], before: int) -> bool:
    """Tell whether quotes open and close fields in turn, after an even or an odd number of others.

    A text begins and ends where a line does.
    """
    for part in (slice(FIRST_QUOTES), slice(None)):  # the first ones tell the two apart at little cost
        own = quotes[part]
        opens, closes = own[before::2], own[1 - before :: 2]
        opens = opens[1:] if len(opens) and opens[0] == 0 else opens
        closes = closes[:-1] if len(closes) and closes[-1] == len(bytes_) - 1 else closes
        if not (borders[bytes_[opens - 1]].all() and borders[bytes_[closes + 1]].all()):
            return False
    return True


class QuotedField(NamedTuple):
    """A field that begins with a quote: where the quote stands, the value after it, and where the closing quote ends.

    `closed` tells whether it has one; if not, the value goes to the end of the text.
    """

    opening: int
    value: int
    value_end: int
    end: int
    closed: bool


class Comment(NamedTuple):
    """A line that is no row: where it begins, and where it ends, before its line end."""

    start: int
    end: int


class EscapedText(NamedTuple):
    """A text outside of quotes in which the end of a line is escaped."""

    start: int
    end: int


class Patterns(NamedTuple):
    """The regular expressions of a dialect.

    `tokens` finds fields in quotes and comments, `field` a field with the delimiter before it, `record` a record with
    its line end; a quote that is not closed takes all that follows.
    """

    tokens: re.Pattern[bytes]
    field: re.Pattern[bytes]
    record: re.Pattern[bytes]


@lru_cache
def patterns(dialect: Dialect) -> Patterns:
    """Return the regular expressions of a dialect."""
    mark, quote, escape, comment = (re.escape(one.encode()) for one in dialect)
    escaped = escape + rb"[\s\S]" if escape else b""
    inside = rb"[^%b%b]*" % (quote, escape)
    pair = b"(?:" + b"|".join(filter(None, (quote + quote, escaped))) + b")"
    value = rb"%b(?:%b%b)*" % (inside, pair, inside)
    rest = rb"[^\r\n%b%b]*" % (mark, escape)
    if escape:
        rest = rb"%b(?:%b[\s\S]?%b)*" % (rest, escape, rest)
    in_quotes = rb"%b(?P<value>%b)(?P<end>%b?)" % (quote, value, quote) if quote else rb"(?P<value>(?!))(?P<end>)"
    begins = rb"(?:\A|[\r\n]|%b)" % mark
    tokens = begins + in_quotes
    if escape:  # each field is a token: a delimiter that is escaped begins none
        tokens = rb"(?:\A|\r\n|[\r\n]|%b)(?:%b|)(?P<rest>%b)" % (mark, in_quotes, rest)
    if comment:
        tokens = rb"(?:\A|[\r\n])(?P<comment>%b[^\r\n]*)|%b" % (comment, tokens)
    quoted = rb"(?:%b%b%b?)?" % (quote, value, quote) if quote else b""
    closed = rb"(?:%b%b(?:%b|\Z))?" % (quote, value, quote) if quote else b""
    field = rb"(?:\A|%b)(%b%b)" % (mark, quoted, rest)
    one = closed + rest
    record = rb"%b(?:%b%b)*(?P<end>\r\n|\r|\n|)" % (one, mark, one)
    return Patterns(re.compile(tokens), re.compile(field), re.compile(record))


def record_end(text: bytes, start: int, dialect: Dialect) -> tuple[int, int]:
    """Return where the record that begins at `start` ends, and where the next one begins."""
    record = patterns(dialect).record.match(text, start)
    return (record.start("end"), record.end()) if record else (start, start)


def tokens(text: bytes, dialect: Dialect) -> Iterator[QuotedField | Comment | EscapedText]:
    """Yield the fields that begin with a quote, the comments, and texts with an escaped line end, in order."""
    escaped = [dialect.escape.encode() + end for end in (b"\r", b"\n")] if dialect.escape else []
    for token in patterns(dialect).tokens.finditer(text):
        if dialect.comment and token["comment"] is not None:
            yield Comment(*token.span("comment"))
        elif token["value"] is not None:
            start, end = token.span("value")
            yield QuotedField(start - 1, start, end, token.end("end"), bool(token["end"]))
        if escaped and any(one in (token["rest"] or b"") for one in escaped):
            yield EscapedText(*token.span("rest"))


def token_lines(token: QuotedField | EscapedText) -> tuple[int, int]:
    """Return between which bytes line ends belong to a token."""
    return (token.value, token.value_end) if isinstance(token, QuotedField) else (token.start, token.end)


def regular_quotes(text: bytes, dialect: Dialect) -> NDArray[np.int64] | None:
    """Return where quotes stand that open and close fields in turn; None where some do not, or for a text with comments
    or escaped characters.
    """
    if not is_plain(text, dialect):
        return None
    if not dialect.quote or text.find(dialect.quote.encode()) < 0:
        return np.zeros(0, np.int64)
    bytes_ = np.frombuffer(text, np.uint8)
    at = places_of(bytes_, ord(dialect.quote))
    return at if regular_from(bytes_, at, borders_of(dialect), 0) else None


def quotes_before(quotes: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell before which places an odd number of quotes stands."""
    return np.asarray(np.searchsorted(quotes, places) % 2 == 1)


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


def line_count(text: bytes) -> int:
    r"""Count the ends of lines."""
    if text.find(b"\r") < 0:
        return text.count(b"\n")
    return sum(len(ends) for ends in line_ends(text))


def quoted_fields(text: bytes, dialect: Dialect) -> Iterator[QuotedField]:
    """Yield the fields that begin with a quote, in order."""
    return (token for token in tokens(text, dialect) if isinstance(token, QuotedField))


def without_comments(text: bytes, dialect: Dialect) -> bytes:
    """Return records without the lines that are comments."""
    if not dialect.comment or text.find(dialect.comment.encode()) < 0:
        return text
    kept, start = list[bytes](), 0
    for token in tokens(text, dialect):
        if isinstance(token, Comment):
            kept.append(text[start : token.start])
            start = token.end + (2 if text[token.end : token.end + 2] == b"\r\n" else 1)
    return b"".join([*kept, text[start:]])


def goes_on(text: bytes, end: int, dialect: Dialect) -> bool:
    """Tell whether a field goes on after its closing quote, which stands before `end`."""
    return end < len(text) and text[end] not in (RETURN, NEWLINE, ord(dialect.delimiter))


def split_fields(record: bytes, dialect: Dialect) -> list[bytes]:
    """Return the fields of a record as they are written, with their quotes; the record has no line end."""
    return [field[1] for field in patterns(dialect).field.finditer(record)]


def fields_with_text_after(fields: list[bytes], dialect: Dialect) -> tuple[int, ...]:
    """Return which of the fields go on after their closing quote, from 0."""
    return tuple(
        place
        for place, field in enumerate(fields)
        for quoted in quoted_fields(field, dialect._replace(comment=""))
        if quoted.opening == 0 and quoted.end < len(field)
    )


def unquoted(field: bytes, dialect: Dialect) -> bytes:
    """Return the value of a field: without its quotes, if it has any, and what escapes characters."""
    quote = dialect.quote.encode()
    if quote and field.startswith(quote):
        field = field[1:-1]
        if not dialect.escape:
            return field.replace(quote + quote, quote)
    if not dialect.escape:
        return field
    escape = re.escape(dialect.escape.encode())
    doubled = rb"|%b(?=%b)" % (re.escape(quote), re.escape(quote)) if quote else b""
    return re.sub(rb"%b([\s\S])%b" % (escape, doubled), lambda found: found[1] or b"", field)


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
