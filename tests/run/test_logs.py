"""Log records of runs: in Python for the handlers of a program, on the command line as JSON lines or text."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import RunFailed, load

TEXT = """\
gpuetl: 1
name: small
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - filter: x > 1
      - with_columns: {y: CAST(x AS int8)}
    expect:
      - {that: x < 100, on_fail: warn}
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    pq.write_table(pa.table({"x": [1, 2, 3, 120]}), tmp_path / "rows.parquet")
    return path


def shown(record):
    fields = {name: getattr(record, name) for name in ("stage", "step", "rows", "code") if hasattr(record, name)}
    return record.name, record.levelname, record.getMessage().split(" in ")[0].split(":")[0], fields


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_a_run_is_logged(file, caplog, engine):
    caplog.set_level(logging.INFO, "gpuetl")
    run = load(file).run(engine=engine)
    records = [record for record in caplog.records if record.name.startswith("gpuetl.")]
    assert sorted(map(shown, records)) == sorted([
        ("gpuetl.run", "INFO", records[0].getMessage(), {}),
        ("gpuetl.stage", "INFO", "source rows finished", {"stage": "rows", "rows": 4}),
        ("gpuetl.stage", "INFO", "stage kept finished", {"stage": "kept", "rows": 3}),
        ("gpuetl.commit", "INFO", "sink out committed", {"stage": "out", "rows": 3}),
        ("gpuetl.run", "WARNING", str(file), {"code": "GE1601"}),
        ("gpuetl.run", "INFO", "run finished", {}),
    ])  # fmt: skip
    assert records[0].getMessage().startswith(f"run started on {engine} (")
    assert records[-1].getMessage() == f"run finished: {run.report.summary}"
    assert {(record.run_id, record.pipeline) for record in records} == {(run.report.run_id, "small")}


def test_a_stage_is_logged_when_it_finishes_and_not_at_the_end(file, caplog):
    """A join waits for all of its right side, so that this stage has finished long before the run."""
    text = TEXT.replace(
        "sinks:", "  joined:\n    from: rows\n    steps:\n      - aggregate: {by: [x], columns: {n: count(*)}}\n"
        "      - join: {with: kept, on: [x]}\nsinks:"
    ).replace("from: kept, parquet", "from: joined, parquet")  # fmt: skip
    file.write_text(text)
    caplog.set_level(logging.INFO, "gpuetl")
    load(file).run(engine="pandas")
    names = [record.getMessage().split(" finished")[0] for record in caplog.records if record.name == "gpuetl.stage"]
    assert sorted(names) == ["source rows", "stage joined", "stage kept"]
    ended = {record.getMessage(): record.created for record in caplog.records}
    last = max(ended.values())
    assert ended[next(text for text in ended if text.startswith("source rows"))] < last


def test_a_run_that_fails_is_an_error_with_code_and_place(file, caplog):
    pq.write_table(pa.table({"x": [2, 300]}), file.parent / "rows.parquet")
    caplog.set_level(logging.INFO, "gpuetl")
    with pytest.raises(RunFailed):
        load(file).run(engine="pandas")
    error = caplog.records[-1]
    assert (error.name, error.levelname) == ("gpuetl.run", "ERROR")
    assert (error.stage, error.step, error.code) == ("kept", 2, "GE2002")
    assert error.getMessage().startswith(f"run failed: {file}:9:27: stage 'kept', step 2: column 'y'")
    assert error.getMessage().endswith("no sink has changed")
    assert not [record for record in caplog.records if "finished" in record.getMessage() and "kept" in record.msg]


def test_planning_is_logged_at_debug(file, caplog):
    caplog.set_level(logging.DEBUG, "gpuetl")
    load(file).run(engine="pandas")
    lines = [record.getMessage() for record in caplog.records if record.name == "gpuetl.plan"]
    assert lines[0] == "sources: rows; stages: kept; sinks: out"
    assert lines[1].startswith("plan ")
    assert any(line.startswith("pass push_filters: ") for line in lines)


def test_a_library_sets_no_handlers_and_prints_nothing(file):
    code = (
        "import sys, gpuetl, logging\n"
        "gpuetl.load(sys.argv[1]).run(engine='pandas')\n"
        "found = [type(one).__name__ for one in logging.getLogger('gpuetl').handlers]\n"
        "assert found == ['NullHandler'] and not logging.getLogger().handlers, found"
    )
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout == ""


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_json_lines_on_stderr(file):
    done = gpuetl("run", file, "--engine", "pandas", "--log-json", "--no-report")
    assert done.exit_code == 0
    lines = lines_of(done.stderr)
    assert [line["level"] for line in lines] == ["INFO", "INFO", "INFO", "INFO", "WARNING", "INFO"]
    assert list(lines[1]) == [
        "time",
        "level",
        "logger",
        "message",
        "run_id",
        "pipeline",
        "stage",
        "rows",
        "seconds",
        "bytes",
    ]
    assert datetime.fromisoformat(lines[0]["time"]).tzinfo is not None
    assert len({line["run_id"] for line in lines}) == 1
    assert lines[4]["code"] == "GE1601"


@pytest.mark.parametrize(
    ("change", "code", "exit_code"),
    [(("x > 1", "nowhere > 1"), "GE1003", 2), (("name: small", "name: [small"), "GE1001", 2)],
)
def test_an_error_before_the_run_is_a_json_line_too(file, change, code, exit_code):
    file.write_text(TEXT.replace(*change))
    done = gpuetl("run", file, "--engine", "pandas", "--log-json", "--no-report")
    assert done.exit_code == exit_code
    *_, last = lines_of(done.stderr)
    assert (last["level"], last["code"]) == ("ERROR", code)


def test_an_error_of_the_run_is_one_json_line(file):
    pq.write_table(pa.table({"x": [2, 300]}), file.parent / "rows.parquet")
    done = gpuetl("run", file, "--engine", "pandas", "--log-json", "--no-report")
    assert done.exit_code == 1
    errors = [line for line in lines_of(done.stderr) if line["level"] == "ERROR"]
    assert [(line["code"], line["stage"], line["step"]) for line in errors] == [("GE2002", "kept", 2)]


def test_what_else_is_printed_on_stderr_is_a_json_line(file, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUETL_REPORTS", str(tmp_path / "rows.parquet"))  # no folder
    done = gpuetl("run", file, "--engine", "pandas", "--log-json")
    assert done.exit_code == 0
    first = lines_of(done.stderr)[0]
    assert (first["level"], first["logger"]) == ("WARNING", "gpuetl.cli")
    assert first["message"].startswith("cannot write reports to ")


def test_json_lines_in_a_file_leave_stderr_as_it_is(file, tmp_path):
    log = tmp_path / "run.log"
    for _ in range(2):
        done = gpuetl("run", file, "--engine", "pandas", "--log-json", log, "--log-level", "warning", "--no-report")
        assert done.exit_code == 0
    assert done.stderr == ""
    assert [(line["level"], line["code"]) for line in lines_of(log.read_text())] == [("WARNING", "GE1601")] * 2
    file.write_text(TEXT.replace("x > 1", "nowhere > 1"))
    done = gpuetl("run", file, "--engine", "pandas", "--log-json", log, "--no-report")
    assert "unknown column 'nowhere'" in done.stderr
    assert lines_of(log.read_text())[-1]["level"] == "ERROR"


def test_text_lines(file):
    done = gpuetl("run", file, "--engine", "pandas", "--log-level", "info", "--no-report")
    first, *_, last = done.stderr.splitlines()
    assert " INFO gpuetl.run: run started on pandas" in first
    assert " INFO gpuetl.run: run finished: small: done on CPU" in last


def test_a_pipeline_is_not_taken_for_the_log(file):
    done = gpuetl("run", "--log-json", file)
    assert done.exit_code == 2
    assert "name the pipeline before --log-json" in done.stderr
    assert file.read_text() == TEXT


def test_secrets_are_not_logged(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", "verysecretplace")
    folder = tmp_path / "verysecretplace"
    folder.mkdir()
    file.write_text(TEXT.replace("out.parquet", "'${env.PLACE}/out.parquet'"))
    done = gpuetl("run", file, "--engine", "pandas", "--log-json", "--no-report", "--log-level", "debug")
    assert done.exit_code == 0
    assert "verysecretplace" not in done.stderr
    assert "${env.PLACE}/out.parquet" in done.stderr
    assert (folder / "out.parquet").exists()
