"""The header line of a CSV file: its column names, and whether rows may follow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gpuetl.errors import have_hint
from gpuetl.formats.csv_options import csv_options
from gpuetl.formats.csv_records import (
    BYTE_ORDER_MARK,
    fields_with_text_after,
    open_quote,
    quoted_fields,
    record_end,
    split_fields,
    text_after_quote,
)
from gpuetl.formats.file_columns import case_hint
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

FIRST_BYTES = 1 << 13
MAX_HEADER_BYTES = 1 << 20
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
OTHER_FORMATS = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a ZIP file, such as a workbook",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"PAR1": "a Parquet file",
}
"""By the first bytes: files that are often given instead of text."""
NO_UTF_8 = "the first line is not column names in UTF-8"
SAVE_AS_UTF_8 = "Save the file as UTF-8."


@dataclass(frozen=True)
class Header:
    """The first line of a CSV file: the names in it, and whether nothing follows."""

    names: tuple[str, ...]
    alone: bool


class Headers(dict[FilePath, Header]):
    """The headers of a source's files, as they were when they were first asked for."""


def header_of(dataset: Dataset, file: DataFile) -> Header:
    """Return the header of a source's file, read once.

    Raises
    ------
    DatasetError
        For a file that is empty, cannot be read, or is not UTF-8 text.
    """
    headers = dataset.metadata
    assert isinstance(headers, Headers)
    if file.path not in headers:
        headers[file.path] = read_header(file, csv_options(dataset).delimiter)
    return headers[file.path]


def read_header(file: DataFile, delimiter: str) -> Header:
    r"""Read the names in the first line, without a byte order mark.

    The line ends with \n, \r\n or \r.  A name in quotes may have several lines.

    Raises
    ------
    DatasetError
        For a file that is empty, cannot be read, is not UTF-8 text, or has changed, and for a header with irregular
        quotes.
    """
    path = file.path
    try:
        with opened(path, file.state) as source:
            record, alone = first_record(source, delimiter)
    except OSError as error:
        raise DatasetError(coded("GE1403", f"cannot read {path}: {error.strerror or error}")) from None
    if record.startswith(UTF_16_MARKS):
        raise DatasetError(coded("GE1403", f"{path}: the file is UTF-16 text, not UTF-8"), SAVE_AS_UTF_8)
    if what := next((what for mark, what in OTHER_FORMATS.items() if record.startswith(mark)), ""):
        hint = "Unpack it, or take it out of the source's path."
        if record.startswith(b"PAR1"):
            hint = "Write parquet: instead of csv:."
        raise DatasetError(coded("GE1403", f"{path} is {what}, not CSV text"), hint)
    if not record:
        hint = "Add the header line, or take the file out of the source's path."
        raise DatasetError(coded("GE1414", f"{path}: empty; a CSV file begins with a line of column names"), hint)
    if any(not field["end"] for field in quoted_fields(record, delimiter)):
        raise open_quote(path, 1)
    fields = split_fields(record, delimiter)
    if fields_with_text_after(fields, delimiter):
        raise text_after_quote(path, 1, record.decode("utf-8", "replace"))
    try:
        names = tuple(unquoted(field).decode() for field in fields)
    except UnicodeDecodeError:
        raise DatasetError(coded("GE1403", f"{path}: {NO_UTF_8}"), SAVE_AS_UTF_8) from None
    if any("\0" in name for name in names):
        hint = f"Is it UTF-16?  {SAVE_AS_UTF_8}"
        raise DatasetError(coded("GE1403", f"{path}: the column names have NUL bytes, so the file is not text"), hint)
    return Header(names, alone)


def first_record(source: OpenFile, delimiter: str) -> tuple[bytes, bool]:
    """Return the first record without its line end and a byte order mark, and whether nothing follows it.

    Raises
    ------
    DatasetError
        For a record of more than `MAX_HEADER_BYTES`.
    """
    with source.open() as file:
        text, size = b"", FIRST_BYTES
        while more := file.read(size):
            text += more
            start = len(BYTE_ORDER_MARK) * text.startswith(BYTE_ORDER_MARK)
            end, following = record_end(text, start, delimiter)
            if following < len(text):
                return text[start:end], False
            if len(text) > MAX_HEADER_BYTES:
                raise long_header(source.path, text, delimiter)
            size = len(text)
        if not text:
            return b"", True
        return text[start:end], True


def long_header(path: FilePath, text: bytes, delimiter: str) -> DatasetError:
    """Word a header without an end: often its quote is not closed, or the file is no CSV file."""
    if any(not field["end"] for field in quoted_fields(text, delimiter)):
        return open_quote(path, 1)
    hint = "A CSV file begins with a line of column names."
    return DatasetError(coded("GE1403", f"{path}: the first line has more than {MAX_HEADER_BYTES:,} bytes"), hint)


def unquoted(field: bytes) -> bytes:
    """Return the value of a field: without its quotes, if it has any."""
    return field[1:-1].replace(b'""', b'"') if field.startswith(b'"') else field


def missing_hint(name: str, names: Iterable[str]) -> str:
    """Say what to do about a name that a header lacks: another delimiter, or the nearest of its names."""
    names = list(names)
    return have_hint(name, names, delimiter_hint(names) or case_hint(name, names))


def delimiter_hint(names: Sequence[str]) -> str:
    """Return the delimiter that a header of one name seems to have, if there is one in it."""
    mark = next((mark for mark in ",;\t|" if len(names) == 1 and mark in names[0]), "")
    return f"Is the delimiter {mark!r}?  Declare it: delimiter: {json.dumps(mark)}." if mark else ""
