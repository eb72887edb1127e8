"""Conversions: exact or an error naming the value; null instead of the error where lenient.

Rounding from a wider to a narrower float, from a decimal to a float, and from an integer to a float that typing put
in, is no error; a finite number that becomes infinite is.  A float becomes the decimal that it is written as: the
shortest one that reads back as it.  What strings are read is in docs/language.md; Arrow reads a few more.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import not_valid
from gpuetl.engines.pandas.columns.column import Column, Masked, from_masked, over_columns, take_or_null, to_masked
from gpuetl.engines.pandas.expressions.decimals import fitted, from_text, to_float, to_text
from gpuetl.engines.pandas.expressions.functions.binary import (
    ESCAPED,
    UUID_TEXT,
    bytes_from_text,
    of_distinct,
    texts_of_bytes,
    texts_of_uuids,
    uuids_from_text,
)
from gpuetl.engines.pandas.expressions.functions.formats import digits, iso_text
from gpuetl.errors import EvaluationError
from gpuetl.expressions.interval_text import cast_microseconds, duration_text
from gpuetl.expressions.time_text import LIKELY, is_moment, iso_form
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BINARY,
    BOOL,
    DATE,
    DURATION,
    INT64,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NS,
    UUID,
    DataType,
    is_floating,
    is_integer,
    is_number,
    is_temporal,
    type_name,
)
from gpuetl.types.decimal_types import integer_decimal, is_decimal


def cast_value(value: Any, dtype: DataType, lenient: bool, implicit: bool) -> Any:
    """Convert a column or scalar.

    Raises
    ------
    pyarrow.ArrowInvalid, EvaluationError
        For a value that `dtype` cannot hold, unless lenient.
    """
    if is_decimal(value.type) and is_floating(dtype):
        return to_float(value, dtype)
    if implicit:
        return pc.cast(value, dtype, safe=not is_floating(dtype))
    try:
        return _exact(value, dtype)
    except (pa.ArrowInvalid, EvaluationError):
        if not lenient:
            raise
    return _each(value, dtype)


def _exact(value: Any, dtype: DataType) -> Any:
    if value.type == STRING and is_number(dtype):
        try:
            return _converted(value, dtype)
        except (pa.ArrowInvalid, EvaluationError):
            value = pc.utf8_trim(value, SPACES)
    return _converted(value, dtype)


SPACES = " \t\n\v\f\r"
"""Around numbers they do not count."""


def _converted(value: Any, dtype: DataType) -> Any:
    if is_decimal(value.type) and dtype == BOOL:
        return _truth_of_decimal(value)
    if is_decimal(dtype) and value.type != NULL:
        return _as_decimal(value, dtype)
    if is_integer(value.type) and is_floating(dtype):
        return _as_float(value, dtype)
    if dtype == STRING and (write := _writer_of(value.type)):
        return write(value)
    if value.type == STRING and (read := _reader_of(dtype)):
        return read(value, dtype)
    result = pc.cast(value, dtype)
    if dtype == BOOL and value.type not in (BOOL, STRING, NULL):
        _refuse_where(pc.not_equal(pc.cast(result, value.type), value), "it is neither 0 nor 1")
    if dtype == DATE and pa.types.is_timestamp(value.type):
        _refuse_where(
            pc.not_equal(pc.cast(result, pa.timestamp("us")), pc.cast(value, pa.timestamp("us"))),
            "it has a time of day; use to_date",
        )
    if is_floating(dtype) and is_floating(value.type):
        _refuse_where(pc.and_(pc.is_inf(result), pc.is_finite(value)), f"it is beyond {dtype}")
    return result


def _truth_of_decimal(value: Any) -> Any:
    result = pc.not_equal(value, pa.scalar(Decimal(0), value.type))
    has_one = value.type.precision > value.type.scale
    other = pc.not_equal(value, pa.scalar(Decimal(1), value.type)) if has_one else True
    _refuse_where(pc.and_(result, other), "it is neither 0 nor 1")
    return result


def _as_decimal(value: Any, dtype: DataType) -> Any:
    if value.type == BOOL:
        value = pc.cast(value, pa.int8())
    if is_integer(value.type):
        return fitted(pc.cast(value, integer_decimal(value.type)), dtype)
    if is_floating(value.type):
        _refuse_where(pc.invert(pc.is_finite(value)), "it is not a valid number")
        value = pc.cast(value, STRING)
    return from_text(value, dtype) if value.type == STRING else fitted(value, dtype)


def _booleans_from_text(text: Any, dtype: DataType) -> Any:
    """Read words in any case, and 1 and 0; Arrow does not know all of them."""
    for words, word in (("t|y|yes", "true"), ("f|n|no", "false")):
        text = pc.replace_substring_regex(text, rf"(?i)\A(?:{words})\z", word)
    return pc.cast(text, dtype)


def _integers_from_text(text: Any, dtype: DataType) -> Any:
    """Read digits after a sign or none.  Arrow takes no plus, for unsigned ones no -0, and reads `0x1F`."""
    signs = "+" if pa.types.is_signed_integer(dtype) else "+-"
    if any(_is_any(pc.starts_with(text, sign)) for sign in signs):
        text = pc.replace_substring_regex(text, r"^(?:\+([0-9])|-(0+)$)", r"\1\2")
    _refuse_where(pc.or_(pc.starts_with(text, "0x"), pc.starts_with(text, "0X")), "it is not a whole number")
    return pc.cast(text, dtype)


def _floats_from_text(text: Any, dtype: DataType) -> Any:
    """Read numbers, NaN and the infinities.  Arrow reads `nan(1)`, and a number beyond the type as infinite."""
    result = pc.cast(text, dtype)
    other = pc.invert(pc.is_finite(result))
    if _is_any(other):
        unnamed = pc.invert(pc.match_substring_regex(text, "(?i)^[-+]?(inf|infinity|nan)$"))
        _refuse_where(pc.and_(other, unnamed), f"it is out of range for {type_name(dtype)} holds")
    return result


def _writer_of(dtype: DataType) -> Callable[[Any], Any] | None:
    """Return what writes a type as strings otherwise than Arrow does."""
    if is_decimal(dtype):
        return to_text
    others = {
        UUID: texts_of_uuids, BINARY: texts_of_bytes, TIMESTAMP_NS: _text_of_nanoseconds, DURATION: _texts_of_durations,
    }  # fmt: skip
    return iso_text if is_temporal(dtype) else others.get(dtype)


def _texts_of_durations(value: Any) -> Any:
    return of_distinct(duration_text, STRING, pc.cast(value, INT64))


def _durations_from_text(value: Any, dtype: DataType) -> Any:
    return of_distinct(_duration, dtype, value)


def _duration(text: str) -> int:
    try:
        return cast_microseconds(text)
    except ValueError:
        raise EvaluationError(not_valid("duration")) from None


def _text_of_nanoseconds(value: Any) -> Any:
    """Write timestamps with nine digits of a second."""

    def text_of(column: Column) -> Column:
        micros, last = np.divmod((nanos := to_masked(column)).values, 1000)
        text = iso_text(from_masked(Masked(micros, nanos.valid), TIMESTAMP))
        return pc.binary_join_element_wise(text, digits(3).take(pa.array(last)), "")

    return over_columns(text_of, value)


def _reader_of(dtype: DataType) -> Callable[[Any, DataType], Any] | None:
    """Return what reads a type from strings otherwise than Arrow does."""
    if is_integer(dtype):
        return _integers_from_text
    if is_floating(dtype):
        return _floats_from_text
    if is_moment(dtype):
        return _moments_from_text
    return {
        BOOL: _booleans_from_text, UUID: uuids_from_text, BINARY: bytes_from_text,
        DURATION: _durations_from_text,
    }.get(dtype)  # fmt: skip


def _moments_from_text(text: Any, dtype: DataType) -> Any:
    """Read dates, timestamps and times of day: ISO's forms by Arrow, and others once they are ISO's."""
    read = {TIME: _times_from_text, TIMESTAMP_NS: _nanoseconds_from_text}.get(dtype, pc.cast)
    try:
        return read(text, dtype)
    except (pa.ArrowInvalid, EvaluationError):
        return read(of_distinct(lambda each: _iso_form(each, dtype), STRING, text), dtype)


def _iso_form(text: str, dtype: DataType) -> str:
    try:
        return iso_form(text, dtype)
    except ValueError:
        raise EvaluationError(not_valid(type_name(dtype))) from None


def _times_from_text(text: Any, dtype: DataType) -> Any:
    _refuse_where(pc.invert(pc.match_substring_regex(text, CLOCK)), "it is not a valid time")
    return pc.cast(pc.cast(pc.binary_join_element_wise("1970-01-01", text, " "), TIMESTAMP), dtype)


def _nanoseconds_from_text(value: Any, dtype: DataType) -> Any:
    """Read timestamps with up to nine digits of a second, which Arrow reads without a check of their range."""

    def nanoseconds_of(text: Column) -> Column:
        fraction = pc.struct_field(pc.extract_regex(text, r"(?:\.(?P<digits>[0-9]{1,9}))?$"), "digits")
        nanos = pc.cast(pc.utf8_rpad(fraction, 9, "0"), INT64)
        whole = pc.replace_substring_regex(text, r"(:[0-9]{2})\.[0-9]{1,9}$", r"\1")
        seconds = pc.cast(pc.cast(whole, pa.timestamp("s")), INT64)
        early = pc.cast(pc.less(seconds, 0), INT64)  # the least one is less than a second after what int64 holds
        later = pc.multiply_checked(pc.add(seconds, early), 10**9)
        return pc.cast(pc.add_checked(later, pc.subtract(nanos, pc.multiply(early, 10**9))), dtype)

    return over_columns(nanoseconds_of, value)


CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?$"


def _as_float(value: Any, dtype: DataType) -> Any:
    result = pc.cast(value, dtype, safe=False)
    try:
        other = pc.not_equal(pc.cast(result, value.type), value)
    except pa.ArrowInvalid:
        raise EvaluationError(coded("GE2002", f"{type_name(dtype)} cannot hold it exactly")) from None
    _refuse_where(other, f"{type_name(dtype)} cannot hold it exactly")
    return result


def _refuse_where(wrong: Any, why: str) -> None:
    if _is_any(wrong):
        raise EvaluationError(coded("GE2002", why))


def _is_any(condition: Any) -> bool:
    found = condition if isinstance(condition, pa.Scalar) else pc.any(condition)
    return bool(found.as_py())


def _each(value: Any, dtype: DataType) -> Any:
    """Convert each distinct value, null where it cannot be."""
    if value.type == STRING and is_number(dtype):
        value = pc.utf8_trim(value, SPACES)
    return over_columns(lambda column: _each_distinct(column, dtype), value)


def _each_distinct(column: Column, dtype: DataType) -> Column:
    encoded = column.dictionary_encode()
    values, shape = encoded.dictionary, next((s for holds, s in SHAPES if holds(dtype)), None)
    if shape is None or values.type != STRING:
        return _where_exact(values, dtype).take(encoded.indices)
    likely = pc.match_substring_regex(values, shape).to_numpy(zero_copy_only=False)
    converted = _where_exact(values.filter(pa.array(likely)), dtype)
    return take_or_null(converted, Masked(np.cumsum(likely) - 1, likely)).take(encoded.indices)


SHAPES: tuple[tuple[Callable[[DataType], bool], str], ...] = (
    (is_integer, "^[-+]?[0-9]+$"),
    (is_floating, "^[-+0-9.eE]+$|(?i)^[-+]?(inf|infinity|nan)$"),
    (is_decimal, "^[-+0-9.eE]+$"),
    (lambda dtype: dtype == TIME, "[0-9]:[0-9]"),
    (lambda dtype: dtype == UUID, UUID_TEXT),
    (lambda dtype: dtype == BINARY, f"(?s)^{ESCAPED.pattern}$"),
    (is_moment, LIKELY),
)
"""Pattern of strings that convert: most invalid strings are found by it at once."""


def _where_exact(values: Any, dtype: DataType) -> Any:
    """Convert an array, null where a value cannot be: halved until what cannot be is alone."""
    try:
        return _exact(values, dtype)
    except (pa.ArrowInvalid, EvaluationError):
        if len(values) == 1:
            return pa.nulls(1, dtype)
    middle = len(values) // 2
    return pa.concat_arrays([_where_exact(values[:middle], dtype), _where_exact(values[middle:], dtype)])
