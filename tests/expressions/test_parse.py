"""SQL text to syntax: what is read, and how, and what is refused, where."""

import time
from datetime import date, datetime, timedelta, timezone
from unittest.mock import Mock

import pytest

from gpuetl.errors import InvalidExpression
from gpuetl.expressions import parse
from gpuetl.expressions.dialect import MAX_CHARACTERS, MAX_DEPTH, MAX_OPERATORS
from gpuetl.expressions.parse import LONGEST_KEPT, MOST_KEPT, parse_expression
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Name, ParameterName
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import parse_type

A, B, C = Name("a"), Name("b"), Name("c")


def call(function, *args, **keywords):
    return Apply(function, tuple(map(wrapped, args)), tuple((name, wrapped(value)) for name, value in keywords.items()))


def wrapped(value):
    return value if isinstance(value, Apply | Name | Constant | CastTo | ParameterName) else Constant(value)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a", A), ('"a b"', Name("a b")), ('"a""b"', Name('a"b')), ('"select"', Name("select")), ("(a)", A), ("((a))", A),
        ("$a", ParameterName("a")), ("$a_1 + a", call("add", ParameterName("a_1"), A)),
        ("a -- comment", A), ("a /* comment */ + b", call("add", A, B)), ("a\n+\n  b", call("add", A, B)),
    ],
)  # fmt: skip
def test_names_and_parameters(sql, expected):
    assert parse_expression(sql) == expected


@pytest.mark.parametrize("function", ["all", "any"])
def test_all_and_any_are_functions_wherever_they_stand(function):
    """In SQL `all` may stand before an argument and means nothing there: `coalesce(all(a), b)` was `coalesce(a, b)`."""
    inner = call(function, A)
    assert parse_expression(f"{function}(a)") == inner
    assert parse_expression(f"coalesce({function}(a), b)") == call("coalesce", inner, B)
    assert parse_expression(f"coalesce(b, {function} (a))") == call("coalesce", B, inner)
    assert parse_expression(f"NOT {function}(a) AND b") == call("and", call("not", inner), B)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("1", 1), ("-1", -1), ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-2.5e-3", -0.0025),
        ("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)),
        ("'x'", "x"), ("''", ""), ("'it''s'", "it's"), ("'a\\n'", "a\\n"), ("'日本'", "日本"),
        ("true", True), ("FALSE", False), ("null", None),
        ("DATE '2013-03-09'", date(2013, 3, 9)), ("CAST('2013-03-09' AS date)", date(2013, 3, 9)),
        ("TIMESTAMP '2013-03-09 17:05:30.25'", datetime(2013, 3, 9, 17, 5, 30, 250000)),
        ("timestamp '2013-03-09T17:05:30'", datetime(2013, 3, 9, 17, 5, 30)), ("TIMESTAMP '2013-03-09'", datetime(2013, 3, 9)),
        ("TIMESTAMPTZ '2013-03-09 17:05:30+02:00'", datetime(2013, 3, 9, 17, 5, 30, tzinfo=timezone(timedelta(hours=2)))),
        ("interval '1 hour'", timedelta(hours=1)), ("INTERVAL '30' minute", timedelta(minutes=30)),
        ("interval 90 seconds", timedelta(seconds=90)), ("interval '1 day 12 hours'", timedelta(hours=36)),
        ("interval '1.5 hours'", timedelta(minutes=90)), ("interval '-2 days'", timedelta(days=-2)),
        ("interval '1 year 2 months -3 days'", CalendarInterval(14, -3)), ("interval '1.5 years'", CalendarInterval(18)),
        ("interval '3' month", CalendarInterval(3)), ("interval '1 quarter 36 hours'", CalendarInterval(3, 0, 129_600_000_000)), ("interval '2 decades'", CalendarInterval(240)),
        ("interval '12 months -1 year'", timedelta(0)), ("interval '250 milliseconds'", timedelta(milliseconds=250)), ("interval '1 microsecond'", timedelta(microseconds=1)),
    ],
)  # fmt: skip
def test_constants(sql, expected):
    assert parse_expression(sql) == Constant(expected)


@pytest.mark.parametrize(
    ("sql", "function"),
    [
        ("a + b", "add"), ("a - b", "subtract"), ("a * b", "multiply"), ("a / b", "divide"), ("a // b", "int_divide"),
        ("a % b", "modulo"), ("a || b", "concat"), ("a = b", "equal"), ("a == b", "equal"), ("a <> b", "not_equal"),
        ("a != b", "not_equal"), ("a < b", "less"), ("a <= b", "less_equal"), ("a > b", "greater"), ("a >= b", "greater_equal"),
        ("a AND b", "and"), ("a or b", "or"), ("a LIKE b", "like"), ("a IS DISTINCT FROM b", "is_distinct"),
        ("a IS NOT DISTINCT FROM b", "is_not_distinct"), ("power(a, b)", "power"), ("POWER(a, b)", "power"),
    ],
)  # fmt: skip
def test_operators(sql, function):
    assert parse_expression(sql) == call(function, A, B)


@pytest.mark.parametrize(
    ("sql", "grouped"),
    [
        ("a + b * c", "a + (b * c)"), ("a * b + c", "(a * b) + c"), ("a - b - c", "(a - b) - c"), ("a / b / c", "(a / b) / c"),
        ("a - b + c", "(a - b) + c"), ("a // b * c", "(a // b) * c"), ("-a * b", "(-a) * b"), ("-a % b", "(-a) % b"),
        ("a = b + c", "a = (b + c)"), ("a = b AND c", "(a = b) AND c"), ("a OR b AND c", "a OR (b AND c)"),
        ("NOT a AND b", "(NOT a) AND b"), ("NOT a = b", "NOT (a = b)"), ("NOT a IN (b)", "NOT (a IN (b))"),
        ("a + b IS NULL", "(a + b) IS NULL"), ("a NOT IN (b)", "NOT (a IN (b))"), ("a NOT LIKE b", "NOT (a LIKE b)"),
        ("a NOT BETWEEN b AND c", "NOT (a BETWEEN b AND c)"), ("a BETWEEN b AND c AND a", "(a BETWEEN b AND c) AND a"),
        ("a LIKE b || c", "a LIKE (b || c)"), ("a IS NOT NULL", "NOT (a IS NULL)"), ("a BETWEEN b AND c", "a >= b AND a <= c"),
        ("CASE WHEN a THEN b END + c", "(CASE WHEN a THEN b END) + c"),
    ],
)  # fmt: skip
def test_precedence(sql, grouped):
    assert parse_expression(sql) == parse_expression(grouped)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a IS NULL", call("is_null", A)), ("a IS TRUE", call("is_not_distinct", A, True)),
        ("a IN (1, b, NULL)", call("in", A, 1, B, None)), ("NOT a", call("not", A)), ("-a", call("negate", A)),
        ("CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END", call("case", A, 1, B, 2, 3)),
        ("CASE WHEN a THEN 1 END", call("case", A, 1)),
        ("CASE a WHEN 1 THEN b ELSE c END", call("case", call("equal", A, 1), B, C)),
        ("extract(hour FROM a)", call("hour", A)), ("EXTRACT(DOW FROM a)", call("dayofweek", A)),
        ("extract(epoch FROM a)", call("epoch", A)),
        ("count(*)", call("count_rows")), ("count(DISTINCT a)", call("count_distinct", A)),
        ("sum(a) FILTER (WHERE b)", call("sum", call("case", B, A))),
        ("cum_sum(a) FILTER (WHERE b)", call("cum_sum", call("case", B, A))),
        ("first(a) FILTER (WHERE b)", call("first", A, only=B)), ("last(a, only => b) FILTER (WHERE b)", call("last", A, only=call("and", B, B))),
        ("first(a, true, b) FILTER (WHERE b)", call("first", A, True, call("and", B, B))),
        ("max_by(a, b) FILTER (WHERE b)", call("max_by", A, call("case", B, B))), ("min_by(a, y => b) FILTER (WHERE b)", call("min_by", A, y=call("case", B, B))),
        ("corr(a, b) FILTER (WHERE b)", call("corr", call("case", B, A), B)), ("quantile(x => a, q => 1) FILTER (WHERE b)", call("quantile", x=call("case", B, A), q=1)),
        ("count(*) FILTER (WHERE b)", call("count", call("case", B, 1))),
        ("count(DISTINCT a) FILTER (WHERE b)", call("count_distinct", call("case", B, A))),
        ("ewm_mean(a, half_life => 2)", call("ewm_mean", A, half_life=2)), ("lag(a, offset => 2)", call("lag", A, offset=2)),
        ("now()", call("now")), ("Frobnicate(a)", call("frobnicate", A)), ("left(a, 2)", call("left", A, 2)),
        ("replace(a, 'x', 'y')", call("replace", A, "x", "y")), ("if(a, b, c)", call("case", A, B, C)), ("IFF(a, b, c)", call("case", A, B, C)),
        ("a LIKE 'x!%' ESCAPE '!'", call("like", A, "x!%", "!")), ("a NOT LIKE 'x' ESCAPE '!'", call("not", call("like", A, "x", "!"))),
        ("a ILIKE 'x'", call("ilike", A, "x")), ("a NOT ILIKE 'x'", call("not", call("ilike", A, "x"))),
        ("a ILIKE 'x' ESCAPE '!'", call("ilike", A, "x", "!")), ("a RLIKE 'x'", call("regexp_like", A, "x")),
        ("last(a) ignore nulls", call("last", A, ignore_nulls=True)), ("lag(a, 2 IGNORE NULLS)", call("lag", A, 2, ignore_nulls=True)),
        ("rolling_last(a IGNORE NULLS, 3)", call("rolling_last", A, 3, ignore_nulls=True)), ("first(a RESPECT NULLS)", call("first", A)),
        ("last(a IGNORE NULLS) FILTER (WHERE b)", call("last", A, ignore_nulls=True, only=B)),
        ("rlike(a, 'x')", call("rlike", A, "x")), ("like(a, 'x')", call("like", A, "x")),
    ],
)  # fmt: skip
def test_special_forms_and_calls(sql, expected):
    assert parse_expression(sql) == expected


@pytest.mark.parametrize(
    ("written", "dtype"),
    [
        *((name, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")),
        *((name, name) for name in ("bool", "string", "date", "timestamp", "duration", "decimal(10,2)")),
        ("boolean", "bool"), ("tinyint", "int8"), ("smallint", "int16"), ("int", "int32"), ("integer", "int32"),
        ("bigint", "int64"), ("text", "string"), ("varchar", "string"), ("double", "float64"), ("interval", "duration"),
        ("INT8", "int8"), ("timestamptz", "timestamp[UTC]"), ('"timestamp[Europe/Berlin]"', "timestamp[Europe/Berlin]"),
    ],
)  # fmt: skip
def test_casts_take_arrow_type_names(written, dtype):
    assert parse_expression(f"CAST(a AS {written})") == CastTo(A, parse_type(dtype))
    assert parse_expression(f"TRY_CAST(a AS {written})") == CastTo(A, parse_type(dtype), lenient=True)


def test_int8_has_8_bits():
    assert parse_expression("CAST(a AS int8)").dtype.bit_width == 8


def test_try_cast_of_a_text_that_is_no_date_waits_for_its_evaluation():
    assert parse_expression("TRY_CAST('x' AS date)") == CastTo(Constant("x"), parse_type("date"), lenient=True)


@pytest.mark.parametrize(
    ("sql", "message", "marked"),
    [
        ("a > > 3", "unexpected '>'", ">"),

        ("a ^ 2", "gpuetl does not support '^'", "^"),
        ("a b", "there is no operator before 'b'", "b"),
        ("a AS b", "unexpected 'AS b'", "b"),
        ("x + a; drop table t", "unexpected ';'", ";"),
        ("a IN (SELECT 1)", "IN takes a list of values", "a IN (SELECT 1)"),
        ("1 + (SELECT max(b) FROM t)", "gpuetl does not support 'SELECT'", "SELECT"),
        ("SELECT a", "gpuetl does not support 'SELECT'", "SELECT"),
        ("1 + sum(a) OVER (PARTITION BY b)", "gpuetl does not support 'OVER'", "OVER"),
        ("1 + *", "gpuetl does not support '*'", "*"),
        ("sum(*)", "gpuetl does not support '*'", "*"),
        ("list_filter(x, e -> e > 1)", "gpuetl does not support '->' for a lambda", "e -> e"),
        ("b || a ->> 'b'", "languages differ on what is computed first here", "b || a ->> 'b'"),
        ("{k}", "unexpected '{'", "{"),
        ("a[1, 2]", "gpuetl does not support 'a[1, 2]'", "a[1, 2]"), ("a.*", "gpuetl does not support 'a.*'", "a.*"),



        ("a GLOB b", "GLOB takes a constant", "a GLOB b"),
        ("a GLOB 'x[a'", "GLOB cannot take the pattern 'x[a': a bracket is not closed", "'x[a'"),
        ("a GLOB 'x\\'", "GLOB cannot take the pattern 'x\\': it ends in an escape", "'x\\'"),
        ("a SIMILAR TO 'x' ESCAPE '!'", "gpuetl does not support 'SIMILAR TO'", "SIMILAR TO"),
        ("1 + if(a, b)", "if takes a condition and two values", "if"),
        ("a BETWEEN SYMMETRIC 2 AND 1", "gpuetl does not support 'SYMMETRIC'", "SYMMETRIC"),
        ("sum(a IGNORE NULLS)", "sum does not take IGNORE NULLS", "sum"),
        ("sum(a) RESPECT NULLS", "sum does not take RESPECT NULLS", "sum"),
        ("a COLLATE nocase", "gpuetl does not support 'COLLATE'", "COLLATE"),
        ("'x' 'y'", "there is no operator between two strings", "'x'"),
        ("abs(a) FILTER (WHERE b)", "FILTER belongs to an aggregate", "abs(a"),
        ("rank() FILTER (WHERE b)", "rank does not support FILTER: it does not skip nulls", "rank"),
        ("lag(a) FILTER (WHERE b)", "lag does not support FILTER: it does not skip nulls", "lag(a"),
        ("row_number() FILTER (WHERE b)", "row_number does not support FILTER: it does not skip nulls", "row_number"),
        ("corr(DISTINCT a, b)", "corr does not take DISTINCT", "corr"),
        ("a + date 'soon'", "'soon' is not a valid date", "'soon'"),
        ("CAST('soon' AS timestamp)", "'soon' is not a valid timestamp", "'soon'"),
        ("TIMESTAMP '2020-01-01 00:00:00+00:00'", "'2020-01-01 00:00:00+00:00' is not a valid timestamp", "'2020-01-01 00:00:00+00:00'"),
        ("TIMESTAMPTZ '2020-01-01'", "'2020-01-01' is not a valid timestamp with a zone offset", "'2020-01-01'"),
        ("TIMESTAMP '2020-01-01 00:00:00.'", "'2020-01-01 00:00:00.' is not a valid timestamp", "'2020-01-01 00:00:00.'"),
        ("a + interval '2' fortnight", "interval unit 'fortnight' is not supported", "'2'"),
        ("interval '1' day to second", "an interval has one unit", "'1'"),
        ("CAST(a AS timestamp(3))", "gpuetl has no timestamp(3): its timestamps are in microseconds", "a AS timestamp(3"),
        ("CAST(a AS decimal(50,2))", "unknown type 'decimal(50, 2)'", "a AS decimal(50,2"),
        ("extract(eon FROM a)", "extract has no part 'eon'", "a"),
        ("1e400", "1e400 is not a valid float64", "1e400"),
        ("$1 + a", "'$1' is not a parameter", "$1"),
        ("a =", "the expression ends too early", "="),
        ("a AND", "the expression ends too early", "AND"),
        ("CASE WHEN a THEN b", "the expression ends too early", "b"),
        ("a)", "this ')' closes nothing", ")"),
        ("a, b", "unexpected ','", ","),
        ("a +\n b c d", "unexpected 'd'", "d"),
        ("f(a, (b)", "this parenthesis is not closed", "("),
        ("'abc", "this quote is not closed", "'"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_language_is_refused_where_it_stands(sql, message, marked):
    with pytest.raises(InvalidExpression) as error:
        parse_expression(sql)
    assert error.value.message == message
    assert sql[error.value.span.start : error.value.span.stop] == marked


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("sum(a) OVER ()", "Write a window step: by and order_by stand there once."),
        ("(SELECT a)", "Make the query a stage, and join it: how: semi stands for IN."),
        ("a IN (SELECT 1)", "Write a join step with how: semi, or how: anti for NOT IN."),
        ("a ^ 2", "Databases differ on what it is: write a ** b for the power, or xor(a, b)."),
        ("a b", "Write an operator, or one expression for each column."),
        ("t.*", "Write an unnest step: it puts the fields of 't' in columns."),
        ("interval '1.5 months'", "Write interval '90 minutes'."),
        ("interval '1 eon'", "Units: years, quarters, months, weeks, days, hours, minutes, seconds, milliseconds, microseconds."),
        ("extract(eon FROM a)", "Parts: century, day, dayofweek, dayofyear, decade, dow, doy, epoch, era, hour, isodow, isoyear, julian, microsecond, millennium, millisecond, minute, month, quarter, second, week, year, yearweek."),
    ],
)  # fmt: skip
def test_refusals_say_what_to_write(sql, hint):
    with pytest.raises(InvalidExpression) as error:
        parse_expression(sql)
    assert error.value.hint == hint


@pytest.mark.parametrize("sql", ["", "  \n", "()", "?", ":a", "@a", "{% x %}", "0x1F", "`a`", "a := 1", "a => 1", "a ~* 'b'", "a XOR b", "substring(a FROM 2)", "trim(BOTH 'x' FROM a)", "insert into t values (1)",
                                 "a UNION SELECT b", "exists(SELECT 1)", "a = ANY (SELECT 1)", "interval '99999999999 days'"])  # fmt: skip
def test_more_that_is_refused(sql):
    with pytest.raises(InvalidExpression):
        parse_expression(sql)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "sql",
    [
        "(" * 9_990 + "a" + ")" * 9_990, "[" * 9_000, "not " * 4_000 + "a", "- " * 9_000 + "a", "a" + " is null" * 2_000,
        "case when a then " * 900 + "b" + " end" * 900, "+".join("a" * 9_990), " and ".join("a" * 3_000), "a" + "::int8" * 3_000,
        "a" * (MAX_CHARACTERS + 1), "abs(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1),
    ],
    ids=lambda sql: sql[:12],
)  # fmt: skip
def test_bombs_are_refused_at_once(sql):
    start = time.process_time()
    with pytest.raises(InvalidExpression, match=r"nest|characters|operators"):
        parse_expression(sql)
    assert time.process_time() - start < 2


def test_ten_thousand_parentheses_are_answered_with_their_place():
    with pytest.raises(InvalidExpression, match=f"parentheses nest deeper than {MAX_DEPTH}") as error:
        parse_expression("(" * 10_000)
    assert error.value.span.start == MAX_DEPTH


@pytest.mark.parametrize(
    "sql",
    [
        "abs(" * (MAX_DEPTH - 2) + "a" + ")" * (MAX_DEPTH - 2),
        " + ".join("a" * (MAX_OPERATORS - 2)),
        f"a IN ({', '.join('1' * 5_000)})",
    ],
)
def test_large_expressions_within_the_limits_are_read(sql):
    assert isinstance(parse_expression(sql), Apply)


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("a + amuont * 2", "amuont"),
        ("coalesce(a, frob(b))", "frob"),
        ("a + $missing + $a", "$missing"),
        ("$ab + $a", "$a"),
        ("x IN ('a', 3)", "3"),
    ],
)
def test_nodes_know_where_they_stand(sql, part):
    spans = {sql[span.start : span.stop] for span in spans_of(parse_expression(sql))}
    assert part in spans


def spans_of(node):
    inner = [*node.args, *(value for _, value in node.keywords)] if isinstance(node, Apply) else []
    return [span for child in inner for span in spans_of(child)] + ([node.span] if node.span else [])


def test_the_last_expressions_without_an_error_are_kept(monkeypatch):
    parse._SOUND.clear()  # other tests may have parsed some of these
    first = parse_expression("kept + 1")
    monkeypatch.setattr(parse, "parse_tree", refuse := Mock(side_effect=AssertionError))
    assert parse_expression("kept + 1") is first
    refuse.assert_not_called()
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(InvalidExpression, match="does not support"):
            parse_expression("a ^ b")
    parse_expression("a" + " " * LONGEST_KEPT)
    for number in range(MOST_KEPT):
        parse_expression(f"a + {number}")
    assert len(parse._SOUND) == MOST_KEPT
    assert "kept + 1" not in parse._SOUND
