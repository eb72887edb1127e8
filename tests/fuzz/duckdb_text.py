"""Pieces of DuckDB's SQL that several tables of it share."""

from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeAlias

import pyarrow as pa

from fuzz.duckdb_types import sql_type
from gpuetl.expressions.ir import Literal
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import DATE, TIME, DataType, is_floating
from gpuetl.types.time_zones import fixed_offset

Text: TypeAlias = str | Callable[..., str]
hidden: ContextVar[bool] = ContextVar("hidden", default=False)
"""DuckDB does not compute what it meets beside a constant null, and so misses errors there."""
MICROSECOND = timedelta(microseconds=1)

MACROS = """
CREATE MACRO either_nan(x, y) AS coalesce(isnan(x), false) OR coalesce(isnan(y), false);
CREATE MACRO ieee(x, y, compared, of_nan) AS
    CASE WHEN x IS NULL OR y IS NULL THEN NULL WHEN either_nan(x, y) THEN of_nan ELSE compared END;
CREATE MACRO median_of(s) AS CASE WHEN len(s) = 0 OR s IS NULL THEN NULL WHEN len(s) % 2 = 1 THEN s[len(s) // 2 + 1]
    ELSE s[len(s) // 2] / 2 + s[len(s) // 2 + 1] / 2 END;
CREATE MACRO between_of(x, y, share) AS CASE WHEN x = y THEN x ELSE x * (1 - share) + y * share END;
CREATE MACRO cut_at(s, place) AS
    between_of(s[CAST(floor(place) AS BIGINT) + 1], s[CAST(ceil(place) AS BIGINT) + 1], place - floor(place));
CREATE MACRO quantile_of(s, q) AS CASE WHEN len(s) > 0 THEN cut_at(s, q * (len(s) - 1)) END;
CREATE MACRO power_of_all(s) AS
    power(-1.0, len(list_filter(s, lambda v: v < 0))) * exp(list_sum(list_transform(s, lambda v: ln(abs(v)))));
CREATE MACRO product_of(s) AS
    CASE WHEN list_contains(s, 0.0) THEN list_sum(list_transform(s, lambda v: v * 0)) ELSE power_of_all(s) END;
CREATE MACRO of_8_bits(v, unit) AS round(v / unit) * unit;
CREATE MACRO rounded(v) AS CASE WHEN v = 0 OR NOT isfinite(v) THEN v ELSE of_8_bits(v, pow(2, floor(log2(abs(v))) - 7)) END;
CREATE MACRO mad_about(s, center) AS median_of(list_sort(list_transform(s, lambda v: abs(v - center))));
CREATE MACRO co_moment_of(p) AS list_sum(list_transform(p, lambda v:
    (v.a - list_avg(list_transform(p, lambda w: w.a))) * (v.b - list_avg(list_transform(p, lambda w: w.b)))));
CREATE MACRO spread_of(p, f) AS sqrt(co_moment_of(list_transform(p, lambda v: CASE WHEN f THEN struct_pack(a := v.a, b := v.a)
    ELSE struct_pack(a := v.b, b := v.b) END)));
CREATE MACRO correlation_of(p) AS CASE WHEN spread_of(p, true) = 0 OR spread_of(p, false) = 0 THEN CAST('nan' AS DOUBLE)
    ELSE co_moment_of(p) / (spread_of(p, true) * spread_of(p, false)) END;
CREATE MACRO mad_of(s) AS mad_about(s, median_of(s));
CREATE MACRO value_at(s, q) AS s[greatest(1, CAST(len(s) - floor(len(s) - len(s) * q) AS BIGINT))];
CREATE MACRO power_sum(s, mean, p) AS list_sum(list_transform(s, lambda v: power(v - mean, p)));
CREATE MACRO moment_of(s, p) AS power_sum(s, list_avg(s), p);
CREATE MACRO skewness_at(n, second, third) AS
    CASE WHEN second <> 0 THEN sqrt(n - 1) * n / (n - 2) * third / power(second, 1.5) END;
CREATE MACRO kurtosis_at(n, tails) AS (n - 1) * ((n + 1) * tails - 3 * (n - 1)) / ((n - 2) * (n - 3));
CREATE MACRO tails_of(s) AS
    CASE WHEN moment_of(s, 2) <> 0 THEN len(s) * moment_of(s, 4) / power(moment_of(s, 2), 2) END;
CREATE MACRO skewness_of(s) AS skewness_at(len(s), moment_of(s, 2), moment_of(s, 3));
CREATE MACRO kurtosis_of(s) AS kurtosis_at(len(s), tails_of(s));
CREATE MACRO kurtosis_pop_of(s) AS tails_of(s) - 3;
"""


def quoted(name: str) -> str:
    """Return a column's or table's name."""
    return '"' + name.replace('"', '""') + '"'


def literal_text(literal: Literal) -> str:
    """Return a constant with its type; where `hidden` is set, as what DuckDB cannot know to be one."""
    if isinstance(literal.value, CalendarInterval):
        return f"INTERVAL '{literal.value}'"
    plain = f"CAST({_value(literal.value)} AS {sql_type(literal.dtype)})"
    return f"if(random() < 2, {plain}, {plain})" if hidden.get() else plain


def _value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value or (None if value is None else False)).replace("None", "NULL")
    if isinstance(value, datetime):
        return str((value.replace(tzinfo=value.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND)
    if isinstance(value, time):
        value = datetime.combine(date.min, value) - datetime.min
    if isinstance(value, timedelta):
        return str(value // MICROSECOND)
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return str(value) if isinstance(value, int) else text_literal(str(value))


def canonical(x: str, dtype: DataType) -> str:
    """Return a key or sort key: floats with one zero; DuckDB knows one NaN, the greatest value."""
    return f"({x} + 0)" if is_floating(dtype) else x


def text_literal(value: str) -> str:
    """Return a text in quotes, for what DuckDB takes only as a constant."""
    return "'" + value.replace("'", "''") + "'"


def moment(x: str, dtype: DataType) -> str:
    """Return the clock of a date or timestamp as DuckDB's own type, which knows zones by name, not by offset."""
    if dtype == DATE:
        return x
    if dtype == TIME:
        return f"make_timestamp({x})"
    offset = fixed_offset(dtype.tz) if dtype.tz else 0
    naive = f"make_timestamp({x} + {offset * 1_000_000})" if offset else f"make_timestamp({x})"
    return f"timezone('{dtype.tz}', timezone('UTC', {naive}))" if offset is None else naive


def clock(x: str, dtype: DataType) -> str:
    """Return what the clock of a timestamp shows, in microseconds."""
    return f"epoch_us({moment(x, dtype)})" if getattr(dtype, "tz", None) else x


def constant_of(call: Any, place: int) -> Any:
    """Return the value of a constant argument."""
    return call.args[place].value


def is_clock(dtype: DataType) -> bool:
    """Tell whether values are microseconds of a timestamp."""
    return bool(pa.types.is_timestamp(dtype))
