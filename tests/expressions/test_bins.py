"""cut: values in bins between breaks, which are constants."""

from datetime import date
from decimal import Decimal

import pytest

from expressions.evaluation import typed
from gpuetl import InvalidExpression, col, expr
from gpuetl.types.data_types import parse_type
from tables import INF, NAN, table, write_source

N = None
TYPES = {"x": "float64", "n": "int8", "m": "decimal(5,2)", "d": "date", "s": "string"}
ROWS = [
    (-INF, -1, Decimal("0.10"), date(2026, 1, 1), "a"), (0.0, 0, Decimal("0.30"), date(2026, 2, 1), "b"),
    (0.5, 10, Decimal("0.31"), date(2026, 2, 2), "m"), (10.0, 11, N, N, N), (NAN, N, Decimal("99.00"), date(1, 1, 1), "é"),
]  # fmt: skip
CALLS = {
    "a": ("cut(x, [0, 10], ['low', 'mid', 'high'])", "string", ["low", "low", "mid", "mid", "high"]),
    "b": ("cut(x, [0, 10], [1, 2, 3], left_closed => true)", "int64", [1, 2, 2, 3, 3]),
    "c": ("cut(n, [0, 10.5])", "string", ["(-inf, 0]", "(-inf, 0]", "(0, 10.5]", "(10.5, inf]", N]),
    "d": ("cut(m, [0.1, 0.3], left_closed => true)", "string", ["[0.1, 0.3)", "[0.3, inf)", "[0.3, inf)", N, "[0.3, inf)"]),
    "e": ("cut(d, [DATE '2026-02-01'], ['until', 'after'])", "string", ["until", "until", "after", N, "until"]),
    "f": ("cut(s, ['b', 'm'])", "string", ["(-inf, b]", "(-inf, b]", "(b, m]", N, "(m, inf]"]),
}  # fmt: skip


def test_values_get_the_label_of_their_bin(pipeline, check):
    """Decimals are compared exactly, NaN is the greatest, and null has no bin."""
    calls = {name: expr(call) for name, (call, _, _) in CALLS.items()}
    python = col("x").cut([0, 10], [1, 2, 3], left_closed=True)
    made = write_source(pipeline, "t", table(TYPES, *ROWS)).select(**calls, python=python)
    columns = {**CALLS, "python": CALLS["b"]}
    expected = zip(*(values for _, _, values in columns.values()), strict=True)
    check(made, table({name: dtype for name, (_, dtype, _) in columns.items()}, *expected))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("cut(x, [10, 0])", "breaks of cut ascend, and 0 comes after 10"),
        ("cut(x, [0, 0])", "breaks of cut ascend, and 0 comes after 0"),
        ("cut(x, [0, 10], ['a'])", "cut has 2 breaks, which make 3 bins, and 1 labels"),
        ("cut(x, [])", "cut takes a list of constants as breaks"),
        ("cut(x, 5)", "cut takes a list of constants as breaks"),
        ("cut(x, [n])", "cut takes a list of constants as breaks"),
        ("cut(x, [0], ['a', NULL])", "cut takes a list of constants as labels"),
        ("cut(x, [0], ['a', 'b'], 1)", "cut takes true or false as left_closed"),
        ("cut(x)", "cut got 1 arguments"),
        ("cut(x, [0], side => 'left')", "cut has no open argument 'side'"),
        ("cut(x, ['a'])", "cannot compare float64 and string"),
    ],
)
def test_what_makes_no_bins_is_refused(call, message):
    with pytest.raises(InvalidExpression) as caught:
        typed(call, {"x": parse_type("float64"), "n": parse_type("int8")})
    assert message in str(caught.value)
