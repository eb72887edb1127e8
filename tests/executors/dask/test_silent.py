"""Workers and schedulers that stop answering: the run goes on without them, or ends with a message."""

import json
import os
import signal
import socket
import time

import pytest

from clusters import (
    begun,
    check_nothing_changed,
    check_sinks,
    end_session,
    processes,
    started_run,
    wait_until_gone,
    waiting_pipeline,
)
from gpuetl import RunFailed, RunOptions, expr
from gpuetl.executors.dask.cluster import open_client
from gpuetl.executors.dask.liveness import ask
from gpuetl.options import Cluster
from tables import table, write_source

distributed = pytest.importorskip("distributed")
TIMEOUT_S = 3
SILENT = ("--worker-timeout", TIMEOUT_S)


@pytest.fixture
def folder(tmp_path):
    """The folder of a pipeline whose kernel waits for a file `go`; temporary files are below it, too."""
    waiting_pipeline(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder):
    """Begins a run, whose processes are killed at the end."""
    begun_runs = []

    def begin(*options):
        begun_runs.append(started_run(folder, *options))
        return begun_runs[-1]

    yield begin
    for one in begun_runs:
        end_session(one.pid)
        one.communicate()


def ended(process, seconds):
    """Return the exit code and stderr of a run that ends within so many seconds; it prints nothing else."""
    start = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert time.monotonic() - start < seconds
    return process.returncode, err


def check_no_scratch(folder):
    """See that no folder of workers is left, in a moment."""
    deadline = time.monotonic() + 5
    while left := list((folder / "tmp").glob("gpuetl-workers-*")):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


SLOW = f"import time\n\ndef k(x):\n    time.sleep({TIMEOUT_S + 1})\n    return {{'y': x + 1}}\n"


def engines():
    """The engines on clusters; the one that needs GPUs is marked."""
    return ["dask", pytest.param("dask-cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("engine", engines())
def test_a_worker_that_is_stopped_before_the_run_is_started_again(pipeline, engine, request):
    """What is asked of all workers does not wait for it; on GPUs its memory may still be mapped by the other."""
    if engine == "dask-cuda":
        request.getfixturevalue("two_gpus")
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 7, i) for i in range(64))))
    t.aggregate("k", m=expr("median(x)"), n=expr("count(*)")).sort("k").stage("medians")
    expected = pipeline.run(engine="pandas", keep="medians")["medians"].to_arrow()
    with open_client(engine, Cluster(workers=2)) as client:
        pids = client.run(os.getpid)
        os.kill(min(pids.values()), signal.SIGSTOP)
        cluster = Cluster(client=client, worker_timeout_s=TIMEOUT_S)
        run = pipeline.run(engine=engine, keep="medians", options=RunOptions(partition_rows=8, cluster=cluster))
        assert run["medians"].to_arrow().equals(expected)
        assert set(client.run(os.getpid).values()) & set(pids.values()) == {max(pids.values())}
        with pytest.raises(ProcessLookupError):
            os.kill(min(pids.values()), 0)


@pytest.mark.full(reason="silent workers and schedulers, in more situations")
def test_a_worker_that_is_busy_for_longer_is_not_given_up(folder, run):
    """Each task takes as long as a worker may be silent, or longer; heartbeats come from another thread."""
    (folder / "k.py").write_text(SLOW)
    process = run("--workers", 2, *SILENT, "--report", folder / "report.json", "--partition-rows", 8)
    assert ended(process, 60) == (0, "")
    check_sinks(folder)
    assert json.loads((folder / "report.json").read_text())["warnings"] == []


@pytest.mark.parametrize(
    "workers", [2, pytest.param(1, marks=pytest.mark.full(reason="silent workers and schedulers, in more situations"))]
)
def test_a_local_worker_that_is_stopped_is_killed_and_started_again(folder, run, workers):
    """Its tasks run again, and the report says so; also where it was the only one."""
    process = run("--workers", workers, *SILENT, "--report", folder / "report.json")
    os.kill(begun(folder, workers, process)[0], signal.SIGSTOP)
    (folder / "go").touch()
    assert ended(process, 40) == (0, "")
    check_sinks(folder)
    warning = json.loads((folder / "report.json").read_text())["warnings"][
        0
    ]  # on a busy machine others are silent, too
    assert f"on host {socket.gethostname()} sent no heartbeat for 3 s, and was started again; its work" in warning
    wait_until_gone(process.pid, 5)
    check_no_scratch(folder)


def test_a_worker_of_a_cluster_that_is_stopped_is_given_up(folder, run):
    """One that has no nanny is not started again; when it resumes, it changes nothing, and ends."""
    with processes(folder, 2) as (address, (_, *workers)):
        process = run("--cluster", address, *SILENT)
        begun(folder, 2, process)
        workers[0].send_signal(signal.SIGSTOP)
        (folder / "go").touch()
        assert ended(process, 40) == (0, "")
        check_sinks(folder)
        workers[0].send_signal(signal.SIGCONT)
        workers[0].wait(timeout=20)
        check_sinks(folder)
        assert workers[1].poll() is None


def test_a_run_whose_last_worker_is_stopped_ends_with_its_name(folder, run):
    """Within the time that a worker may be silent, and some seconds."""
    with processes(folder, 1) as (address, (_, worker)):
        process = run("--cluster", address, *SILENT)
        begun(folder, 1, process)
        worker.send_signal(signal.SIGSTOP)
        code, err = ended(process, TIMEOUT_S + 10)
        first, second = err.splitlines()
        assert code == 1
        assert first.startswith("error: no worker is left: tcp://127.0.0.1:")
        assert first.endswith(f" on host {socket.gethostname()} sent no heartbeat for 3 s.  [GE2041]")
        assert second == (
            "Look at the process and at the link to its host, and run again.  A task that holds the GIL for longer "
            "needs a larger --worker-timeout."
        )
        check_nothing_changed(folder)


def test_a_run_whose_scheduler_is_stopped_ends_with_its_address(folder, run):
    """Its staging is removed, too; Ctrl-C ends another one before."""
    with processes(folder, 1) as (address, (scheduler, _)):
        process = run("--cluster", address, *SILENT)
        begun(folder, 1, process)
        scheduler.send_signal(signal.SIGSTOP)
        assert ended(process, TIMEOUT_S + 8) == (
            1,
            f"error: the scheduler at {address} did not answer for 3 s.  [GE2040]\n"
            "Look at its process and at the link to its host, and run again.  --worker-timeout says how long to wait.\n",
        )
        check_nothing_changed(folder)


@pytest.mark.full(reason="silent workers and schedulers, in more situations")
def test_an_interrupt_while_the_scheduler_is_stopped_ends_the_run(folder, run):
    """At once, however long a silent one is waited for."""
    with processes(folder, 1) as (address, (scheduler, _)):
        process = run("--cluster", address)
        begun(folder, 1, process)
        scheduler.send_signal(signal.SIGSTOP)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert ended(process, 8) == (130, "interrupted (SIGINT): no sink has changed\n")
        check_nothing_changed(folder)


def test_an_interrupt_while_a_local_worker_is_stopped_ends_the_run(folder, run):
    """With all of its processes."""
    process = run("--workers", 2)
    os.kill(begun(folder, 2, process)[0], signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGINT)
    assert ended(process, 8) == (130, "interrupted (SIGINT): no sink has changed\n")
    check_nothing_changed(folder)
    wait_until_gone(process.pid, 5)
    check_no_scratch(folder)


def test_a_run_whose_scheduler_is_killed_ends_with_its_address(folder, run):
    """And without a word of the libraries."""
    with processes(folder, 1) as (address, (scheduler, _)):
        process = run("--cluster", address)
        begun(folder, 1, process)
        scheduler.kill()
        message = f"error: the scheduler of the cluster is not there any more: {address}  [GE3005]\n"
        assert ended(process, 20) == (1, message)
        check_nothing_changed(folder)


def test_a_worker_that_ends_before_it_answers_is_not_taken_for_the_scheduler():
    """As a worker does whose GPU has no memory left for its pool."""

    class Ending(distributed.WorkerPlugin):
        name = "ending"

        def setup(self, worker):
            os._exit(3)

    with open_client("dask", Cluster(workers=1)) as client, pytest.raises(RunFailed) as error:
        ask(client, lambda: client.register_plugin(Ending()))
    assert str(error.value) == (
        "a worker of the cluster ended while the run waited for its answer.\n"
        "Its log says why.  If other processes use the GPU or the host's memory, stop them, and run again."
    )


def test_workers_end_when_the_driver_is_killed(folder, run):
    """Also those that are stopped; nothing is left of their scratch folder."""
    process = run("--workers", 2)
    os.kill(begun(folder, 2, process)[0], signal.SIGSTOP)
    process.kill()
    wait_until_gone(process.pid, 8)
    check_no_scratch(folder)
