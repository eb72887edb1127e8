"""Numbers of the text are exact, on every engine: beside decimals, integers and floats, computed or not."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import RunFailed, col, expr, lit, load
from tables import table

pytestmark = pytest.mark.single_rows

TYPES = {"p": "decimal(15,2)", "i": "int64", "f": "float64", "s": "float32", "b": "bool"}
ROWS = [
    (Decimal("0.05"), 2**53 + 1, 0.3, 2.675, True),
    (Decimal("0.07"), 2, 0.1, 0.5, False),
    (Decimal("1.19"), -1, 1.19, 2.0**24, None),
    (None, None, None, None, True),
]


@pytest.fixture
def computed(source, check):
    """Compares expressions over the rows, each `name = (SQL, type, values)`, in one run."""

    def compare(types=TYPES, rows=ROWS, **columns):
        t = source(table(types, *rows))
        expected = table(
            {name: dtype for name, (_, dtype, _) in columns.items()},
            *zip(*(values for _, _, values in columns.values()), strict=True),
        )
        made = {name: sql if not isinstance(sql, str) else expr(sql) for name, (sql, _, _) in columns.items()}
        check(t.with_columns(**made).select(*columns), expected)

    return compare


def decimals(*texts):
    return [None if text is None else Decimal(text) for text in texts]


def test_beside_a_decimal_constants_and_what_is_calculated_of_them_are_exact(computed):
    computed(
        between=("p BETWEEN 0.06 - 0.01 AND 0.06 + 0.01", "bool", [True, True, False, None]),
        listed=("p IN (0.03 + 0.02, 1 + 0.19)", "bool", [True, False, True, None]),
        first=("1 + 0.19 = p", "bool", [False, False, True, None]),
        subject=("CASE p WHEN 0.1 - 0.05 THEN 'low' WHEN 0.07 THEN 'mid' END", "string", ["low", "mid", None, None]),
        rate=("p * (1 + 0.19) = p + p * 0.19", "bool", [True, True, True, None]),
        taxed=("p * (1 + 0.19)", "decimal(18,4)", decimals("0.0595", "0.0833", "1.4161", None)),
        quarter=("p * (1 / 4)", "decimal(17,4)", decimals("0.0125", "0.0175", "0.2975", None)),
        chosen=("p * CASE WHEN b THEN 0.19 ELSE 0.07 END", "decimal(17,4)", decimals("0.0095", "0.0049", "0.0833", None)),
        filled=("coalesce(p, 0.1 + 0.05)", "decimal(15,2)", decimals("0.05", "0.07", "1.19", "0.15")),
        called=("greatest(p, round(2.675, 2) - 2.6)", "decimal(15,2)", decimals("0.08", "0.08", "1.19", "0.08")),
        python=(col("p") * (lit(1) + 0.19), "decimal(18,4)", decimals("0.0595", "0.0833", "1.4161", None)),
        typed=(col("p") + Decimal("0.1"), "decimal(16,2)", decimals("0.15", "0.17", "1.29", None)),
        long=("p < 0.05000000000000000000001", "bool", [True, False, False, None]),
    )  # fmt: skip


def test_beside_integers_constants_are_compared_exactly(computed):
    computed(
        whole=("i = 9007199254740992.0", "bool", [False, False, False, None]),
        equal=("9007199254740993.0 = i", "bool", [True, False, False, None]),
        half=("i > 1.5", "bool", [True, True, False, None]),
        near=("i < 9007199254740993.5", "bool", [True, True, True, None]),
        listed=("i IN (1.5, 2.0)", "bool", [False, True, False, None]),
        between=("i BETWEEN 0.5 + 0.5 AND 2.0", "bool", [False, True, False, None]),
        beyond=("i < 9223372036854775808", "bool", [True, True, True, None]),
        distinct=("i IS DISTINCT FROM 2.5 - 0.5", "bool", [True, False, True, True]),
        quotient=("i // 0.5", "decimal(20,0)", decimals(2**54 + 2, "4", "-2", None)),
        product=("i * 0.5", "float64", [2.0**52, 1.0, -0.5, None]),
    )


def test_beside_floats_a_constant_is_the_nearest_float(computed):
    computed(
        sum=("f = 0.1 + 0.2", "bool", [True, False, False, None]),
        less=("f < 0.1 + 0.2", "bool", [False, True, False, None]),
        both=("f + p > 0.1 + 0.05", "bool", [True, True, True, None]),
        single=("s = 2.675", "bool", [True, False, False, None]),
        listed=("s IN (2.6 + 0.075, 0.5)", "bool", [True, True, False, None]),
        chosen=("s = CASE WHEN b THEN 2.675 ELSE 0.5 END", "bool", [True, True, False, None]),
        integer=("s = 16777217", "bool", [False, False, True, None]),
        beyond=("s < 1e39 AND s > 1e-60", "bool", [True, True, True, None]),
        wide=("s = f + 2.375", "bool", [False, False, False, None]),
        product=("s * 2.5", "float64", [6.68749988079071, 1.25, 41943040.0, None]),
    )


def test_constants_alone_are_float64_of_their_exact_value(computed):
    computed(
        tenth=("0.1", "float64", [0.1] * 4), sum=("0.1 + 0.2", "float64", [0.3] * 4), tax=("1 + 0.19", "float64", [1.19] * 4),
        product=("1.1 * 1.1 * 1.1", "float64", [1.331] * 4), third=("1 / 3", "float64", [1 / 3] * 4), minus=("-(0.3 - 0.1)", "float64", [-0.2] * 4),
        rest=("0.3 % 0.1", "float64", [0.0] * 4), quotient=("0.3 // 0.1", "float64", [3.0] * 4), rounded=("round(2.675, 2)", "float64", [2.68] * 4),
        case=("CASE WHEN b THEN 0.1 ELSE 0.25 END", "float64", [0.1, 0.25, 0.25, 0.1]), whole=("2 + 3", "int64", [5] * 4),
        large=("9223372036854775807 + 0.0 = 9223372036854775807", "bool", [True] * 4),
        cast=("CAST(9007199254740993.0 AS int64)", "int64", [2**53 + 1] * 4), none=("1.5 % 0", "float64", [None] * 4),
    )  # fmt: skip


LONG = {"x": "decimal(38,2)", "y": "decimal(38,20)", "i": "int64", "u": "uint64"}
NINES = "9" * 36
LONG_ROWS = [
    (Decimal(NINES + ".99"), Decimal("1"), 1, 1),
    (Decimal("-0.01"), Decimal("-0.01"), 0, 0),
    (Decimal("1.5"), Decimal("1.50000000000000000001"), 2, 2**64 - 1),
    (Decimal("-" + NINES), Decimal("-" + "9" * 18), -(2**63), 3),
    (None, Decimal("0"), None, None),
]


def test_decimals_of_any_scales_compare_exactly(computed):
    computed(
        LONG,
        LONG_ROWS,
        equal=("x = y", "bool", [False, True, False, False, None]),
        unequal=("x <> y", "bool", [True, False, True, True, None]),
        less=("x < y", "bool", [False, False, True, True, None]),
        least=("y <= x", "bool", [True, True, False, False, None]),
        greater=("x > y", "bool", [True, False, False, False, None]),
        most=("y >= x", "bool", [False, True, True, True, None]),
        distinct=("x IS DISTINCT FROM y", "bool", [True, False, True, True, True]),
        same=("x IS NOT DISTINCT FROM y", "bool", [False, True, False, False, False]),
        unless=("nullif(x, y)", "decimal(38,2)", decimals(NINES + ".99", None, "1.5", "-" + NINES, None)),
        unless2=("nullif(y, x)", "decimal(38,20)", [Decimal("1"), None, Decimal("1.50000000000000000001"), Decimal("-" + "9" * 18), Decimal(0)]),
        listed=("y IN (x, 1, NULL)", "bool", [True, True, None, None, None]),
        many=("x IN (0.123456789, -0.01, 1.5, 4, 5, 6, 7, 8, 9, 10)", "bool", [False, True, True, False, None]),
        between=("y BETWEEN i AND x", "bool", [True, False, False, False, None]),
        unsigned=("y < u", "bool", [False, True, True, True, None]),
        subject=("CASE x WHEN y THEN 1 ELSE 2 END", "int64", [2, 1, 2, 2, 2]),
        constant=("x > 0.000000000000000000000000000000000001", "bool", [True, False, True, False, None]),
    )  # fmt: skip


def test_float32_rounds_to_the_nearest_float32_of_the_exact_decimal(computed):
    rows = [(2.675,), (0.285,), (1.0049999,), (-1234.565,), (16777216.0,), (33.335,), (None,), (0.00049999997,)]
    computed(
        {"x": "float32"},
        rows,
        two=("round(x, 2)", "float32", [2.67, 0.28, 1.0, -1234.56, 16777216.0, 33.33, None, 0.0]),
        zero=("round(x)", "float32", [3.0, 0.0, 1.0, -1235.0, 16777216.0, 33.0, None, 0.0]),
        three=("round(x, 3)", "float32", [2.675, 0.285, 1.005, -1234.565, 16777216.0, 33.335, None, 0.0]),
        ten=("round(x, -1)", "float32", [0.0, 0.0, 0.0, -1230.0, 16777220.0, 30.0, None, 0.0]),
    )


def test_float32_of_any_size_rounds_to_any_place(computed):
    xs = [1.5e-9, 2.5e-12, 1.4e-45, 1.1754944e-38, 3.4028235e38, 2.5e35, 8388607.5, -0.5, 7.5e10, 123456789e-20]
    xs = [pa.scalar(sign * x, pa.float32()).as_py() for x in xs for sign in (1, -1)]
    places = (-39, -38, -36, -11, -9, -8, 1, 8, 9, 10, 12, 20, 31, 38, 40, 44, 45, 60)
    exact = {n: [pa.scalar(f"{rounded(x, n):f}").cast(pa.float32()).as_py() for x in xs] for n in places}
    columns = {f"r{index}": (f"round(x, {n})", "float32", exact[n]) for index, n in enumerate(places)}
    computed({"x": "float32"}, [(x,) for x in xs], **columns)


def rounded(x, places):
    return Decimal(x).quantize(Decimal((0, (1,), -places)), ROUND_HALF_EVEN, Context(prec=400))


def test_float32_that_rounds_beyond_its_greatest_value_is_an_error(source, failure):
    t = source(table({"x": "float32"}, (1.0,), (3.4028235e38,)))
    assert "overflow" in failure(t.with_columns(y=expr("round(x, -35)")), RunFailed)


def test_numbers_of_many_digits_go_to_yaml_and_back(source, check, tmp_path):
    t = source(table({"x": "decimal(38,20)"}, (Decimal("1.00000000000000000001"),), (Decimal(1),)))
    steps = t.filter(expr("x > 1.000000000000000000009 AND x < 9223372036854775808.0 - -0.1234567890123456789"))
    check(steps, table({"x": "decimal(38,20)"}, (Decimal("1.00000000000000000001"),)))
    text = t.pipeline.to_yaml()
    assert "x > 1.000000000000000000009 AND x < 9223372036854775808.0 - -0.1234567890123456789" in text
    path = tmp_path / "again.yaml"
    path.write_text(text)
    assert load(path).fingerprint == t.pipeline.fingerprint


def test_a_plain_number_of_a_file_keeps_all_of_its_digits(tmp_path, engine):
    """YAML reads a float64; the text stands for what has more digits."""
    pq.write_table(pa.table({"p": pa.array([None, Decimal(1)], pa.decimal128(38, 20))}), tmp_path / "t.parquet")
    path = tmp_path / "p.yaml"
    path.write_text(
        "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\n"
        "stages: {s: {from: t, steps: [fill_null: {p: 0.12345678901234567891}]}}\n"
    )
    made = load(path).run(engine=engine)["s"].to_arrow()
    assert sorted(made["p"].to_pylist()) == [Decimal("0.12345678901234567891"), Decimal("1.00000000000000000000")]
