"""qcut: bins between quantiles of each group, which Polars and pandas make as well."""

import polars as pl
import pytest

from gpuetl import col, expr
from tables import NAN, table

N = None
ROWS = [
    (1, 1.0), (1, 2.0), (1, N), (1, 4.0), (1, 10.0), (2, 5.0), (2, 5.0), (2, 5.0), (2, NAN), (3, N), (N, 7.0),
]  # fmt: skip
CALLS = {
    "a": ("qcut(x, 2, ['low', 'high'])", "string", ["low", "low", N, "high", "high", "low", "low", "low", "high", N, "low"]),
    "b": ("qcut(x, [0.25, 0.75], [1, 2, 3], left_closed => true)", "int64", [1, 2, N, 2, 3, 3, 3, 3, 3, N, 3]),
    "c": (
        "qcut(x, 2)", "string",
        ["(-inf, 3]", "(-inf, 3]", N, "(3, inf]", "(3, inf]", *["(-inf, 5]"] * 3, "(5, inf]", N, "(-inf, 7]"],
    ),
}  # fmt: skip


@pytest.fixture
def t(source):
    return source(table({"id": "int64", "k": "int64", "x": "float64"}, *((i, *row) for i, row in enumerate(ROWS))))


def test_values_get_the_bin_between_quantiles_of_their_group(t, check):
    """A quantile beside NaN is NaN, below which no value is."""
    calls = {name: expr(CALLS[name][0]) for name in "abc"}
    made = t.window("k", **calls, python=col("x").qcut([0.25, 0.75], [1, 2, 3], left_closed=True))
    columns = {**{name: CALLS[name][1:] for name in "abc"}, "python": CALLS["b"][1:]}
    expected = zip(range(len(ROWS)), *(values for _, values in columns.values()), strict=True)
    types = {"id": "int64", **{name: dtype for name, (dtype, _) in columns.items()}}
    check(made.select(*types), table(types, *expected))


@pytest.mark.filterwarnings("ignore:`qcut` is deprecated")
def test_bins_are_those_of_polars(t, pipeline):
    """Also their texts."""
    given = t.filter(expr("NOT is_nan(coalesce(x, 0.0))")).window(
        "k", four=expr("qcut(x, 4)"), few=expr("qcut(x, [0.1, 0.5])")
    )
    given.stage("s")
    found = pl.from_arrow(pipeline.run(engine="pandas")["s"].to_arrow())
    for name, quantiles in (("four", 4), ("few", [0.1, 0.5])):
        theirs = pl.col("x").qcut(quantiles, allow_duplicates=True).over("k").cast(pl.String)
        assert found.select(theirs).to_series().to_list() == found[name].to_list()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("qcut(x, 1)", "qcut takes 2 to 100 bins, got 1"),
        ("qcut(x, 'a')", "qcut takes a number of bins, or a list of shares, as quantiles"),
        ("qcut(x, [0.5, 0.2])", "breaks of qcut ascend, and 0.2 comes after 0.5"),
        ("qcut(x, [1.5])", "qcut takes shares from 0 to 1, got 1.5"),
        ("qcut(x, 4, ['a'])", "qcut has 3 breaks, which make 4 bins, and 1 labels"),
        ("qcut(x, 2, 5)", "qcut takes a list of constants as labels"),
        ("qcut(x, 2, left_closed => 1)", "qcut takes true or false as left_closed"),
        ("qcut(x)", "qcut got 1 arguments"),
        ("qcut(x, 2, side => 'left')", "qcut has no open argument 'side'"),
        ("qcut(lower('a'), 2)", "quantile takes numbers, got string"),
    ],
)
def test_what_makes_no_bins_is_refused(t, problem, call, message):
    assert message in problem(t.window("k", y=expr(call)))


def test_it_stands_in_a_window_step(t, problem):
    assert "qcut is a window function and cannot stand here" in problem(t.with_columns(y=expr("qcut(x, 4)")))
