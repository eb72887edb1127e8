"""Conversions in DuckDB's SQL, spelled as the contract has them: exact, or an error, or null where lenient.

Times with a clock and durations are BIGINT microseconds there, so that their arithmetic is checked as ours is.
"""

from functools import cache

import pyarrow as pa

from fuzz.duckdb_decimals import power, units
from fuzz.duckdb_formats import written
from fuzz.duckdb_types import sql_type
from gpuetl.types.data_types import (
    BINARY,
    BOOL,
    DATE,
    DURATION,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    is_floating,
    is_integer,
)
from gpuetl.types.nested_types import is_list, is_nested

CAST_MACROS = r"""
CREATE MACRO decimal_text(x) AS regexp_replace(CAST(x AS VARCHAR), '^(-?)[.]', '\10.');
"""
"""DuckDB leaves the zero out where all digits stand after the point."""


class Untranslated(Exception):
    """A conversion that is not compared."""


NUMBER = "-?[0-9]+([.][0-9]+)?"
DAY = "[0-9]{4}(-[0-9]{1,2}-|/[0-9]{1,2}/| [0-9]{1,2} )[0-9]{1,2}"
CLOCK = "[ T] *[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?"


@cache
def is_spelled(source: DataType, target: DataType) -> bool:
    """Tell whether the conversion has a text here.

    Floats as text, and text as zoned times, are not compared: engines write and read more than one form.  Their literal
    tests are in tests/expressions/test_evaluate.py and test_formats.py.
    """
    return cast_text("x", source, target, lenient=False) is not None


def cast_text(x: str, source: DataType, target: DataType, lenient: bool) -> str | None:
    """Return the text of an explicit conversion, or None where there is none."""
    cast = f"{'TRY_CAST' if lenient else 'CAST'}({x} AS {sql_type(target)})"
    if source in (target, NULL):
        return cast
    if is_nested(source):
        is_lists = is_list(source) and is_list(target)
        element = cast_text("element", source.value_type, target.value_type, lenient) if is_lists else None
        return element and f"list_transform({x}, lambda element: {element})"
    if {source, target} == {STRING, BINARY} or (source, target) == (STRING, pa.list_(STRING)):
        return cast
    family = _family(source), _family(target)
    if "decimal" in family:
        return _decimals(x, source, target, lenient) or cast
    guards = {
        ("float", "integer"): f"{x} = trunc({x})",
        ("integer", "float"): f"CAST(CAST({x} AS {sql_type(target)}) AS HUGEINT) = CAST({x} AS HUGEINT)",
        ("integer", "bool"): f"{x} IN (0, 1)",
        ("float", "bool"): f"{x} IN (0, 1)",
        ("float", "float"): f"isinf(CAST({x} AS DOUBLE)) OR NOT isinf(TRY_CAST({x} AS {sql_type(target)}))",
        ("string", "integer"): f"regexp_full_match({x}, '\\s*[-+]?[0-9]+\\s*')",
        ("string", "float"): f"regexp_full_match({x}, '\\s*({NUMBER}|-?inf|nan)\\s*')",
    }
    if family in guards:
        return guarded(guards[family], cast, lenient)
    return _times(x, source, target, lenient) or (cast if family in PLAIN else None)


def _decimals(x: str, source: DataType, target: DataType, lenient: bool) -> str | None:
    """Digits are kept or refused; a float is the shortest decimal that reads back as it, and the nearest to a decimal."""
    text, cast = f"CAST({x} AS VARCHAR)", "TRY_CAST" if lenient else "CAST"
    if target == STRING:
        return f"decimal_text({x})"
    if is_floating(target):
        return f"CAST({text} AS {sql_type(target)})"
    if source == BOOL:
        return f"{cast}(CAST({x} AS INTEGER) AS {sql_type(target)})"
    if target == BOOL:
        return guarded(f"CAST({x} AS DOUBLE) IN (0, 1)", f"CAST({x} AS BOOLEAN)", lenient)
    if pa.types.is_decimal(source):
        scale = target.scale if pa.types.is_decimal(target) else 0
        lost = f"{units(x, source)} % {power(source.scale - scale)} = 0"
        return guarded(lost, f"{cast}({x} AS {sql_type(target)})", lenient) if scale < source.scale else None
    if is_integer(source):
        return None
    digits = f"-?[0-9]+([.][0-9]{{1,{target.scale}}}0*)?" if target.scale else "-?[0-9]+([.]0+)?"
    digits = f"\\s*({digits})\\s*"
    made = guarded(f"regexp_full_match({text}, '{digits}')", f"{cast}({text} AS {sql_type(target)})", lenient)
    if source == STRING:
        return made
    whole = f"{x} = trunc({x}) AND abs({x}) < 1e17"  # DuckDB writes greater ones with an exponent
    return f"(CASE WHEN {whole} THEN {cast}(CAST({x} AS HUGEINT) AS {sql_type(target)}) ELSE {made} END)"


PLAIN = {
    ("integer", "integer"), ("bool", "integer"), ("bool", "float"), ("integer", "string"), ("bool", "string"),
}  # fmt: skip
"""Conversions that mean the same in both."""


def guarded(condition: str, value: str, lenient: bool) -> str:
    """Return the value where the condition holds; else null where lenient or unknown, else an error."""
    refused = "NULL" if lenient else f"CASE WHEN NOT ({condition}) THEN error('not exact') END"
    return f"(CASE WHEN {condition} THEN {value} ELSE {refused} END)"


def _times(x: str, source: DataType, target: DataType, lenient: bool) -> str | None:
    kinds, cast = (_family(source), _family(target)), "TRY_CAST" if lenient else "CAST"
    if kinds in (("moment", "moment"), ("moment", "integer"), ("integer", "moment")):
        return x  # microseconds all of them
    if kinds == ("date", "moment"):
        return f"epoch_us(CAST({x} AS TIMESTAMP))"
    if kinds == ("moment", "date"):
        return guarded(f"{x} % 86400000000 = 0", f"CAST(make_timestamp({x}) AS DATE)", lenient)
    if kinds == ("date", "string"):
        return written(x, DATE, "%Y-%m-%d")
    if kinds == ("moment", "string") and source != DURATION:
        ending = "Z" if source.tz == "UTC" else "%z" if source.tz else ""
        return written(x, source, f"%Y-%m-%d %H:%M:%S.%f{ending}")
    if kinds == ("string", "date"):
        text = f"regexp_replace({x}, '^\\s+|\\s+$', '', 'g')"
        return guarded(f"regexp_full_match({text}, '{DAY}')", f"{cast}({text} AS DATE)", lenient)
    if (source, target) == (STRING, DURATION):
        return f"epoch_us({cast}({x} AS INTERVAL))"
    if (source, target) == (DURATION, STRING):
        return f"CAST(to_days(CAST({x} // 86400000000 AS INTEGER)) + to_microseconds({x} % 86400000000) AS VARCHAR)"
    if source == STRING and target == TIMESTAMP:
        text = f"regexp_replace({x}, '^\\s+|\\s+$', '', 'g')"
        return guarded(
            f"regexp_full_match({text}, '{DAY}({CLOCK})?')", f"epoch_us({cast}({text} AS TIMESTAMP))", lenient
        )
    return None


def _family(dtype: DataType) -> str:
    if dtype in (BOOL, DATE, STRING):
        return {BOOL: "bool", DATE: "date", STRING: "string"}[dtype]
    if pa.types.is_decimal(dtype):
        return "decimal"
    if is_list(dtype):
        return "list"
    if is_integer(dtype):
        return "integer"
    if dtype in (TIME, BINARY) or is_nested(dtype):
        return "other"
    return "float" if is_floating(dtype) else "moment"
