"""Typing: names, constants and calls get types, or an error that says what does not fit."""

from decimal import Decimal

import pyarrow as pa
import pytest

from expressions.evaluation import typed
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.advice import NAIVE_AND_ZONED
from gpuetl.expressions.functions import FUNCTIONS, Function
from gpuetl.expressions.functions.function import floats
from gpuetl.expressions.ir import Call, Cast, Column, Literal, Parameter
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import AGGREGATES, SCALARS, WINDOWS, WRONG, Scope
from gpuetl.types.data_types import BOOL, DATE, FLOAT64, INT64, STRING, TIMESTAMP, parse_type, type_name

COLUMNS = {
    name: parse_type(dtype)
    for name, dtype in {
        "i8": "int8", "i32": "int32", "i64": "int64", "u8": "uint8", "u64": "uint64", "f32": "float32", "f64": "float64", "s": "string", "b": "bool",
        "d": "date", "ts": "timestamp", "tz": "timestamp[Europe/Berlin]", "utc": "timestamp[UTC]", "dur": "duration", "dec": "decimal(10,2)",
    }.items()
}  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "dtype"),
    [
        ("i8 + i8", "int64"), ("i8 * u8", "int64"), ("-i8", "int64"), ("abs(i32)", "int64"), ("i8 + 1", "int64"), ("i8 // 2", "int64"), ("i8 % 2", "int64"),
        ("i8 / i8", "float64"), ("f32 / f32", "float64"), ("f32 + f32", "float32"), ("f32 + 1", "float64"), ("f32 + i8", "float64"), ("i8 + f64", "float64"),
        ("i8 = 1", "bool"), ("i8 < f32", "bool"), ("s || s", "string"), ("length(s)", "int64"), ("s LIKE 'a'", "bool"),
        ("d = ts", "bool"), ("d - d", "int64"), ("d + i8", "date"), ("d - 1", "date"), ("1 + d", "date"), ("ts - d", "duration"), ("d + dur", "timestamp"), ("ts + dur", "timestamp"), ("dur + ts", "timestamp"),
        ("tz + dur", "timestamp[Europe/Berlin]"), ("tz - utc", "duration"), ("dur + dur", "duration"),
        ("to_date(tz)", "date"), ("date_trunc('day', tz)", "timestamp[Europe/Berlin]"), ("date_trunc('month', d)", "date"), ("epoch(dur)", "float64"),
        ("coalesce(i8, i32)", "int32"), ("coalesce(i8, u8)", "int16"), ("coalesce(i8, f32)", "float64"), ("coalesce(d, ts)", "timestamp"),
        ("coalesce(i8, 1)", "int8"), ("coalesce(i8, 300)", "int64"), ("coalesce(NULL, i8)", "int8"), ("coalesce(s, 'x')", "string"),
        ("CASE WHEN b THEN i8 ELSE i32 END", "int32"), ("CASE WHEN b THEN 1 END", "int64"), ("CASE WHEN b THEN NULL ELSE 'x' END", "string"),
        ("nullif(i8, 0)", "int8"), ("greatest(i8, f64)", "float64"), ("round(f32)", "float32"), ("round(i8)", "int8"), ("floor(i32)", "int32"), ("sqrt(i8)", "float64"),
        ("sqrt(f32)", "float32"), ("sign(i8)", "int64"), ("power(2, 3)", "float64"), ("NULL + 1", "int64"), ("NULL", "null"), ("1.0", "float64"), ("-1", "int64"),
        ("CAST(i8 AS string)", "string"), ("TRY_CAST(s AS date)", "date"), ("u64 + 1", "int64"), ("interval '1 hour'", "duration"),
    ],
)  # fmt: skip
def test_scalar_types(sql, dtype):
    assert type_name(typed(sql, COLUMNS).dtype) == dtype


@pytest.mark.parametrize(
    ("sql", "kinds", "dtype"),
    [
        ("sum(i8)", AGGREGATES, "int64"), ("sum(f32)", AGGREGATES, "float64"), ("sum(dec)", AGGREGATES, "decimal(38,2)"), ("sum(dur)", AGGREGATES, "duration"),
        ("mean(i8)", AGGREGATES, "float64"), ("min(i8)", AGGREGATES, "int8"), ("max(s)", AGGREGATES, "string"), ("max(tz)", AGGREGATES, "timestamp[Europe/Berlin]"),
        ("count(*)", AGGREGATES, "int64"), ("count(DISTINCT s)", AGGREGATES, "int64"), ("any(b)", AGGREGATES, "bool"), ("sum(i8) / count(*)", AGGREGATES, "float64"),
        ("lag(i8)", WINDOWS, "int8"), ("first(s)", WINDOWS, "string"), ("row_number()", WINDOWS, "int64"), ("cum_sum(i8)", WINDOWS, "int64"),
        ("cum_min(i8)", WINDOWS, "int8"), ("rolling_mean(i8, 3)", WINDOWS, "float64"), ("diff(i8)", WINDOWS, "int64"), ("diff(d)", WINDOWS, "int64"), ("diff(tz)", WINDOWS, "duration"), ("ewm_mean(f32, 2)", WINDOWS, "float64"),
        ("quantile(i8, 1)", AGGREGATES, "float64"), ("corr(i8, f32)", AGGREGATES, "float64"), ("first(dec)", AGGREGATES, "decimal(10,2)"),
        ("last(s, only => b)", AGGREGATES, "string"), ("max_by(tz, s)", AGGREGATES, "timestamp[Europe/Berlin]"), ("mode(d)", AGGREGATES, "date"),
        ("count_if(b)", AGGREGATES, "int64"), ("rank()", WINDOWS, "int64"), ("percent_rank()", WINDOWS, "float64"), ("ntile(3)", WINDOWS, "int64"),
        ("lag(i8, default => 1)", WINDOWS, "int8"), ("lag(i8, default => 300)", WINDOWS, "int64"), ("lag(i8, 1, 0.5)", WINDOWS, "float64"),
        ("lead(d, default => ts)", WINDOWS, "timestamp"), ("lag(i8, ignore_nulls => true)", WINDOWS, "int8"), ("cum_prod(i8)", WINDOWS, "int64"),
        ("cum_prod(f32)", WINDOWS, "float64"), ("pct_change(i8)", WINDOWS, "float64"), ("ewm_mean(i8, span => 3)", WINDOWS, "float64"),
        ("first(i8, only => b)", WINDOWS, "int8"), ("bfill(s)", WINDOWS, "string"), ("rolling_var(i8, 3)", WINDOWS, "float64"),
        ("session_id(interval '1 hour')", WINDOWS, "int64"), ("row_number() - 1", WINDOWS, "int64"),
    ],
)  # fmt: skip
def test_aggregate_and_window_types(sql, kinds, dtype):
    assert type_name(typed(sql, COLUMNS, kinds=kinds).dtype) == dtype


def test_an_integer_constant_takes_the_columns_type_where_it_fits():
    assert typed("i8 = 1", COLUMNS).args == (Column("i8", pa.int8()), Literal(1, pa.int8()))
    assert typed("u64 = 1", COLUMNS).args[1] == Literal(1, pa.uint64())
    assert typed("i8 IN (1, NULL)", COLUMNS).args == (
        Column("i8", pa.int8()),
        Literal(1, pa.int8()),
        Literal(None, pa.int8()),
    )
    assert typed("i8 = 300", COLUMNS).args == (Cast(Column("i8", pa.int8()), INT64, implicit=True), Literal(300, INT64))


def test_an_unsigned_64_bit_integer_and_a_negative_one_meet_in_a_decimal():
    assert typed("u64 > -1", COLUMNS).args[1] == Literal(Decimal(-1), parse_type("decimal(20,0)"))
    assert type_name(typed("coalesce(u64, i8)", COLUMNS).dtype) == "decimal(20,0)"


def test_constants_widen_in_place_and_columns_by_an_implicit_cast():
    assert typed("f64 > 1", COLUMNS).args[1] == Literal(1.0, FLOAT64)
    exact = parse_type("decimal(11,1)")
    assert typed("i32 > 1.5", COLUMNS).args == (
        Cast(Column("i32", pa.int32()), exact, implicit=True),
        Literal(Decimal("1.5"), exact),
    )
    assert typed("i32 > 2.0", COLUMNS).args[1] == Literal(2, pa.int32())
    assert typed("f32 > 0.1", COLUMNS).args == (Column("f32", pa.float32()), Literal(0.10000000149011612, pa.float32()))
    assert typed("i32 < 1e300", COLUMNS).args[1] == Literal(1e300, FLOAT64)
    assert typed("d = ts", COLUMNS).args[0] == Cast(Column("d", DATE), TIMESTAMP, implicit=True)


def test_nulls_alone_compare_as_booleans():
    assert [arg.dtype for arg in typed("NULL = NULL").args] == [BOOL, BOOL]


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("amuont > 1", "unknown column 'amuont'", "Columns: amount. Did you mean 'amount'?"),
        ("amount > $mim", "unknown parameter '$mim'", "Parameters: $min. Did you mean '$min'?"),
        ("uper(amount)", "unknown function 'uper'", "Did you mean 'upper'?"),
        ("xyzzy(amount)", "unknown function 'xyzzy'", "docs/functions.md lists all functions."),
        ("log(amount)", "log got 1 argument", "It is log(base, x)."),
        ("sum(amount)", "sum is an aggregate function and cannot stand here", "Use it directly in an aggregate step."),
        ("lag(amount)", "lag is a window function and cannot stand here", "Use it directly in a window step."),
        ("abs()", "abs got 0 arguments", "It is abs(x)."),
        ("abs(amount, 1)", "abs got 2 arguments", "It is abs(x)."),
        ("substring('a')", "substring got 1 argument", "It is substring(text, start, length?)."),
        ("coalesce()", "coalesce got 0 arguments", "It is coalesce(x, more…)."),
        ("amount IN ()", "IN has no values", "Write x IN (1, 2)."),
        ("round(amount, places => 2)", "round has no open argument 'places'", "It is round(x, digits?)."),
        ("round(amount, 1, digits => 2)", "round has no open argument 'digits'", "It is round(x, digits?)."),
        ("substring('a', amount)", "substring takes int64, got float64", ""),
        ("amount = 'x'", "cannot compare float64 and string", ""),
        ("amount + 'x'", "cannot add float64 and string", "|| joins strings."),
        ("length(amount)", "length takes string, got float64", ""),
        ("amount AND true", "AND takes bool, got float64", "Compare it with something: amount > 0."),
        ("amount // 2", "'//' takes integers or decimals, got float64", ""),
        ("CASE WHEN amount THEN 1 END", "CASE takes a condition after WHEN, got float64", ""),
        ("CASE WHEN true THEN 1 ELSE 'x' END", "CASE cannot mix string and int64", ""),
        ("date_trunc('eon', DATE '2020-01-01')", "date_trunc takes one of millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond, got 'eon'", ""),
        ("hour(DATE '2020-01-01')", "hour takes a timestamp or a time, got date", ""),
        ("1" + "0" * 38, f"the number 1{'0' * 38} takes 39 decimal digits; 38 are the most", ""),
        ("CAST(true AS date)", "cannot cast bool to date", ""),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"amount": FLOAT64}, {"min": Literal(1.0, FLOAT64)})
    assert (error.value.message, error.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("d = '2020-01-01'", "cannot compare date and string", "Write DATE '2020-01-01'."),
        ("ts > '2020-01-01'", "cannot compare timestamp and string", "Write TIMESTAMP '2020-01-01 00:00:00'."),
        ("ts BETWEEN '2020-01-01' AND ts", "cannot compare timestamp and string", "Write TIMESTAMP '2020-01-01 00:00:00'."),
        ("d IN ('2020-01-01')", "cannot compare date and string", "Write DATE '2020-01-01'."),
        ("ts = tz", "cannot compare timestamp and timestamp[Europe/Berlin]", NAIVE_AND_ZONED),
        ("coalesce(ts, utc)", "coalesce cannot mix timestamp and timestamp[UTC]", NAIVE_AND_ZONED),
        ("d = tz", "cannot compare date and timestamp[Europe/Berlin]", NAIVE_AND_ZONED),
        ("ts - utc", "cannot subtract timestamp and timestamp[UTC]", NAIVE_AND_ZONED),
        ("ts + 1", "cannot add timestamp and int64", "Write x + INTERVAL '1 day'."),
        ("u64 = s", "cannot compare uint64 and string", "Write CAST(s AS uint64)."),
    ],
)  # fmt: skip
def test_types_that_do_not_mix_are_refused(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, COLUMNS)
    assert (error.value.message, error.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("sql", "marked"),
    [
        ("1 + amuont", "amuont"),
        ("abs(1) + frob(1)", "frob"),
        ("1 + 'x' > 2", "1 + 'x'"),
        ("to_base(15, 1 + 1)", "1 + 1"),
        ("true AND lag(1) = 1", "lag"),
    ],
)
def test_errors_point_into_the_text(sql, marked):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"amount": FLOAT64})
    assert sql[error.value.span.start : error.value.span.stop] == marked


def test_aggregates_do_not_nest():
    with pytest.raises(InvalidExpression, match="sum is an aggregate function and cannot stand inside max"):
        typed("max(sum(f64))", COLUMNS, kinds=AGGREGATES)


def test_keyword_arguments_take_the_place_of_positional_ones():
    assert typed("round(f64, digits => 2)", COLUMNS) == typed("round(f64, 2)", COLUMNS)
    assert typed("round(x => f64)", COLUMNS) == typed("round(f64)", COLUMNS)


def test_aliases_give_the_same_call():
    assert typed("substr(s, 2)", COLUMNS) == typed("substring(s, 2)", COLUMNS)
    assert typed("avg(i8)", COLUMNS, kinds=AGGREGATES) == typed("mean(i8)", COLUMNS, kinds=AGGREGATES)


def test_a_parameter_without_a_value_keeps_its_type():
    minimum = Parameter("min", FLOAT64)
    assert typed("i8 > $min", COLUMNS, {"min": minimum}) == Call(
        typed("i8 > 1.5", COLUMNS).function, (Cast(Column("i8", pa.int8()), FLOAT64, implicit=True), minimum), BOOL
    )


def test_any_column_may_be_named_in_an_open_scope():
    assert resolve(parse_expression("nobody"), Scope({}, {}, open=True)) == WRONG
    assert resolve(parse_expression("nobody || 'x'"), Scope({}, {}, open=True)) == WRONG


def test_a_scalar_function_takes_no_argument_after_one_that_is_left_out(monkeypatch):
    clip = Function("clip", "x low? high?", floats, "", "", None)
    monkeypatch.setitem(FUNCTIONS, ("scalar", "clip"), clip)
    assert len(typed("clip(f64, high => 1, low => 0)", COLUMNS).args) == 3
    with pytest.raises(InvalidExpression, match="clip needs low where high is given"):
        typed("clip(f64, high => 1)", COLUMNS)


@pytest.mark.parametrize(
    ("sql", "kinds", "message"),
    [
        ("cum_sum(x - lag(x))", WINDOWS, "lag is a window function and cannot stand inside cum_sum"),
        ("sum(max(x))", AGGREGATES, "max is an aggregate function and cannot stand inside sum"),
        ("ewm_mean(x, half_life => 0)", WINDOWS, "ewm_mean takes a half_life above zero, got 0"),
        (
            "decayed_sum(x, interval '-1 hour')",
            WINDOWS,
            "decayed_sum takes a half_life above zero, got -1 day, 23:00:00",
        ),
        (
            "rolling_sum(x, interval '-1 hour')",
            WINDOWS,
            "rolling_sum takes a frame that is not negative, got -1 day, 23:00:00",
        ),
        (
            "session_id(interval '-1 hour')",
            WINDOWS,
            "session_id takes a gap that is not negative, got -1 day, 23:00:00",
        ),
        ("lag(x, $text)", WINDOWS, "lag takes a number of rows from 0 as offset, got string"),
        ("lag(x, $none)", WINDOWS, "lag takes a constant that is not null as offset"),
        ("rolling_sum(x, NULL)", WINDOWS, "rolling_sum takes a constant that is not null as frame"),
        ("ewm_mean(x, NULL)", WINDOWS, "ewm_mean takes a constant that is not null as half_life"),
        ("lag(x, default => k)", WINDOWS, "lag cannot mix float64 and string"),
        ("lag(x, ignore_nulls => 1)", WINDOWS, "lag takes bool, got int64"),
        ("lag(x, ignore_nulls => x > 1)", WINDOWS, "lag takes a constant or a $parameter as ignore_nulls"),
        ("diff(x, 1, 2)", WINDOWS, "diff got 3 arguments"),
        ("ntile(0)", WINDOWS, "ntile takes a number of tiles from 1, got 0"),
        ("ntile($text)", WINDOWS, "ntile takes a number of tiles from 1, got string"),
        ("ewm_mean(x)", WINDOWS, "ewm_mean takes one of half_life, span, alpha and com, got none"),
        (
            "ewm_mean(x, span => 3, alpha => 0.5)",
            WINDOWS,
            "ewm_mean takes one of half_life, span, alpha and com, got span and alpha",
        ),
        ("ewm_mean(x, span => 0.5)", WINDOWS, "ewm_mean takes a span of 1 row or more, got 0.5"),
        ("ewm_mean(x, alpha => 0)", WINDOWS, "ewm_mean takes an alpha above 0, at most 1, got 0"),
        ("ewm_mean(x, alpha => 1.5)", WINDOWS, "ewm_mean takes an alpha above 0, at most 1, got 1.5"),
        ("ewm_mean(x, span => NULL)", WINDOWS, "ewm_mean takes a constant that is not null as span"),
        ("ewm_mean(x, span => interval '1 hour')", WINDOWS, "ewm_mean takes a number as span, got duration"),
        ("cum_prod(k)", WINDOWS, "cum_prod takes numbers, got string"),
        ("rank(x)", WINDOWS, "rank takes a constant or a $parameter as method"),
        ("session_id(NULL)", WINDOWS, "session_id takes a constant that is not null as gap"),
        ("to_base(1, NULL)", SCALARS, "to_base takes a constant that is not null as base"),
        ("lpad(k, 99999999999)", SCALARS, "lpad takes a length from 0 to 1,000,000, got 99,999,999,999"),
    ],
)
def test_what_would_fail_at_the_run_is_refused_before(sql, kinds, message):
    parameters = {"none": Literal(None, INT64), "text": Parameter("text", STRING)}
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"x": FLOAT64, "k": STRING}, parameters, kinds)
    assert error.value.message == message


def test_an_aggregate_in_a_filter_names_no_window_function():
    with pytest.raises(InvalidExpression) as error:
        typed("sum(i64) > 1", COLUMNS)
    assert error.value.hint == "Use it directly in an aggregate step."
