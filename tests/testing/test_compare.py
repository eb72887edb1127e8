"""Tables compared by the contract."""

import pyarrow as pa
import pytest

from gpuetl import RunFailed, col
from gpuetl.testing import Tolerance, assert_same, assert_tables_equal
from tables import INF, NAN, table

ALL_TYPES = {
    "a": "bool", "b": "int64", "c": "uint64", "d": "float32", "e": "float64", "f": "string", "g": "date",
    "h": "timestamp",
    "i": "timestamp[Europe/Zurich]", "j": "duration", "k": "decimal(38,2)", "l": "null",
}  # fmt: skip


def floats(*values):
    return table({"x": "float64"}, *((value,) for value in values))


LISTS = {"x": "list<float64>", "k": "int64"}
LIST_ROWS = [([1.0, None], 1), (None, 2), ([], 3), ([NAN, 0.0], 4), ([2.0], 5)]


def test_lists_are_equal_element_by_element_in_any_order_of_rows():
    close = [([1.0 + 1e-13, None], 1), (None, 2), ([], 3), ([NAN, -0.0], 4), ([2.0], 5)]
    assert_tables_equal(table(LISTS, *reversed(close)), table(LISTS, *LIST_ROWS))
    assert_tables_equal(table(LISTS, *close), table(LISTS, *LIST_ROWS), ordered=True)
    assert_tables_equal(table(LISTS), table(LISTS))
    assert_tables_equal(
        table({"x": "list<string>"}, (["b"],), (["a", "c"],), (None,)),
        table({"x": "list<string>"}, (None,), (["a", "c"],), (["b"],)),
    )


@pytest.mark.parametrize(
    ("row", "other"), [(0, [1.0]), (0, [1.0, 0.0]), (1, []), (2, None), (2, [None]), (3, [0.0, NAN]), (4, [2.1])]
)
def test_other_lists_differ(row, other):
    rows = [*LIST_ROWS[:row], (other, row + 1), *LIST_ROWS[row + 1 :]]
    with pytest.raises(AssertionError, match=f"1 of 5 rows differ\n  row {row} differs in x"):
        assert_tables_equal(table(LISTS, *rows), table(LISTS, *LIST_ROWS), ordered=True)


@pytest.mark.parametrize("ordered", [True, False])
def test_columns_of_nulls_are_equal_in_every_type(ordered):
    nulls = table(ALL_TYPES, *[(None,) * len(ALL_TYPES)] * 3)
    assert_tables_equal(nulls, nulls, ordered)
    assert_tables_equal(nulls.slice(0, 0), nulls.slice(0, 0), ordered)


def test_tables_without_columns_are_equal():
    assert_tables_equal(pa.table({}), pa.table({}))


def test_rows_in_another_order_are_equal_unless_the_order_counts():
    types = {"k": "string", "x": "float64"}
    rows = [("b", NAN), ("b", None), (None, 1.0), ("a", -0.0), ("b", -INF)]
    got, expected = table(types, *rows), table(types, *reversed(rows))
    assert_tables_equal(got, expected)
    with pytest.raises(AssertionError, match="4 of 5 rows differ"):
        assert_tables_equal(got, expected, ordered=True)


@pytest.mark.parametrize(
    ("got", "expected"),
    [(NAN, NAN), (0.0, -0.0), (INF, INF), (1.0, 1.0 + 1e-13), (1e300, 1e300 * (1 + 1e-13)), (None, None)],
)
def test_floats_are_equal_but_for_rounding(got, expected):
    assert_tables_equal(floats(got), floats(expected))


@pytest.mark.parametrize(
    ("got", "expected"),
    [(NAN, None), (None, NAN), (NAN, 0.0), (INF, -INF), (1.0, 1.0 + 1e-11), (0.0, None), (INF, 1.7e308)],
)
def test_other_floats_differ(got, expected):
    with pytest.raises(AssertionError, match="1 of 1 rows differ"):
        assert_tables_equal(floats(got), floats(expected))


def test_a_tolerance_may_be_absolute():
    assert_tables_equal(floats(0.5), floats(0.0), tolerance=Tolerance(atol=0.5))


@pytest.mark.parametrize(
    ("dtype", "got", "expected"), [("int64", 2**53, 2**53 + 1), ("string", "a", "a "), ("bool", True, None)]
)
def test_other_types_are_exact(dtype, got, expected):
    with pytest.raises(AssertionError, match="row 0 differs in x"):
        assert_tables_equal(table({"x": dtype}, (got,)), table({"x": dtype}, (expected,)))


def test_schemas_must_be_the_same():
    with pytest.raises(AssertionError, match="x: int32\nexpected\n  x: int64"):
        assert_tables_equal(table({"x": "int32"}), table({"x": "int64"}))


def test_a_difference_shows_both_rows_and_names_the_columns():
    types = {"k": "string", "x": "int64"}
    with pytest.raises(AssertionError) as caught:
        assert_tables_equal(table(types, ("a", 1), ("b", 2)), table(types, ("b", 3), ("a", 1)), what="here")
    assert str(caught.value) == (
        "here: 1 of 2 rows differ\n"
        "  row 1 differs in x\n"
        "    got      {'k': 'b', 'x': 2}\n"
        "    expected {'k': 'b', 'x': 3}"
    )


def test_another_number_of_rows_shows_the_first_ones():
    with pytest.raises(AssertionError, match=r"1 rows, expected 2\n  got      \{'x': 1.0\}"):
        assert_tables_equal(floats(1.0), floats(1.0, 2.0))


def test_an_engine_agrees_with_the_oracle_in_every_layout_and_writes_nothing(source, pipeline, tmp_path):
    rows = source(table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2), ("a", 3), (None, 4), ("b", 5)))
    sums = rows.aggregate("k", total=col("x").sum()).stage("sums")
    sums.write_parquet("out", "out.parquet")
    oracle = assert_same(pipeline, keep=["sums"])
    expected = table({"k": "string", "total": "int64"}, ("a", 4), ("b", 7), (None, 4))
    assert_tables_equal(oracle["sums"], expected)
    assert not (tmp_path / "out.parquet").exists()


def test_a_stage_whose_answer_depends_on_the_layout_is_reported(source, pipeline):
    rows = table({"k": "int64", "x": "int64"}, *((i % 4, i) for i in range(8)))
    source(rows).distinct("k").limit(1).stage("any")  # which row is the first is not promised
    with pytest.raises(
        AssertionError, match="stage 'any' on pandas, 2 rows a partition, as written: 1 of 1 rows differ"
    ):
        assert_same(pipeline)


def test_a_run_that_fails_is_not_an_answer(source, pipeline):
    source(table({"x": "string"}, ("a",))).cast(x="int64").stage("broken")
    with pytest.raises(RunFailed, match="stage 'broken', step 1"):
        assert_same(pipeline)
