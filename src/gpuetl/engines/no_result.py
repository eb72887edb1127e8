"""Values for which an operation has no result, worded the same by every engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from gpuetl.errors import EvaluationError
from gpuetl.expressions.interval_text import UnknownUnit, cast_microseconds
from gpuetl.expressions.ir import Call, Cast, Column, Expr, columns_of, walk
from gpuetl.expressions.time_text import iso_form
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import Message, code_of, coded
from gpuetl.plan.node import REFUSED
from gpuetl.plan.nodes import STATE, Kernel, KernelReduction, KernelTable, Project, ScalarJoin, Window
from gpuetl.types.calendar_intervals import CALENDAR, CalendarInterval
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    INT64,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    DataType,
    is_floating,
    is_integer,
    type_name,
)
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal
from gpuetl.value_texts import shown

# How long one string may be, on every engine: Arrow and Parquet count its bytes in 32 bits.


MOST_BYTES = (1 << 31) - 1


def too_long(size: int) -> Message:
    """Return why an expression has no result: its string would have this number of bytes."""
    return coded("GE2031", f"the string would have {size:,} bytes, and a string has {MOST_BYTES:,} at most")


# Messages about the one value of another stage.


def check_single(operation: ScalarJoin, rows: int) -> None:
    """Raise `EvaluationError` where a stage that is asked for one value has several rows."""
    if rows > 1:
        message = coded("GE1811", f"{operation.value} is one value, and '{operation.stage}' has {rows:,} rows")
        raise EvaluationError(message, "Aggregate, filter or limit that stage to one row.")


# Messages about columns that are not arrays of numbers, the same for every engine.


def check_array(name: str, dtype: DataType, nulls: int) -> None:
    """Raise `EvaluationError` for a column that is not one of numbers or booleans, or has a null."""
    if not (is_integer(dtype) or is_floating(dtype) or dtype == BOOL):
        hint = "Cast it to a number, or leave it out, in a step before"
        raise EvaluationError(
            coded("GE3008", f"column '{name}' is {type_name(dtype)}, but an array needs numbers.  {hint}")
        )
    if nulls:
        raise EvaluationError(
            coded(
                "GE3008",
                f"column '{name}' has {nulls} nulls, but an array cannot have any.  Use fill_null in a step before",
            )
        )


# Messages about values for which an expression has no result, the same for every engine.


DAY = 86_400_000_000
NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,9})?")
WRITTEN_NUMBER = re.compile(r"[+-]?(?P<before>[0-9]+)(?:\.(?P<after>[0-9]*))?(?P<exponent>[eE][+-]?[0-9]+)?")
INT64_DIGITS, USUAL_DIGITS = 19, 18
MOST_SHOWN = 200
"""Characters of a value in a row."""
NULL_INSTEAD = {"CAST(": "TRY_CAST", "strptime(": "try_strptime"}
"""By what an expression begins with, the function that does the same and gives null instead."""

OVERFLOW = coded("GE2001", "overflow")
BEYOND_MICROSECONDS = coded("GE2001", "more microseconds than int64 can hold")
BEYOND_DATES = coded("GE2003", "the result is beyond the range of dates")
BEYOND_TIMESTAMPS = coded("GE2003", "the result is beyond the range of timestamps")
OF_ANOTHER_FORM = coded("GE2003", "not a date and time of this form")
YEAR_DIGITS = coded("GE2003", "the year must have 4 digits")
OFFSET_SECONDS = coded("GE2003", "the zone's clock was then ahead by minutes and seconds; convert_zone it to UTC")
NOT_HEX = coded("GE2003", "not pairs of hexadecimal digits")
NOT_BASE64 = coded("GE2003", "not base64 with padding")
NOT_UTF8 = coded("GE2003", "not UTF-8")
TOO_MANY_CHARACTERS = coded("GE2003", "more than 1,000,000 characters, or copies")
NO_CODE_POINT = coded("GE2003", "not a code point of Unicode")
LONG_STRINGS = coded("GE2003", "both strings have more than 1,024 characters")
LONG_STRING = coded("GE2003", "a string has more than 1,024 characters")
NOT_FORMATTED = coded("GE2003", "a number from 10^38, or NaN or infinite beside zeros in front")
LONGER_STRING = coded("GE2003", "a string has more than 256 characters")
OTHER_LENGTH = coded("GE2003", "the strings differ in length")
NOT_JSON = coded("GE1864", "not JSON, or nested in more than 256 levels")
NOT_A_PATH = coded("GE1860", "not a path of one value, such as $.a[0], /a/0, or a key alone")
NOT_A_JSON_NUMBER = coded("GE1863", "JSON has no NaN and no infinities")
NO_SIZE = coded("GE2003", "not a number of bytes with a unit, such as 1.5 GiB")
NO_BAR = coded("GE2003", "a width that is not from 1 to 1,000, or bounds that are infinite")
NO_PART = coded("GE2003", "not the name of a part of a date")
NOT_ABOVE_ZERO = coded("GE2003", "the width is not above zero")
EMPTY_STRING = coded("GE2003", "a string is empty")
EMPTY_FILL = coded("GE2003", "the fill is empty")
LENGTHS_DIFFER = coded("GE1870", "the lists have different lengths")
EQUAL_KEYS = coded("GE1873", "a key of the map stands twice")
NULL_KEY = coded("GE1874", "a key of the map is null")
EMPTY_LIST = coded("GE1875", "an empty list has no first element")
RANGE_TOO_LONG = coded("GE1872", "more than 16,777,216 numbers")
SIZE_OF_NO_LIST = coded("GE1872", "a size is negative, or more than 16,777,216")
STEP_OF_ZERO = coded("GE2003", "a step is 0")
OTHER_SIZE = coded("GE1870", "the list has another number of elements")
NULL_ELEMENT = coded("GE1871", "a list has a null element")
SHOWN_TWICE = coded("GE2010", "the zone's clock shows it twice; see assume_zone's ambiguous")
NEVER_SHOWN = coded("GE2010", "the zone's clock never shows it; see assume_zone's nonexistent")


def not_valid(kind: str) -> Message:
    """Return the reason of parts that make up no date, or no date and time."""
    return coded("GE2003", f"not a valid {kind}")


class NoResult(EvaluationError):
    """An expression has no result in a row, if it is of columns, for these values.

    Parameters
    ----------
    expr
        The call or cast that has none, as the user wrote it.
    row
        The row of the partition, from 0; None where all values are constants.
    values
        The arguments, as `pyarrow.Scalar`s.
    reason
        Why, with its code, such as `OVERFLOW`; for a cast, the code is that of casts.
    """

    def __init__(self, expr: Expr, row: int | None, values: Sequence[Any], reason: str) -> None:
        self.expr, self.values, self.reason = expr, tuple(values), reason
        if isinstance(expr, Cast) and isinstance(expr.operand, Column) and REFUSED in expr.operand.name:
            super().__init__(coded("GE1825", cut(values[0])), "Add it to columns, or set others: ignore.", row)
            return
        code = code_of(reason)
        if isinstance(expr, Cast):
            code = "GE2001" if expr.implicit else "GE2002"
        if isinstance(expr, Call) and expr.function.name == "checked_text":
            code, reason, values = "GE2002", f"not a valid {values[1].as_py()}", values[:1]
        if isinstance(expr, Cast) and expr.dtype != STRING:
            reason = why_not(values[0], expr.dtype)
        elif reason == "overflow":
            reason = f"overflow of {type_name(expr.dtype)}"
        expression, those = shown_sql(expr), f"for {', '.join(map(cut, values))}: {reason}"
        reads = dict.fromkeys(node.name for node in walk(expr) if isinstance(node, Column))
        what = coded(code, f"{expression} has no result, {those}")
        super().__init__(
            what, hint_of(expr, expression, reason, self.values), row, [name for name in reads if ":" not in name]
        )
        if row is not None:
            self.args = (coded(code, f"{expression} has no result in row {row}, {those}"),)

    def in_row(self, row: int | None) -> NoResult:
        """Return the error of another row: that of the whole frame, after it was met in some of its rows."""
        return NoResult(self.expr, row, self.values, self.reason)


def hint_of(expr: Expr, expression: str, reason: str, values: Sequence[Any]) -> str:
    """Return what to do where a value has no result, if that is known."""
    other = next((other for start, other in NULL_INSTEAD.items() if expression.startswith(start)), "")
    if wider := number_type(expr, values):
        return f"{wider} holds this value; TRY_CAST gives null instead."
    if isinstance(expr, Cast) and (advice := zone_advice(expr, values)):
        return advice
    if other and "AS map<" not in expression:
        return f"{other} gives null instead."
    if reason == NOT_JSON:
        return "Leave such rows out by json_valid, or write CASE WHEN json_valid(x) THEN … END."
    if code_of(reason) == "GE1113":
        return "Correct it in the data, or leave such rows out."
    if reason.startswith("overflow of"):
        wider = "decimal(38, 0) or float64" if is_integer(expr.dtype) else "float64"
        return f"Cast an operand to {wider}, or filter such rows out."
    return ""


def why_not(value: pa.Scalar, dtype: DataType) -> str:
    """Return why a type that is not string does not hold a value: the same on every engine."""
    name, kind = type_name(dtype), value.type
    if is_decimal(dtype) and (number := decimal_of(value)) is not None:
        fits = abs(number) < Decimal(10) ** (dtype.precision - dtype.scale)
        return f"more than {dtype.scale} decimals" if fits else f"overflow of {name}"
    if kind == STRING and dtype == DURATION:
        return why_no_duration(value.as_py())
    if kind == STRING:
        return f"not a valid {name}"
    if dtype == BOOL:
        return "neither 0 nor 1"
    if dtype == DATE:
        return "it has a time of day; use to_date"
    if dtype == TIMESTAMP and kind == TIMESTAMP_NS:
        return "it has nanoseconds"
    if pa.types.is_fixed_size_binary(dtype):
        return f"it has {len(value.as_py())} bytes, not {dtype.byte_width}"
    if pa.types.is_timestamp(dtype):
        return "the result is beyond the range of timestamps"
    if is_decimal(dtype):
        return "not a number"
    return (
        f"beyond the range of {name}" if is_floating(kind) and is_floating(dtype) else f"{name} cannot hold it exactly"
    )


def zone_advice(cast: Cast, values: Sequence[Any]) -> str:
    """Return what to write where a text has an offset for a naive timestamp, or none for a zoned one; else ""."""
    if cast.operand.dtype != STRING or not pa.types.is_timestamp(cast.dtype):
        return ""
    try:
        iso_form(str(values[0].as_py()), TIMESTAMP if cast.dtype.tz else pa.timestamp("us", tz="UTC"))
    except ValueError:
        return ""
    if cast.dtype.tz:
        return "It has no offset: write CAST(x AS timestamp) AT TIME ZONE 'UTC', or another zone."
    return "It has an offset: write CAST(x AS timestamptz)."


def why_no_duration(text: str) -> str:
    """Return why a text is no duration: it has months, or is too long, or is none."""
    try:
        cast_microseconds(text)
    except UnknownUnit:
        return "not a valid duration"
    except ValueError as error:
        return str(error) if "no fixed length" in str(error) else "not a valid duration"
    return "not a valid duration"


def decimal_of(value: pa.Scalar) -> Decimal | None:
    """Return a number, or one that a text is, as it is; None where there is none."""
    text = str(value.as_py())
    return Decimal(text) if NUMBER.fullmatch(text) else None


def null_input(operation: Kernel | KernelReduction | KernelTable, name: str, row: int) -> EvaluationError:
    """Return the error of the first null that a kernel forbids; `row` is its row in the order of groups, if any."""
    moved = isinstance(operation, Kernel | KernelTable) and operation.grouped
    what = coded("GE2005", f"kernel '{operation.contract.entry}' forbids nulls, and input '{name}' is null")
    hint = "Filter them out, or set nulls: propagate."
    return EvaluationError(what, hint, None if moved else row, operation.reads)


def sum_overflow(dtype: DataType) -> EvaluationError:
    """Return the error of a sum that its type does not hold."""
    instead = {INT64: "float64 or decimal", DURATION: "a number"}.get(dtype, "float64")
    return EvaluationError(coded("GE2001", f"sum leaves {type_name(dtype)}; cast the column to {instead}"))


def window_overflow(operation: Window, call: Call, text: str, row: int, value: Callable[[str], Any]) -> EvaluationError:
    """Return the error of a row of a window, with its keys, its place in the order and the call's arguments.

    `value` gives a column's value there.  The number of the row, which `text` has, is one of sorted rows.
    """
    arguments = (name for arg in call.args if isinstance(arg, Column) for name in written_columns(operation, arg))
    names = dict.fromkeys([*operation.by, *(key.column for key in operation.order_by), *arguments])
    error = EvaluationError(coded("GE2001", text.replace(f" at row {row}", "")))
    error.args = (coded("GE2001", text),)
    error.shown = f"The row: {written_values({name: value(name) for name in names if ':' not in name})}"
    return error


def written_columns(operation: Window, argument: Column) -> Iterable[str]:
    """Return the column of an argument; of one that a stateful window has made, those from which it is made."""
    if STATE in argument.name and isinstance(operation.source, Project):
        return sorted(columns_of(operation.source.columns[argument.name]))
    return (argument.name,)


def written_values(row: Mapping[str, pa.Scalar]) -> str:
    """Return the values of a row with their names; long texts are cut."""
    return ", ".join(f"{name} = {written(value)}" for name, value in row.items())


def written(value: pa.Scalar) -> str:
    """Return a value as an error names it: texts in quotes."""
    if not value.is_valid:
        return "null"
    text = cut(value)
    return repr(text) if pa.types.is_string(value.type) else text


def cut(value: pa.Scalar) -> str:
    """Return a value's text, of a long one the beginning."""
    text = interval_text(value) if value.type == CALENDAR else shown(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def interval_text(value: pa.Scalar) -> str:
    """Return the text of an interval of months."""
    parts = value.as_py()
    return str(CalendarInterval(parts.months, parts.days, parts.nanoseconds // 1000))


def number_type(expr: Expr, values: Sequence[Any]) -> str:
    """Return a type that holds a text which was cast to an integer or a decimal; nothing for other casts and texts.

    To read such a text as null would lose it.
    """
    if not isinstance(expr, Cast) or not (is_integer(expr.dtype) or is_decimal(expr.dtype)):
        return ""
    text = values[0].as_py() if len(values) == 1 and pa.types.is_string(values[0].type) else ""
    found = WRITTEN_NUMBER.fullmatch(text.strip(" \t"))
    if found is None:
        return ""
    before, after = len(found["before"].lstrip("0")), len(found["after"] or "")
    if found["exponent"] or before + after > MAX_DIGITS:
        return "float64"
    if not after and before < INT64_DIGITS:
        return "int64"
    return f"decimal({USUAL_DIGITS if before + after <= USUAL_DIGITS else MAX_DIGITS},{after})"
