"""Verification: what is wrong is found, told by stage and key; what is right passes."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import Pipeline, RunFailed, col, count, expr
from gpuetl.engines.capabilities import Capabilities
from gpuetl.engines.registry import ENGINES
from tables import NAN, table
from verify import wrong_engines


@pytest.fixture(autouse=True)
def registered():
    """The wrong engines can be named while a test of this file runs."""
    before = dict(ENGINES)
    wrong_engines.register()
    yield
    ENGINES.clear()
    ENGINES.update(before)


@pytest.fixture
def stages(pipeline, source):
    """Three stages: rows filtered, counted by key, and sorted."""
    rows = source(
        table({"k": "string", "x": "float64"}, ("a", 1e16), ("b", 2.0), ("a", 1.0), ("a", -1e16), (None, NAN))
    )
    kept = rows.filter(col("x").is_not_null()).stage("kept")
    groups = kept.aggregate(by="k", n=count(), total=col("x").sum()).stage("groups")
    groups.sort("n desc", "k").stage("ordered")
    return pipeline


def differences(report):
    return {stage.name: stage.difference for stage in report.stages if not stage.same}


def test_the_same_rows_pass_in_any_layout(stages, engine, layout):
    """One partition or many, each stage is the oracle's."""
    report = stages.verify(engine=engine, options=layout)
    assert differences(report) == {}
    assert [(s.name, s.rows, s.columns, s.order) for s in report.stages] == [
        ("kept", 5, 2, ()), ("groups", 3, 3, ()), ("ordered", 3, 3, ("n", "k")),
    ]  # fmt: skip


def test_partitions_are_those_of_a_run_of_the_engine(stages, monkeypatch):
    """What an engine does with many partitions is not what it does with one."""
    monkeypatch.setitem(ENGINES, "one_more", replace(ENGINES["one_more"], capabilities=Capabilities(partition_rows=2)))
    seen = []
    stages.verify(engine="one_more", progress=lambda origin, done, of: seen.append((origin.kind, of)))
    assert {of for kind, of in seen if kind == "source"} == {1, 3}


def test_a_wrong_value_is_reported_with_its_keys(stages):
    """Stages before it pass, and those after it differ too."""
    found = differences(stages.verify(engine="one_more"))
    assert list(found) == ["groups", "ordered"]
    groups = found["groups"]
    assert (groups.what, groups.count, groups.columns) == ("values", 3, ("n",))
    assert [(row.keys, row.got, row.expected) for row in groups.rows] == [
        ({"k": "a"}, {"n": 4}, {"n": 3}), ({"k": "b"}, {"n": 2}, {"n": 1}), ({"k": None}, {"n": 2}, {"n": 1}),
    ]  # fmt: skip


def test_sums_may_differ_by_the_bound_of_their_group_and_no_more(stages):
    """1e16 + 1 − 1e16 may be off by a few ones; 2.0 alone may not be off by 3e-12."""
    groups = differences(stages.verify(engine="slightly_off"))["groups"]
    assert [(row.keys, row.expected) for row in groups.rows] == [({"k": "b"}, {"total": 2.0})]


@pytest.mark.parametrize("call", ["sum(DISTINCT x)", "mean(DISTINCT x)"])
def test_sums_of_distinct_values_have_a_bound_too(pipeline, source, call):
    rows = source(
        table({"k": "string", "x": "float64"}, *(("a", x) for x in (1e16, 1.0, -1e16, 1.0)), ("b", 2.0), ("b", 2.0))
    )
    rows.aggregate(by="k", total=expr(call)).stage("groups")
    assert pipeline.verify(engine="pandas").same
    groups = differences(pipeline.verify(engine="slightly_off"))["groups"]
    assert [(row.keys, row.expected) for row in groups.rows] == [({"k": "b"}, {"total": 2.0})]


def test_a_lost_row_is_reported(stages):
    """It is told by all that can be compared, as the stage has no keys of its own."""
    found = differences(stages.verify(engine="one_lost"))
    assert [found["kept"].what, found["kept"].count] == ["rows", 1]
    assert [(row.keys, row.got, row.expected) for row in found["kept"].rows] == [({"k": None}, None, {"rows": "+1"})]


def test_the_order_of_a_sort_counts(stages):
    """All rows are there; the stage promised their order."""
    found = differences(stages.verify(engine="backwards"))
    assert list(found) == ["ordered"]
    assert (found["ordered"].what, found["ordered"].columns) == ("order", ("n", "k"))


def test_results_are_also_computed_as_a_run_does(stages):
    """There the optimizer goes across stages: a sort whose stage is not kept gives the first rows alone."""
    stages.table("ordered").limit(2).stage("first")
    found = {s.name: (s.difference.what, s.plan) for s in stages.verify(engine="WrongLimits").stages if not s.same}
    assert found == {"first": ("rows", "results alone")}


def test_keys_of_no_type_bound_no_sums(pipeline, source):
    """All such rows are one group."""
    rows = source(table({"x": "float64"}, (1.0,), (2.0,))).with_columns(k=expr("NULL"))
    rows.aggregate(by="k", total=col("x").sum()).stage("groups")
    assert pipeline.verify(engine="pandas").same


@pytest.mark.parametrize("name", [":side", ":side_sum", ":row", "0", "side", "a.b"])
def test_columns_of_any_name_are_compared(pipeline, source, name):
    """Also of those that stand beside a stage's keys while these are counted and its sums' bounds found."""
    rows = source(table({name: "int64", "x": "float64"}, (1, 1e16), (2, 2.0), (1, 1.0), (1, -1e16), (None, 1.0)))
    rows.aggregate(by=name, total=col("x").sum()).stage("groups")
    rows.filter(col("x") > 1).select(name).stage("large")
    assert differences(pipeline.verify(engine="pandas")) == {}
    assert differences(pipeline.verify(engine="slightly_off"))["groups"].rows[0].keys == {name: 2}
    (lost,) = differences(pipeline.verify(engine="one_lost"))["large"].rows
    assert (lost.keys, lost.expected) == ({name: 2}, {"rows": "+1"})


def test_one_stage_alone_is_compared(stages):
    """The others are neither kept nor told."""
    assert [s.name for s in stages.verify(engine="one_more", stages="kept").stages] == ["kept"]
    assert stages.verify(engine="one_more", stages="kept").same


def test_a_failure_names_the_engine(stages):
    """A run that fails is no difference."""
    with pytest.raises(RunFailed, match="on failing: stage 'kept', step 1: no memory"):
        stages.verify(engine="failing")


def test_no_sink_is_written(stages):
    """A verification changes nothing."""
    stages.table("groups").write_parquet("out", "out.parquet")
    assert stages.verify(engine="pandas").same
    assert not (stages.root / "out.parquet").exists()


@pytest.fixture
def shop(tmp_path):
    """Orders with customers, and their windows: what a sample must keep together."""
    orders = pa.table(
        {"customer": [i % 50 for i in range(2000)], "day": range(2000), "item": [i % 7 for i in range(2000)]}
    )
    customers = pa.table({"id": pa.array(range(50), pa.int32()), "name": [f"c{i}" for i in range(50)]})
    items = pa.table({"item": range(7), "price": [1.5 * i for i in range(7)]})
    for name, rows in (("orders", orders), ("customers", customers), ("items", items)):
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=500)
    p = Pipeline("shop", root=tmp_path)
    tables = [p.read_parquet(name, f"{name}.parquet") for name in ("orders", "customers", "items")]
    joined = tables[0].join(tables[1], on={"customer": "id"}, validate="many_to_one").join(tables[2], "item")
    numbered = joined.window(by="customer", order_by="day", total=col("price").cum_sum()).stage("numbered")
    numbered.aggregate(by="item", n=count()).stage("per_item")
    return p


def test_a_sample_keeps_whole_groups_and_their_partners(shop):
    """Customers are in the sample with all their orders, or not at all; groups that are cut are told."""
    report = shop.verify(engine="pandas", sample=400)
    assert report.same
    numbered = report.stages[0]
    assert 0 < numbered.rows < 2000
    assert numbered.rows % 40 == 0  # each customer has 40 orders
    assert report.sample == (
        "source 'orders': about 20.0% of the values of 'customer'",
        "source 'customers': about 20.0% of the values of 'id'",
        "source 'items': whole, the key of the sample does not reach it",
        "stage 'per_item', step 1: its groups are parts of the whole ones",
    )


def test_a_sample_of_more_rows_than_there_are_is_whole(shop):
    """Nothing is left out where there is no need to."""
    assert shop.verify(engine="pandas", sample=2000).stages[0].rows == 2000


def test_sources_without_keys_are_whole_and_it_is_said(pipeline, source):
    """A hash of some other column would choose as well, and mean nothing."""
    source(table({"x": "int64"}, (1,), (2,), (3,))).filter(col("x") > 1).stage("kept")
    report = pipeline.verify(engine="pandas", sample=1)
    assert report.stages[0].rows == 2
    assert report.sample == ("source 't': whole, no column of the largest source leads to a key",)


@pytest.fixture
def file(stages):
    """The three stages as a file."""
    path = stages.root / "stages.yaml"
    stages.to_yaml(path)
    return path


def test_the_command_exits_with_0_where_all_is_the_same(file):
    """A table says so, stage by stage."""
    done = gpuetl("verify", file, "--engine", "pandas", "--sample", 1000)
    assert done.exit_code == 0, done.output
    assert "all 3 stages same" in done.stdout


def test_the_command_exits_with_3_and_shows_the_rows_that_differ(file):
    """With their keys, and both values."""
    done = gpuetl("verify", file, "--engine", "one_more")
    assert done.exit_code == 3
    assert "stage 'groups' (stage by stage): 3 rows differ in n" in done.stdout
    assert "where k = 'a':\n    one_more n = 4\n    pandas   n = 3" in done.stdout
    assert "2 of 3 stages differ" in done.stdout


def test_the_command_prints_json_for_machines(file):
    """All of the report, and nothing else."""
    done = gpuetl("verify", file, "--engine", "one_more", "--stage", "groups", "--json")
    assert done.exit_code == 3
    report = json.loads(done.stdout)
    assert (report["same"], report["oracle"], report["stages"][0]["difference"]["count"]) == (False, "pandas", 3)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["--engine", "failing"], 1, "on failing: stage 'kept'"),
        (["--stage", "grups"], 2, "Did you mean 'groups'?"),
        (["--sample", "0"], 2, "a sample takes a whole number of rows from 1, got 0"),
    ],
)
def test_the_command_tells_errors_from_differences(file, arguments, exit_code, message):
    """1 a run that failed, 2 a wrong pipeline or command."""
    done = gpuetl("verify", file, *arguments)
    assert done.exit_code == exit_code
    assert message in done.stderr
