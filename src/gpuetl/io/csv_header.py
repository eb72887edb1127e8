"""The header line of a CSV file: its column names, and whether rows may follow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from csv import Error as CsvError
from csv import reader as read_records
from dataclasses import dataclass
from pathlib import Path

from gpuetl.errors import have_hint
from gpuetl.io.csv_quotes import open_quote, unclosed
from gpuetl.io.dataset import DatasetError
from gpuetl.messages import coded

MAX_HEADER_BYTES = 1 << 20


@dataclass(frozen=True)
class Header:
    """The first line of a CSV file: the names in it, and whether nothing follows."""

    names: tuple[str, ...]
    alone: bool


def read_header(path: Path, delimiter: str) -> Header:
    """Read the names in the first line, without a byte order mark.

    Raises
    ------
    DatasetError
        For a file that is empty, cannot be read, or is not UTF-8 text, and a name of several lines.
    """
    try:
        with path.open("rb") as lines:
            first = lines.readline(MAX_HEADER_BYTES)
            alone = not lines.read(1)
    except OSError as error:
        raise DatasetError(coded("GE1403", f"cannot read {path}: {error.strerror or error}")) from None
    if unclosed(first, delimiter) is not None:
        raise open_quote(path, 1)
    try:
        names = next(iter(read_records([first.decode("utf-8-sig")], delimiter=delimiter)), [])
    except (UnicodeDecodeError, CsvError):
        hint = "Save the file as UTF-8."
        raise DatasetError(coded("GE1403", f"{path}: the first line is not column names in UTF-8"), hint) from None
    if not names:
        hint = "Add the header line, or take the file out of the source's path."
        raise DatasetError(coded("GE1414", f"{path}: empty; a CSV file begins with a line of column names"), hint)
    return Header(tuple(names), alone)


def missing_hint(name: str, names: Iterable[str]) -> str:
    """Say what to do about a name that a header lacks: another delimiter, or the nearest of its names."""
    names = list(names)
    return have_hint(name, names, delimiter_hint(names) or case_hint(name, names))


def delimiter_hint(names: Sequence[str]) -> str:
    """Return the delimiter that a header of one name seems to have, if there is one in it."""
    mark = next((mark for mark in ",;\t|" if len(names) == 1 and mark in names[0]), "")
    return f"Is the delimiter {mark!r}?  Declare it: delimiter: {json.dumps(mark)}." if mark else ""


def case_hint(name: str, names: Iterable[str]) -> str:
    """Return the name that differs in its case alone, if there is one."""
    near = next((other for other in names if other.casefold() == name.casefold()), None)
    return f"Did you mean '{near}'?  Upper and lower case differ." if near else ""
