"""What to do about a CSV column whose values are not of its type: the type that holds all values that it has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import Column
from gpuetl.engines.pandas.sources.csv_values import values_of
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


def advice(name: str, texts: Column, dtype: DataType) -> str:
    """Return the one next step for a column that has a text that is not of its type.

    That is a type that holds all values of the file, or of its first million; else what stands for null elsewhere; else
    to set bad rows aside.
    """
    if dtype == STRING:
        return "Save the file as UTF-8.  on_bad_row: quarantine sets such rows aside."
    seen = texts.slice(0, MOST_VALUES).drop_null()
    values = f"{'first ' * (len(texts) > MOST_VALUES)}{len(seen):,} values" if len(seen) > 1 else "one value"
    such = f"{values} of the column in this file"
    for candidate in candidates(seen, dtype):
        if values_of(seen, candidate)[1] is None:
            kind = type_name(candidate)
            valid = f"The {such} {'are' if len(seen) > 1 else 'is a'} valid {kind}"
            return f"{valid}: declare {name}: {kind}."
    _, bad = values_of(seen, dtype)
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
