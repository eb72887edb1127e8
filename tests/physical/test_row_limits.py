"""Plans with too many rows are refused before they are lowered, or computed: by the rows that they have for certain."""

import pyarrow as pa
import pytest

from gpuetl import RunFailed, RunOptions, col
from gpuetl.engines.pandas.relational import row_operations
from tables import table, write_source

FOUR = table({"x": "int64"}, (1,), (2,), (3,), (4,))


def united(rows, times):
    for _ in range(times):
        rows = rows.union(rows)
    return rows


def problem_of(pipeline, how):
    with pytest.raises(RunFailed) as caught:
        how(pipeline)
    return caught.value.problem.within, caught.value.problem.message


def plan(pipeline):
    return pipeline.explain(engine="pandas", options=RunOptions(memory=1 << 30))


@pytest.mark.parametrize("how", [plan, lambda pipeline: pipeline.run(engine="pandas")], ids=["plan", "run"])
def test_forty_unions_of_rows_with_themselves_are_refused(pipeline, how):
    united(write_source(pipeline, "t", FOUR), 40).stage("s").write_parquet("o", "out")
    where = "stage 's', step 39"
    assert problem_of(pipeline, how) == (
        where, "this gives 2,199,023,255,552 rows, and a step has 1,099,511,627,776 at most",
    )  # fmt: skip
    assert not (pipeline.root / "out").exists()


def test_rows_that_must_be_in_one_partition_are_refused(pipeline):
    united(write_source(pipeline, "t", FOUR), 30).stage("s").write_parquet("o", "one.parquet")
    text = "this gives 4,294,967,296 rows in one partition, and a partition has 2,147,483,647 at most"
    assert problem_of(pipeline, plan)[1] == text


def test_partitions_of_a_folder_may_have_more_rows_together(pipeline):
    united(write_source(pipeline, "t", FOUR), 30).stage("s").write_parquet("o", "out")
    assert "~4,294,967,296 rows" in roomy_plan(pipeline)


def roomy_plan(pipeline):
    return pipeline.explain(engine="pandas", options=RunOptions(memory=64 << 30, partition_rows=1 << 28))


@pytest.mark.parametrize(("how", "refused"), [("cross", True), ("left", False), ("inner", False), ("semi", False)])
def test_only_what_is_certain_is_refused(pipeline, how, refused):
    rows = pipeline.from_frame("t", pa.table({"x": range(50_000)}))
    on = {} if how == "cross" else {"on": "x"}
    rows.join(rows, how=how, suffix="_r", **on).stage("s")
    if refused:
        assert "2,500,000,000 rows in one partition" in problem_of(pipeline, plan)[1]
    else:
        assert "Join" in plan(pipeline)


@pytest.mark.parametrize(
    "fewer",
    [lambda t: t.filter(col("x") > 2), lambda t: t.limit(2), lambda t: t.sort("x").limit(2), lambda t: t.distinct("x")],
)
def test_steps_that_may_drop_rows_bound_nothing(pipeline, fewer):
    united(fewer(write_source(pipeline, "t", FOUR)), 28).limit(3).stage("s")
    assert "Union" in plan(pipeline)


def test_a_union_puts_many_chunks_together(pipeline, monkeypatch):
    monkeypatch.setattr(row_operations, "MOST_CHUNKS", 4)
    rows = united(write_source(pipeline, "t", FOUR), 6).stage("s")
    kept = rows.pipeline.run(engine="pandas")["s"].to_arrow()
    assert kept["x"].to_pylist() == [1, 2, 3, 4] * 64
    assert kept["x"].num_chunks <= 4


def test_a_union_of_unknown_rows_is_refused_when_a_frame_cannot_hold_them(pipeline, monkeypatch):
    monkeypatch.setattr(row_operations, "MAX_ROWS", 100)
    (pipeline.root / "t.csv").write_text("x\n1\n2\n3\n4\n")
    united(pipeline.read_csv("t", "t.csv", {"x": "int64"}), 6).stage("s")
    text = "the union would have 128 rows, more than 100"
    assert problem_of(pipeline, lambda p: p.run(engine="pandas")) == ("stage 's', step 5", text)
