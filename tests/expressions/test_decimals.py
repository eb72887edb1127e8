"""Decimals in expressions: their types, exact results, and the errors where 38 digits are not enough."""

import math
import operator
import random
from decimal import ROUND_HALF_EVEN, Context, Decimal

import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl import col, lit
from gpuetl.errors import EvaluationError, InvalidExpression
from gpuetl.expressions.fold import fold
from gpuetl.expressions.ir import Literal
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import parse_type, type_name

EXACT = Context(prec=200)
COLUMNS = {
    name: parse_type(dtype)
    for name, dtype in {
        "price": "decimal(10,2)", "rate": "decimal(6,4)", "big": "decimal(38,0)", "long": "decimal(38,20)", "tiny": "decimal(38,38)",
        "units": "decimal(5,0)", "i8": "int8", "i32": "int32", "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64", "b": "bool",
    }.items()
}  # fmt: skip
MOST = Decimal("9" * 38)


def decimals(dtype, *texts):
    return dtype, [None if text is None else Decimal(text) for text in texts]


@pytest.mark.parametrize(
    ("sql", "dtype"),
    [
        ("price + rate", "decimal(13,4)"), ("price - i32", "decimal(13,2)"), ("price + 1", "decimal(11,2)"), ("price + 1.125", "decimal(12,3)"),
        ("price + NULL", "decimal(11,2)"), ("NULL * price", "decimal(20,4)"), ("price + u64", "decimal(23,2)"), ("price + i8", "decimal(11,2)"),
        ("price * rate", "decimal(16,6)"), ("price * 1.1", "decimal(12,3)"), ("price * 1.10", "decimal(12,3)"), ("price * 2.0", "decimal(11,2)"),
        ("price * 1e3", "decimal(14,2)"), ("price * -0.05", "decimal(12,4)"), ("price * i64", "decimal(29,2)"), ("big + big", "decimal(38,0)"),
        ("big * big", "decimal(38,0)"), ("big + tiny", "decimal(38,38)"), ("price / 3", "float64"), ("price / rate", "float64"),
        ("price * f32", "float64"), ("price + f64", "float64"), ("price + f64 * 1.5", "float64"), ("-price", "decimal(10,2)"), ("abs(price)", "decimal(10,2)"),
        ("sign(price)", "int64"), ("round(price)", "decimal(11,2)"), ("round(price, 1)", "decimal(11,2)"), ("round(units)", "decimal(5,0)"),
        ("round(units, -1)", "decimal(6,0)"), ("round(tiny, 2)", "decimal(38,38)"), ("floor(price)", "decimal(11,2)"), ("ceil(units)", "decimal(5,0)"),
        ("trunc(price)", "decimal(10,2)"), ("price // 3", "decimal(10,0)"), ("price % rate", "decimal(12,4)"), ("i64 // rate", "decimal(23,0)"),
        ("sqrt(price)", "float64"), ("power(price, 2)", "float64"), ("atan2(price, f32)", "float64"),
        ("coalesce(price, rate)", "decimal(12,4)"), ("coalesce(price, 0)", "decimal(10,2)"), ("coalesce(price, i64)", "decimal(21,2)"),
        ("greatest(price, 1.125, i8)", "decimal(11,3)"), ("least(price, f32)", "float64"), ("nullif(price, 0)", "decimal(10,2)"),
        ("CASE WHEN b THEN price ELSE 0.5 END", "decimal(10,2)"), ("CASE WHEN b THEN price ELSE NULL END", "decimal(10,2)"),
        ("greatest(price, f64, 1e300)", "float64"), ("price > CAST('nan' AS float64)", "bool"), ("i64 * 1.5", "float64"),
    ],
)  # fmt: skip
def test_decimals_give_the_types_of_sql(sql, dtype):
    assert type_name(typed(sql, COLUMNS).dtype) == dtype


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("long * tiny", "'*' of decimal(38,20) and decimal(38,38) has more than 38 digits after the point"),
        ("coalesce(long, i64)", "coalesce cannot mix decimal(38,20) and int64"),
        ("greatest(big, 0.5)", "greatest cannot mix decimal(38,0) and decimal(1,1)"),
        ("big // tiny", "cannot divide decimal(38,0) and decimal(38,38)"),
        ("price < 1e300", "'<' takes decimals here: the number 1E+300 takes 301 decimal digits; 38 are the most"),
        ("price < 1e-39", "'<' takes decimals here: the number 1E-39 takes 39 decimal digits; 38 are the most"),
        ("price + b", "cannot add decimal(10,2) and bool"),
        ("price // f64", "'//' takes integers or decimals, got float64"),
        ("price = 'x'", "cannot compare decimal(10,2) and string"),
    ],
)
def test_what_38_digits_cannot_hold_is_refused_at_plan_time(sql, message):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, COLUMNS)
    assert error.value.message == message


def test_other_refusals_do_not_speak_of_digits():
    with pytest.raises(InvalidExpression) as error:
        typed("price = 'x'", COLUMNS)
    assert error.value.hint == ""


@pytest.mark.parametrize("sql", ["coalesce(long, i64)", "greatest(big, 0.5)", "price < 1e300", "long * tiny"])
def test_the_refusal_says_what_to_do(sql):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, COLUMNS)
    assert error.value.hint == "A decimal has 38 digits at most: CAST one of them to fewer digits, or to float64."


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("x >= 100.50", [True, False, None, False]), ("x = 100.5", [True, False, None, False]), ("x = 100.500", [True, False, None, False]),
        ("x < 100.5", [False, True, None, True]), ("x IN (100.49, 7)", [False, True, None, False]), ("x BETWEEN 100.49 AND 100.5", [True, True, None, False]),
        ("x <> -1", [True, True, None, False]), ("x = y", [True, False, None, True]), ("x > i", [True, True, None, False]), ("x = u", [False, False, None, False]),
        ("x < f", [False, True, None, False]), ("x IS DISTINCT FROM 100.5", [False, True, True, True]),
        ("greatest(x, 100.495)", ["100.500", "100.495", "100.495", "100.495"]), ("least(x, y)", ["100.5000", "100.4900", "0.0001", "-1.0000"]),
        ("coalesce(x, 7)", ["100.50", "100.49", "7.00", "-1.00"]), ("nullif(x, 100.5)", [None, "100.49", None, "-1.00"]),
        ("CASE WHEN x > 100.495 THEN x ELSE 0.125 END", ["100.500", "0.125", "0.125", "0.125"]),
    ],
)  # fmt: skip
def test_comparisons_and_choices_are_exact(sql, expected):
    frame = table(
        x=decimals("decimal(10,2)", "100.50", "100.49", None, "-1"),
        y=decimals("decimal(12,4)", "100.5", "100.4901", "0.0001", "-1"),
        i=("int64", [100, 99, 5, 2**63 - 1]), u=("uint64", [2**64 - 1, 0, 1, 1]), f=("float64", [100.5, 100.5, 1.0, math.nan]),
    )  # fmt: skip
    got = values(sql.replace("x < f", "x < f AND f = f"), frame)
    assert got == [Decimal(e) if isinstance(e, str) else e for e in expected]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("x + 0.01", ["1.26", None, "-99999999.98", "0.01"]), ("x * 1.1", ["1.375", None, "-109999999.989", "0.000"]),
        ("x * x", ["1.5625", None, "9999999998000000.0001", "0.0000"]), ("2 - x", ["0.75", None, "100000001.99", "2.00"]),
        ("-x", ["-1.25", None, "99999999.99", "0.00"]), ("abs(x)", ["1.25", None, "99999999.99", "0.00"]), ("sign(x)", [1, None, -1, 0]),
        ("round(x, 1)", ["1.20", None, "-100000000.00", "0.00"]), ("round(x)", ["1.00", None, "-100000000.00", "0.00"]),
        ("round(x, -8)", ["0.00", None, "-100000000.00", "0.00"]), ("round(x, -9)", ["0.00", None, "0.00", "0.00"]), ("round(x, -99)", ["0.00", None, "0.00", "0.00"]),
        ("round(x, 5)", ["1.25", None, "-99999999.99", "0.00"]),
        ("floor(x)", ["1.00", None, "-100000000.00", "0.00"]), ("ceil(x)", ["2.00", None, "-99999999.00", "0.00"]), ("trunc(x)", ["1.00", None, "-99999999.00", "0.00"]),
        ("x // 0.5", ["2", None, "-199999999", "0"]), ("x % 0.5", ["0.25", None, "-0.49", "0.00"]), ("x // 0", [None] * 4), ("x % 0", [None] * 4),
        ("-7 // x", ["-5", None, "0", None]), ("-7 % x", ["-0.75", None, "-7.00", None]), ("x / 2", [0.625, None, -49999999.995, 0.0]), ("x / 0", [math.inf, None, -math.inf, math.nan]),
        ("sqrt(x * x)", [1.25, None, 99999999.99, 0.0]),
    ],
)  # fmt: skip
def test_arithmetic_of_decimals(sql, expected):
    got = values(sql, table(x=decimals("decimal(10,2)", "1.25", None, "-99999999.99", "0")))
    assert list(map(str, got)) == list(map(str, expected))


@pytest.mark.parametrize(
    ("sql", "row", "shown", "result"),
    [
        ("x + x", 1, f"{MOST}, {MOST}", "decimal(38,0)"), ("-1 - x", 1, f"-1, {MOST}", "decimal(38,0)"), ("x * 2", 1, f"{MOST}, 2", "decimal(38,0)"),
        ("x * x", 1, f"{MOST}, {MOST}", "decimal(38,0)"), ("x + 0.5", 1, f"{MOST}, 0.5", "decimal(38,1)"), ("round(x, -1)", 1, f"{MOST}, -1", "decimal(38,0)"),
        ("x + y", 1, f"{MOST}, 0.00000000000000000000000000000000000001", "decimal(38,38)"),
    ],
)  # fmt: skip
def test_more_than_38_digits_are_an_error_naming_expression_row_and_values(sql, row, shown, result):
    frame = table(x=decimals("decimal(38,0)", None, MOST, "1"), y=decimals("decimal(38,38)", None, "1E-38", "0"))
    with pytest.raises(EvaluationError) as error:
        values(sql, frame)
    where = f"{sql} has no result in row {row}, for "
    assert str(error.value).startswith(where)
    found, _, reason = str(error.value).removeprefix(where).partition(": ")
    assert [Decimal(number) for number in found.split(", ")] == [Decimal(number) for number in shown.split(", ")]
    assert reason == f"overflow of {result}"


def test_sums_that_fit_38_digits_are_right_though_an_operand_does_not_fit_the_type():
    frame = table(x=decimals("decimal(38,0)", "1" + "0" * 36), y=decimals("decimal(38,2)", "-" + "9" * 35 + ".99"))
    assert values("x + y", frame) == [Decimal("9" + "0" * 35 + ".01")]


ROUNDS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
SHAPES = [((10, 2), (6, 4)), ((38, 0), (38, 0)), ((38, 10), (38, 9)), ((19, 19), (19, 19)), ((18, 6), (18, 6)), ((3, 0), (38, 38)), ((37, 2), (1, 1)), ((38, 19), (20, 0))]  # fmt: skip


def drawn(chance, digits, scale, count=300):
    """Decimals of all lengths, their extremes and nulls."""
    special = [None, *(Decimal(n).scaleb(-scale, EXACT) for n in (0, 1, -1, 10**digits - 1, 1 - 10**digits))]
    lengths = [chance.randint(1, digits) for _ in range(count)]
    return special + [Decimal(chance.randint(-(10**n) + 1, 10**n - 1)).scaleb(-scale, EXACT) for n in lengths]


def fits(number, dtype):
    return number.scaleb(dtype.scale, EXACT).copy_abs() < 10**dtype.precision


def distance(number, exact):
    return EXACT.subtract(Decimal(number), exact).copy_abs()


@pytest.mark.parametrize(("left", "right"), SHAPES)
@pytest.mark.parametrize("sign", ROUNDS)
def test_arithmetic_is_that_of_integers_or_an_error(sign, left, right):
    chance = random.Random(f"{sign}{left}{right}")
    xs, ys = drawn(chance, *left), drawn(chance, *right)
    chance.shuffle(ys)
    compute = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}[sign]
    exact = [None if None in pair else compute(*pair) for pair in zip(xs, ys, strict=True)]
    frame = table(x=(pa.decimal128(*left), xs), y=(pa.decimal128(*right), ys))
    dtype = typed(f"x {sign} y", {name: frame.schema.field(name).type for name in "xy"}).dtype
    fitting = [number is None or fits(number, dtype) for number in exact]
    assert values(f"x {sign} y", frame.filter(pa.array(fitting))) == [
        number for number, fit in zip(exact, fitting, strict=True) if fit
    ]
    if not all(fitting):
        with pytest.raises(EvaluationError, match=f"in row {fitting.index(False)}, for"):
            values(f"x {sign} y", frame)


@pytest.mark.parametrize(
    ("left", "right"), [((10, 2), (6, 4)), ((38, 0), (38, 0)), ((18, 6), (18, 6)), ((38, 38), (38, 38))]
)
def test_comparison_quotient_and_remainder_are_those_of_integers(left, right):
    chance = random.Random(f"{left}{right}")
    xs, ys = drawn(chance, *left), drawn(chance, *right)
    chance.shuffle(ys)
    frame = table(x=(pa.decimal128(*left), xs), y=(pa.decimal128(*right), ys))
    pairs = list(zip(xs, ys, strict=True))
    for sign, compare in (("=", operator.eq), ("<", operator.lt), (">=", operator.ge), ("<>", operator.ne)):
        assert values(f"x {sign} y", frame) == [None if None in pair else compare(*pair) for pair in pairs]
    divisible = [None if None in pair or not pair[1] else pair for pair in pairs]
    assert values("x // y", frame) == [pair and EXACT.divide_int(*pair) for pair in divisible]
    assert values("x % y", frame) == [pair and EXACT.remainder(*pair) for pair in divisible]


@pytest.mark.parametrize(("digits", "scale"), [(10, 2), (38, 10), (38, 38), (37, 36), (5, 0), (36, 0)])
@pytest.mark.parametrize("places", [0, 1, 2, 7, 37, 40, -1, -4, -27, -38, -60])
def test_rounding_is_half_to_even(digits, scale, places):
    xs = drawn(random.Random(digits + places), digits, scale)
    xs += [Decimal(n).scaleb(-scale, EXACT) for n in (5, 15, 25, -5, -15, -25, 50, 150, 250)]
    step = Decimal(1).scaleb(-places, EXACT)
    exact = [x if x is None or places > scale else x.quantize(step, ROUND_HALF_EVEN, EXACT) for x in xs]
    dtype = typed(f"round(x, {places})", {"x": pa.decimal128(digits, scale)}).dtype
    kept = [number is None or fits(number, dtype) for number in exact]
    frame = table(x=(pa.decimal128(digits, scale), xs)).filter(pa.array(kept))
    assert values(f"round(x, {places})", frame) == [e for e, keep in zip(exact, kept, strict=True) if keep]


@pytest.mark.parametrize(("digits", "scale"), [(15, 2), (15, 15), (17, 2), (38, 0), (38, 19), (38, 38), (1, 0)])
@pytest.mark.parametrize("float_type", ["float64", "float32"])
def test_the_nearest_float_is_taken(digits, scale, float_type):
    xs = drawn(random.Random(digits), digits, scale)
    got = values(f"CAST(x AS {float_type})", table(x=(pa.decimal128(digits, scale), xs)))
    if float_type == "float64":
        assert got == [None if x is None else float(x) for x in xs]
    for x, f in zip(xs, got, strict=True):
        if x is not None and float_type == "float32":
            neighbours = [pa.array([f], pa.float32()).view(pa.int32())[0].as_py() + step for step in (-1, 1)]
            others = [pa.array([n], pa.int32()).view(pa.float32())[0].as_py() for n in neighbours if f]
            assert all(distance(f, x) <= distance(other, x) for other in others if math.isfinite(other))


@pytest.mark.parametrize(("digits", "scale"), [(10, 2), (38, 0), (38, 19), (38, 38), (8, 7), (7, 6)])
def test_text_has_all_digits_and_no_exponent_and_is_read_back(digits, scale):
    xs = drawn(random.Random(digits), digits, scale)
    frame = table(x=(pa.decimal128(digits, scale), xs))
    assert values("CAST(x AS string)", frame) == [x if x is None else f"{x:f}" for x in xs]
    assert values(f"CAST(CAST(x AS string) AS decimal({digits},{scale}))", frame) == xs


# Constants


def test_a_constant_of_python_is_exact_and_reads_as_sql_does():
    for built, sql in (
        (lit(Decimal("1.10")), "CAST('1.10' AS decimal(3,2))"),
        (col("x") * Decimal("1.1"), "x * CAST('1.1' AS decimal(2,1))"),
        (lit(Decimal("-0.05")), "CAST('-0.05' AS decimal(2,2))"),
        (lit(Decimal("1E+3")), "CAST('1000' AS decimal(4,0))"),
        (-lit(Decimal("1.5")), "-CAST('1.5' AS decimal(2,1))"),
    ):
        assert to_sql(built.syntax) == sql
        scope = Scope({"x": parse_type("decimal(10,2)")}, {})
        assert resolve(parse_expression(sql), scope) == resolve(built.syntax, scope)


def test_a_cast_to_more_digits_than_the_text_has_stays_a_cast():
    assert to_sql(parse_expression("CAST('1.1' AS decimal(10,2))")) == "CAST('1.1' AS decimal(10,2))"
    assert value("CAST('1.1' AS decimal(10,2))") == Decimal("1.10")


@pytest.mark.parametrize("sql", ["price >= 100.5", "price * 1.1 > 5", "price IN (1, 2.25, NULL)", "coalesce(price, 0)"])
def test_constants_beside_decimals_read_in_plans_as_they_were_written(sql):
    expr = typed(sql, COLUMNS)
    assert to_sql(expr) == sql
    assert typed(to_sql(expr), COLUMNS) == expr


def test_a_parameter_keeps_its_declared_type():
    parameters = {
        "f": Literal(1.5, pa.float64()),
        "n": Literal(2, pa.int64()),
        "d": Literal(Decimal("1.5"), pa.decimal128(5, 2)),
    }
    assert type_name(typed("price * $f", COLUMNS, parameters).dtype) == "float64"
    assert type_name(typed("price * $n", COLUMNS, parameters).dtype) == "decimal(29,2)"
    assert type_name(typed("price * $d", COLUMNS, parameters).dtype) == "decimal(15,4)"
    assert typed("i8 > $n", COLUMNS, parameters).args[1] == Literal(2, pa.int8())


def test_folding_leaves_the_type_and_the_value_of_decimal_constants():
    for sql in ("price > 1 + 1", "CAST('1.5' AS decimal(2,1)) * 2", "CAST('1.5' AS decimal(2,1)) = 1.50"):
        expr = typed(sql, COLUMNS)
        assert fold(expr).dtype == expr.dtype
    assert values("x > 1 + 1", table(x=decimals("decimal(5,2)", "2.00", "2.01"))) == [False, True]
    assert value("CAST('1.5' AS decimal(2,1)) = 1.50") is True


@pytest.mark.parametrize("dtype", ["decimal(4,4)", "decimal(38,38)"])
def test_a_decimal_below_one_is_truncated_to_zero(dtype):
    frame = table(x=(dtype, [Decimal("-0.9999"), None, Decimal("0.5"), Decimal(0)]))
    assert values("trunc(x)", frame) == [0, None, 0, 0]


def test_no_rows_nulls_alone_and_chunks():
    dtype = parse_type("decimal(20,2)")
    pieces = pa.chunked_array(
        [pa.array([Decimal(1)], dtype), pa.array([], dtype), pa.array([None, Decimal(-3)], dtype)]
    )
    for sql, expected in (
        ("x * x", [1, None, 9]), ("x + 1e19", [10**19 + 1, None, 10**19 - 3]), ("x // 2", [0, None, -1]), ("round(x, -1)", [0, None, 0]),
        ("x % 2", [1, None, -1]), ("CAST(x AS float64)", [1.0, None, -3.0]), ("floor(x)", [1, None, -3]),
    ):  # fmt: skip
        assert values(sql, pa.table({"x": pieces})) == expected
        assert values(sql, table(x=("decimal(20,2)", []))) == []
        assert values(sql, table(x=("decimal(20,2)", [None, None]))) == [None, None]


@pytest.mark.parametrize(("text", "expected"), [
    ("1" + "0" * 400 + "e-400", "1.00"), ("1." + "0" * 80, "1.00"), ("123" + "0" * 100 + "e-100", "123.00"),
    ("0e99", "0.00"), ("-1.5e1", "-15.00"), ("0." + "0" * 60, "0.00"), ("1e-400", None), ("1e400", None), ("-1e9", None),
    ("1.005e0", None), ("1e", None), ("e5", None), ("1" * 50, None), ("nan", None),
])  # fmt: skip
def test_a_text_of_any_length_is_read_by_its_exact_value(text, expected):
    assert value(f"CAST(TRY_CAST('{text}' AS decimal(9,2)) AS string)") == expected
