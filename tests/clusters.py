"""Runs on clusters of processes that tests stop and kill: the command line, schedulers and workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, expr
from tables import table, write_source

TWIN = """\
import os, pathlib, time

def k(x):
    folder = pathlib.Path(__file__).parent
    (folder / f"begun-{os.getpid()}").touch()
    until = time.monotonic() + 60
    while not (folder / "go").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return {"y": x + 1}
"""
CUDA = 'extern "C" __global__ void k(const long long* x, long long* y, long long n) {}\n'
MAIN = "import faulthandler, signal; faulthandler.register(signal.SIGUSR1); from gpuetl.cli import main; main()"
PLAIN = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


def waiting_pipeline(folder: Path) -> Path:
    """Write a pipeline of 8 partitions and two sinks, whose kernel waits for a file `go`; return its file."""
    pipeline = Pipeline("p", root=folder)
    (folder / "k.cu").write_text(CUDA)
    (folder / "k.py").write_text(TWIN)
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(16))))
    slow = t.kernel(cuda="k.cu", entry="k", inputs="x", outputs={"y": "int64"}, reference="k.py:k").stage("slow")
    slow.write_parquet("rows", "out/rows", mode="overwrite")
    sums = slow.aggregate("k", s=expr("sum(y)")).stage("sums")
    sums.write_parquet("sums_out", "out/sums.parquet", mode="overwrite")
    pipeline.to_yaml(folder / "p.yaml")
    return folder / "p.yaml"


def check_sinks(folder: Path) -> None:
    """Compare both sinks of `waiting_pipeline` with what pandas computes; nothing else may be left."""
    rows = pq.read_table(folder / "out/rows").to_pandas().sort_values("x").reset_index(drop=True)
    source = pq.read_table(folder / "t.parquet").to_pandas()
    expected = source.assign(y=source["x"] + 1)
    assert rows[["k", "x", "y"]].equals(expected)
    sums = dict(zip(*pq.read_table(folder / "out/sums.parquet").to_pydict().values(), strict=True))
    assert sums == expected.groupby("k")["y"].sum().to_dict()
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["rows", "sums.parquet"]


def check_nothing_changed(folder: Path) -> None:
    """See that no sink is there, and nothing that a run leaves while it writes."""
    hidden = (path for path in folder.rglob(".*") if path != folder / ".gpuetl")  # which has the run's manifest
    left = [*hidden, *(path for path in folder.rglob("*") if "out" in path.parts[len(folder.parts) :])]
    assert not left


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of processes that keep temporary files below a folder."""
    (folder / "tmp").mkdir(exist_ok=True)
    return os.environ | {"TMPDIR": str(folder / "tmp"), "DASK_TEMPORARY_DIRECTORY": str(folder / "tmp")}


def started_run(folder: Path, *options: object, engine: str = "dask") -> subprocess.Popen[str]:
    """Begin to run the pipeline of a folder by the command line, in a session of its own."""
    command = [sys.executable, "-c", MAIN, "run", "-q", folder / "p.yaml"]
    given = ["--engine", engine, "--partition-rows", 2, *options]
    return subprocess.Popen(
        list(map(str, command + given)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=environment(folder),
    )  # fmt: skip


def begun(folder: Path, count: int, run: subprocess.Popen[str]) -> list[int]:
    """Wait until so many workers are in the kernel; return their process ids."""
    deadline = time.monotonic() + 60
    while len(found := list(folder.glob("begun-*"))) < count:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline, "the kernel has not begun"
        time.sleep(0.02)
    return sorted(int(path.name.removeprefix("begun-")) for path in found)


@contextmanager
def processes(folder: Path, workers: int, *options: str) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler, and workers without nannies unless the options say so; give the address and the processes."""
    place = folder / "scheduler.json"
    place.unlink(missing_ok=True)
    with (folder / "cluster.log").open("ab") as log:

        def start(module: str, *given: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", f"from distributed.cli.{module} import main; main()", *given]
            return subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=environment(folder), cwd=folder
            )

        made = [start("dask_scheduler", "--port", "0", "--scheduler-file", str(place), *PLAIN)]
        try:
            given = ("--scheduler-file", str(place), "--nthreads", "1", "--memory-limit", "0", *PLAIN)
            made.extend(start("dask_worker", *given, *(options or ("--no-nanny",))) for _ in range(workers))
            while not place.exists() or not place.read_text().endswith("}"):  # it is written in pieces
                assert made[0].poll() is None
                time.sleep(0.05)
            yield json.loads(place.read_text())["address"], made
        finally:
            for process in made:
                end_session(process.pid)
                process.wait()


def end_session(leader: int) -> None:
    """Kill all processes of a session, stopped ones too."""
    for pid in living(leader):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def living(session: int) -> list[int]:
    """Return the processes of a session that still run, or are stopped."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, of_session = status.read_text().rpartition(")")[2].split()[:4]
            if int(of_session) == session and state not in "ZX":
                found.append(int(status.parent.name))
    return found


def wait_until_gone(session: int, seconds: float) -> None:
    """Wait until no process of a session is left."""
    deadline = time.monotonic() + seconds
    while left := living(session):
        assert time.monotonic() < deadline, f"processes {left} are left"
        time.sleep(0.05)


def send(pid: int, number: int) -> None:
    """Send a signal to a process, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def is_worker(pid: int) -> bool:
    """Tell whether a process is one that a nanny has started to do its work."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def needs_this_process(engine: str, what: str) -> None:
    """Skip an engine whose workers are other processes: they do not have what a test sets or registers here."""
    if engine == "dask-cuda":
        pytest.skip(f"its workers are other processes, which do not have the {what} of this test")
