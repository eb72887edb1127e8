"""The options of CSV sources and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from gpuetl.expressions.text_rules import check_readable, letters_of
from gpuetl.format_options import (
    BOOLEAN,
    COUNT,
    STRINGS,
    BadOption,
    Form,
    FormatOptions,
    Plain,
    choice,
    option,
    read_strings,
    scalar,
)
from gpuetl.formats.compression import Compression, compression_form
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, DataType, type_name

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

T = TypeVar("T")
OnBadRow = Literal["fail", "null", "quarantine"]
ENCODINGS = ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16")
CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
"""The compression by the suffix of a file's name."""
DATE_LETTERS = frozenset("YymbBdjGVuaA")


class Dialect(NamedTuple):
    """The characters of a CSV file that are more than text; each is one byte, or empty where there is none."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    comment: str = ""


@dataclass(frozen=True)
class ByColumn(Generic[T]):
    """A value for all columns, and others for single ones."""

    default: T
    columns: tuple[tuple[str, T], ...] = ()

    def of(self, name: str) -> T:
        """Return the value of a column."""
        return dict(self.columns).get(name, self.default)


def by_column(form: Form[T], default: T) -> Form[ByColumn[T]]:
    """Return the form of one value for all columns, or a map of columns to values."""

    def read(value: Plain) -> ByColumn[T]:
        if not isinstance(value, Mapping):
            return ByColumn(form.read(value))
        columns = []
        for name, item in value.items():
            try:
                columns.append((str(name), form.read(item)))
            except BadOption as error:
                raise BadOption(f"{name}: {error.message}", error.hint, (name, *error.path)) from None
        return ByColumn(default, tuple(columns))

    def write(value: ByColumn[T]) -> Plain:
        if value.columns:
            return {name: form.write(item) for name, item in value.columns}
        return form.write(value.default)

    one = form.schema or {}
    schema = {"anyOf": [one, {"type": "object", "additionalProperties": one}]}
    return Form(f"{form.what}, or a map of columns to such", read, write, schema if one else None)


def mark(excluded: str, *, none: bool = False) -> Form[str]:
    """Return the form of one ASCII character; with `none`, null and the empty string mean that there is none."""

    def read(value: Plain) -> str:
        if none and value in (None, ""):
            return ""
        text = str(scalar(value, str, "one character"))
        if len(text) != 1 or text in excluded:
            raise BadOption(f"takes one character, got {text!r}", 'Tabs are written "\\t".')
        if not text.isascii() or text == "\0":
            raise BadOption(f"takes one ASCII character, got {text!r}")
        return text

    kind = ["string", "null"] if none else "string"
    return Form("one character" + ", or null for none" * none, read, schema={"type": kind, "maxLength": 1})


def one_of_marks(marks: str, what: str, *, none: bool = False) -> Form[str]:
    """Return the form of one of some characters; with `none`, null and the empty string mean that there is none."""

    def read(value: Plain) -> str:
        if none and value in (None, ""):
            return ""
        text = str(scalar(value, str, what))
        if len(text) != 1 or text not in marks:
            raise BadOption(f"takes {what}, got {text!r}")
        return text

    return Form(what + ", or null for none" * none, read, schema={"enum": [*marks, *(["", None] if none else [])]})


def date_form(read: Callable[[str], None], what: str) -> Form[str]:
    """Return the form of a format of dates or times."""

    def read_format(value: Plain) -> str:
        text = str(scalar(value, str, what))
        try:
            check_readable(text)
            read(text)
        except ValueError as error:
            raise BadOption(str(error), "Formats are those of strptime, such as '%d.%m.%Y'.") from None
        return text

    return Form(what, read_format, lambda text: text or None, {"type": ["string", "null"]})


def refuse_clock(text: str) -> None:
    """Raise `ValueError` for a format that has more than a date."""
    others = [letter for letter in letters_of(text) if letter not in DATE_LETTERS]
    if others:
        raise ValueError(f"cannot read '%{others[0]}' in a date, in '{text}'; declare the column as timestamp")


DATE_FORMAT = date_form(refuse_clock, "a format such as '%d.%m.%Y'")
TIMESTAMP_FORMAT = date_form(lambda text: None, "a format such as '%d.%m.%Y %H:%M'")
NULLS = Form(
    STRINGS.what, read_strings, lambda texts: list(texts) if "" in texts else STRINGS.write(texts), STRINGS.schema
)
DELIMITER = mark('"\r\n')
MARK = mark("\r\n", none=True)


@dataclass(frozen=True)
class CsvOptions(FormatOptions):
    """How CSV files are written, and what becomes of rows that do not fit.

    A row is bad that has a value which is not of its type, or too few or too many fields.
    """

    delimiter: str = option(DELIMITER, ",", "the character between two fields")
    quote: str = option(MARK, '"', "the character around a field that holds a delimiter or a line end")
    escape: str = option(MARK, "", "the character before one that is only text; a quote can also be doubled")
    comment: str = option(MARK, "", "lines that begin with this character are not read")
    header: bool = option(BOOLEAN, True, "whether the first row has the column names")
    skip_rows: int = option(COUNT, 0, "lines before the header that are not read")
    encoding: str = option(choice(*ENCODINGS), "utf-8", "how the text is written as bytes")
    compression: str = option(
        choice("auto", "none", "gzip", "zstd", "bz2"), "auto", "`auto` goes by the file's suffix: `.gz`, `.zst`, `.bz2`"
    )
    nulls: ByColumn[tuple[str, ...]] = option(
        by_column(NULLS, ("",)), ByColumn(("",)), "the strings that stand for null; a quoted string is never null"
    )
    decimal: str = option(one_of_marks(".,", "a point or a comma"), ".", "the decimal mark of numbers")
    thousands: str = option(
        one_of_marks(".,'_ ", "one of . , ' _ or a space", none=True),
        "",
        "the mark between groups of three digits before the decimal mark",
    )
    date_format: ByColumn[str] = option(
        by_column(DATE_FORMAT, ""), ByColumn(""), "how dates are written; by default as 2024-01-31"
    )
    timestamp_format: ByColumn[str] = option(
        by_column(TIMESTAMP_FORMAT, ""), ByColumn(""), "how timestamps are written; by default as 2024-01-31 12:00:00"
    )
    on_bad_row: OnBadRow = option(
        choice("fail", "null", "quarantine", null="null"), "fail", "what becomes of a row that cannot be read"
    )

    @cached_property
    def dialect(self) -> Dialect:
        """The characters that are more than text."""
        return Dialect(self.delimiter, self.quote, self.escape, self.comment)

    def codec(self, name: str) -> str:
        """Return the compression of a file by its name; nothing for plain text."""
        if self.compression != "auto":
            return "" if self.compression == "none" else self.compression
        return codec_by_name(name)

    def is_stream(self, name: str) -> bool:
        """Tell whether a file is to be decoded from its beginning: it is compressed, or not UTF-8."""
        return bool(self.codec(name)) or self.encoding not in ("utf-8", "utf-8-sig")

    def format_of(self, name: str, dtype: DataType) -> str:
        """Return the format in which the values of a column are written; nothing for that of CAST."""
        return self.date_format.of(name) if dtype == DATE else self.timestamp_format.of(name)

    def problems(self, types: Mapping[str, DataType]) -> Iterator[tuple[str, str]]:
        """Yield what does not go together, among the options and with the columns' types, each with a hint."""
        marks = [(name, value) for name, value in self.dialect._asdict().items() if value]
        for place, (name, value) in enumerate(marks):
            for other, same in marks[:place]:
                if value == same:
                    yield coded("GE1431", f"{name} and {other} are the same character, {value!r}"), "Change one."
        if self.decimal == self.thousands:
            yield coded("GE1431", f"decimal and thousands are the same character, {self.decimal!r}"), "Change one."
        for option_name in ("nulls", "date_format", "timestamp_format"):
            for name, _ in getattr(self, option_name).columns:
                if types and name not in types:
                    known = ", ".join(types)
                    yield coded("GE1431", f"{option_name}: the source has no column '{name}'"), f"Columns: {known}."
        yield from self.format_problems(types)

    def format_problems(self, types: Mapping[str, DataType]) -> Iterator[tuple[str, str]]:
        """Yield columns whose format is of another type."""
        for name, dtype in types.items():
            if self.date_format.of(name) and dtype != DATE and name in dict(self.date_format.columns):
                message = f"date_format: column '{name}' is {type_name(dtype)}"
                yield coded("GE1431", message), "Declare it as date, or use timestamp_format."
            text = self.timestamp_format.of(name)
            is_timestamp = type_name(dtype).startswith("timestamp")
            if text and not is_timestamp and name in dict(self.timestamp_format.columns):
                yield (
                    coded("GE1431", f"timestamp_format: column '{name}' is {type_name(dtype)}"),
                    "Declare a timestamp.",
                )
            if text and is_timestamp and ("z" in letters_of(text)) != bool(getattr(dtype, "tz", None)):
                what = "has %z" if "z" in letters_of(text) else "has no %z"
                message = f"timestamp_format {what}, and column '{name}' is {type_name(dtype)}"
                yield coded("GE1431", message), "Offsets (%z) are for columns with a zone, such as timestamp[UTC]."


@dataclass(frozen=True)
class CsvWriteOptions(FormatOptions):
    """How a sink writes CSV files."""

    compression: Compression = option(
        compression_form("auto", "none", "gzip", "zstd", "bz2"),
        Compression("auto"),
        "the codec of the files; `auto` goes by the path's suffix",
    )

    def compression_of(self, name: str) -> Compression:
        """Return the compression of a file by its name."""
        if self.compression.codec != "auto":
            return self.compression
        return Compression(codec_by_name(name) or "none")


def codec_by_name(name: str) -> str:
    """Return the codec that the suffix of a file's name stands for; nothing for plain text."""
    return next((codec for suffix, codec in CODECS.items() if name.endswith(suffix)), "")


def csv_options(dataset: Dataset) -> CsvOptions:
    """Return the options of a CSV source."""
    return CsvOptions.of(dataset.options)
