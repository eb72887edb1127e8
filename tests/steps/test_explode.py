"""explode: a row for each element of a list; and lists that pass through the other steps."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import RunFailed, RunOptions, col, count, expr, loads, row_number
from gpuetl.engines.cudf.relational import row_operations as cudf_explode
from gpuetl.engines.pandas.relational import row_operations
from gpuetl.testing import assert_tables_equal
from tables import NAN, table, write_source

TYPES = {"k": "int64", "tags": "list<string>"}
ROWS = [(1, ["a", "b"]), (2, None), (3, []), (None, ["c", None, ""]), (5, ["a"])]
EXPLODED = {"k": "int64", "tags": "string"}
ELEMENTS = [(1, "a"), (1, "b"), (None, "c"), (None, None), (None, ""), (5, "a")]


@pytest.fixture
def t(source):
    """Five rows with lists of texts, one of them null and one empty."""
    return source(table(TYPES, *ROWS))


def test_each_element_gets_a_row_and_null_and_empty_lists_one_with_null(t, check):
    check(t.explode("tags"), table(EXPLODED, *ELEMENTS, (2, None), (3, None)))


def test_null_and_empty_lists_may_be_left_out(t, check):
    check(t.explode("tags", keep_empty=False), table(EXPLODED, *ELEMENTS))


def test_elements_keep_their_order_in_the_place_of_their_row(t, pipeline):
    t.explode("tags").stage("s")
    rows = pipeline.run(engine="pandas")["s"].to_arrow()
    expected = table(
        EXPLODED, (1, "a"), (1, "b"), (2, None), (3, None), (None, "c"), (None, None), (None, ""), (5, "a")
    )
    assert_tables_equal(rows, expected, ordered=True)


def test_the_index_is_the_place_in_the_list_from_0(t, check):
    types = {**EXPLODED, "i": "int64"}
    indexed = [(1, "a", 0), (1, "b", 1), (None, "c", 0), (None, None, 1), (None, "", 2), (5, "a", 0)]
    check(t.explode("tags", index="i"), table(types, *indexed, (2, None, None), (3, None, None)))
    check(t.explode("tags", index="i", keep_empty=False), table(types, *indexed))
    check(
        t.explode("tags", index="i").select("k", "i"),
        table({"k": "int64", "i": "int64"}, *((k, i) for k, _, i in indexed), (2, None), (3, None)),
    )


@pytest.mark.parametrize("rows", [[], [(1, None), (2, [])], [(1, []), (2, []), (3, [])]])
def test_lists_without_elements(source, check, rows):
    t = source(table({"k": "int64", "x": "list<int64>"}, *rows))
    check(t.explode("x"), table({"k": "int64", "x": "int64"}, *((k, None) for k, _ in rows)))
    check(t.explode("x", keep_empty=False, index="i"), table({"k": "int64", "x": "int64", "i": "int64"}))


def test_the_list_may_be_the_only_column(t, check):
    check(
        t.select("tags").explode("tags"), table({"tags": "string"}, *((tag,) for _, tag in ELEMENTS), (None,), (None,))
    )


@pytest.mark.parametrize(
    ("dtype", "elements"),
    [
        ("int8", [-128, None]), ("uint64", [2**64 - 1]), ("float64", [NAN, None, -0.0]), ("bool", [True, False, None]),
        ("date", [date(1969, 12, 31)]), ("timestamp", [datetime(1969, 12, 31, 23, 59, 59, 999999), None]),
        ("timestamp[Europe/Zurich]", [datetime(2024, 7, 1)]), ("string", ["é", "𝄞", ""]), ("decimal(5,2)", [Decimal("-0.01")]),
    ],
)  # fmt: skip
def test_elements_of_every_type(source, check, dtype, elements):
    t = source(table({"x": f"list<{dtype}>"}, (elements,), (None,)))
    check(t.explode("x"), table({"x": dtype}, *((x,) for x in elements), (None,)))


@pytest.mark.parametrize(
    "stored",
    [
        pa.large_list(pa.int32()), pa.list_(pa.int32(), 2), pa.list_(pa.field("element", pa.int32(), nullable=False)),
    ],
)  # fmt: skip
def test_stored_lists_of_other_kinds_are_read_as_lists(pipeline, check, stored):
    rows = pa.table({"x": pa.array([[1, 2], None, [3, 4]], stored)})
    check(write_source(pipeline, "t", rows), table({"x": "list<int32>"}, ([1, 2],), (None,), ([3, 4],)))


def test_a_list_of_lists_gives_lists(source, check):
    t = source(pa.table({"x": pa.array([[[1], None, []], None, [[2, 3]]], pa.list_(pa.list_(pa.int64())))}))
    lists = [[1], None, [], None, [2, 3]]
    check(t.explode("x"), pa.table({"x": pa.array(lists, pa.list_(pa.int64()))}))
    check(t.explode("x").explode("x"), table({"x": "int64"}, (1,), (None,), (None,), (None,), (2,), (3,)))


def test_a_schema_names_lists(pipeline, check, tmp_path):
    pq.write_table(table(TYPES, *ROWS), tmp_path / "t.parquet")
    t = pipeline.read_parquet("t", "t.parquet", schema={"tags": "list<string>"})
    check(t, table({"tags": "list<string>"}, *((tags,) for _, tags in ROWS)))


@pytest.mark.part(6)
def test_lists_pass_through_other_steps(t, source, check):
    other = source(table({"k": "int64", "y": "int64"}, (1, 10), (None, 20), (5, 50), (5, 51)), "other")
    joined = {**TYPES, "y": "int64"}
    check(t.join(other, "k"), table(joined, (1, ["a", "b"], 10), (5, ["a"], 50), (5, ["a"], 51)))
    check(
        other.join(t, "k", "left").select("y", "tags"),
        table({"y": "int64", "tags": "list<string>"}, (10, ["a", "b"]), (20, None), (50, ["a"]), (51, ["a"])),
    )
    check(t.filter(col("k") > 1), table(TYPES, ROWS[1], ROWS[2], ROWS[4]))
    check(t.filter(expr("tags IS NULL")), table(TYPES, ROWS[1]))
    check(t.sort("k desc").limit(2), table(TYPES, ROWS[4], ROWS[2]), ordered=True)
    check(t.union(t), table(TYPES, *ROWS, *ROWS))
    check(
        t.union(other.select("k"), missing="null"), table(TYPES, *ROWS, (1, None), (None, None), (5, None), (5, None))
    )
    check(t.distinct("k"), table(TYPES, *ROWS))
    check(
        t.window((), "k", n=row_number()).filter(col("n") == 1).select("tags"),
        table({"tags": "list<string>"}, (["a", "b"],)),
    )
    check(t.aggregate(n=count(col("tags"))), table({"n": "int64"}, (4,)))
    check(t.sample(rows=9), table(TYPES, *ROWS))


def test_an_exploded_column_is_a_key_and_a_value(t, check):
    expected = table({"tags": "string", "n": "int64"}, ("a", 2), ("b", 1), ("c", 1), ("", 1), (None, 3))
    check(t.explode("tags").aggregate("tags", n=count()), expected)
    check(t.explode("tags").filter(expr("tags = 'a' AND k > 1")), table(EXPLODED, (5, "a")))


def test_two_lists_are_exploded_one_after_the_other(source, check):
    t = source(table({"a": "list<int64>", "b": "list<int64>"}, ([1, 2], [3, 4]), ([], [5])))
    pairs = [(1, 3), (1, 4), (2, 3), (2, 4), (None, 5)]
    check(t.explode("a").explode("b"), table({"a": "int64", "b": "int64"}, *pairs))


def test_lists_are_written_and_read_back(t, pipeline, tmp_path):
    t.write_parquet("out", "out.parquet")
    pipeline.run(engine="pandas", options=RunOptions(partition_rows=2))
    again = loads("gpuetl: 1\nname: again\nsources: {o: {parquet: out.parquet}}\n", tmp_path)
    assert_tables_equal(again.run(keep="o")["o"].to_arrow(), table(TYPES, *ROWS))


def test_lists_are_filled_chosen_and_split(t, check):
    filled = t.fill_null(tags=expr("split('x,y', ',')")).filter(expr("k = 2"))
    check(filled, table(TYPES, (2, ["x", "y"])))
    chosen = t.select(x=expr("CASE WHEN k < 3 THEN split(CAST(k AS string) || ',0', ',') WHEN k = 5 THEN tags END"))
    check(chosen, table({"x": "list<string>"}, (["1", "0"],), (["2", "0"],), (None,), (None,), (["a"],)))


@pytest.mark.parametrize(
    ("sql", "function"),
    [("md5(tags) > ''", "md5"), ("upper(tags) = 'A'", "upper")],
)
def test_lists_are_not_taken_by_functions_of_values(t, problem, sql, function):
    assert f"{function} does not take lists" in problem(t.filter(expr(sql)))


@pytest.mark.parametrize("call", ["histogram(tags)", "sum(DISTINCT tags)", "any(tags)"])
def test_lists_are_not_aggregated(t, problem, call):
    assert "does not take lists\n" in problem(t.aggregate("k", x=expr(call)))


def test_lists_are_not_cast(t, problem):
    assert "cannot cast 'tags' from list<string> to string" in problem(t.cast(tags="string"))
    assert "cannot cast list<string> to string" in problem(t.select(x=expr("CAST(tags AS string)")))


def test_sinks_of_csv_and_of_partitions_by_lists_are_refused(t, pipeline, problem):
    t.write_csv("out", "out.csv")
    t.write_parquet("parts", "parts", partition_by="tags")
    text = problem(t)
    assert "sink 'out': a CSV file cannot hold lists, and 'tags' is one\nUse Parquet, or explode it." in text
    assert "sink 'parts': 'tags' is list<string>, and lists are no keys here\nExplode it in a step before." in text


def test_a_csv_source_has_no_lists(pipeline, problem):
    t = pipeline.read_csv("t", "t.csv", {"x": "list<int64>"})
    assert "source 't': a CSV file cannot hold lists, and 'x' is one\nDeclare it as a string, and split it." in problem(
        t
    )


def test_other_columns_are_not_exploded(t, problem):
    text = problem(t.explode("k"))
    assert "step 1: explode takes a list or a map, and 'k' is int64\nsplit(text, ',') makes a list of strings." in text
    assert "unknown column 'tag'" in problem(t.explode("tag"))
    assert "there is a column 'k' already" in problem(t.explode("tags", index="k"))


def test_too_many_rows_are_refused(engine, t, failure, monkeypatch):
    if engine == "dask-cuda":
        pytest.skip("the limit is lowered in this process, and its workers are others")
    for module in (row_operations, cudf_explode):
        monkeypatch.setattr(module, "MAX_ROWS", 0)
    message = failure(t.explode("tags"), RunFailed)
    assert message.startswith("stage 'result', step 1: the explode would have ")
    assert "more than 0.  Read smaller partitions, or filter before" in message
