"""Programs that are compiled ahead on workers are those that one process lists."""

import os
import time
from dataclasses import replace
from threading import Lock
from types import SimpleNamespace

import pytest

from gpuetl import RunOptions, col, expr
from gpuetl.engines.interface import Share
from gpuetl.engines.registry import ENGINES, ClusterEngine
from gpuetl.testing import assert_tables_equal
from plans import lowered
from tables import table, write_source

pytest.importorskip("distributed")

from conftest import COMPILER, ON_CPU
from gpu_engine.host_machine import HostMachine
from gpu_engine.test_programs import listed
from gpuetl.engines.cudf.io.source_kinds import KnownScan, scan_kinds
from gpuetl.engines.cudf.runtime import packed_scan
from gpuetl.executors.dask import warm_up
from gpuetl.executors.dask.installed import forget
from gpuetl.executors.dask.warm_up import pack_plan, shares_of, unpack_plan
from gpuetl.physical.nodes import Scan
from gpuetl.plan.graph import walk_graph

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
TINY = RunOptions(partition_rows=2, broadcast_bytes=0)
PATIENCE_S = 60
KEYS = {"k": "int64", "s": "string", "x": "float64"}
ROWS = tuple((i * 1000, "abc"[i % 3], None if i == 11 else i / 2) for i in range(12))


def in_files(pipeline):
    """Files whose first rows have no null, and keys that range more widely than these, exchanged for a join."""
    t = write_source(pipeline, "t", table(KEYS, *ROWS))
    u = write_source(pipeline, "u", table({"k": "int64", "y": "int64"}, *((i * 500, i) for i in range(9))))
    t.join(u, "k").filter(col("x") > 0).stage("joined").write_parquet("out", "out", partition_by="s", mode="overwrite")
    t.window(by="s", order_by="k", total=expr("cum_sum(x)")).stage("so_far")


def in_memory(pipeline):
    """Rows that workers see nowhere."""
    t = pipeline.from_frame("t", table(KEYS, *ROWS))
    t.with_columns(y=col("x") + 1).aggregate("s", n=expr("count(*)"), x=col("y").max()).sort("s").stage(
        "counted"
    ).write_parquet("out", "out")


def in_text(pipeline):
    """A file of which nothing is known but its size, and one without rows."""
    (pipeline.root / "c.csv").write_text("k,s\n1,a\n2,b\n")
    t = pipeline.read_csv("c", "c.csv", schema={"k": "int64", "s": "string"})
    none = write_source(pipeline, "none", table(KEYS)).select("k", "s")
    t.union(none).filter(col("k") > 0).sort("k desc").stage("s")


def physical_of(pipeline):
    return lowered(pipeline, TINY)


@pytest.mark.parametrize("build", [in_files, in_memory, in_text])
def test_a_plan_that_was_sent_lists_the_same_programs(pipeline, tmp_path, monkeypatch, build):
    """In the same order, from another folder, and without its files."""
    build(pipeline)
    physical = physical_of(pipeline)
    sent = pack_plan(physical, ON_CPU)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    here = listed(physical)
    for file in tmp_path.glob("*.parquet"):
        file.unlink()
    assert here
    assert listed(unpack_plan(sent)) == here


def test_a_source_that_was_sent_has_the_rows_and_kinds_of_all_row_groups(pipeline):
    """On which texts depend; partitions are as many as before."""
    in_files(pipeline)
    physical = physical_of(pipeline)
    scans, sent = (
        [node for node in walk_graph(*plan.roots) if isinstance(node, Scan)]
        for plan in (physical, unpack_plan(pack_plan(physical, ON_CPU)))
    )
    assert all(isinstance(scan, KnownScan) for scan in sent)
    assert [scan_kinds(scan) for scan in sent] == [scan_kinds(scan) for scan in scans]
    assert [[sum(group.rows for group in part) for part in scan.parts] for scan in sent] == [
        [12, 0, 0, 0, 0, 0],
        [9, 0, 0, 0, 0],
    ]


def test_workers_of_a_host_share_kernels():
    """Others have a cache of their own."""
    workers = ["ucx://a:2", "ucx://b:1", "ucx://a:1"]
    assert shares_of(workers) == {"ucx://a:1": Share(0, 2), "ucx://a:2": Share(1, 2), "ucx://b:1": Share(0, 1)}


@pytest.fixture(autouse=True)
def dask_on_cpu(monkeypatch):
    """Let the cudf engine, on a CPU, be that of a cluster, whose workers have been told nothing."""
    forget()
    monkeypatch.setitem(ENGINES, "dask-on-cpu", ClusterEngine(ON_CPU, "distributed", ""))


@pytest.fixture
def on_workers(pipeline, cluster):
    """Runs a pipeline with the cudf engine on workers, and compares its rows."""
    in_files(pipeline)

    expected = pipeline.run(engine="pandas", keep=["joined"], options=TINY)["joined"].to_arrow()

    def run(engine="dask-on-cpu", **options):
        run = pipeline.run(engine=engine, keep=["joined"], options=replace(TINY, **options))
        assert_tables_equal(run["joined"].to_arrow(), expected)
        return run.report

    return run


@pytest.fixture
def asked(monkeypatch):
    """The plans that workers begin with, and the texts that each worker expects."""
    found, lock = SimpleNamespace(plans=[], texts=[]), Lock()

    def begin_plan(self, plan):
        with lock:
            found.plans.append(plan)
        return True

    def expect(self, plan, texts):
        texts = [text.source for text in texts]
        with lock:
            found.texts.append(texts)

    monkeypatch.setattr(HostMachine, "begin_plan", begin_plan)
    monkeypatch.setattr(HostMachine, "expect", expect)
    return found


def until(condition):
    """Wait for what a thread does."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@needs_compiler
def test_each_worker_lists_the_programs_of_a_run(on_workers, asked):
    """Its name tells how many they are: other partitions need other programs.  Each begins with texts of its own."""
    fingerprint = on_workers().fingerprint
    until(lambda: len(asked.texts) == 2)
    assert asked.plans == [f"{fingerprint} on 2 workers"] * 2
    first, second = asked.texts
    assert len(first) == len(set(first))
    assert set(first) == set(second)
    assert first != second


@needs_compiler
def test_workers_are_told_once(on_workers, asked):
    """A call of all workers takes some milliseconds of each run."""
    on_workers()
    on_workers()
    until(lambda: len(asked.texts) == 2)
    assert len(asked.plans) == 2


@needs_compiler
def test_tasks_ask_for_what_was_listed(cluster, asked, pipeline, monkeypatch):
    """All but one, with exchanges between workers: some partitions come in the order of their keys."""
    needed, compiled = set(), HostMachine.compiled
    monkeypatch.setattr(HostMachine, "compiled", lambda self, source: needed.add(source) or compiled(self, source))
    rows = table(KEYS, *((i * 7, "abc"[i % 3], None if i % 500 == 499 else i / 2) for i in range(2000)))
    t = write_source(pipeline, "t", rows, row_group_size=500)
    t.join(t.aggregate("s", total=col("x").sum()), "s").sort("k desc").stage("s")
    pipeline.run(engine="dask-on-cpu", options=replace(TINY, partition_rows=500))
    until(lambda: len(asked.texts) == 2)
    assert needed
    assert len(needed - set(asked.texts[0])) <= 1


@needs_compiler
def test_nothing_is_listed_where_that_is_skipped_or_the_engine_is_pandas(on_workers, monkeypatch):
    """Workers are not even told."""
    monkeypatch.setattr(warm_up, "compile_on_workers", lambda *given: pytest.fail("compiled"))
    on_workers(skip_passes=("compile_ahead",))
    on_workers("dask")


@needs_compiler
@pytest.mark.parametrize(
    ("module", "place"), [(packed_scan, "scan_kinds"), (warm_up, "unpack_plan"), (warm_up, "shares_of")]
)
def test_a_list_that_fails_costs_nothing(on_workers, asked, monkeypatch, module, place):
    """Neither where the driver packs the plan nor on the threads of workers."""
    monkeypatch.setattr(module, place, lambda *given: 1 // 0)
    assert on_workers().notes == ()
    assert asked.plans == []


@needs_compiler
def test_an_error_of_the_machine_costs_nothing(on_workers, monkeypatch):
    """It is raised on a thread, where nobody would catch it."""
    begun = []
    monkeypatch.setattr(HostMachine, "begin_plan", lambda self, plan: begun.append(plan) or 1 // 0)
    assert on_workers().notes == ()
    until(lambda: len(begun) == 2)


@pytest.mark.gpu
def test_workers_keep_the_programs_of_a_plan_and_its_mark(pipeline, gpu_cluster, tmp_path):
    """In the cache, from which those to come load them."""
    kernels = tmp_path / "kernels"
    gpu_cluster.run(lambda: os.environ.update(GPUETL_KERNEL_CACHE=str(kernels)))
    try:
        in_files(pipeline)
        pipeline.run(engine="dask-cuda", options=TINY)
        until(lambda: list(kernels.glob("*.expected")))
        (mark,) = kernels.glob("*.expected")
        names = mark.read_text(encoding="utf-8").split()
        assert names
        until(lambda: all((kernels / name).exists() for name in names))  # the closed set may still be compiled
    finally:
        gpu_cluster.run(lambda: os.environ.pop("GPUETL_KERNEL_CACHE"))
