"""The jobs of the benchmark, on little data: the pipelines' answers are DuckDB's and those of Polars."""

import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.suites import SUITES, jobs
from benchmarks.suites.answers import assert_same_answers
from benchmarks.suites.cpu_peers import DuckDB, Polars
from benchmarks.suites.peers import Gpuetl

BENCHMARKS = Path(__file__).parent / "benchmarks"
SIZES = {"events": 20_000, "groupby": 200_000, "join": 20_000, "asof": 20_000, "criteo": 20_000, "pdsh": 0.05}


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Makes a suite's data when it is first asked for, and returns its folder."""
    root = tmp_path_factory.mktemp("benchmarks")

    def made(suite):
        if not (root / suite).exists():
            try:
                import_module(f"benchmarks.suites.{suite}.make").make(root / suite, SIZES[suite])
            except SystemExit as reason:
                pytest.skip(str(reason))
        return root / suite

    return made


def answered(peer, job, out):
    """Run a job and keep its rows; a peer answers in a folder of its own."""
    out.mkdir()
    peer.open()
    rows = peer.run(job, out)
    if rows is not None:
        pq.write_table(pa.table(rows), out / "answer.parquet")
    return out


@pytest.mark.parametrize("job", jobs(list(SUITES)), ids=str)
def test_a_pipeline_answers_as_the_sql_does(job, data, tmp_path):
    """Every pipeline has the answer of the SQL beside it, the official one where there is one, and it is not empty."""
    folder = data(job.suite)
    ours = answered(Gpuetl(folder, "pandas"), job, tmp_path / "gpuetl")
    assert_same_answers(ours, answered(DuckDB(folder, "pandas"), job, tmp_path / "duckdb"))
    assert all(pq.read_table(path).drop_null().num_rows for path in ours.rglob("*.parquet"))


@pytest.mark.part(12)
@pytest.mark.parametrize("module", ["by_polars", "by_cudf_polars"])
@pytest.mark.parametrize("job", jobs(list(SUITES)), ids=str)
def test_polars_answers_as_the_sql_does(job, module, data, tmp_path):
    """So do the queries in Polars, and their forms for cudf-polars, which Polars runs too."""
    folder = data(job.suite)
    peer = Polars(folder, "pandas")
    peer.module = module
    theirs = answered(peer, job, tmp_path / "polars")
    assert_same_answers(theirs, answered(DuckDB(folder, "pandas"), job, tmp_path / "duckdb"))
    shutil.rmtree(theirs)


def test_answers_that_differ_are_reported(tmp_path):
    """A row that differs beyond rounding, one that lacks, and a missing column are told from equal answers."""
    rows = pa.table({"k": [1, 2, None], "x": [0.1, 0.2, None]})
    others = {
        "value": pa.table({"k": [1, 2, None], "x": [0.1, 0.200001, None]}),
        "row": rows.slice(1),
        "column": rows.drop_columns("k"),
        "null": pa.table({"k": [1, 2, None], "x": [0.1, 0.2, 0.0]}),
    }
    for name, table in {"expected": rows, "shuffled": rows.take([2, 0, 1]), **others}.items():
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "answer.parquet")
    assert_same_answers(tmp_path / "shuffled", tmp_path / "expected")
    for name in others:
        with pytest.raises(AssertionError):
            assert_same_answers(tmp_path / name, tmp_path / "expected")


@pytest.mark.full(reason="benchmarks that run many kernels or clusters")
def test_the_pipeline_in_less_memory_is_measured(tmp_path):
    """With its outputs compared: what differs, or does not fit, is told in the place of a time."""
    results = tmp_path / "memory.json"
    arguments = ("--rows", "40000", "--limits", "4MB", "--engine", "pandas", "--results", results)
    command = [sys.executable, BENCHMARKS / "memory.py", tmp_path / "work", *arguments]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    runs = json.loads(results.read_text())["runs"]
    assert [(run["order"], run["memory"], run["carried_share"]) for run in runs] == [
        ("in no order", "all there is", None), ("in no order", "4MB", None),
        ("in time order", "all there is", None), ("in time order", "4MB", None),
        ("in time order", "all there is", 0.25), ("in time order", "4MB", 0.25),
    ]  # fmt: skip
    assert all(run.get("best_s", 1) > 0 for run in runs)


@pytest.mark.full(reason="benchmarks that run many kernels or clusters")
def test_the_pipeline_on_one_worker_and_two_is_measured(tmp_path):
    """With its totals compared, and an exchange between the two."""
    pytest.importorskip("distributed")
    results, sizes = tmp_path / "scaling.json", ("--rows-a-gpu", "40000", "--exchanged", "1000", "--host-bytes", "1000")
    arguments = (*sizes, "--on-cpu", "--gpus", "1,2", "--runs", "1", "--results", results)
    command = [sys.executable, BENCHMARKS / "scaling.py", tmp_path / "work", *arguments]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    found = json.loads(results.read_text())
    assert [(run["gpus"], run.get("rows"), run.get("equals")) for run in found["runs"]] == [
        (1, 40_000, None), (1, 80_000, None), (2, 80_000, "1 GPU"), (2, None, None)
    ]  # fmt: skip
    assert found["runs"][-1]["exchanged_bytes_a_gpu"] == 24_000
    assert {rate["threads"] for rate in found["host"]} == {16, 32}


@pytest.mark.gpu
def test_operations_in_device_memory_are_measured(tmp_path):
    """Where libcudf has the operation, it gives the same answer, or the command ends."""
    pytest.importorskip("pylibcudf", reason="needs pylibcudf and an NVIDIA GPU")
    results = tmp_path / "operations.json"
    command = [sys.executable, BENCHMARKS / "operations.py", "--rows", "100000", "--runs", "1", "--results", results]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    found = json.loads(results.read_text())["operations"]
    assert all(each["ms"] > 0 and each["bytes"] > 0 for each in found)
    assert [each["name"] for each in found if each["libcudf_ms"]] == [
        "order by user and time", "count, sum and mean by 20 strings", "distinct users by 20 strings",
        "count, sum and mean by user", "join with 1 M users, one column", "4 pieces by user, put together again",
        "64 pieces by user, put together again",
    ]  # fmt: skip


@pytest.mark.gpu
def test_first_runs_are_measured():
    """A line for each state of the cache; after a build, and where all is there, little is compiled."""
    pytest.importorskip("pylibcudf", reason="needs pylibcudf and an NVIDIA GPU")
    command = [
        sys.executable,
        BENCHMARKS / "first_runs.py",
        "--runs",
        "1",
        BENCHMARKS.parents[1] / "pipelines" / "hello.yaml",
    ]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    added = [int(line.split(", ")[-1].split()[0]) for line in done.stdout.splitlines()]
    assert len(added) == 5
    assert added[0] > added[1]
    assert added[3] <= 2
    assert added[4] == 0


def test_the_pages_are_what_the_results_render(tmp_path):
    """Nobody has written in them by hand."""
    made = tmp_path / "performance.md"
    script = f"import render, pathlib; render.PAGE = pathlib.Path({str(made)!r}); render.render()"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=BENCHMARKS)
    docs = BENCHMARKS.parents[1] / "docs"
    for page in ("performance.md", "lab/gpu-parts.md"):
        assert (docs / page).read_text(encoding="utf-8") == (tmp_path / page).read_text(encoding="utf-8")
