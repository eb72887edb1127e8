"""Mistakes that a second reading found, each of which stays mended."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, RunOptions, col, expr, lit, row_number
from gpuetl.engines.pandas.columns import order


@pytest.fixture
def pipeline(tmp_path):
    return Pipeline("findings", root=tmp_path)


def source(pipeline, name="t", **columns):
    pq.write_table(pa.table(columns), pipeline.root / f"{name}.parquet", row_group_size=2)
    return pipeline.read_parquet(name, f"{name}.parquet")


def rows(table, **options):
    steps = table.stage("result")
    return steps.pipeline.run(keep=["result"], options=RunOptions(**options))["result"].to_arrow().to_pydict()


def test_names_made_on_the_way_leave_columns_of_the_user_alone(pipeline):
    t = source(pipeline, **{"k": [1, 2, 3], "n:0": [10, 20, 30], "m:argument0": [7, 8, 9]})
    got = rows(t.window(order_by="k", n=row_number() - 1, m=expr("cum_sum(k + 1)")))
    assert got == {"k": [1, 2, 3], "n:0": [10, 20, 30], "m:argument0": [7, 8, 9], "n": [0, 1, 2], "m": [2, 5, 9]}


@pytest.mark.parametrize("values", [[], [1, 2, 3]])
def test_an_aggregate_of_constants_without_keys_gives_one_row(pipeline, values):
    t = source(pipeline, x=pa.array(values, pa.int64()))
    assert rows(t.aggregate(n=lit(1))) == {"n": [1]}


def test_a_condition_of_a_case_sees_only_the_rows_that_reach_it(pipeline):
    t = source(pipeline, s=["x", "3", "1"])
    case = "CASE WHEN s = 'x' THEN 0 WHEN CAST(s AS int64) > 2 THEN 1 ELSE 2 END"
    assert rows(t.select(c=expr(case))) == {"c": [0, 1, 2]}


def test_constant_timestamps_are_folded_and_prune_row_groups(pipeline):
    days = [datetime.datetime(2026, 1, day) for day in range(1, 9)]
    t = source(pipeline, ts=pa.array(days, pa.timestamp("us")))
    t.filter(expr("ts >= TIMESTAMP '2026-01-09 00:00:00' - INTERVAL '2 days'")).stage("late")
    assert "1 of 4 row groups" in pipeline.explain()


def test_a_sort_with_ties_is_noted_once_in_many_partitions(pipeline):
    source(pipeline, k=[1, 1, 2, 2, 1]).sort("k").stage("s")
    notes = pipeline.run(options=RunOptions(partition_rows=2)).report.notes
    assert notes == ("stage 's', step 1: some rows tie in (k); add a column to the order that tells them apart",)


def test_rows_in_order_are_sorted_once(pipeline, monkeypatch):
    sorts = []
    argsort = order.argsort_packed
    monkeypatch.setattr(order, "argsort_packed", lambda columns: sorts.append(1) or argsort(columns))
    far = [2**62, -(2**62), 5, -7, 1]  # too wide to be packed
    t = source(pipeline, k=far, x=far, y=[1, 2, 3, 4, 5])
    for name in ("a", "b", "c"):
        t = t.window("k", ["x", "y"], **{name: row_number()})
    rows(t.sort("k", "x"))
    assert len(sorts) == 1


def test_filters_of_two_stages_are_reported_apart(pipeline):
    wide = source(pipeline, x=list(range(10)))
    some = wide.filter(col("x") > 3).stage("some")
    some.filter(col("x") > 6).stage("few")
    stages = {s.name: (s.rows_in, s.rows_out) for s in pipeline.run().report.stages}
    assert stages == {"t": (4, 4), "some": (4, 4), "few": (4, 3)}  # two of five row groups may hold x > 6


def test_rows_in_of_a_stage_are_those_of_its_beginning(pipeline):
    left, right = source(pipeline, k=[1, 2]), source(pipeline, "big", k=list(range(9)), x=list(range(9)))
    left.join(right, "k", suffix="_r").stage("joined")
    stage = next(s for s in pipeline.run().report.stages if s.name == "joined")
    assert (stage.rows_in, stage.rows_out) == (2, 2)


def test_fingerprints_know_how_a_csv_file_is_read_and_not_what_a_run_keeps(tmp_path):
    def built(delimiter):
        pipeline = Pipeline("csv", root=tmp_path)
        pipeline.read_csv("t", "t.csv", {"x": "int64"}, delimiter=delimiter).filter(col("x") > 1).stage("s")
        pipeline.table("s").write_parquet("o", "o.parquet", mode="overwrite")
        return pipeline

    assert built(",").fingerprint != built(";").fingerprint
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    assert built(",").run().report.fingerprint == built(",").fingerprint


def test_a_long_chain_of_exchanges_does_not_recurse(pipeline):
    t = source(pipeline, a=[1, 2, 3], b=[1, 1, 2], x=[1, 2, 3])
    for i in range(150):
        t = t.window(("a", "b")[i % 2], "x", n=row_number())
    assert rows(t, partition_rows=2, optimize=False)["n"]
