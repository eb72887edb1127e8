"""Rows of tables in Python: what is computed, what is read for it, and that nothing is written."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import (
    ContractBroken,
    InvalidPipeline,
    Pipeline,
    RunFailed,
    RunOptions,
    col,
    count,
    expr,
    loads,
    result_cache,
)
from gpuetl.formats import csv_pieces
from gpuetl.run import result_keys, table_evaluation
from tables import table

ROWS = table(
    {"id": "int64", "kind": "string", "x": "float64"},
    (1, "a", 1.5), (2, "b", None), (3, "a", 2.5), (4, None, 0.5), (5, "b", 4.0),
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(result_keys, "SETTLED_NS", 0)  # the tests do not wait until a file is old enough
    result_cache.clear()
    yield
    result_cache.clear()


@pytest.fixture
def t(source):
    return source(ROWS)


@pytest.fixture
def reports(monkeypatch):
    """The reports of the runs that tables make."""
    found = []

    def recorded(*args):
        run = real(*args)
        found.append(run.report)
        return run

    real = table_evaluation.run_pipeline
    monkeypatch.setattr(table_evaluation, "run_pipeline", recorded)
    return found


@pytest.fixture
def long(pipeline):
    """A source of 100 row groups of 100 rows."""
    rows = pa.table({"id": range(10_000), "text": [f"text {number}" for number in range(10_000)]})
    pq.write_table(rows, pipeline.root / "long.parquet", row_group_size=100)
    return pipeline.read_parquet("long", "long.parquet")


def read_rows(report):
    return sum(stage.rows_out for stage in report.stages if stage.kind == "source")


def test_collect_returns_all_rows(t, engine):
    assert t.filter(col("x") > 1).collect(engine=engine).to_arrow().to_pylist() == [
        {"id": 1, "kind": "a", "x": 1.5}, {"id": 3, "kind": "a", "x": 2.5}, {"id": 5, "kind": "b", "x": 4.0},
    ]  # fmt: skip


@pytest.mark.parametrize("options", [None, RunOptions(partition_rows=2)], ids=["whole", "tiny"])
def test_head_returns_the_first_rows(t, engine, options):
    head = t.sort("id desc").select("id").head(2, engine=engine, options=options)
    assert head.to_arrow().to_pylist() == [{"id": 5}, {"id": 4}]
    assert t.head(0, engine=engine).to_arrow().num_rows == 0
    assert len(t.head(99, engine=engine)) == 5


def test_count_and_describe_on_every_engine(t, engine):
    assert t.filter(col("x") > 1).count(engine=engine) == 3
    described = t.describe(engine=engine).to_arrow().to_pylist()
    assert [line["column"] for line in described] == ["id", "kind", "x"]
    assert described[1] == {
        "column": "kind", "type": "string", "rows": 5, "nulls": 1, "mean": None, "std": None, "min": "a", "q25": None,
        "median": None, "q75": None, "max": "b",
    }  # fmt: skip
    x = described[2]
    assert (x["nulls"], x["mean"], x["min"], x["median"], x["max"]) == (1, 2.125, "0.5", 2.0, "4.0")


def test_head_reads_the_first_row_groups_only(long, reports):
    assert len(long.head(5)) == 5
    assert [report.stages[0].skipped_rows for report in reports] == [9_900]


def test_head_after_a_filter_reads_no_more_than_it_needs(long, reports):
    assert long.filter(col("id") % 3 == 0).select("id").head(3).to_arrow().column("id").to_pylist() == [0, 3, 6]
    assert [read_rows(report) for report in reports] == [100]


def test_head_reads_on_until_there_are_enough_rows(long, reports):
    rare = long.filter(expr("text = 'text 900' OR text = 'text 9900'"))
    assert rare.head(1).to_arrow().column("id").to_pylist() == [900]
    assert [read_rows(report) for report in reports] == [100, 800, 6400]
    assert rare.head(2).to_arrow().column("id").to_pylist() == [900, 9900]
    assert read_rows(reports[-1]) == 10_000


def test_head_of_groups_reads_all_rows(long, reports):
    assert long.aggregate(n=count()).head(1).to_arrow().to_pylist() == [{"n": 10_000}]
    assert [read_rows(report) for report in reports] == [10_000]


def test_count_reads_no_column(long, reports):
    assert long.with_columns(y=col("id") + 1).count() == 10_000
    assert reports == []
    assert long.filter(col("id") > 10).count() == 9_989
    assert [report.stages[0].moved["file to host"] < 70_000 for report in reports] == [True]  # of 170 kB


def test_schema_and_columns_read_no_rows(long, reports):
    steps = long.with_columns(half=col("id") / 2)
    assert {name: str(dtype) for name, dtype in steps.schema.items()} == {
        "id": "int64", "text": "string", "half": "double",
    }  # fmt: skip
    assert steps.columns == ["id", "text", "half"]
    assert reports == []


def test_no_sink_is_written_and_other_stages_do_not_run(t, pipeline, reports):
    t.filter(col("x") > 1).stage("big").write_parquet("out", "out.parquet")
    t.with_columns(y=expr("CAST(kind AS int64)")).stage("fails")
    assert len(pipeline.table("big").collect()) == 3
    assert not (pipeline.root / "out.parquet").exists()
    assert [(one.kind, one.name) for one in reports[0].stages] == [("source", "t"), ("stage", "big")]


def test_a_mistake_elsewhere_in_the_pipeline_is_not_reported(t):
    t.filter(expr("unknown > 1")).stage("wrong")
    assert t.count() == 5
    with pytest.raises(InvalidPipeline, match="unknown column 'unknown'"):
        t.pipeline.table("wrong").head()


def test_mistakes_name_the_line_of_the_script(t):
    with pytest.raises(InvalidPipeline, match=r"test_tables\.py.*unknown column 'z'"):
        t.filter(expr("z > 1")).head()


def test_a_failing_step_is_reported_as_in_a_run(t):
    with pytest.raises(RunFailed, match=r"step 1.*CAST"):
        t.with_columns(y=expr("CAST(kind AS int64)")).collect()


def test_parameters_are_given_to_the_call(t):
    least = t.pipeline.param("least", "float64", required=True)
    big = t.filter(col("x") > least)
    assert big.count(params={"least": 2}) == 2
    assert big.count(params={"least": 3}) == 1
    assert big.columns == ["id", "kind", "x"]
    with pytest.raises(InvalidPipeline, match="least"):
        big.head()
    assert t.count() == len(t.head()) == 5  # needs no value of it
    assert t.count(params={"least": 2}) == 5
    with pytest.raises(InvalidPipeline, match="lest"):
        t.count(params={"lest": 2})


def test_contracts_are_checked_by_collect_and_not_by_head(t):
    checked = t.expect(not_null="x").stage("checked")
    assert len(checked.head(5)) == 5
    assert checked.count() == 5
    with pytest.raises(ContractBroken, match="not_null"):
        checked.collect()


def test_a_contract_is_checked_although_its_rows_are_kept(t):
    assert len(t.filter(col("id") > 0).collect()) == 5
    with pytest.raises(ContractBroken, match="not_null"):
        t.filter(col("id") > 0).expect(not_null="x").collect()
    with pytest.raises(ContractBroken, match="not_null"):
        t.filter(col("id") > 0).expect(not_null="x").stage("s").filter(col("id") > 1).collect()


def test_warnings_stay_with_kept_rows(t):
    checked = t.expect(not_null="x", on_fail="warn").stage("checked")
    first, again, later = checked.collect(), checked.collect(), checked.filter(col("id") > 1).collect()
    assert [len(result.warnings) for result in (first, again, later)] == [1, 1, 1]
    assert "Warning: " in repr(again)


def test_quarantine_has_rows_of_its_own(t):
    t.expect(not_null="x", on_fail="quarantine").stage("clean")
    assert t.pipeline.table("clean").count() == 4
    assert t.pipeline.table("clean.rejected").select("id").collect().to_arrow().to_pylist() == [{"id": 2}]


def test_explain_is_of_the_table_alone(t):
    t.write_parquet("out", "out.parquet")
    text = t.filter(col("x") > 1).explain(engine="pandas")
    assert "Filter" in text
    assert "Write" not in text


def test_head_takes_a_number_of_rows(t):
    with pytest.raises(InvalidPipeline, match="head takes a whole number from 0, got '3'"):
        t.head("3")


def test_show_prints_rows_and_what_is_kept(t, capsys):
    t.select("id", "kind").show(2)
    assert capsys.readouterr().out == (
        "   id  kind\nint64  string\n    1  a\n    2  b\n(2 rows)\nKept for later cells: 31 B of 1.0 GB in 1 result.\n"
    )


def test_text_of_rows_says_what_it_leaves_out():
    columns = {f"column_{number}": ["x" * 50] for number in range(9)}
    p = Pipeline("wide")
    text = repr(p.from_frame("w", pa.table(columns)).collect())
    assert text.splitlines()[-1] == "(1 row, 6 more columns)"
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("on_fail", ["drop", "quarantine"])
def test_rules_that_drop_rows_do_so_in_every_call(t, on_fail):
    kept = t.expect(not_null="x", on_fail=on_fail)
    assert kept.select("id").collect().to_arrow().column("id").to_pylist() == [1, 3, 4, 5]
    assert kept.head(2).to_arrow().column("id").to_pylist() == [1, 3]
    assert kept.count() == 4
    assert kept.describe().to_arrow().column("rows").to_pylist() == [4, 4, 4]


def test_a_loaded_pipeline_has_tables_too(tmp_path):
    pq.write_table(ROWS, tmp_path / "t.parquet")
    text = """
gpuetl: 1
name: p
sources: {t: {parquet: t.parquet}}
stages:
  big: {from: t, steps: [{filter: x > 1}]}
  wrong: {from: t, steps: [{filter: nothing > 1}]}
sinks: {out: {from: big, csv: out.csv}}
"""
    pipeline = loads(text, tmp_path)
    assert pipeline.stages["big"].count() == 3
    with pytest.raises(InvalidPipeline, match="unknown step 'filtre'"):
        loads(text.replace("filter: x", "filtre: x"), tmp_path).table("t").head()


EVERY_TYPE = table(
    {
        "b": "bool", "i": "uint8", "f": "float32", "d": "decimal(9,2)", "s": "string", "day": "date", "t": "timestamp",
        "z": "timestamp[UTC]", "n": "timestamp_ns", "u": "duration", "y": "binary", "l": "list<int64>",
        "r": "struct<a: int64>",
    },
    (True, 7, 1.5, Decimal("1.25"), "x", date(2026, 1, 2), datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC),
     0, timedelta(seconds=3), b"x", [1, 2], {"a": 1}),
    (None,) * 13,
)  # fmt: skip


def test_describe_takes_every_type(source, engine):
    lines = {line["column"]: line for line in source(EVERY_TYPE, "e").describe(engine=engine).to_arrow().to_pylist()}
    assert {line["nulls"] for line in lines.values()} == {1}
    assert {name: line["max"] for name, line in lines.items() if line["max"] is not None} == {
        "i": "7", "f": "1.5", "d": "1.25", "s": "x", "day": "2026-01-02", "t": "2026-01-02 00:00:00",
        "z": "2026-01-02 00:00:00+00:00", "n": "1970-01-01 00:00:00", "u": "0:00:03",
    }  # fmt: skip
    assert {name for name, line in lines.items() if line["mean"] is not None} == {"i", "f", "d"}


def test_a_frame_of_the_same_columns_is_shown_whatever_its_values(pipeline):
    rows = pipeline.from_frame("e", EVERY_TYPE).collect()
    assert "2026-01-02 00:00:00+00:00" in rows._repr_html_()
    assert "(2 rows" in repr(rows)
    assert repr(pipeline.from_frame("none", EVERY_TYPE.slice(0, 0)).head()).endswith("(0 rows, 1 more column)")


CSV = "a,s\n1,x\n2,y\n3,z\n"
TYPES = {"a": "int64", "s": "string"}


def test_files_that_state_no_rows_are_counted_by_reading_them(pipeline, engine):
    (pipeline.root / "t.csv").write_text(CSV)
    (pipeline.root / "bad.csv").write_text(CSV + "four,x\n")
    t, bad = pipeline.read_csv("t", "t.csv", TYPES), pipeline.read_csv("bad", "bad.csv", TYPES)
    kept = pipeline.read_csv("kept", "bad.csv", TYPES, on_bad_row="quarantine")
    assert (t.count(engine=engine), kept.count(engine=engine), kept.rejected.count(engine=engine)) == (3, 3, 1)
    assert t.filter(col("a") > 1).head(1, engine=engine).to_arrow().to_pylist() == [{"a": 2, "s": "y"}]
    with pytest.raises(RunFailed, match="'four' is not a valid int64"):
        bad.select("a").collect(engine=engine)


def test_large_text_files_are_read_in_parts(pipeline, reports, monkeypatch):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 1_000)
    lines = [f"{number},{'x' * 10}" for number in range(1_000)]
    (pipeline.root / "t.csv").write_text("\n".join(["a,s", *lines, "bad,x"]))
    t = pipeline.read_csv("t", "t.csv", TYPES)
    assert t.filter(col("a") >= 2).head(2).to_arrow().column("a").to_pylist() == [2, 3]
    assert read_rows(reports[0]) < 200
    with pytest.raises(RunFailed, match="'bad' is not a valid int64"):
        t.select("a").collect()


def test_a_quarantine_that_a_parameter_asks_for_needs_no_reader(tmp_path, engine):
    (tmp_path / "t.csv").write_text("x\n1\nq\n2\n")
    text = """
gpuetl: 1
name: p
params:
  bad: {type: string, default: quarantine}
  broken: {type: string, default: quarantine}
sources: {t: {csv: t.csv, schema: {x: int64}, on_bad_row: $bad}}
stages:
  big: {from: t, steps: [{filter: x > 0}], expect: [{that: x > 1, name: big, on_fail: $broken}]}
"""
    pipeline = loads(text, tmp_path)
    t, big = pipeline.table("t"), pipeline.table("big")
    assert t.head(5, engine=engine).to_arrow().to_pylist() == [{"x": 1}, {"x": 2}]
    assert big.collect(engine=engine).to_arrow().to_pylist() == [{"x": 2}]
    assert (big.count(engine=engine), big.columns) == (1, ["x"])
    assert t.rejected.head(engine=engine).to_arrow().column("text").to_pylist() == ["q"]
    assert big.rejected.head(engine=engine).to_arrow().column("x").to_pylist() == [1]
    assert t.count(engine=engine, params={"bad": "null"}) == 3
    assert big.count(engine=engine, params={"broken": "warn"}) == 2
