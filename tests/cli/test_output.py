"""Output that cannot be written: a run whose sinks are written succeeds, and a failure stays a failure."""

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from gpuetl import RunOptions, load
from gpuetl.cli import execute
from gpuetl.file_tests.run_tests import TestReport
from gpuetl.output_files import write_whole
from gpuetl.report.run_report import RunReport

PIPELINE = """\
gpuetl: 1
name: p
sources: {t: {csv: t.csv, schema: {x: int64}}}
stages: {s: {from: t, steps: [{filter: x > 0}], expect: [{unique: x}]}}
sinks: {o: {from: s, parquet: o.parquet, mode: overwrite}}
tests:
  - {name: one, given: {t: [{x: 1}]}, expect: {s: [{x: 1}]}}
"""
FULL = "No space left on device"
HERE = "/dev/full"
needs_full_device = pytest.mark.skipif(not Path(HERE).exists(), reason="needs /dev/full")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(line, stdout):
    """Run a command in this process, whose stdout is a file; return its exit code and what is on stderr."""
    errors, code = StringIO(), 0
    with redirect_stdout(stdout), redirect_stderr(errors):
        try:
            execute(line.split())
        except SystemExit as end:
            code = end.code or 0
    return code, errors.getvalue()


def on_full_disk(line):
    with open(HERE, "w") as full:  # noqa: PTH123
        return command(line, full)


def without_reader(line):
    """Run a command whose output goes to a pipe that no process reads."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        return command(line, pipe)


@needs_full_device
def test_a_run_whose_sinks_are_written_succeeds_on_a_full_disk(folder):
    code, errors = on_full_disk("run p.yaml --engine pandas")
    assert code == 0
    assert errors.splitlines()[-1] == f"warning: cannot write to stdout: {FULL}"
    assert (folder / "o.parquet").exists()


@needs_full_device
@pytest.mark.parametrize(
    "line",
    [
        "run p.yaml --engine pandas --no-write", "plan p.yaml", "validate p.yaml", "verify p.yaml --engine pandas",
        "verify p.yaml --engine pandas --json", "test p.yaml --engine pandas", "kernel check p.yaml", "doctor",
        "explain all", "--help", "--version",
    ],
)  # fmt: skip
def test_a_command_whose_result_is_its_output_fails_on_a_full_disk(folder, line):
    code, errors = on_full_disk(line)
    assert code == 1
    assert errors.splitlines()[-1] == f"error: cannot write to stdout: {FULL}"
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "line",
    [
        "run p.yaml --engine pandas", "plan p.yaml", "validate p.yaml", "verify p.yaml --engine pandas",
        "test p.yaml --engine pandas", "kernel check p.yaml", "doctor", "explain all", "--help",
    ],
)  # fmt: skip
def test_a_reader_that_leaves_is_no_failure(folder, line):
    code, errors = without_reader(line)
    assert code == 0
    assert "warning" not in errors
    assert "error" not in errors


@needs_full_device
@pytest.mark.parametrize("run", [on_full_disk, without_reader])
@pytest.mark.parametrize(("line", "code"), [("run p.yaml", 4), ("test p.yaml", 5), ("run none.yaml", 2)])
def test_a_failure_keeps_its_exit_code(folder, run, line, code):
    (folder / "t.csv").write_text("x\n1\n1\n")
    (folder / "p.yaml").write_text(PIPELINE.replace("expect: {s: [{x: 1}]}", "expect: {s: [{x: 2}]}"))
    assert run(f"{line} --engine pandas")[0] == code


@needs_full_device
@pytest.mark.parametrize("suffix", ["json", "html"])
def test_a_report_on_a_full_disk_is_a_warning(folder, suffix):
    (folder / f"run.{suffix}").symlink_to(HERE)
    code, errors = command(f"run p.yaml --engine pandas -q --report run.{suffix}", StringIO())
    assert (code, errors) == (0, f"warning: cannot write the report to run.{suffix}: {FULL}\n")
    assert (folder / "o.parquet").exists()


@needs_full_device
def test_a_report_on_a_full_disk_hides_no_broken_contract(folder):
    (folder / "t.csv").write_text("x\n1\n1\n")
    code, errors = command(f"run p.yaml --engine pandas -q --report {HERE}", StringIO())
    assert code == 4
    assert errors.startswith(f"warning: cannot write the report to {HERE}: {FULL}\n1 expectation failed")


@needs_full_device
def test_a_trace_on_a_full_disk_is_a_warning_in_the_report(folder):
    report = load("p.yaml").run(engine="pandas", options=RunOptions(trace=HERE)).report
    assert report.warnings == (f"cannot write the trace to {HERE}: {FULL}",)
    assert (folder / "o.parquet").exists()


@needs_full_device
def test_results_of_tests_on_a_full_disk_are_an_error(folder):
    code, errors = command(f"test p.yaml --engine pandas --junit {HERE}", StringIO())
    assert (code, errors) == (1, f"error: cannot write the report to {HERE}: {FULL}\n")


@pytest.mark.parametrize("owner", [RunReport, TestReport])
def test_a_report_that_cannot_be_made_is_a_warning_of_a_run(folder, monkeypatch, owner):
    """A bug in a report does not turn a run that is done into a failure."""

    def broken(*_):
        raise ValueError("a bug")

    monkeypatch.setattr(owner, "write" if owner is RunReport else "write_junit", broken)
    line = (
        "run p.yaml --engine pandas -q --report r.json"
        if owner is RunReport
        else "test p.yaml --engine pandas --junit r.xml"
    )
    code, errors = command(line, StringIO())
    assert code == (0 if owner is RunReport else 1)
    assert "gpuetl failed unexpectedly: ValueError: a bug" in errors


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_report_in_a_folder_without_permission_stops_the_run_before_it_begins(folder):
    (folder / "locked").mkdir(mode=0o500)
    code, errors = command("run p.yaml --engine pandas --report locked/r.json", StringIO())
    assert code == 2
    assert "locked/r.json cannot be written: Permission denied" in " ".join(errors.split())
    assert not (folder / "o.parquet").exists()


@pytest.mark.part(4)
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_run_without_its_standard_streams_writes_its_sinks(folder, closed):
    """A file of the sink must not get the number of the closed stream, into which the report would go."""
    line = f'"{sys.executable}" -m gpuetl run p.yaml --engine pandas {closed}'
    done = subprocess.run(line, shell=True, check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert load("p.yaml").run(engine="pandas", keep=["s"], write=False)["s"].to_arrow().num_rows == 2
    assert (folder / "o.parquet").read_bytes()[:4] == b"PAR1"
    assert (folder / "o.parquet").read_bytes()[-4:] == b"PAR1"


def test_characters_that_stdout_lacks_are_escaped(folder):
    (folder / "p.yaml").write_text(
        PIPELINE.replace("{filter: x > 0}", "{with_columns: {\"'\\u00e9'\": '1'}}").replace("'\\u00e9'", "é")
    )
    with open(folder / "out.txt", "w", encoding="ascii") as out:  # noqa: PTH123
        code, errors = command("plan p.yaml", out)
    assert code == 0, errors
    assert "\\xe9" in (folder / "out.txt").read_text()


def test_a_file_that_cannot_be_written_stays_as_it_is(tmp_path, monkeypatch):
    import resource

    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(path, b"x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"new"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
