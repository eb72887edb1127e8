"""The types of a CSV file's columns, by its first rows; and its delimiter, encoding and header, for `gpuetl schema`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gpuetl.formats.csv_header import Header, header_of, read_header
from gpuetl.formats.csv_options import ByColumn, CsvOptions, csv_options
from gpuetl.formats.csv_records import CsvRecords, whole_records
from gpuetl.formats.csv_text import blocks
from gpuetl.formats.csv_tokens import unquoted
from gpuetl.formats.format import Inference
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.open_file import opened_to_look
from gpuetl.types.data_types import BOOL, DATE, FLOAT64, INT64, STRING, TIMESTAMP, DataType, integer_fits
from gpuetl.types.decimal_types import MAX_DIGITS

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

SAMPLE_ROWS = 10_000
SAMPLE_BYTES = 1 << 22
EXACT_DIGITS = 15
"""Digits of whole numbers that every float64 holds."""
DELIMITERS = (",", ";", "\t", "|")

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
NO_NUMBER = re.compile(r"[-+]?(?:inf|infinity|nan)", re.IGNORECASE)
BOOLEAN = re.compile(r"true|false", re.IGNORECASE)
ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
CLOCK = r"[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
ISO_TIMESTAMP = re.compile(ISO_DATE.pattern + f"(?:{CLOCK})?")
ZONED = re.compile(ISO_DATE.pattern + CLOCK + r"(?:Z|[-+][0-9]{2}(?::?[0-9]{2})?)")
UTC = pa.timestamp("us", tz="UTC")


class Sample(NamedTuple):
    """The first rows of a file: the header, and the fields of each as they are written."""

    header: Header
    rows: Sequence[Sequence[bytes]]


def infer(dataset: Dataset) -> Inference:
    """Return the types of the columns of a source's first file, by its first `SAMPLE_ROWS` rows.

    A type is taken only if all values of the sample are of it.  Numbers with leading zeros or a plus sign are strings:
    they are often codes.  Whole numbers that int64 does not hold are decimals, or strings from 39 digits on.  A column
    without a value is a string.

    Raises
    ------
    DatasetError
        For a source without files, and for a file that cannot be read.
    """
    if not dataset.files:
        hint = "Declare the schema: there is no file to look at."
        raise DatasetError(coded("GE1401", f"{dataset.path} holds no file"), hint)
    file, options = dataset.files[0], csv_options(dataset)
    sample = sample_of(file, options, header_of(dataset, file))
    return Inference(types_of(sample, options), len(sample.rows), str(file.path))


def sample_of(file: DataFile, options: CsvOptions, header: Header, most_bytes: int = 0, most_rows: int = 0) -> Sample:
    """Return the first rows of a file, by default `SAMPLE_ROWS` rows in up to `SAMPLE_BYTES` bytes."""
    text, is_whole = b"", True
    with opened_to_look(file.path, file.state) as source:
        for block in blocks(source, options, 1 << 16):
            text += block
            if len(text) - header.start > (most_bytes or SAMPLE_BYTES):
                is_whole = False
                break
    text = text[header.start :]
    if not is_whole:
        text = text[: whole_records(text, options.dialect)]
    records = CsvRecords(text, options.dialect, empty_lines=len(header.names) == 1)
    return Sample(header, [records.fields(record) for record in range(min(most_rows or SAMPLE_ROWS, len(records)))])


def types_of(sample: Sample, options: CsvOptions) -> dict[str, DataType]:
    """Return the type of each column of a sample that has a name."""
    types = dict[str, DataType]()
    for place, name in enumerate(sample.header.names):
        if name and name not in types:
            types[name] = type_of(values_in(sample, place, options), name, options)
    return types


def values_in(sample: Sample, place: int, options: CsvOptions) -> Iterator[str]:
    """Yield the values of a column that are not null."""
    nulls = {text.encode() for text in options.nulls.of(sample.header.names[place])}
    for fields in sample.rows:
        if place < len(fields) and fields[place] not in nulls:
            yield unquoted(fields[place], options.dialect).decode("utf-8", "replace")


def type_of(values: Iterator[str], name: str, options: CsvOptions) -> DataType:
    """Return the narrowest type that all values are of."""
    texts = [value.strip(" \t") for value in values]
    if not texts:
        return STRING
    for form, dtype, is_date in ((options.date_format, DATE, True), (options.timestamp_format, TIMESTAMP, False)):
        if (written := form.of(name)) and all(is_written(text, written) for text in texts):
            return dtype if is_date or "%z" not in written else UTC
    numbers = [plain_number(text, options) for text in texts]
    if dtype := number_type(numbers):
        return dtype
    return next((dtype for dtype, reads in READS.items() if all(map(reads, texts))), STRING)


def number_type(texts: Sequence[str]) -> DataType | None:
    """Return the type of whole or other numbers; None where a text is not a number."""
    if all(map(INTEGER.fullmatch, texts)):
        if all(integer_fits(int(text), INT64) for text in texts):
            return INT64
        longest = max(len(text.lstrip("-")) for text in texts)
        return pa.decimal128(MAX_DIGITS, 0) if longest <= MAX_DIGITS else None
    numbers = [text for text in texts if not NO_NUMBER.fullmatch(text)]
    if any(INTEGER.fullmatch(text) and len(text) > EXACT_DIGITS for text in numbers):
        return None
    return FLOAT64 if numbers and all(map(NUMBER.fullmatch, numbers)) else None


def plain_number(text: str, options: CsvOptions) -> str:
    """Return a number with a point and without marks between thousands; another text where that is not regular."""
    decimal, thousands = options.decimal, options.thousands
    whole, mark, rest = text.partition(decimal)
    if thousands and thousands in whole:
        first, *groups = whole.lstrip("-").split(thousands)
        if not 0 < len(first) <= 3 or any(len(group) != 3 for group in groups):
            return "?"
        whole = whole.replace(thousands, "")
    if decimal != "." and ("." in whole or "." in rest):
        return "?"
    return f"{whole}{'.' * bool(mark)}{rest}"


def is_written(text: str, form: str) -> bool:
    """Tell whether a text is a date or time in a format."""
    try:
        return bool(datetime.strptime(text, form))
    except ValueError:
        return False


def is_date(text: str) -> bool:
    """Tell whether a text is a day of the calendar, as 2024-01-31."""
    with suppress(ValueError):
        return bool(ISO_DATE.fullmatch(text) and date.fromisoformat(text))
    return False


def is_moment(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """Return what tells whether a text is a timestamp of a form, on a day of the calendar."""

    def reads(text: str) -> bool:
        with suppress(ValueError):
            return bool(pattern.fullmatch(text) and datetime.fromisoformat(text[:16]))
        return False

    return reads


READS: Mapping[DataType, Callable[[str], bool]] = {
    BOOL: lambda text: bool(BOOLEAN.fullmatch(text)), DATE: is_date, TIMESTAMP: is_moment(ISO_TIMESTAMP),
    UTC: is_moment(ZONED),
}  # fmt: skip
"""The types other than numbers, and whether a text is one of their values."""


# What a file seems to be, for `gpuetl schema`.


def detected(file: DataFile) -> CsvOptions:
    """Return the encoding, delimiter and header that a file seems to have.

    The delimiter is the one that splits most of the first rows into the same number of fields.  A first row is a header
    unless one of its fields is a number, a date or a truth value, or is empty in the middle.

    Raises
    ------
    DatasetError
        For a header in which a name stands twice.
    """
    options = with_encoding(file)
    found = {mark: split_by(file, CsvOptions.of(options), mark) for mark in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda mark: evenness(found[mark]))
    rows, changed = found[delimiter], dict(options.changed)
    if delimiter != ",":
        changed["delimiter"] = delimiter
    if rows:
        twice = {field for field in rows[0] if rows[0].count(field) > 1}
        is_header = looks_like_header(rows[0]) and twice.isdisjoint(field for row in rows[1:] for field in row)
        if is_header and twice:
            raise repeated_names(file, twice)
        if not is_header:
            changed["header"] = False
    return CsvOptions(**changed)


def repeated_names(file: DataFile, fields: Iterable[bytes]) -> DatasetError:
    """Word a header in which some fields stand twice."""
    names = sorted(decoded(field) for field in fields)
    named = " and ".join(f"'{name}'" for name in names)
    what = f"two columns are named {named}" if len(names) == 1 else f"columns are named {named}, twice each"
    hint = "Rename one in the header.  Or name the columns yourself: header: false, skip_rows: 1, and a schema."
    return DatasetError(coded("GE1412", f"{file.path}: {what}"), hint)


def with_encoding(file: DataFile) -> CsvOptions:
    """Return options with the encoding that a file seems to have, by its first bytes."""
    with opened_to_look(file.path, file.state) as source:
        text = next(blocks(source, CsvOptions(encoding="utf-8"), SAMPLE_BYTES), b"")
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        return CsvOptions(encoding="utf-16")
    try:
        text[: text.rfind(b"\n") + 1 or len(text)].decode()
    except UnicodeDecodeError:
        return CsvOptions(encoding="cp1252")
    return CsvOptions()


def split_by(file: DataFile, options: CsvOptions, mark: str) -> Sequence[Sequence[bytes]]:
    """Return the first rows of a file, the header among them, as a delimiter splits them."""
    tried = CsvOptions(**{**dict(options.changed), "delimiter": mark, "header": False})
    return sample_of(file, tried, read_header(file, tried)).rows[:1000]


def evenness(rows: Sequence[Sequence[bytes]]) -> tuple[float, int]:
    """Return the share of rows that have as many fields as the first, of several, and how many that are."""
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    return sum(len(row) == len(rows[0]) for row in rows) / len(rows), len(rows[0])


def looks_like_header(fields: Sequence[bytes]) -> bool:
    """Tell whether the fields of a first row can be names of columns."""
    names = [decoded(field) for field in fields]
    return "" not in names[:-1] and all(
        type_of(iter([name]), name, CsvOptions(nulls=ByColumn(()))) == STRING for name in names
    )


def decoded(field: bytes) -> str:
    """Return a field without its quotes."""
    return unquoted(field, CsvOptions().dialect).decode("utf-8", "replace")
