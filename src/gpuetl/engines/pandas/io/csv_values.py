"""The texts of a CSV file's columns, the values that they stand for, and the types that would fit them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from gpuetl.engines.pandas.columns.column import Column
from gpuetl.engines.pandas.expressions.casts import cast_value
from gpuetl.engines.pandas.expressions.functions.parsing import try_strptime
from gpuetl.errors import EvaluationError
from gpuetl.formats.csv_options import CsvOptions, csv_options
from gpuetl.formats.csv_records import CsvBlocks
from gpuetl.formats.dataset import Dataset
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    STRING,
    TIMESTAMP,
    DataType,
    integer_limits,
    is_floating,
    is_integer,
    type_name,
)
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal

# The texts of a CSV file's columns, and the values that they stand for.


LARGEST_BLOCK = (1 << 31) - 1
BLOCK_BYTES = 1 << 20
QUOTED_BLOCK_BYTES = 5 << 20
"""What one thread parses at a time; a longer record is read by `CsvRows`.

Arrow parses a text twice to cut it into blocks where line ends may be in quotes: there a block holds a piece of a file.
"""


def in_any_case(words: str) -> list[str]:
    """Return words with each of their letters in lower and in upper case."""
    return sorted({"".join(case) for word in words.split() for case in product(*zip(word, word.upper(), strict=True))})


TRUE_TEXTS, FALSE_TEXTS = in_any_case("1 true t yes y"), in_any_case("0 false f no n")
NO_TYPES: Mapping[str, DataType] = {}


def read_texts(
    dataset: Dataset,
    text: bytes,
    header: Sequence[str],
    columns: Sequence[str],
    bad_row: Callable[[Any], str] | None = None,
    block_size: int = 0,
    types: Mapping[str, DataType] = NO_TYPES,
) -> pa.Table:
    """Read columns of records as they are written: nulls are null, quotes are undone.

    Arrow reads the columns of `types` as values of these types.

    `bad_row` is called with each row that has too few or too many fields, in order.  With it, texts are bytes, which
    may not be UTF-8.  Without columns the result still has the rows.

    Raises
    ------
    pyarrow.ArrowInvalid
        Where that is not there, and a row has too few or too many fields or a text is not UTF-8.
    """
    options = csv_options(dataset)
    wanted = list(columns) or [name for name in header if header.count(name) == 1][:1]
    if not text or (len(header) > 1 and text[0] in b"\r\n" and not text.strip(b"\r\n")):
        return pa.schema(dict.fromkeys(wanted, pa.binary() if bad_row else STRING)).empty_table()
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in wanted:  # Arrow takes one list of nulls
        groups.setdefault(options.nulls.of(name), []).append(name)
    has_returns = text.find(b"\r") >= 0
    has_quotes = bool(options.quote) and text.find(options.quote.encode()) >= 0
    may_go_on = has_returns or has_quotes or bool(options.escape)  # a record on the next line
    parse = csv.ParseOptions(
        delimiter=options.delimiter, quote_char=options.quote or False, escape_char=options.escape or False,
        ignore_empty_lines=len(header) > 1, newlines_in_values=may_go_on, invalid_row_handler=bad_row,
    )  # fmt: skip
    block_size = block_size or (QUOTED_BLOCK_BYTES if may_go_on else BLOCK_BYTES)
    places = [str(place) for place in range(len(header))]  # names may be there twice
    read = csv.ReadOptions(use_threads=bad_row is None, block_size=block_size, column_names=places)
    found, texts = dict[str, Column](), pa.binary() if bad_row else STRING
    mixed = has_returns and has_quotes and text.find(b"\r\n") >= 0
    for nulls, names in groups.items():
        own = [str(header.index(name)) for name in names]
        convert = csv.ConvertOptions(
            column_types=dict(zip(own, (types.get(name, texts) for name in names), strict=True)), include_columns=own,
            strings_can_be_null=True, null_values=list(nulls), quoted_strings_can_be_null=False,
            true_values=TRUE_TEXTS, false_values=FALSE_TEXTS,
        )  # fmt: skip
        rows = csv.read_csv(CsvBlocks(text) if mixed else pa.BufferReader(text), read, parse, convert)
        found.update(zip(names, rows.columns, strict=True))
        parse.invalid_row_handler = (lambda row: "skip") if bad_row else None  # each row is reported once
    return pa.table(found)


def typed(texts: pa.Table, types: Mapping[str, DataType], options: CsvOptions) -> pa.Table:
    """Return columns of texts in their types; other columns stay as they are.

    Raises
    ------
    pyarrow.ArrowInvalid, EvaluationError
        For a text that does not stand for a value of its type.
    """
    for place, (name, dtype) in enumerate(types.items()):
        if dtype != texts.column(name).type:
            column, bad = values_of(texts.column(name), dtype, Written.of(options, name, dtype))
            if bad is not None:
                raise EvaluationError(coded("GE1410", f"column '{name}' has other texts than {dtype}"))
            texts = texts.set_column(place, name, column)
    return texts


class Written(NamedTuple):
    """How the values of a column are written: marks of numbers, and a format of dates and times."""

    decimal: str = "."
    thousands: str = ""
    form: str = ""

    @classmethod
    def of(cls, options: CsvOptions, name: str, dtype: DataType) -> Written:
        """Return how a source writes a column."""
        is_number = is_integer(dtype) or is_floating(dtype) or is_decimal(dtype) or dtype == DURATION
        if is_number:
            return cls(options.decimal, options.thousands)
        is_time = dtype == DATE or pa.types.is_timestamp(dtype)
        return cls(form=options.format_of(name, dtype)) if is_time else cls()


PLAIN_VALUES = Written()
NO_VALUE = "?"
"""A text that stands for no value of any type but string."""


def values_of(text: Column, dtype: DataType, written: Written = PLAIN_VALUES) -> tuple[Column, Column | None]:
    """Return a column of texts as CAST reads them, and where they are not values, if anywhere: null then.

    Spaces and tabs around a value do not count.
    """
    if written.form:
        values = by_format(text, dtype, written.form)
    else:
        try:
            return cast_text(plain_numbers(text, written), dtype, lenient=False), None
        except (pa.ArrowInvalid, EvaluationError):
            values = cast_text(plain_numbers(pc.utf8_trim(text, " \t"), written), dtype, lenient=True)
    bad = pc.and_(pc.is_null(values), pc.is_valid(text))
    return values, bad if pc.any(bad).as_py() else None


def by_format(text: Column, dtype: DataType, form: str) -> Column:
    """Return dates or timestamps that are written in a format; null for other texts."""
    values = try_strptime(pc.utf8_trim(text, " \t"), pa.scalar(form))
    return pc.cast(values, dtype)


def plain_numbers(text: Column, written: Written) -> Column:
    """Return texts of numbers with a point and without marks between thousands.

    A text with such marks at other places than between groups of three digits, or with another decimal mark, stands for
    no value.
    """
    decimal, thousands, _ = written
    if decimal == "." and not thousands:
        return text
    marks = f"[{re.escape(decimal + thousands)}.]"
    regular = grouped_number(decimal, thousands)
    has_mark = pc.match_substring_regex(text, marks)
    without = pc.replace_substring(text, thousands, "") if thousands else text
    number = pc.replace_substring(without, decimal, ".")
    marked = pc.if_else(pc.match_substring_regex(text, regular), number, NO_VALUE)
    return pc.if_else(has_mark, marked, text)


def grouped_number(decimal: str, thousands: str) -> str:
    """Return the pattern of a number with its own marks."""
    mark, digits = re.escape(decimal), "[0-9]+"
    grouped = rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|{digits}" if thousands else digits
    return rf"^[ \t]*[-+]?(?:(?:{grouped})(?:{mark}[0-9]*)?|{mark}{digits})(?:[eE][-+]?{digits})?[ \t]*$"


def cast_text(text: Column, dtype: DataType, lenient: bool) -> Column:
    """Cast texts; those of a duration are its microseconds."""
    values = cast_value(text, INT64 if dtype == DURATION else dtype, lenient=lenient, implicit=False)
    return values.cast(DURATION) if dtype == DURATION else values


# What to do about a CSV column whose values are not of its type: the type that holds all values that it has.


MOST_VALUES = 1_000_000
"""Values of a column that are looked at."""
USUAL_DIGITS = 18
MARKS = frozenset(("na", "n/a", "#n/a", "null", "none", "nil", "-", "--", "?", "\\n", "missing", "nan"))
"""Texts that other programs write for null."""
PLAIN = r"^[+-]?(?P<before>[0-9]*)\.?(?P<after>[0-9]*)$"


def reads(dtype: DataType) -> str:
    """Say in words what texts a type reads."""
    if is_integer(dtype):
        least, greatest = integer_limits(dtype)
        return f"a whole number from {least} to {greatest}"
    if is_decimal(dtype):
        before = dtype.precision - dtype.scale
        return f"a number with up to {before} digits before the point and {dtype.scale} after it"
    if is_floating(dtype):
        return "a number such as -1.5e3, inf or nan"
    zoned = "2024-01-31 12:00:00Z" if pa.types.is_timestamp(dtype) and dtype.tz else "2024-01-31 12:00:00"
    examples = {BOOL: "true, false, 1 or 0", DATE: "written 2024-01-31", DURATION: "a whole number of microseconds"}
    return examples.get(dtype, f"written {zoned}" if pa.types.is_timestamp(dtype) else "text in UTF-8")


def advice(name: str, texts: Column, dtype: DataType, options: CsvOptions) -> str:
    """Return the one next step for a column that has a text that is not of its type.

    That is a type that holds all values of the file, or of its first million; else what stands for null elsewhere; else
    to set bad rows aside.
    """
    if dtype == STRING:
        return "Save the file as UTF-8, or declare its encoding.  on_bad_row: quarantine sets such rows aside."
    seen = texts.slice(0, MOST_VALUES).drop_null()
    values = f"{'first ' * (len(texts) > MOST_VALUES)}{len(seen):,} values" if len(seen) > 1 else "one value"
    such = f"{values} of the column in this file"
    for candidate in candidates(seen, dtype):
        if values_of(seen, candidate, Written.of(options, name, candidate))[1] is None:
            kind = type_name(candidate)
            valid = f"The {such} {'are' if len(seen) > 1 else 'is a'} valid {kind}"
            return f"{valid}: declare {name}: {kind}."
    _, bad = values_of(seen, dtype, Written.of(options, name, dtype))
    others = pc.unique(seen.filter(bad)) if bad is not None else pa.array([], pa.string())
    if 0 < len(others) <= 2 and all(text.strip().lower() in MARKS for text in others.to_pylist()):
        nulls = ", ".join(f"'{text}'" for text in others.to_pylist())
        return f"All other values are valid.  If {nulls} stands for null, add it to the source's nulls."
    count = int(pc.sum(bad).as_py()) if bad is not None else 0
    told = f"{count:,} of the {such} {'is' if count == 1 else 'are'}" if len(seen) > 1 else f"The {such} is"
    return (
        f"{told} not valid.  on_bad_row: quarantine sets such rows aside; on_bad_row: null reads such values as null."
    )


def candidates(seen: Column, dtype: DataType) -> Iterator[DataType]:
    """Yield types that may hold the values, the narrowest first; exact ones before floats."""
    others = [INT64, pa.uint64(), *islice(fitting_decimals(seen), 1), FLOAT64, BOOL, DATE, TIMESTAMP]
    yield from (other for other in [*others, pa.timestamp("us", tz="UTC")] if other != dtype)


def fitting_decimals(seen: Column) -> Iterator[DataType]:
    """Yield the decimal of all digits that the texts have, where they are plain numbers: 18 digits, or up to 38."""
    parts = pc.extract_regex(pc.utf8_trim(seen, " \t"), pattern=PLAIN)
    if not len(seen) or parts.null_count:
        return
    before, after = (int(pc.max(pc.utf8_length(pc.struct_field(parts, place))).as_py()) for place in range(2))
    digits = USUAL_DIGITS if before + after <= USUAL_DIGITS else MAX_DIGITS
    if before + after <= digits:
        yield pa.decimal128(digits, after)
