"""Quotes and line ends of CSV text, block by block at the speed of memory, where every quote is regular."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.formats.csv_options import Dialect
from gpuetl.threads import in_threads

QUOTE_BLOCK_BYTES = 1 << 22
COMPARED_BYTES = 1 << 18
FIRST_QUOTES = 64
RETURN, NEWLINE = b"\r\n"


class BlockQuotes(NamedTuple):
    """The quotes of a block: how many there are, and whether they are regular after an even or an odd number."""

    quotes: int
    regular: tuple[bool, bool]


def is_plain(text: bytes, dialect: Dialect) -> bool:
    """Tell whether a text has neither comments nor characters that are escaped."""
    return not any(mark and text.find(mark.encode()) >= 0 for mark in (dialect.escape, dialect.comment))


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


def places_of(bytes_: NDArray[np.uint8], value: int) -> NDArray[np.int64]:
    """Return where a byte stands; a part of the text is compared at a time, which stays in the cache."""
    starts = range(0, len(bytes_), COMPARED_BYTES)
    parts = [np.flatnonzero(bytes_[start : start + COMPARED_BYTES] == value) + start for start in starts]
    return np.concatenate([*parts, np.zeros(0, np.int64)])


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


def line_of(text: bytes, place: int) -> int:
    """Return the line, from 1, of a place."""
    return 1 + sum(int(np.searchsorted(ends, place)) for ends in line_ends(text))


def line_count(text: bytes) -> int:
    r"""Count the ends of lines."""
    if text.find(b"\r") < 0:
        return text.count(b"\n")
    return sum(len(ends) for ends in line_ends(text))


def are_regular(text: bytes, dialect: Dialect) -> bool:
    """Return whether all quotes of a plain text are regular, and the last field in quotes is closed."""
    count, regular = 0, True
    for block in in_threads(partial(quotes_of_block, text, dialect), range(0, len(text), QUOTE_BLOCK_BYTES)):
        regular = regular and block.regular[count % 2]
        count += block.quotes
    return regular and count % 2 == 0
