"""Exit codes: one table in the documentation, and each of them comes out of a real process."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import environment_without_coverage
from gpuetl.errors import ContractBroken, EngineUnavailable, InvalidPipeline, RunFailed
from gpuetl.exit_codes import ExitCode, exit_code_of, table
from gpuetl.signals import Stopped

ROOT = Path(__file__).parents[2]
PIPELINE = """\
gpuetl: 1
name: small
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - with_columns: {y: CAST(x AS int8)}
      - aggregate: {by: [y], columns: {n: count(*)}}
    expect: [{unique: [y]}, {rows: {max: 2}}]
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
tests:
  - {name: two rows, given: {rows: [{x: 1}, {x: 2}]}, expect: {kept: [{y: 1, n: 1}, {y: 2, n: 1}]}}
"""
COMMAND = "from gpuetl.cli import main; main()"
WRONG_ENGINE = f"from verify import wrong_engines; wrong_engines.register(); {COMMAND}"
SLOW = f"""\
import signal, time
import gpuetl.run.pipeline_run as pipeline_run
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

def slow(*arguments):
    open("begun", "w").close()
    time.sleep(60)

pipeline_run.check_sinks = slow
{COMMAND}
"""


def process(folder, *arguments, script=COMMAND):
    """Start a command in a process of its own."""
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
    environment = {**environment_without_coverage(), "PYTHONPATH": paths}
    line = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.fixture
def folder(tmp_path):
    """A pipeline that runs."""
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "typo.yaml").write_text(PIPELINE.replace("CAST(x", "CAST(xx"))
    (tmp_path / "other.yaml").write_text(PIPELINE.replace("{y: 1, n: 1}", "{y: 1, n: 7}"))
    for name, rows in (("rows", [1, 2]), ("large", [300]), ("many", [1, 2, 3])):
        pq.write_table(pa.table({"x": rows}), tmp_path / f"{name}.parquet")
        (tmp_path / f"{name}.yaml").write_text(PIPELINE.replace("parquet: rows", f"parquet: {name}"))
    return tmp_path


def test_the_documentation_has_the_table():
    assert table() in (ROOT / "docs/commands.md").read_text(encoding="utf-8")


CASES = [
    (ExitCode.DONE, ["run", "p.yaml", "--engine", "pandas"], COMMAND),
    (ExitCode.FAILED, ["run", "large.yaml", "--engine", "pandas"], COMMAND),
    (ExitCode.INVALID, ["run", "typo.yaml"], COMMAND),
    (ExitCode.INVALID, ["run", "p.yaml", "--no-such-option"], COMMAND),
    (ExitCode.INVALID, ["run", "p.yaml", "--engine", "abacus"], COMMAND),
    (ExitCode.DIFFERENT, ["verify", "p.yaml", "--engine", "one_more"], WRONG_ENGINE),
    (ExitCode.CONTRACT_BROKEN, ["run", "many.yaml", "--engine", "pandas"], COMMAND),
    (ExitCode.TEST_FAILED, ["test", "other.yaml", "--engine", "pandas"], COMMAND),
]


@pytest.mark.part(12)
@pytest.mark.parametrize(
    ("code", "arguments", "script"), CASES, ids=lambda one: " ".join(one) if isinstance(one, list) else ""
)
def test_a_process_exits_with_its_code(folder, code, arguments, script):
    done = process(folder, *arguments, script=script)
    _, errors = done.communicate()
    assert done.returncode == code, errors.decode()


@pytest.mark.part(4)
@pytest.mark.parametrize(
    "code", [ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED], ids=lambda code: code.name
)
def test_a_process_that_a_signal_stops_exits_with_128_and_its_number(folder, code):
    done = process(folder, "run", "p.yaml", "--engine", "pandas", script=SLOW)
    deadline = time.monotonic() + 60
    while not (folder / "begun").exists():
        assert done.poll() is None, done.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    done.send_signal(code - 128)
    _, errors = done.communicate()
    assert done.returncode == code, errors.decode()


def test_every_code_is_tested():
    assert {code for code, _, _ in CASES} | {code for code in ExitCode if code > 128} == set(ExitCode)


def test_exceptions_have_codes():
    assert exit_code_of(None) == ExitCode.DONE
    assert exit_code_of(RunFailed()) == ExitCode.FAILED
    assert exit_code_of(InvalidPipeline([])) == ExitCode.INVALID
    assert exit_code_of(EngineUnavailable("none")) == ExitCode.INVALID
    assert exit_code_of(ContractBroken("broken")) == ExitCode.CONTRACT_BROKEN
    assert exit_code_of(Stopped(15)) == ExitCode.TERMINATED
    assert exit_code_of(KeyboardInterrupt()) == ExitCode.INTERRUPTED
    assert exit_code_of(ValueError()) == ExitCode.FAILED
