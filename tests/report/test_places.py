"""Where reports go: a file, a folder, or the folder of all reports."""

from __future__ import annotations

import json
import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, Pipeline, RunOptions, col
from gpuetl.report.writing import MOST_REPORTS, forget_oldest, reports_folder
from tables import table, write_source


@pytest.fixture
def file(tmp_path):
    pipeline = Pipeline("small & old/new", root=tmp_path)
    write_source(pipeline, "t", table({"x": "int64"}, (1,), (2,))).filter(col("x") > 1).stage("kept")
    pipeline.to_yaml(tmp_path / "p.yaml")
    return tmp_path / "p.yaml"


@pytest.fixture
def reports(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUETL_REPORTS", str(tmp_path / "all" / "reports"))
    return tmp_path / "all" / "reports"


def test_every_run_writes_a_report_to_the_folder_of_all_reports(file, reports):
    done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 0, done.output
    assert stat.S_IMODE(reports.stat().st_mode) == 0o700  # reports show rows
    (report,) = reports.iterdir()
    assert report.name.startswith("small_old_new-2")
    assert done.stdout.splitlines()[-1] == f"report: {report}"
    assert "<h1>small &amp; old/new</h1>" in report.read_text()


def test_no_report_is_written_where_none_is_wanted(file, reports):
    done = gpuetl("run", file, "--engine", "pandas", "--no-report")
    assert done.exit_code == 0
    assert not reports.exists()
    assert "report:" not in done.stdout


def test_a_folder_gets_a_report_for_each_run(file, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for _ in range(2):
        assert gpuetl("run", file, "--engine", "pandas", "--report", folder).exit_code == 0
    assert len(list(folder.glob("small_old_new-*.html"))) == 2


def test_a_folder_of_reports_that_cannot_be_made_is_a_warning(file, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPUETL_REPORTS", str(tmp_path / "file" / "reports"))
    done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        f"warning: cannot write reports to {tmp_path}/file/reports: Not a directory",
        "Name a file with --report, a folder in GPUETL_REPORTS, or run with --no-report.",
    ]


def test_the_folder_of_all_reports_keeps_the_newest(reports):
    reports.mkdir(parents=True)
    for number in range(MOST_REPORTS + 2):
        (reports / f"p-{number:04}.html").touch()
        os.utime(reports / f"p-{number:04}.html", (number, number))
    forget_oldest(reports, MOST_REPORTS)
    assert sorted(path.name for path in reports.iterdir())[0] == "p-0002.html"


def test_without_a_variable_the_folder_is_in_the_user_s_state(monkeypatch):
    monkeypatch.delenv("GPUETL_REPORTS")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert reports_folder() == Path("/state/gpuetl/reports")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert reports_folder() == Path("/home/ada/.local/state/gpuetl/reports")


def test_a_run_in_python_writes_where_its_options_say(pipeline, source, tmp_path):
    source(table({"x": "int64"}, (1,))).filter(col("x") > 0).stage("kept")
    report = pipeline.run(engine="pandas", options=RunOptions(report=tmp_path / "r.json")).report
    assert report.path == str(tmp_path / "r.json")
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["schema_version"] == 3
    assert data["status"] == "done"
    assert data["duration_s"] > 0
    assert [(one["kind"], one["name"], one["reads"]) for one in data["declared"]] == [
        ("source", "t", []), ("stage", "kept", [["t", "from"]]),
    ]  # fmt: skip
    with pytest.raises(InvalidPipeline, match="option report: there is no folder none"):
        RunOptions(report="none/r.json")


def test_parameters_are_in_the_report(pipeline, source):
    """Those that were given, and defaults."""
    least = pipeline.param("least", "int64", 1)
    pipeline.param("name", "string")
    pipeline.param("gap", "duration", timedelta(hours=8))
    source(table({"x": "int64"}, (1,), (2,))).filter(col("x") > least).stage("kept")
    report = pipeline.run({"least": "0"}, engine="pandas").report
    assert report.params == {"least": "0", "name": "null", "gap": "8 hours"}
