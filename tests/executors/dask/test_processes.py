"""Clusters of processes: the command line, workers that are killed, interrupts."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from math import inf
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, RunFailed, RunOptions, expr
from gpuetl.executors.dask import fetching
from gpuetl.executors.dask.cluster import open_client
from gpuetl.options import Cluster
from left_to_full import after
from tables import table, write_source

distributed = pytest.importorskip("distributed")
KILLED_RUNS = int(os.environ.get("GPUETL_KILLED_RUNS", "2"))
NAP = """\
import pathlib, time

def k(x):
    pathlib.Path(__file__).with_name("begun").touch()
    time.sleep({seconds})
    return {{"y": x + 1}}
"""
CUDA = 'extern "C" __global__ void k(const long long* x, long long* y, long long n) {}\n'


def gpuetl(*arguments, **options):
    """Run the command line in a process of its own."""
    command = [sys.executable, "-c", "from gpuetl.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def napping(pipeline, seconds):
    """A pipeline of 8 partitions, each of which takes a while, with an exchange, carries, folders and a file."""
    (pipeline.root / "k.cu").write_text(CUDA)
    (pipeline.root / "k.py").write_text(NAP.format(seconds=seconds))
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(16))))
    slow = t.kernel(cuda="k.cu", entry="k", inputs="x", outputs={"y": "int64"}, reference="k.py:k").stage("slow")
    sums = slow.aggregate("k", s=expr("sum(y)"), n=expr("count(*)")).stage("sums")
    slow.join(sums, "k").stage("joined").write_parquet("rows", "out/rows", mode="overwrite")
    sums.write_parquet("sums_out", "out/sums.parquet", mode="overwrite")
    so_far = slow.window(order_by="x", total=expr("cum_sum(y)")).stage("so_far")
    so_far.write_parquet("totals", "out/totals", mode="overwrite")
    counted = slow.window(order_by="x", n=expr("row_number()"), last=expr("lag(y)")).stage("counted")
    counted.write_parquet("counts", "out/counts", mode="overwrite")
    return pipeline


TINY = RunOptions(partition_rows=2, broadcast_bytes=0, carried_share=inf)


@pytest.fixture(scope="module")
def processes():
    """A client of two workers, each in a process that is started again when it dies."""
    with open_client("dask", Cluster(workers=2)) as client:
        yield client


def kill_one(client, chosen):
    """Kill the process of a worker, if there is one."""
    workers = list(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.workers)))
    if workers:
        pids = client.run(os.getpid, workers=workers, on_error="ignore")
        os.kill(chosen(sorted(pids.values())), signal.SIGKILL)


@pytest.fixture
def impatient(processes):
    """The scheduler gives a task up when two workers have died of it: starting more takes seconds."""

    def allow(count):
        processes.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", count))

    before = processes.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures)
    allow(1)
    yield processes
    allow(before)


@pytest.mark.parametrize(
    "seed", after(1, range(KILLED_RUNS), "a second seed of the moment at which a worker is killed")
)
def test_a_worker_killed_at_any_moment_changes_nothing(pipeline, processes, seed):
    """Its tasks run again elsewhere; what it wrote half is not in the sink."""
    chance = random.Random(seed)
    napping(pipeline, 0.05)
    moment = threading.Timer(chance.uniform(0.05, 1.0), kill_one, (processes, chance.choice))
    moment.start()
    check_run(pipeline, processes)
    moment.join()
    wait_for_two(processes)


@pytest.mark.parametrize(
    "seed", after(1, range(KILLED_RUNS), "a second seed of the moment at which a worker is killed")
)
def test_a_worker_killed_while_a_checkpoint_is_written_or_read(pipeline, processes, seed):
    """Only its partitions are made again; a resumed run reads them again, and computes nothing above them."""
    chance = random.Random(seed)
    made = napping(pipeline, 0.05)
    kept = made.spec.stages["slow"]
    made.spec = replace(made.spec, stages={**made.spec.stages, "slow": replace(kept, checkpoint=True)})
    for state, resume in (("written", False), ("reused", True)):
        moment = threading.Timer(chance.uniform(0.05, 1.0), kill_one, (processes, chance.choice))
        moment.start()
        done = made.run(engine="dask", options=replace(TINY, cluster=Cluster(client=processes)), resume=resume)
        moment.join()
        wait_for_two(processes)
        assert [(one.stage, one.state, one.rows) for one in done.report.checkpoints] == [("slow", state, 16)]
        found = pq.read_table(pipeline.root / "out/totals").sort_by("x")
        assert found["total"].to_pylist() == list(accumulate(range(1, 17)))
    assert "t" not in {stage.name for stage in done.report.stages}


def wait_for_two(client):
    """Wait until two workers answer: a scheduler may not know yet that one is dead."""
    for _ in range(600):
        with suppress(OSError):
            client.wait_for_workers(2, timeout=60)
            if len(client.run(os.getpid)) == 2:
                return
        time.sleep(0.1)
    raise TimeoutError("no two workers")


@pytest.mark.parametrize(
    "seed", after(1, range(KILLED_RUNS), "a second seed of the moment at which a worker is killed")
)
def test_a_worker_killed_whose_pieces_are_fetched_changes_nothing(pipeline, processes, seed, monkeypatch):
    """The run may begin again; in its report, and in its files, all is there once."""
    monkeypatch.setattr(fetching, "MOST_PIECES", 1)
    test_a_worker_killed_at_any_moment_changes_nothing(pipeline, processes, seed)


def test_all_workers_killed_change_nothing(pipeline, processes):
    """Everything is computed again, by the workers that are started in their place."""

    async def doom(dask_worker):  # in here: workers cannot import this module
        from distributed.chaos import KillWorker

        await KillWorker(delay="200 ms", mode="segfault").setup(dask_worker)

    napping(pipeline, 0.05)
    processes.run(doom)
    check_run(pipeline, processes)
    processes.wait_for_workers(2, timeout=60)


def check_run(pipeline, client):
    """Run the pipeline of `napping`, and look at its files and its report."""
    report = pipeline.run(engine="dask", client=client, options=TINY).report
    check_files(pipeline)
    assert {stage.name: stage.rows_out for stage in report.stages}["slow"] == 16


def check_files(pipeline):
    """Compare the files of `napping` with those expected."""
    rows = pq.read_table(pipeline.root / "out/rows").sort_by("x")
    assert rows.column("x").to_pylist() == list(range(16))
    sums = pq.read_table(pipeline.root / "out/sums.parquet").sort_by("k").to_pylist()
    assert sums == [{"k": k, "s": sum(i + 1 for i in range(k, 16, 3)), "n": len(range(k, 16, 3))} for k in range(3)]
    totals = pq.read_table(pipeline.root / "out/totals").sort_by("x").column("total").to_pylist()
    assert totals == list(accumulate(range(1, 17)))
    assert sorted(path.name for path in (pipeline.root / "out").iterdir()) == [
        "counts", "rows", "sums.parquet", "totals",
    ]  # fmt: skip
    counts = pq.read_table(pipeline.root / "out/counts").sort_by("x")
    assert counts["n"].to_pylist() == list(range(1, 17))
    assert counts["last"].to_pylist() == [None, *range(1, 16)]


def test_a_task_of_which_workers_die_is_an_error(pipeline, impatient):
    """It says the stage, and how many died."""
    napping(pipeline, 0)
    (pipeline.root / "k.py").write_text("import os\n\ndef k(x):\n    os.kill(os.getpid(), 9)\n")
    with pytest.raises(RunFailed, match=r"stage 'slow', step 1: 2 workers died, one after another"):
        pipeline.run(engine="dask", client=impatient, options=RunOptions())
    assert not (pipeline.root / "out").exists()
    impatient.wait_for_workers(2, timeout=60)


def test_the_command_line_runs_on_two_workers(pipeline):
    """It shows what it shows of a run in one process."""
    napping(pipeline, 0).to_yaml(pipeline.root / "p.yaml")
    arguments = ("run", pipeline.root / "p.yaml", "--engine", "dask", "--workers", 2, "--partition-rows", 2)
    out, err = gpuetl(*arguments).communicate(timeout=200)
    assert "engine: dask (asked for)" in out, err
    assert {line.split()[0] for line in err.splitlines()} <= {"workers", "source", "stage", "sink"}
    check_files(pipeline)


def test_an_interrupted_run_ends_quietly_with_its_workers(tmp_path):
    """Ctrl-C goes to workers as well; none is left, and no sink has changed."""
    pipeline = napping(Pipeline("p", root=tmp_path), 0.5)
    pipeline.to_yaml(tmp_path / "p.yaml")
    arguments = ("run", "-q", tmp_path / "p.yaml", "--engine", "dask", "--workers", 2, "--partition-rows", 2)
    process = gpuetl(*arguments, start_new_session=True)
    while not (tmp_path / "begun").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "interrupted (SIGINT): no sink has changed\n"
    assert not (tmp_path / "out").exists()
    deadline = time.monotonic() + 20
    while living(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def living(group):
    """Return the processes of a group that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_group = status.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has ended meanwhile
            continue
        if int(of_group) == group and state != "Z":
            found.append(status.parent.name)
    return found


@pytest.mark.gpu
def test_a_worker_starts_again_on_a_gpu_whose_memory_others_still_map(pipeline, two_gpus):
    """UCX keeps a dead worker's pool mapped; the new one has what is left of the GPU's memory."""
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 7, i) for i in range(64))))
    t.aggregate("k", m=expr("median(x)"), n=expr("count(*)")).sort("k").stage("medians")
    expected = pipeline.run(engine="pandas", keep="medians")["medians"].to_arrow()
    with open_client("dask-cuda", Cluster(workers=2)) as client:
        for killed in range(3):
            if killed:
                kill_one(client, max)
                wait_for_two(client)
            found = pipeline.run(engine="dask-cuda", keep="medians", client=client, options=TINY)["medians"]
            assert found.to_arrow().equals(expected)
