"""Where the records of a CSV file stand: for messages about single rows, which name lines and show what is written."""

from __future__ import annotations

import mmap
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 24
LONGEST_TEXT = 2000
"""Characters of a record that are shown."""
NEWLINE, RETURN = 10, 13


class CsvRecords:
    """The records of a file, the header first; lines and records are found in one pass over the file.

    Parameters
    ----------
    empty_lines
        Whether an empty line is a record, as it is in a file of one column.
    """

    def __init__(self, path: Path, delimiter: str, empty_lines: bool) -> None:
        with path.open("rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.delimiter = re.escape(delimiter.encode())
        self.line_ends = np.concatenate([*line_ends(self.data), np.zeros(0, np.int64)])
        inside = self.inside_quotes()
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

    def inside_quotes(self) -> NDArray[np.bool_]:
        """Tell which line ends stand in a field in quotes."""
        inside = np.zeros(len(self.line_ends), np.bool_)
        if self.data.find(b'"') < 0:
            return inside
        begins = rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n]|" + self.delimiter + rb")"
        for field in re.finditer(begins + rb'"(?P<value>[^"]*(?:""[^"]*)*)"', self.data):
            first, last = np.searchsorted(self.line_ends, [field.start("value"), field.end("value")])
            inside[first:last] = True
        return inside

    def is_utf8(self) -> bool:
        """Tell whether all bytes of the file are UTF-8."""
        decoder = getincrementaldecoder("utf-8")()
        try:
            for start in range(0, len(self.data), BLOCK_BYTES):
                decoder.decode(self.data[start : start + BLOCK_BYTES])
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
        value = rb'(?:"[^"]*(?:""[^"]*)*"?)?(?:(?!' + self.delimiter + rb").)*"
        return re.findall(rb"(?:\A|" + self.delimiter + rb")(" + value + rb")", self.written(record), re.DOTALL)


def line_ends(data: mmap.mmap) -> Iterator[NDArray[np.int64]]:
    r"""Yield where lines end, block by block: at \n, and at \r that no \n follows."""
    bytes_ = np.frombuffer(data, np.uint8)
    for start in range(0, len(bytes_), BLOCK_BYTES):
        block = bytes_[start : start + BLOCK_BYTES]
        following = bytes_[start + 1 : start + BLOCK_BYTES + 1]
        ends = block == NEWLINE
        alone = block == RETURN
        alone[: len(following)] &= following != NEWLINE
        yield np.flatnonzero(ends | alone) + start


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text, cut short where it is long, with how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
