"""Quotes of a CSV file that do not close: parsers take all that follows as one field, and say nothing."""

from __future__ import annotations

import re
from pathlib import Path

from gpuetl.io.dataset import DatasetError
from gpuetl.messages import coded

BLOCK_BYTES = 1 << 24


def check_quotes(path: Path, delimiter: str) -> None:
    """Refuse a file whose last quote is not closed.

    Counting is enough where the number of quotes is even: one pass at the speed of memory.  Only where it is odd are
    the fields looked at, since a quote may stand inside of a field that does not begin with one.

    Raises
    ------
    DatasetError
        With the line in which the quote opens.
    """
    with path.open("rb") as file:
        quotes = sum(block.count(b'"') for block in iter(lambda: file.read(BLOCK_BYTES), b""))
    if quotes % 2:
        text = path.read_bytes()
        opened = unclosed(text, delimiter)
        if opened is not None:
            line = text.count(b"\n", 0, opened) + 1
            raise open_quote(path, line)


def open_quote(path: Path, line: int) -> DatasetError:
    """Word a quote that is not closed."""
    hint = "Close it; inside of a field in quotes, a quote is written twice."
    return DatasetError(coded("GE1415", f"{path}: the quote that opens in line {line} is not closed.  {hint}"))


def unclosed(text: bytes, delimiter: str) -> int | None:
    """Return where the quote stands that opens a field and is not closed, if there is one."""
    begins = rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n]|" + re.escape(delimiter.encode()) + rb")"
    for field in re.finditer(begins + rb'"(?P<value>[^"]*(?:""[^"]*)*)(?P<end>"?)', text):
        if not field["end"]:
            return field.start("value") - 1
    return None
