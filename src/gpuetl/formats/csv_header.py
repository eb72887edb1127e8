"""The header line of a CSV file: its column names, and whether rows may follow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpuetl.errors import have_hint
from gpuetl.formats.csv_options import CsvOptions, Dialect, csv_options
from gpuetl.formats.csv_quotes import line_count
from gpuetl.formats.csv_records import BYTE_ORDER_MARK, open_quote, text_after_quote
from gpuetl.formats.csv_text import blocks
from gpuetl.formats.csv_tokens import fields_with_text_after, quoted_fields, record_end, split_fields, unquoted
from gpuetl.formats.file_columns import case_hint
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened_to_look
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset
    from gpuetl.formats.format import Piece

FIRST_BYTES = 1 << 13
MAX_HEADER_BYTES = 1 << 20
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
OTHER_FORMATS = {
    b"\x1f\x8b": ("a gzip file", "gzip"),
    b"PK\x03\x04": ("a ZIP file, such as a workbook", ""),
    b"\x28\xb5\x2f\xfd": ("a Zstandard file", "zstd"),
    b"BZh": ("a bzip2 file", "bz2"),
    b"PAR1": ("a Parquet file", ""),
}
"""By the first bytes: files that are often given instead of text, and the compression that reads them."""
LINE_END = re.compile(rb"\r\n|\r|\n")
NOT_NAMES = "the first line is not column names in"
NO_UTF_8 = "the first line is not column names in UTF-8"
SAVE_AS_UTF_8 = "Save the file as UTF-8, or declare its encoding, such as encoding: cp1252."


@dataclass(frozen=True)
class Header:
    """The names of a file's columns, and where its rows begin.

    `alone` says that nothing follows them.  `start` counts the bytes of the text before the first row, `line` is the
    line in which it begins, from 1.
    """

    names: tuple[str, ...]
    alone: bool
    start: int = 0
    line: int = 1


class Headers(dict[FilePath, Header]):
    """The headers of a source's files, as they were when they were first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[tuple[FilePath, int], Sequence[Piece]] = {}
        """Those of each file, and of each `whole_file_bytes`."""
        self.string_bytes: dict[int, Mapping[str, float]] = {}
        """Of each `whole_file_bytes` those of a row, by column: see `csv_widths.py`."""


def header_of(dataset: Dataset, file: DataFile) -> Header:
    """Return the header of a source's file, read once.

    Raises
    ------
    DatasetError
        For a file that is empty, cannot be read, or is not text in its encoding.
    """
    headers = dataset.metadata
    assert isinstance(headers, Headers)
    if file.path not in headers:
        options = csv_options(dataset)
        names = () if options.header else (*dict(dataset.declared),)
        headers[file.path] = read_header(file, options, names)
    return headers[file.path]


def read_header(file: DataFile, options: CsvOptions, names: Sequence[str] = ()) -> Header:
    r"""Read the names in the first row, without a byte order mark; `names` are those of a file without a header.

    The row ends with \n, \r\n or \r.  A name in quotes may have several lines.

    Raises
    ------
    DatasetError
        For a file that is empty, cannot be read, is not text in its encoding, or has changed, and for a header with
        irregular quotes.
    """
    path, dialect = file.path, options.dialect
    try:
        with opened_to_look(path, file.state) as source:
            refuse_other_formats(source, options)
            first = first_record(source, options)
    except OSError as error:
        raise DatasetError(coded("GE1403", f"cannot read {path}: {error.strerror or error}")) from None
    record, line = first.text, first.line
    if not record and options.header:
        raise no_header(path, first)
    if not options.header:
        count = len(split_fields(record, dialect)) if record else 0
        return Header((*names,) or generated_names(count), first.is_empty, first.start, line)
    if any(not field.closed for field in quoted_fields(record, dialect)):
        raise open_quote(path, line)
    fields = split_fields(record, dialect)
    if fields_with_text_after(fields, dialect):
        raise text_after_quote(path, line, record.decode("utf-8", "replace"))
    try:
        found = tuple(unquoted(field, dialect).decode() for field in fields)
    except UnicodeDecodeError:
        what = NO_UTF_8 if options.encoding.startswith("utf-8") else f"{NOT_NAMES} {options.encoding}"
        raise DatasetError(coded("GE1403", f"{path}: {what}"), SAVE_AS_UTF_8) from None
    if any("\0" in name for name in found):
        hint = f"Is it UTF-16?  {SAVE_AS_UTF_8}"
        raise DatasetError(coded("GE1403", f"{path}: the column names have NUL bytes, so the file is not text"), hint)
    return Header(found, first.alone, first.end, line + line_count(record) + 1)


def no_header(path: FilePath, first: FirstRecord) -> DatasetError:
    """Word a file that is empty, or begins with empty lines."""
    if not first.empty_lines:
        hint = "Add the header line, or take the file out of the source's path."
        return DatasetError(coded("GE1414", f"{path}: empty; a CSV file begins with a line of column names"), hint)
    hint = f"Skip the empty lines: skip_rows: {first.line - 1 + first.empty_lines}."
    return DatasetError(coded("GE1414", f"{path}: line {first.line} is empty and should have the column names"), hint)


def generated_names(count: int) -> tuple[str, ...]:
    """Return the names of columns that have none."""
    return tuple(f"c{number}" for number in range(1, count + 1))


def refuse_other_formats(source: OpenFile, options: CsvOptions) -> None:
    """Raise `DatasetError` for a file that is not text, by its first bytes."""
    path, first = source.path, source.read_at(0, 4)
    if first.startswith(UTF_16_MARKS) and options.encoding != "utf-16" and not options.codec(path.name):
        hint = "Set encoding: utf-16."
        raise DatasetError(coded("GE1403", f"{path}: the file is UTF-16 text, not {options.encoding.upper()}"), hint)
    codec = options.codec(path.name)
    for mark, (what, compression) in OTHER_FORMATS.items():
        if first.startswith(mark) and not (compression and compression == codec):
            hint = "Unpack it, or take it out of the source's path."
            if compression:
                hint = f"Set compression: {compression}."
            elif mark == b"PAR1":
                hint = "Write parquet: instead of csv:."
            if codec and not compression:
                continue  # what unpacks it says so
            raise DatasetError(coded("GE1403", f"{path} is {what}, not CSV text"), hint)


class FirstRecord(NamedTuple):
    """The first record of a file, without its line end and without a byte order mark.

    `start` and `end` are where it begins and where the next one does, `line` the line in which it begins.  `alone`
    says that nothing follows it, `is_empty` that the file has no record.  `empty_lines` counts the empty lines before
    the first other one, if one is near.
    """

    text: bytes
    start: int
    end: int
    line: int
    alone: bool
    is_empty: bool
    empty_lines: int = 0


def first_record(source: OpenFile, options: CsvOptions) -> FirstRecord:
    """Read the first record after the rows that are skipped and comments.

    Raises
    ------
    DatasetError
        For a record of more than `MAX_HEADER_BYTES`.
    """
    text, size, dialect = b"", FIRST_BYTES, options.dialect
    parts = blocks(source, options, FIRST_BYTES)
    while True:
        more = next(parts, b"")
        text += more
        if not more or len(text) >= size:
            size = 2 * len(text)
            found = skipped(text, options)
            if found is not None or not more:
                start, line = found or (len(text), 1 + line_count(text))
                end, following = record_end(text, start, dialect)
                if following - start > MAX_HEADER_BYTES:
                    raise long_header(source.path, text[start:], dialect)
                if following < len(text) or not more:
                    record, rest = text[start:end], text[start:].lstrip(b"\r\n")
                    empty_lines = line_count(text[start : len(text) - len(rest)]) if rest else 0
                    alone, is_empty = following >= len(text), start >= len(text)
                    return FirstRecord(record, start, following, line, alone, is_empty, empty_lines)


def skipped(text: bytes, options: CsvOptions) -> tuple[int, int] | None:
    """Return where the first record begins, and its line; None if the text ends before that."""
    start, line, comment = len(BYTE_ORDER_MARK) * text.startswith(BYTE_ORDER_MARK), 1, options.comment.encode()
    while line <= options.skip_rows or (comment and text.startswith(comment, start)):
        end = LINE_END.search(text, start)
        if end is None or (end[0] == b"\r" and end.end() == len(text)):
            return None
        start, line = end.end(), line + 1
    return start, line


def long_header(path: FilePath, text: bytes, dialect: Dialect) -> DatasetError:
    """Word a header without an end: often its quote is not closed, or the file is no CSV file."""
    if any(not field.closed for field in quoted_fields(text, dialect)):
        return open_quote(path, 1)
    hint = "A CSV file begins with a line of column names."
    return DatasetError(coded("GE1403", f"{path}: the first line has more than {MAX_HEADER_BYTES:,} bytes"), hint)


def missing_hint(name: str, names: Iterable[str]) -> str:
    """Say what to do about a name that a header lacks: another delimiter, or the nearest of its names."""
    names = list(names)
    return have_hint(name, names, delimiter_hint(names) or case_hint(name, names))


def delimiter_hint(names: Sequence[str]) -> str:
    """Return the delimiter that a header of one name seems to have, if there is one in it."""
    mark = next((mark for mark in ",;\t|" if len(names) == 1 and mark in names[0]), "")
    return f"Is the delimiter {mark!r}?  Declare it: delimiter: {json.dumps(mark)}." if mark else ""
