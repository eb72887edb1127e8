"""Conversions in DuckDB's SQL, spelled as the contract has them: exact, or an error, or null where lenient.

Times with a clock and durations are BIGINT microseconds there, so that their arithmetic is checked as ours is.
"""

from functools import cache

import pyarrow as pa

from gpuetl.expressions.types import (
    BOOL,
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    DataType,
    is_floating,
    is_integer,
    is_list,
    type_name,
)


class Untranslated(Exception):
    """A conversion that is not compared."""


SQL_TYPES = {
    "null": "INTEGER", "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT", "float32": "FLOAT",
    "float64": "DOUBLE", "string": "VARCHAR", "date": "DATE", "duration": "BIGINT",
}  # fmt: skip


def sql_type(dtype: DataType) -> str:
    """Return the type that holds the values of `dtype` in DuckDB."""
    if pa.types.is_timestamp(dtype):
        return "BIGINT"
    if is_list(dtype):
        return f"{sql_type(dtype.value_type)}[]"
    return f"DECIMAL({dtype.precision},{dtype.scale})" if pa.types.is_decimal(dtype) else SQL_TYPES[type_name(dtype)]


def storage_type(dtype: DataType) -> DataType:
    """Return the Arrow type of `sql_type`."""
    if pa.types.is_timestamp(dtype) or dtype == DURATION:
        return INT64
    return pa.int32() if dtype == NULL else dtype


NUMBER = "-?[0-9]+([.][0-9]+)?"


@cache
def is_spelled(source: DataType, target: DataType) -> bool:
    """Tell whether the conversion has a text here.

    Floats and times as text, and text as times, are not compared: engines write and read more than one form.  Their literal tests are in tests/steps/test_cast.py and tests/expressions/test_evaluate.py.
    """
    return cast_text("x", source, target, lenient=False) is not None


def cast_text(x: str, source: DataType, target: DataType, lenient: bool) -> str | None:
    """Return the text of an explicit conversion, or None where there is none."""
    cast = f"{'TRY_CAST' if lenient else 'CAST'}({x} AS {sql_type(target)})"
    family = _family(source), _family(target)
    guards = {
        ("float", "integer"): f"{x} = trunc({x})",
        ("integer", "float"): f"CAST({x} AS HUGEINT) BETWEEN -{_whole(target)} AND {_whole(target)}",
        ("integer", "bool"): f"{x} IN (0, 1)",
        ("float", "bool"): f"{x} IN (0, 1)",
        ("float", "float"): f"isinf(CAST({x} AS DOUBLE)) OR NOT isinf(TRY_CAST({x} AS {sql_type(target)}))",
        ("decimal", "integer"): f"{x} = trunc({x})",
        ("string", "integer"): f"regexp_full_match({x}, '-?[0-9]+')",
        ("string", "decimal"): f"regexp_full_match({x}, '{NUMBER}')",
        ("string", "float"): f"regexp_full_match({x}, '{NUMBER}|-?inf|nan')",
    }
    if source in (target, NULL):
        return cast
    if family in guards:
        return guarded(guards[family], cast, lenient)
    return _times(x, source, target, lenient) or (cast if family in PLAIN else None)


PLAIN = {
    ("integer", "integer"), ("bool", "integer"), ("bool", "float"), ("integer", "string"), ("bool", "string"),
    ("decimal", "string"), ("integer", "decimal"),
}  # fmt: skip
"""Conversions that mean the same in both."""


def guarded(condition: str, value: str, lenient: bool) -> str:
    """Return the value where the condition holds; else null where lenient or unknown, else an error."""
    refused = "NULL" if lenient else f"CASE WHEN NOT ({condition}) THEN error('not exact') END"
    return f"(CASE WHEN {condition} THEN {value} ELSE {refused} END)"


def _whole(target: DataType) -> int:
    """Return how far integers are all floats."""
    return 2**53 if target == FLOAT64 else 2**24


def _times(x: str, source: DataType, target: DataType, lenient: bool) -> str | None:
    kinds = _family(source), _family(target)
    if kinds in (("moment", "moment"), ("moment", "integer"), ("integer", "moment")):
        return x  # microseconds all of them
    if kinds == ("date", "moment"):
        return f"epoch_us(CAST({x} AS TIMESTAMP))"
    if kinds == ("moment", "date"):
        return guarded(f"{x} % 86400000000 = 0", f"CAST(make_timestamp({x}) AS DATE)", lenient)
    if kinds == ("date", "string"):
        return f"CAST({x} AS VARCHAR)"
    return None


def _family(dtype: DataType) -> str:
    if dtype in (BOOL, DATE, STRING):
        return {BOOL: "bool", DATE: "date", STRING: "string"}[dtype]
    if pa.types.is_decimal(dtype):
        return "decimal"
    if is_integer(dtype):
        return "integer"
    return "float" if is_floating(dtype) else "moment"
