"""The reports of runs that fail: they say so, and never stay those of an earlier run."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import ContractBroken, RunFailed, load

TEXT = """\
gpuetl: 1
name: small
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - with_columns: {y: CAST(x AS int8)}
    expect:
      - unique: [x]
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
"""


@pytest.fixture
def file(tmp_path):
    """A pipeline, and rows for which it runs."""
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "rows.parquet")
    return path


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_a_run_that_fails_replaces_the_report_of_an_earlier_one(file, tmp_path, engine):
    """A program that looks at the file alone sees that no sink has changed."""
    arguments = ["run", file, "--engine", engine, *(["--workers", 1] if engine == "dask" else []), "--report"]
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    assert gpuetl(*arguments, data).exit_code == 0
    assert json.loads(data.read_text())["error"] == ""
    pq.write_table(pa.table({"x": [1, 300]}), tmp_path / "rows.parquet")
    failed = gpuetl(*arguments, data)
    assert failed.exit_code == 1
    report = json.loads(data.read_text())
    assert report["pipeline"] == "small"
    assert report["error"].startswith(f"{file}:8:27: stage 'kept', step 1: column 'y': CAST(x AS int8) has no result")
    assert report["error"].endswith("\nno sink has changed")
    assert report["status"] == "failed"
    where = {name: report["failure"][name] for name in ("kind", "code", "relation", "name", "step", "outcome")}
    assert where == {
        "kind": "error", "code": "GE2002", "relation": "stage", "name": "kept", "step": 1,
        "outcome": "no sink has changed",
    }  # fmt: skip
    assert report["sinks"] == []
    (rows,) = [stage for stage in report["stages"] if stage["name"] == "rows"]
    assert rows["rows_out"] == 2
    if engine == "pandas":
        assert gpuetl(*arguments, page).exit_code == 1
        text = page.read_text()
        assert f"<pre>{file}:8:27: stage &#39;kept&#39;, step 1: column &#39;y&#39;" in text
        assert text.index('id="failure"') < text.index("Row 2 of") < text.index('id="pipeline"')
        assert 'id="output"' not in text


def test_a_rule_that_fails_stands_at_the_top_of_the_page(file, tmp_path):
    """With the rows that break it; ties among them are no remark on the user's steps."""
    pq.write_table(pa.table({"x": [1, 1]}), tmp_path / "rows.parquet")
    done = gpuetl("run", file, "--engine", "pandas", "--report", tmp_path / "r.html")
    assert done.exit_code == 4
    assert "rows tie" not in done.output
    page = (tmp_path / "r.html").read_text()
    assert '<h2 id="failure">Expectations failed</h2>' in page
    assert "1 expectation failed; no sink has changed" in page
    assert page.index('id="failure"') < page.index('id="stages"')
    assert "rows tie" not in page


def test_errors_in_python_have_the_report(file, tmp_path):
    """Of a rule all of it, of another error the message and the phases."""
    pq.write_table(pa.table({"x": [1, 1]}), tmp_path / "rows.parquet")
    with pytest.raises(ContractBroken) as caught:
        load(file).run(engine="pandas")
    assert caught.value.report.summary.startswith("small: failed its expectations on CPU in ")
    assert caught.value.report.error == str(caught.value)
    assert [(check.rule, check.broken) for check in caught.value.report.checks] == [("unique(x)", 2)]
    pq.write_table(pa.table({"x": [300]}), tmp_path / "rows.parquet")
    with pytest.raises(RunFailed) as failed:
        load(file).run(engine="pandas")
    assert failed.value.report.summary.startswith("small: failed on ")
    assert list(failed.value.report.seconds)[:3] == ["plan", "load", "optimize"]


def test_checks_have_rows_in_the_table_of_expectations_alone(file):
    """They may read others' rows: a number of these would not be the stage's."""
    done = gpuetl("run", file, "--engine", "pandas")
    (line,) = [line for line in done.stdout.splitlines() if line.strip().startswith("expect ")]
    assert line.split()[:2] == ["expect", "kept"]
    assert line.split()[3] in ("µs", "ms", "s")


INTERRUPTED = """\
import os, signal, sys
import gpuetl
from gpuetl.cli import execute
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.errors import OutOfMemory

class Ended(PandasBackend):
    def run(self, operation, *frames):
        {how}

import gpuetl.engines.registry as registry
registry.load_backend.__globals__["load_driver_backend"] = lambda name: Ended()
import gpuetl.run.pipeline_run as pipeline_run
pipeline_run.load_driver_backend = lambda name: Ended()
execute(sys.argv[1:])
"""


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("how", "code", "kind", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, "interrupted", "interrupted (SIGTERM)"),
        ("os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted", "interrupted (SIGINT)"),
        ("raise MemoryError('no room')", 1, "out of memory", "out of memory"),
        ("raise OSError(5, 'broken')", 1, "error", "stage 'kept', step 1"),
    ],
)
def test_a_report_is_written_whatever_ends_the_run(file, tmp_path, how, code, kind, message):
    """By a signal, without memory, or by an error of the device: with what was done until then."""
    script = tmp_path / "run.py"
    script.write_text(INTERRUPTED.format(how=how))
    line = [sys.executable, script, "run", file, "--engine", "pandas", "--report", "r.json"]
    done = subprocess.run(line, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["failure"]["kind"] == kind
    assert message in report["error"]
    assert report["error"].endswith("no sink has changed")
    assert [stage["rows_out"] for stage in report["stages"] if stage["name"] == "rows"] == [2]
    assert {"plan", "load", "optimize"} <= {track["name"] for track in report["timeline"]}
    assert "report: r.json" in done.stdout


def test_an_interrupt_in_python_has_the_report(file):
    """Ctrl-C in a program of the user's own."""

    def stop(origin, done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        load(file).run(engine="pandas", progress=stop)
    report = stopped.value.report
    assert report.status == "interrupted"
    assert report.error == "interrupted\nno sink has changed"


def test_a_report_that_cannot_be_written_hides_no_error(file, tmp_path):
    """It is a warning; the error and the exit code stay."""
    pq.write_table(pa.table({"x": [1, 300]}), tmp_path / "rows.parquet")
    (tmp_path / "r.json").symlink_to("/dev/full")
    done = gpuetl("run", file, "--engine", "pandas", "--report", tmp_path / "r.json")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"warning: cannot write the report to {tmp_path}/r.json: ")
    assert "has no result" in done.stderr


def test_a_bug_in_a_report_hides_no_error(file, tmp_path, monkeypatch):
    def broken(*_):
        raise ValueError("a bug")

    pq.write_table(pa.table({"x": [1, 300]}), tmp_path / "rows.parquet")
    monkeypatch.setattr("gpuetl.run.account.failed_report", broken)
    done = gpuetl("run", file, "--engine", "pandas", "--report", tmp_path / "r.json")
    assert done.exit_code == 1
    assert "has no result" in done.stderr


def test_a_pipeline_that_cannot_be_planned_has_a_report(file, tmp_path):
    """A source's file is missing: nothing ran, and the report says why."""
    (tmp_path / "rows.parquet").unlink()
    done = gpuetl("run", file, "--engine", "pandas", "--report", tmp_path / "r.json")
    assert done.exit_code != 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["status"] == "failed"
    assert report["failure"]["code"].startswith("GE")
    assert report["stages"] == []
