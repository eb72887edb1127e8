"""A command's process ends without being torn down, and nothing that others asked for is lost by that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl

HELLO = """\
gpuetl: 1
name: small
sources:
  rows: {parquet: rows.parquet}
stages:
  kept:
    from: rows
    steps: [{filter: x > 1}]
sinks:
  out: {from: kept, csv: out.csv}
"""
TORN_DOWN = """
import os, sys
class TornDown:
    def __del__(self, write=os.write):
        write(1, b"torn down\\n")
sys.kept = TornDown()
"""
"""For `sitecustomize`: says whether the interpreter freed what it had."""
TWIN = """
import numpy as np
log = open("twin.log", "w")
def twice(x):
    log.write("called")
    return {"y": x * 2}
"""
SECONDS = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"x": pa.array([1, 2, 3], pa.int64())}), tmp_path / "rows.parquet")
    (tmp_path / "small.yaml").write_text(HELLO)
    (tmp_path / "sitecustomize.py").write_text(TORN_DOWN)
    return tmp_path


def python(
    folder: Path, *arguments: str, stdout: int = subprocess.PIPE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder, whose `sitecustomize` it imports."""
    path = os.pathsep.join((str(folder), str(Path(gpuetl.__file__).parents[1])))
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run(
        [sys.executable, *arguments], check=False, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True,
        timeout=SECONDS, env=environment,
    )  # fmt: skip


def command(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "gpuetl", *arguments, **variables)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("arguments", "exit_code", "shown"),
    [
        (("--version",), 0, "gpuetl "),
        (("validate", "small.yaml"), 0, "small.yaml: valid, 1 source, 1 stage, 1 sink"),
        (("run", "small.yaml", "--engine", "pandas"), 0, "small: done on CPU"),
        (("run", "none.yaml"), 2, "cannot read none.yaml"),
        (("rnu",), 2, "usage: gpuetl"),
    ],
)
def test_a_command_ends_at_once_with_its_output_and_its_exit_code(
    folder: Path, arguments: tuple[str, ...], exit_code: int, shown: str
):
    done = command(folder, *arguments)
    assert done.returncode == exit_code
    assert shown in done.stdout + done.stderr
    assert "torn down" not in done.stdout


def test_the_sinks_of_a_run_are_there(folder: Path):
    assert command(folder, "run", "small.yaml", "-q", "--engine", "pandas").returncode == 0
    assert (folder / "out.csv").read_text() == '"x"\n2\n3\n'


def test_the_script_of_an_installed_package_ends_at_once(folder: Path):
    text = "import sys\nfrom gpuetl.cli.ending import run_and_end\nif __name__ == '__main__':\n    sys.exit(run_and_end())\n"
    (folder / "gpuetl-script.py").write_text(text)
    done = python(folder, "gpuetl-script.py", "validate", "none.yaml")
    assert (done.returncode, "torn down" in done.stdout) == (2, False)


@pytest.mark.part(4)
@pytest.mark.parametrize(
    "customized",
    [
        "import atexit\natexit.register(lambda: open('left', 'w').write('left'))\n",
        "import logging.handlers\nlogging.getLogger().addHandler(logging.handlers.MemoryHandler(9, target=logging.FileHandler('left')))\nlogging.getLogger().error('left')\n",
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.5), open('left', 'w').write('left'))).start()\n",
        "import weakref\nclass Kept: pass\nkept = Kept()\nweakref.finalize(kept, lambda: open('left', 'w').write('left'))\n",
    ],
    ids=["atexit", "logging", "thread", "finalizer"],
)  # fmt: skip
def test_what_waits_for_the_end_of_the_process_is_done(folder: Path, customized: str):
    with (folder / "sitecustomize.py").open("a") as file:
        file.write(customized)
    done = command(folder, "validate", "small.yaml")
    assert (done.returncode, "torn down" in done.stdout) == (0, False), done.stderr
    assert (folder / "left").read_text().strip() == "left"


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("before", "variables"),
    [
        (("-m", "cProfile", "-m", "gpuetl"), {}),
        (("-m", "trace", "--count", "--coverdir", "counts", "--module", "gpuetl"), {}),
        (("-X", "dev", "-m", "gpuetl"), {}),
        (("-c", "from gpuetl.cli.ending import run_and_end\ndef run(): run_and_end()\nrun()"), {}),
        (("-c", "import sys; sys.setprofile(lambda *_: None); from gpuetl.cli.ending import *; run_and_end()"), {}),
        (("-m", "gpuetl"), {"LD_PRELOAD": "libnone.so"}),
        (("-m", "gpuetl"), {"CUDA_INJECTION64_PATH": "libnone.so"}),
    ],
    ids=["cProfile", "trace", "dev", "another program", "profiler", "preloaded", "injected"],
)
def test_a_process_that_others_look_at_ends_as_python_does(
    folder: Path, before: tuple[str, ...], variables: dict[str, str]
):
    done = python(folder, *before, "--version", **variables)
    assert done.returncode == 0
    assert "torn down" in done.stdout
    if "cProfile" in before:
        assert "Ordered by: " in done.stdout


def test_a_file_that_a_twin_keeps_open_is_written(folder: Path):
    step = "kernel: {cuda: k.cu, entry: twice, reference: twin.py:twice, inputs: [x], outputs: {y: int64}}"
    (folder / "twin.py").write_text(TWIN)
    (folder / "k.cu").write_text('extern "C" __global__ void twice(const long long* x, long long* y, long long n) {}')
    (folder / "small.yaml").write_text(HELLO.replace("filter: x > 1", step))
    done = command(folder, "run", "small.yaml", "-q", "--engine", "pandas")
    assert done.returncode == 0, done.stderr
    assert (folder / "twin.log").read_text() == "called"
    assert "torn down" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_fails_the_command_as_before(folder: Path):
    with Path("/dev/full").open("w") as full:
        done = python(folder, "-m", "gpuetl", "validate", "small.yaml", stdout=full.fileno())
    assert done.returncode == 1
    assert "cannot write to stdout: No space left on device" in done.stderr
