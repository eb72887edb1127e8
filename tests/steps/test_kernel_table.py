"""kernel of kind table: rows that a user's kernel makes of rows, groups and partitions."""

import shutil
from pathlib import Path

import pytest

from gpuetl import RunFailed, expr, lit, param
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"k": "string", "x": "float64", "n": "int32"}
ROWS = [
    ("b", 1.5, 2), ("a", -0.0, 1), (None, NAN, 3), ("a", 7.0, 0), ("b", None, 2), ("a", 5.0, None), ("b", 2.0, -4),
    ("a", 9.0, 4),
]  # fmt: skip
MADE = {"place": "int32", "y": "float64"}
BINS = {"bin": "int32", "rows": "int32"}


@pytest.fixture(autouse=True)
def files(tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)


def repeated(t, **changes):
    keys = {"per": "row", "rows": "4 * input", "keep": ["k"], "block": 32}
    return t.table_kernel("tables.cu", "repeated", ["x", "n"], MADE, "tables.py:repeated", **{**keys, **changes})


def bins_of_groups(t, **changes):
    keys = {"by": "k", "rows": "bins", "args": {"bins": lit(3)}, "shared_bytes": "4 * bins", "block": 32}
    return t.table_kernel("tables.cu", "bins_of_groups", "n", BINS, "tables.py:bins_of_groups", **{**keys, **changes})


def histogram(t, **changes):
    keys = {"per": "partition", "rows": "bins", "args": {"bins": lit(3)}, "block": 32}
    return t.table_kernel("tables.cu", "histogram", "n", BINS, "tables.py:histogram", **{**keys, **changes})


def test_a_kernel_makes_rows_of_each_row_in_their_order(source, check):
    """Columns are repeated; rows with nulls make none."""
    expected = [("b", 0, 1.5), ("b", 1, 2.5), ("a", 0, 0.0), *((None, i, NAN) for i in range(3))]
    expected += [("a", i, 9.0 + i) for i in range(4)]
    check(repeated(source(table(TYPES, *ROWS))), table({"k": "string", **MADE}, *expected), ordered=True)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "rows",
    [[], [("a", 1.0, 0)], [("a", None, 1), ("b", 1.0, None)], [("a", 1.0, 4)]],
    ids=["none", "0", "nulls", "full"],
)
def test_a_kernel_per_row_of_few_rows(source, check, rows):
    expected = [(k, i, x + i) for k, x, n in rows if x is not None and n is not None for i in range(n)]
    check(repeated(source(table(TYPES, *rows))), table({"k": "string", **MADE}, *expected), ordered=True)


def test_a_kernel_may_keep_nothing(source, check):
    check(repeated(source(table(TYPES, *ROWS[:2])), keep=()), table(MADE, (0, 1.5), (1, 2.5), (0, 0.0)), ordered=True)


def test_a_kernel_makes_rows_of_each_group(source, check, pipeline):
    """A group of nulls makes none."""
    pipeline.param("bins", "int32", default=3)
    rows = [*ROWS, ("z", 1.0, None)]
    t = bins_of_groups(source(table(TYPES, *rows)), args={"bins": param("bins")})
    types = {"k": "string", **BINS}
    check(t, table(types, ("a", 0, 1), ("a", 1, 2), ("b", 2, 3), (None, 0, 1)))
    check(t, table(types, ("a", 0, 3), ("b", 0, 3), (None, 0, 1)), params={"bins": 1})


def test_a_kernel_without_keys_makes_rows_of_all_rows(source, check):
    """`per: group` without by is one group."""
    t = bins_of_groups(source(table(TYPES, *ROWS)), by=(), per="group")
    check(t, table(BINS, (0, 2), (1, 2), (2, 3)), ordered=True)
    check(bins_of_groups(source(table(TYPES), name="none"), by=(), per="group"), table(BINS))


def test_a_kernel_makes_rows_of_each_partition(source, check):
    """What partitions make is added up in a step after."""
    t = histogram(source(table(TYPES, *ROWS))).aggregate(by="bin", rows=expr("sum(rows)")).sort("bin")
    check(t, table({"bin": "int32", "rows": "int64"}, (0, 2), (1, 2), (2, 3)), ordered=True)
    empty = histogram(source(table(TYPES), name="none"))
    check(empty, table(BINS))


def test_columns_that_nobody_reads_are_left_out(source, check):
    t = repeated(source(table(TYPES, *ROWS[:2])), keep=["k", "x"]).select("y")
    check(t, table({"y": "float64"}, (1.5,), (2.5,), (0.0,)), ordered=True)


def test_a_filter_of_keys_goes_below(source, check):
    t = bins_of_groups(source(table(TYPES, *ROWS))).filter(expr("k = 'a'"))
    check(t, table({"k": "string", **BINS}, ("a", 0, 1), ("a", 1, 2)), ordered=True)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda t: repeated(t, rows="3"),
            "kernel 'repeated' makes 4 rows of a row, and rows: 3 allows 3",
        ),
        (
            lambda t: bins_of_groups(t, rows="bins - 2", by=(), per="group"),
            "kernel 'bins_of_groups' makes 3 rows of a group of 7 rows, and rows: bins - 2 allows 1",
        ),
        (lambda t: repeated(t, rows="input - 2"), "kernel 'repeated': rows 'input - 2' is -1, where input = 1"),
    ],
)
def test_more_rows_than_declared_are_an_error(source, failure, make, message):
    """Nothing is lost: the run fails."""
    assert message in failure(make(source(table(TYPES, *ROWS))), RunFailed)


def test_the_error_shows_the_row(source, failure):
    message = failure(repeated(source(table(TYPES, *ROWS)), rows=3), RunFailed)
    assert "x = 9.0, n = 4" in message


def test_a_kernel_may_forbid_nulls(source, failure):
    message = failure(repeated(source(table(TYPES, *ROWS)), nulls="forbid"), RunFailed)
    assert "kernel 'repeated' forbids nulls, and input 'x' is null" in message


@pytest.mark.parametrize("engine", ["cudf-on-cpu"])
def test_a_kernel_that_does_not_count_is_an_error(source, failure, engine):
    t = source(table(TYPES, ("a", 1.0, 1), ("a", -1.0, 1)))
    t = t.table_kernel("tables.cu", "silent", "x", {"y": "float64"}, "tables.py:silent", per="row", rows=1)
    assert "kernel 'silent' did not set counts for a row" in failure(t, RunFailed)


@pytest.mark.parametrize(
    ("twin", "message"),
    [
        ("without_counts", "without_counts returned ['y']; declared are ['counts', 'y']"),
        ("too_few_counts", "'counts' is int64 of shape (1,), and must have (2,) whole numbers"),
    ],
)
def test_a_twin_says_how_many_rows_each_makes(source, pipeline, twin, message):
    t = source(table(TYPES, ("a", 1.0, 1), ("a", -1.0, 1)))
    t = t.table_kernel("tables.cu", "silent", "x", {"y": "float64"}, f"tables.py:{twin}", per="row", rows=1)
    with pytest.raises(RunFailed) as failed:
        t.to_arrow(engine="pandas")
    assert message in str(failed.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"per": ""}, "a table kernel says what it makes rows of"),
        ({"by": "k"}, "a table kernel per row has no by and order_by"),
        ({"per": "partition"}, "a table kernel per partition has no keep"),
        ({"per": "group", "keep": ["k"]}, "a table kernel per group has no keep"),
        ({"nulls": "masks"}, "a table kernel has no masks"),
        ({"rows": "4 * rows"}, "rows '4 * rows' has an unknown name 'rows'.  It can use input"),
        ({"rows": "4 *"}, "rows '4 *' is not a size"),
        ({"rows": "0 - 4"}, "rows '0 - 4' is -4"),
        ({"keep": ["kk"]}, "unknown column 'kk'"),
        (
            {"inputs": ["x"]},
            "kernel 'repeated' has 7 parameters, the step gives 6: input 'x', output 'place', output 'y', starts",
        ),
    ],
)
def test_keys_that_do_not_fit_each_other_are_problems(source, problem, changes, message):
    keys = {"per": "row", "rows": "4 * input", "keep": ["k"], "inputs": ["x", "n"], **changes}
    inputs = keys.pop("inputs")
    t = source(table(TYPES, *ROWS)).table_kernel("tables.cu", "repeated", inputs, MADE, "tables.py:repeated", **keys)
    assert message in problem(t)


def test_an_output_is_no_key_and_no_column_that_is_kept(source, problem):
    t = source(table({**TYPES, "place": "int32"}))
    assert "output 'place' is kept too" in problem(repeated(t, keep=["place"]))


def test_only_table_kernels_have_their_keys(source, problem):
    t = source(table(TYPES, *ROWS))
    steps = t.table_kernel("", "", "x", {"y": "float64"}, "tables.py:silent", rows="")
    assert "the key 'cuda' is missing" in problem(steps)


def test_a_plan_says_what_is_made(source, pipeline):
    repeated(source(table(TYPES, *ROWS))).stage("s")
    text = pipeline.explain()
    assert "KernelTable repeated(x, n) gives place: int32, y: float64, at most 4 * input rows per row, keeps k" in text
