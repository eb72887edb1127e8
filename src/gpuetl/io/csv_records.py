"""Where the records of a CSV file stand: for messages about single rows, which name lines and show what is written."""

from __future__ import annotations

from codecs import getincrementaldecoder

import numpy as np
from numpy.typing import NDArray

from gpuetl.io.csv_quotes import RETURN, goes_on, line_ends, quoted_fields, split_fields
from gpuetl.io.open_file import OpenFile

BLOCK_BYTES = 1 << 24
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
        return split_fields(self.written(record), self.delimiter)


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text, cut short where it is long, with how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
