"""Checkpoints between processes: keys are the same, a killed run leaves none or a whole one, old ones are removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import environment_without_coverage, gpuetl
from gpuetl import RunOptions, loads
from gpuetl.state.checkpoints import CheckpointStore
from gpuetl.state.files import state_files

PIPELINE = """\
gpuetl: 1
name: daily
params: {least: {type: int64, default: 0}}
sources:
  sales: {parquet: sales.parquet}
  shops: {csv: shops.csv, schema: infer}
stages:
  clean:
    from: sales
    steps:
      - filter: id >= $least
      - join: {with: shops, on: shop, how: left}
      - window: {by: shop, order_by: id, columns: {n: row_number()}}
      - aggregate: {by: [shop, name], columns: {n: max(n), total: sum(id)}}
      - sort: [shop]
    checkpoint: true
sinks:
  out: {from: clean, parquet: out.parquet, mode: overwrite}
"""
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the pipeline and its files."""
    pq.write_table(pa.table({"id": list(range(100)), "shop": [i % 7 for i in range(100)]}), tmp_path / "sales.parquet")
    (tmp_path / "shops.csv").write_text("shop,name\n0,a\n1,b\n")
    (tmp_path / "daily.yaml").write_text(PIPELINE)
    return tmp_path


def started(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "gpuetl", "run", "daily.yaml", "--engine", "pandas", "--no-report", *arguments]
    paths = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    variables = {**environment_without_coverage(), "PYTHONPATH": paths, **environment}
    return subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def store_of(folder: Path) -> CheckpointStore:
    """Return the checkpoints of the pipeline."""
    return CheckpointStore(state_files(folder / ".gpuetl" / "daily"))


def test_keys_are_those_of_other_processes(folder: Path) -> None:
    for seed, arguments in (("1", ()), ("2", ("--resume",)), ("3", ("--resume", "--partition-rows", "10"))):
        run = started(folder, *arguments, PYTHONHASHSEED=seed)
        out, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors
        assert ("'clean' was read from the checkpoint of run" in out) == bool(arguments)


@pytest.mark.part(6)
@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.6, 1.0, 1.4, 1.8])
def test_a_run_that_is_killed(folder: Path, moment: float) -> None:
    run = started(folder, "--partition-rows", "5")
    time.sleep(moment)
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=60)
    done = loads(PIPELINE, folder, "daily.yaml").run(engine="pandas", resume=True)
    assert done.report.warnings == ()
    assert {one.state for one in done.report.checkpoints} <= {"reused", "written"}
    found = pq.read_table(folder / "out.parquet")
    assert found["total"].to_pylist() == [sum(range(shop, 100, 7)) for shop in range(7)]


def run_three(folder: Path) -> None:
    """Write three checkpoints, a second apart by their manifests."""
    for least in range(3):
        loads(PIPELINE, folder, "daily.yaml").run({"least": least}, engine="pandas")


def stages_left(folder: Path) -> int:
    """Return how many checkpoints there are."""
    return len(list(store_of(folder).stored()))


def test_clean(folder: Path) -> None:
    run_three(folder)
    file = folder / "daily.yaml"
    listed = gpuetl("clean", file, "--dry-run")
    assert listed.stdout.count("would remove 'clean' of run") == 3
    assert "would remove 3 checkpoints of" in listed.stdout
    assert "removed 0 checkpoints" in gpuetl("clean", file, "--older-than", "1d").stdout
    assert stages_left(folder) == 3
    assert "removed 2 checkpoints" in gpuetl("clean", file, "--keep-last", "1").stdout
    (left,) = store_of(folder).stored()
    assert left.manifest is not None
    resumed = loads(PIPELINE, folder, "daily.yaml").run({"least": 2}, engine="pandas", resume=True)
    assert [one.state for one in resumed.report.checkpoints] == ["reused"]
    assert "removed 1 checkpoint of" in gpuetl("clean", file).stdout
    assert list((folder / ".gpuetl" / "daily").rglob("*.parquet")) == []
    assert gpuetl("clean", file, "--older-than", "x").exit_code == 2
    assert gpuetl("clean", folder / "out.parquet", "--dry-run").exit_code == 2


def test_files_of_dead_runs_go_after_a_day(folder: Path) -> None:
    run_three(folder)
    left = folder / ".gpuetl/daily/checkpoints/0123/20260101T000000-aa/part-0.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    assert "removed 0 checkpoints" in gpuetl("clean", folder / "daily.yaml", "--keep-last", "3").stdout
    os.utime(left, (0, 0))
    assert "removed files of a run that died" in gpuetl("clean", folder / "daily.yaml", "--keep-last", "3").stdout
    assert stages_left(folder) == 3
    assert not left.parent.parent.exists()


def test_the_oldest_go_beyond_a_limit(folder: Path) -> None:
    run_three(folder)
    pipeline = loads(PIPELINE, folder, "daily.yaml")
    done = pipeline.run({"least": 3}, engine="pandas", options=RunOptions(checkpoint_limit=0))
    assert any(note.startswith("removed 3 old checkpoints of") for note in done.report.notes)
    (left,) = store_of(folder).stored()
    assert left.manifest is not None
    assert left.manifest.run_id == done.report.run_id


def test_the_page_of_a_report_has_them(folder: Path) -> None:
    run_three(folder)
    done = loads(PIPELINE, folder, "daily.yaml").run(engine="pandas", resume=True)
    done.report(folder / "run.html")
    page = (folder / "run.html").read_text()
    assert "Checkpoints of stages" in page
    assert "reused" in page
    assert done.report.to_dict()["checkpoints"][0]["state"] == "reused"
