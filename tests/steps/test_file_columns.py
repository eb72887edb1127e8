"""Files of one source whose columns differ: an error that names file and column, or what the source says."""

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, col, expr, loads
from messages import without_place
from tables import table

A = table({"k": "string", "x": "int32"}, ("a", 1), ("b", 2), ("c", 3))
B = table({"x": "int64", "y": "decimal(5,2)", "l": "list<int64>"}, (4, None, [1, 2]), (2**40, 7, []))
BOTH = table(
    {"k": "string", "x": "int64", "y": "decimal(5,2)", "l": "list<int64>"},
    ("a", 1, None, None), ("b", 2, None, None), ("c", 3, None, None), (None, 4, None, [1, 2]), (None, 2**40, 7, []),
)  # fmt: skip
CSV = {"a.csv": "k,x\na,1\nb,2\n", "b.csv": "x,more,k\n3,m,c\n", "c.csv": "x\n4\n5\n"}


@pytest.fixture
def lake(tmp_path):
    """Two Parquet files of other columns, each in row groups of 2 rows."""
    (tmp_path / "lake").mkdir()
    for name, rows in {"a": A, "b": B}.items():
        pq.write_table(rows, tmp_path / f"lake/{name}.parquet", row_group_size=2)
    return tmp_path / "lake"


@pytest.fixture
def csv_lake(tmp_path):
    (tmp_path / "lake").mkdir()
    for name, text in CSV.items():
        (tmp_path / "lake" / name).write_text(text)


def test_columns_of_all_files_are_read_where_they_are_added(lake, pipeline, check):
    t = pipeline.read_parquet("s", "lake", extra_columns="add")
    check(t, BOTH)
    check(
        t.select("l", "k").filter(expr("list_length(l) = 2")),
        table({"l": "list<int64>", "k": "string"}, ([1, 2], None)),
    )
    check(t.filter(expr("y IS NULL AND x > 2")).select("x"), table({"x": "int64"}, (3,), (4,)))


def test_what_a_file_lacks_is_null_where_the_source_says_so(lake, pipeline, check):
    schema = {"k": "string", "y": "decimal(5,2)"}
    t = pipeline.read_parquet("s", "lake", schema=schema, missing_columns=None)
    check(t, BOTH.select(["k", "y"]))
    check(t.select("y").filter(col("y") == 7), table({"y": "decimal(5,2)"}, (7,)))


def test_statistics_leave_out_files_that_lack_the_column(lake, pipeline, local_engine):
    """All rows are null there."""
    t = pipeline.read_parquet("s", "lake", extra_columns="add")
    for predicate, rows in {"y = 7": 2, "y IS NOT NULL": 2, "k = 'a'": 2, "y IS NULL": 5}.items():
        name = t.filter(expr(predicate)).named()
        run = pipeline.run(engine=local_engine, keep=[name])
        assert run.report.stages[0].rows_in == rows, predicate
        assert run[name].to_arrow().num_rows == {"y IS NULL": 4}.get(predicate, 1)


def test_partition_columns_stand_beside_columns_that_are_added(tmp_path, pipeline, check):
    for day, rows in {1: {"x": [1]}, 2: {"x": [2], "y": ["b"]}}.items():
        (tmp_path / f"lake/day={day}").mkdir(parents=True)
        pq.write_table(pa.table(rows), tmp_path / f"lake/day={day}/f.parquet")
    t = pipeline.read_parquet("s", "lake", partitions={"day": "int32"}, extra_columns="add")
    check(t, table({"x": "int64", "y": "string", "day": "int32"}, (1, None, 1), (2, "b", 2)))


def test_files_are_alike_but_for_a_column_that_is_left_out(lake, pipeline, check):
    pq.write_table(A.append_column("y", pa.array([1.5] * 3)), lake / "b.parquet")
    check(pipeline.read_parquet("s", "lake", extra_columns="ignore"), pa.concat_tables([A, A]))
    check(pipeline.read_parquet("named", "lake", columns=["k", "x"]), pa.concat_tables([A, A]))


def test_a_column_that_only_a_later_file_has_is_reported(lake, pipeline, engine):
    pq.write_table(A.append_column("y", pa.array([1.5] * 3)), lake / "b.parquet")
    pipeline.read_parquet("s", "lake").select("k").stage("only_k")
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine=engine)
    assert without_place(str(caught.value)) == (
        f"source 's': {lake}/b.parquet has column 'y', and {lake}/a.parquet does not\n"
        "Set extra_columns: add to read it, with null for files that lack it, or extra_columns: ignore."
    )


def test_a_column_that_a_later_file_lacks_is_reported(lake, pipeline):
    pipeline.read_parquet("s", "lake", extra_columns="ignore", schema={"k": "string"})
    message = f"{lake}/b.parquet has no column 'k', and the source's schema does\nColumns: l, x, y.  Set missing_columns: null"
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine="pandas", keep=["s"])
    assert message in without_place(str(caught.value))


@pytest.mark.parametrize(
    ("first", "second"), [("string", "int64"), ("timestamp", "timestamp[UTC]"), ("decimal(5,2)", "float64")]
)
def test_types_that_do_not_widen_are_reported_with_both_files(tmp_path, pipeline, first, second):
    for name, dtype in {"a": first, "b": second}.items():
        pq.write_table(table({"x": dtype}, (None,)), tmp_path / f"{name}.parquet")
    pipeline.read_parquet("s", "*.parquet", extra_columns="add")
    message = f"column 'x' is {first} in {tmp_path}/a.parquet, and {second} in {tmp_path}/b.parquet\nNo type holds both"
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.plan()
    assert message in without_place(str(caught.value))


def test_a_date_and_a_timestamp_meet_whatever_statistics_say(tmp_path, pipeline, check):
    from datetime import date, datetime

    pq.write_table(table({"t": "date"}, (date(2024, 1, 2),)), tmp_path / "a.parquet")
    pq.write_table(table({"t": "timestamp"}, (datetime(2024, 1, 1, 12),)), tmp_path / "b.parquet")
    t = pipeline.read_parquet("s", "*.parquet", extra_columns="add")
    expected = table({"t": "timestamp"}, (datetime(2024, 1, 1, 12),), (datetime(2024, 1, 2),))
    check(t.sort("t"), expected, ordered=True)


def test_csv_columns_that_a_header_lacks_are_null(csv_lake, pipeline, check):
    t = pipeline.read_csv("s", "lake", {"k": "string", "x": "int64"}, missing_columns="null")
    rows = [("a", 1), ("b", 2), ("c", 3), (None, 4), (None, 5)]
    check(t, table({"k": "string", "x": "int64"}, *rows))
    check(t.select("k"), table({"k": "string"}, *((k,) for k, _ in rows)))


def test_csv_columns_that_the_schema_does_not_name_are_added_as_strings(csv_lake, pipeline, check):
    t = pipeline.read_csv("s", "lake", {"x": "int64"}, extra_columns="add")
    rows = [(1, "a", None), (2, "b", None), (3, "c", "m"), (4, None, None), (5, None, None)]
    check(t, table({"x": "int64", "k": "string", "more": "string"}, *rows))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "lake/c.csv: there is no column 'k'.  Columns: x.\nSet missing_columns: null to read null there."),
        (
            {"extra_columns": "error"},
            "lake/b.csv has column 'more', and the source's schema does not\nSet extra_columns",
        ),
    ],
)
def test_csv_headers_are_compared_before_a_row_is_read(csv_lake, pipeline, keys, message):
    (pipeline.root / "lake/a.csv").write_text("k,x\nno row\n")
    pipeline.read_csv("s", "lake", {"k": "string", "x": "int64"}, **keys)
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine="pandas", keep=["s"])
    assert message in without_place(str(caught.value))


def test_the_keys_are_the_same_in_yaml(lake, pipeline):
    pipeline.read_parquet("s", "lake", extra_columns="add").limit(1).stage("one")
    pipeline.read_parquet("n", "lake", missing_columns=None, schema={"k": "string"}).limit(1).stage("two")
    again = loads(pipeline.to_yaml(), root=pipeline.root)
    assert again.spec == pipeline.spec
    assert again.fingerprint == pipeline.fingerprint
    with pytest.raises(InvalidPipeline, match="extra_columns: takes one of error, ignore, add, got 'keep'"):
        Pipeline("p").read_parquet("s", "lake", extra_columns="keep")


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_columns_that_later_files_add_to_a_schema_are_a_warning(pipeline, tmp_path, engine, form):
    for name, rows in {"a": {"x": [1]}, "b": {"x": [2], "fee": [3]}}.items():
        write = pq.write_table if form == "parquet" else pacsv.write_csv
        write(pa.table(rows), tmp_path / f"{name}.{form}")
    read = pipeline.read_csv if form == "csv" else pipeline.read_parquet
    read("s", f"*.{form}", schema={"x": "int64"}).stage("r")
    read("quiet", f"*.{form}", schema={"x": "int64"}, extra_columns="ignore").stage("q")
    (warning,) = pipeline.run(engine=engine).report.warnings
    assert warning.startswith("source 's': ")
    assert "b." in warning
    assert "they are not read: 'fee'" in warning


@pytest.mark.parametrize("header", ["x;y", "X,y"])
def test_a_column_that_is_there_under_another_name_is_not_read_as_null(pipeline, tmp_path, header):
    (tmp_path / "t.csv").write_text(f"{header}\n1,2\n")
    pipeline.read_csv("s", "t.csv", schema={"x": "int64"}).stage("r")
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine="pandas")
    assert "there is no column 'x'" in str(caught.value)
    assert "missing_columns" not in str(caught.value)
