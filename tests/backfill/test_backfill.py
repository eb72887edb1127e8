"""`gpuetl backfill`: which values run, what is remembered, and what is refused."""

import json
import re
import signal
import subprocess
import sys
import time
from datetime import date, timedelta

import pyarrow.dataset as ds
import pytest

from command import environment_without_coverage, gpuetl
from gpuetl.backfill.processes import Processes
from gpuetl.cli.backfill import run_words

DAYS = [str(date(2026, 1, 1) + timedelta(days=n)) for n in range(5)]
PIPELINE = """\
gpuetl: 1
name: daily
params:
  run_date: {type: date, required: true}
  factor: {type: int64, default: 1}
sources:
  sales: {csv: "in/${params.run_date}.csv", schema: {id: int64, amount: float64}}
stages:
  sold:
    from: sales
    steps:
      - with_columns: {day: $run_date, amount: amount * $factor}
sinks:
  daily: {from: sold, parquet: out/daily, SINK}
"""
RUN_KEY = "mode: append, run_key: run_date"


@pytest.fixture
def daily(tmp_path):
    """Write a pipeline with a sink, and a file for each day."""

    def write(sink=RUN_KEY, days=DAYS):
        (tmp_path / "in").mkdir(exist_ok=True)
        for number, day in enumerate(days):
            (tmp_path / f"in/{day}.csv").write_text(f"id,amount\n{number},1.5\n")
        file = tmp_path / "daily.yaml"
        file.write_text(PIPELINE.replace("SINK", sink))
        return file

    return write


def backfill(file, *others, first=DAYS[0], last=DAYS[-1]):
    fixed = ("--engine", "pandas", "--no-report")
    return gpuetl("backfill", file, "--param", "run_date", "--from", first, "--to", last, *fixed, *others)


def rows(file):
    found = ds.dataset(file.parent / "out/daily", format="parquet", partitioning="hive").to_table().to_pylist()
    return sorted((row["id"], str(row["day"]), row["amount"]) for row in found)


def all_rows(count=None, factor=1):
    return [(number, day, 1.5 * factor) for number, day in enumerate(DAYS[:count])]


def states(result):
    """Return the outcomes in the table at the end."""
    return dict(re.findall(r"^ (\d{4}-\d\d-\d\d) +(done|failed|stopped|not run)", result.stdout, re.MULTILINE))


@pytest.mark.slow
def test_each_value_runs_once_and_the_same_command_goes_on(daily):
    file = daily(days=DAYS[:2])
    result = backfill(file)
    assert result.exit_code == 1
    assert states(result) == dict(zip(DAYS, ["done", "done", "failed", "not run", "not run"], strict=True))
    assert f"{DAYS[2]}.csv does not exist  [GE1401]" in result.stderr
    assert "2 of 5 values done, 1 failed, 2 left.  The same command runs those that are not done" in result.stdout
    assert rows(file) == all_rows(2)
    daily()
    dry = backfill(file, "--dry-run")
    assert dry.exit_code == 0
    assert dry.stdout.splitlines()[1:3] == [
        f"run_date={DAYS[1]}  has a successful run", f"run_date={DAYS[2]}  would run",
    ]  # fmt: skip
    assert dry.stdout.splitlines()[-1] == "3 of 5 values would run"
    again = backfill(file)
    assert again.exit_code == 0
    assert states(again) == dict.fromkeys(DAYS[2:], "done")
    assert again.stdout.startswith("2 of 5 values have a successful run (--again runs them, too)\n")
    assert again.stdout.rstrip().endswith("5 of 5 values done, 0 failed, 0 left")
    assert rows(file) == all_rows()
    nothing = backfill(file)
    assert (nothing.exit_code, states(nothing)) == (0, {})


@pytest.mark.slow
def test_keep_going_and_parallel(daily):
    file = daily(days=[DAYS[0], DAYS[2], DAYS[4]])
    result = backfill(file, "--keep-going", "--parallel", "2", first=DAYS[0], last=DAYS[3])
    assert result.exit_code == 1
    assert states(result) == dict(zip(DAYS[:4], ["done", "failed", "done", "failed"], strict=True))
    assert [row[1] for row in rows(file)] == [DAYS[0], DAYS[2]]


@pytest.mark.slow
def test_another_parameter_or_pipeline_runs_again(daily):
    file = daily(days=DAYS[:1])
    one_day = {"first": DAYS[0], "last": DAYS[0]}
    assert states(backfill(file, **one_day)) == {DAYS[0]: "done"}
    assert states(backfill(file, "-p", "factor=1", **one_day)) == {}  # the default
    assert states(backfill(file, "-p", "factor=3", **one_day)) == {DAYS[0]: "done"}
    assert rows(file) == all_rows(1, factor=3)
    file.write_text(file.read_text() + "# a comment\n")
    assert states(backfill(file, **one_day)) == {}
    assert states(backfill(file, "--again", **one_day)) == {DAYS[0]: "done"}
    file.write_text(file.read_text().replace("amount * $factor", "amount * $factor * 2"))
    assert states(backfill(file, **one_day)) == {DAYS[0]: "done"}
    records = sorted((file.parent / ".gpuetl/daily/backfill").rglob("*.json"))
    assert [json.loads(record.read_text())["value"] for record in records] == [DAYS[0]] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full(reason="the same with another signal"))],
)
def test_an_interrupt_ends_the_runs_and_the_same_command_goes_on(daily, number):
    file = daily()
    command = [
        sys.executable,
        "-m",
        "gpuetl",
        "backfill",
        file,
        "--param",
        "run_date",
        "--from",
        DAYS[0],
        "--to",
        DAYS[-1],
    ]
    process = subprocess.Popen(
        [*command, "--engine", "pandas", "--no-report"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment_without_coverage(),
    )  # fmt: skip
    assert "done in" in process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert "values are done; the same command goes on with the rest" in err
    assert "not run" in out
    done = [row[1] for row in rows(file)]
    assert done == DAYS[: len(done)]
    assert not [path for path in (file.parent / "out").iterdir() if path.name.startswith(".daily.")]
    result = backfill(file)
    assert result.exit_code == 0
    assert rows(file) == all_rows()


@pytest.mark.parametrize(
    ("sink", "problem"),
    [
        ("mode: overwrite", "(mode: overwrite): the run of 2026-01-02 would replace the rows of 2026-01-01"),
        ("mode: error", "(mode: error): the run of 2026-01-02 would fail, since its target exists"),
        ("mode: append, run_key: factor", "has the run_key factor for every value of 'run_date'"),
    ],
)
def test_runs_that_would_replace_each_other_s_rows_are_refused(daily, sink, problem):
    result = backfill(daily(sink))
    assert result.exit_code == 2
    assert problem in result.stderr
    assert "sink 'daily'" in result.stderr
    one = backfill(daily(sink), "--dry-run", last=DAYS[0])
    assert one.exit_code == 0


@pytest.mark.parametrize(
    "sink",
    [
        RUN_KEY, "mode: append, run_key: [factor, run_date]", "mode: replace_partitions, partition_by: day",
        "mode: upsert, on: [id, day], partition_by: day", "mode: overwrite",
    ],
)  # fmt: skip
def test_sinks_that_are_safe(daily, sink):
    file = daily(sink)
    if sink == "mode: overwrite":
        file.write_text(file.read_text().replace("out/daily", '"out/${params.run_date}"'))
    result = backfill(file, "--dry-run", "--parallel", "3")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith("5 of 5 values would run\n")


@pytest.mark.slow
def test_an_append_without_a_run_key_is_warned_of(daily):
    result = backfill(daily("mode: append"), last=DAYS[0])
    assert result.exit_code == 0
    assert (
        "warning: sink 'daily' appends without run_key: a value that runs twice would have its rows twice"
        in result.stderr
    )


@pytest.mark.slow
def test_upserts_of_parallel_runs_lose_nothing(daily):
    """Each of them reads all keys, so runs are too late for each other, and run again."""
    file = daily("mode: upsert, on: [id], partition_by: day")
    result = backfill(file, "--parallel", "3")
    assert result.exit_code == 0, result.output
    assert rows(file) == all_rows()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--no-write"], "--no-write writes no sink"),
        (["--trace", "t.json"], "--trace t.json is one file, and each run writes a trace"),
        (["--report", "r.html"], "--report r.html is one file, and each run writes a report"),
        (["--limit", "10"], "--limit runs a part of the pipeline, so no value would be done"),
        (["--write-to", "x"], "--write-to runs a part of the pipeline, so no value would be done"),
        (["--param", "factor"], "2 parameters have no value: run_date, factor, and a backfill fills one"),
        (["--step", "1x"], "--step 1x is not a step"),
        (["-p", "nothing=1"], "unknown parameter 'nothing'"),
    ],
)
def test_options_that_do_not_fit(daily, options, problem):
    result = backfill(daily(), *options)
    assert result.exit_code == 2
    assert problem in result.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("amount: float64}}", "amount: float64}, incremental: {new_files: true}}"),
        ("- with_columns: {day", "- window: {order_by: id, columns: {n: row_number()}, state: keep}\n      - with_columns: {day"),
    ],
)  # fmt: skip
def test_a_pipeline_with_state_runs_one_value_at_a_time(daily, old, new):
    file = daily("mode: append" if "incremental" in new else RUN_KEY)
    file.write_text(file.read_text().replace(old, new))
    result = backfill(file, "--dry-run", "--parallel", "2")
    assert result.exit_code == 2
    assert "the pipeline keeps state from run to run, and --parallel 2 runs several at once" in result.stderr
    assert backfill(file, "--dry-run").exit_code == 0


def test_a_parameter_that_is_not_there(daily):
    result = gpuetl("backfill", daily(), "--param", "day", "--from", "2026-01-01", "--to", "2026-01-02")
    assert result.exit_code == 2
    assert "unknown parameter 'day'" in result.stderr
    result = gpuetl("backfill", daily(), "-p", "factor=1", "--from", "1", "--to", "2")
    assert "no parameter is named, and a backfill fills one" in result.stderr
    result = gpuetl("backfill", daily(), "--param", "run_date", "--from", "1", "--to", "2", "--parallel", "0")
    assert (result.exit_code, "'0' is not a whole number above 0" in result.stderr) == (2, True)


def test_words_of_a_run():
    words = (
        "f.yaml --param d --from 1 --to=3 --step 1 -p x=1 --parallel 2 --keep-going --engine pandas --param=y=2 --again"
    )
    assert run_words(words.split()) == ["f.yaml", "-p", "x=1", "--engine", "pandas", "--param=y=2"]
    assert run_words(["-pd", "f.yaml", "--param=d", "--dry-run", "-q", "-px=1", "-p", "d", "--memory", "1GB"]) == [
        "f.yaml",
        "-q",
        "-px=1",
        "--memory",
        "1GB",
    ]


def test_a_late_run_begins_again_and_others_do_not(tmp_path):
    """The first two attempts of `b` find that another run was faster; `c` fails in another way."""
    script = tmp_path / "run.py"
    script.write_text(
        "import pathlib, sys\n"
        "name = sys.argv[1]\n"
        "place = pathlib.Path(sys.argv[0]).with_name(name)\n"
        "count = int(place.read_text()) if place.exists() else 0\n"
        "place.write_text(str(count + 1))\n"
        "if name == 'b' and count < 2 or name == 'd': sys.exit('error: too late  [GE1567]')\n"
        "if name == 'c': sys.exit('error: no  [GE1401]')\n"
    )
    processes = Processes(lambda value: [sys.executable, str(script), value], parallel=2)
    found = {one.value: one.outcome for one in processes.run("abcd", lambda one: True)}
    assert found == {"a": "done", "b": "done", "c": "failed", "d": "failed"}
    assert [(tmp_path / name).read_text() for name in "abcd"] == ["1", "3", "1", "5"]
