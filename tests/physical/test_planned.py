"""Plans that are kept from run to run, by value."""

from collections import OrderedDict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl.engines.capacity import Capacity
from gpuetl.formats import footers
from gpuetl.optimize import NAMES
from gpuetl.options import RunOptions
from gpuetl.report.html.page import page as report_page
from gpuetl.run import planning
from gpuetl.run.planning import planned

ENOUGH = Capacity(1 << 30)
TEXT = """
gpuetl: 1
name: test
sources:
  s: {parquet: s.parquet}
stages:
  large: {from: s, steps: [{filter: x > 1}, {aggregate: {by: k, columns: {x: sum(x)}}}]}
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Return what binds a pipeline over a small file."""
    monkeypatch.setattr(footers, "SETTLED_NS", 0)
    write(tmp_path, 2)

    def bound(text: str = TEXT):
        plan = ge.loads(text, tmp_path).plan()
        return plan.keeping(plan.last_stages())

    return bound


def write(folder, x):
    """Write the file, of two row groups."""
    pq.write_table(pa.table({"k": [1, 2], "x": [x, x]}), folder / "s.parquet", row_group_size=1)


def physical(plan, options=RunOptions(), capacity=ENOUGH, engine="pandas"):  # noqa: B008
    """Return the physical plan."""
    return planned(plan, options, engine, capacity).fit.plan


def test_a_plan_that_was_planned_is_not_planned_again(plan):
    first, again = (planned(plan(), RunOptions(), "pandas", Capacity(memory)) for memory in (1 << 30, 1 << 29))
    assert first.fit.plan is again.fit.plan
    assert (first.fit.budget, again.fit.budget) == (1 << 30, 1 << 29)
    assert first.fingerprint == again.fingerprint == plan().fingerprint
    assert tuple(first.passes) == NAMES
    assert again.passes == {}


def test_a_report_shows_the_passes_that_were_made(plan, tmp_path):
    """Of a run whose plan was kept there are none; they were shown as if they had taken no time."""
    reports = [ge.loads(TEXT, tmp_path).run(engine="pandas").report for _ in range(2)]
    assert ["Optimizer passes" in report_page(report) for report in reports] == [True, False]
    assert all(reports[0].passes.values())


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("x > 1", "x > 2"),
        ("x > 1", "x > 1.5"),
        ("sum(x)", "max(x)"),
        ("large:", "few:"),
        ("[{filter: x > 1},", "[{select: [k, x]}, {filter: x > 1},"),
    ],
)
def test_a_plan_that_differs_in_what_it_computes_or_in_its_names_is_another_one(plan, written, instead):
    assert written in TEXT
    assert physical(plan(TEXT.replace(written, instead))) is not physical(plan())


def test_a_plan_is_made_anew_where_its_file_is_written_anew(plan, tmp_path):
    before = physical(plan())
    write(tmp_path, 3)
    assert physical(plan()) is not before


@pytest.mark.parametrize(
    "other",
    [
        {"options": RunOptions(skip_passes=("push_filters",))},
        {"options": RunOptions(optimize=False)},
        {"options": RunOptions(broadcast_bytes=0)},
        {"capacity": Capacity(1)},
        {"capacity": Capacity(1 << 30, 2)},
        {"engine": "cudf"},
    ],
)
def test_a_plan_is_made_anew_for_other_options_less_memory_more_workers_or_another_engine(plan, other):
    assert physical(plan(), **other) is not physical(plan())


def test_rows_in_memory_and_files_of_text_are_planned_each_time(tmp_path):
    """They may change while they look the same."""
    (tmp_path / "s.csv").write_text("x\n1\n")
    pipeline = ge.Pipeline("test", root=tmp_path)
    pipeline.from_frame("rows", pa.table({"x": [1]})).filter(ge.expr("x > 0")).stage("in_memory")
    pipeline.read_csv("texts", "s.csv", {"x": "int64"}).filter(ge.expr("x > 0")).stage("of_text")
    for stage in ("in_memory", "of_text"):
        plan = pipeline.plan().keeping([stage])
        assert physical(plan) is not physical(plan)


def test_a_plan_over_files_just_written_or_over_many_is_planned_each_time(plan, monkeypatch):
    """A file may change again in the same moment; and footers of many take much memory."""
    with monkeypatch.context() as patched:
        patched.setattr(footers, "SETTLED_NS", 10**15)
        assert physical(plan()) is not physical(plan())
    with monkeypatch.context() as patched:
        patched.setattr("gpuetl.plan.plan.MOST_FILES", 0)
        assert physical(plan()) is not physical(plan())
    assert physical(plan()) is physical(plan())


def test_what_was_planned_last_is_kept(plan, monkeypatch):
    monkeypatch.setattr(planning, "MOST_KEPT", 1)
    monkeypatch.setattr(planning, "_PLANNED", OrderedDict())
    before = physical(plan())
    assert physical(plan()) is before
    physical(plan(TEXT.replace("x > 1", "x > 5")))
    assert physical(plan()) is not before


def test_passes_to_skip_may_be_a_list(plan):
    """Of which a key is made."""
    skipped = RunOptions(skip_passes=["push_filters"])
    assert skipped == RunOptions(skip_passes=("push_filters",))
    assert physical(plan(), skipped) is physical(plan(), skipped) is not physical(plan())


@pytest.fixture
def in_partitions(plan):
    """Return what plans the pipeline, or another one, in two partitions for so much memory."""
    window = "{window: {by: k, order_by: x, columns: {n: cum_sum(x)}}}"

    def planned_for(memory, windowed=False, rows=1):
        text = TEXT.replace("{aggregate: {by: k, columns: {x: sum(x)}}}", window) if windowed else TEXT
        return planned(plan(text), RunOptions(partition_rows=rows), "pandas", Capacity(memory)).fit

    return planned_for


def test_a_plan_in_partitions_is_kept(in_partitions):
    """A cluster's has a share for each worker; it is the same for any memory in which it fits."""
    first, again = in_partitions(1 << 30), in_partitions(1 << 40)
    assert len(first.plan.roots[0].inputs) == 1
    assert not first.uses_exchange_budget
    assert first.plan is again.plan


def test_a_plan_that_was_cut_or_weighed_for_its_memory_is_planned_each_time(in_partitions, tmp_path):
    """With more memory an exchange may be quicker than to carry rows, and partitions may be larger."""
    pq.write_table(pa.table({"k": [1, 1], "x": [2, 3]}), tmp_path / "s.parquet", row_group_size=1)
    weighed = in_partitions(1 << 30, windowed=True)
    assert weighed.uses_exchange_budget
    assert in_partitions(1 << 30, windowed=True).plan is not weighed.plan
    cut = in_partitions(1, rows=None)
    assert in_partitions(1, rows=None).plan is not cut.plan
