"""Windows that keep their state in the state folder of their pipeline: run by run, failed ones too."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, RunFailed, RunOptions, loads
from gpuetl.run.result_keys import result_keys
from gpuetl.testing import assert_tables_equal
from stateful_windows import START
from tables import table

TYPES = {"ts": "timestamp", "user": "int64", "x": "int64"}
WINDOW = "{by: user, order_by: ts, columns: {n: row_number(), total: cum_sum(x), before: lag(x)}, state: keep}"


def pipeline_text(window: str = WINDOW, filter_: str = "x < 1000", more: str = "") -> str:
    """Return a pipeline that appends a day's events."""
    return f"""\
gpuetl: 1
name: daily
params: {{day: {{type: int64, required: true}}}}
sources:
  events: {{parquet: "in/${{params.day}}.parquet"}}
stages:
  totals:
    from: events
    steps:
      - filter: {filter_}
      - window: {window}
{more}sinks:
  out: {{from: totals, parquet: out, mode: append, run_key: day}}
"""


@pytest.fixture
def days(tmp_path):
    """Four days of events, as files; returns their tables."""
    (tmp_path / "in").mkdir()
    found = []
    for day in range(4):
        rows = [(START + timedelta(days=day, hours=hour), (hour * 7 + day) % 5, hour + day) for hour in range(9)]
        found.append(table(TYPES, *rows))
        pq.write_table(found[-1], tmp_path / f"in/{day}.parquet", row_group_size=2)
    return found


def run(root: Path, day: int, text: str = "", **options):
    """Run the pipeline for a day."""
    return loads(text or pipeline_text(), root).run({"day": day}, engine=options.pop("engine", "pandas"), **options)


def written(root: Path) -> pa.Table:
    """Return the rows of the sink."""
    return pq.read_table(root / "out").sort_by([("ts", "ascending"), ("user", "ascending")])


def expected(days) -> pa.Table:
    """Return what Python makes of all days."""
    totals: dict[int, list[int]] = {}
    rows = []
    for row in pa.concat_tables(days).to_pylist():
        values = totals.setdefault(row["user"], [])
        rows.append(
            (row["ts"], row["user"], row["x"], len(values) + 1, sum(values) + row["x"], values[-1] if values else None)
        )
        values.append(row["x"])
    types = {**TYPES, "n": "int64", "total": "int64", "before": "int64"}
    return table(types, *rows).sort_by([("ts", "ascending"), ("user", "ascending")])


def state_of(root: Path) -> dict:
    """Return the content of `state.json`."""
    return json.loads((root / ".gpuetl/daily/state.json").read_text())


@pytest.mark.part(4)
@pytest.mark.parametrize("rows", [None, 2])
def test_four_days_are_as_one_run_over_them(days, tmp_path, engine, rows):
    """Each leaves one file, and the state names the last one."""
    for day in range(4):
        done = run(tmp_path, day, engine=engine, options=RunOptions(partition_rows=rows))
    assert_tables_equal(written(tmp_path), expected(days))
    (entry,) = state_of(tmp_path)["windows"].items()
    assert entry[0] == "stage 'totals', step 2"
    assert entry[1]["rows"] == 5
    assert [path.name for path in (tmp_path / ".gpuetl/daily/windows").iterdir()] == [Path(entry[1]["files"][0]).name]
    assert "stage 'totals', step 2: window state of 5 rows" in "\n".join(done.report.notes)


def test_reports_count_the_rows_of_the_run_alone(days, tmp_path, engine):
    """The rows of the state are not among those that came in."""
    for day in range(2):
        done = run(tmp_path, day, engine=engine, options=RunOptions(partition_rows=2))
    (stage,) = (one for one in done.report.stages if one.kind == "stage")
    assert [(step.verb, step.rows_in, step.rows_out) for step in stage.steps] == [("filter", 9, 9), ("window", 9, 9)]
    assert [(one.name, one.rows) for one in stage.inputs] == [("events", 9)]


def test_a_state_of_one_engine_is_read_by_another(days, tmp_path, engine):
    for day in range(4):
        run(tmp_path, day, engine=engine if day % 2 else "pandas")
    assert_tables_equal(written(tmp_path), expected(days))


def test_a_run_that_fails_leaves_the_state(days, tmp_path):
    """Of its own sink, of a rule, or of a late row."""
    run(tmp_path, 0)
    before = state_of(tmp_path)
    with pytest.raises(RunFailed, match="comes before the last row of its group"):
        run(tmp_path, 0)
    held = pipeline_text(more="    expect:\n      - that: total < 3\n")
    with pytest.raises(Exception, match="total < 3"):
        run(tmp_path, 1, held)
    assert state_of(tmp_path) == before
    run(tmp_path, 1)
    assert_tables_equal(written(tmp_path), expected(days[:2]))


KILLED = """
import os, sys
from pathlib import Path
from gpuetl import load
from gpuetl.places.local import staged_sink
from gpuetl.run import window_run

def killed(*args, **keys):
    os.kill(os.getpid(), 9)

if sys.argv[2] == "before the file":
    window_run.written_entry = killed
else:
    from gpuetl.io import commit
    from gpuetl.executors import committing
    committing.commit_sinks = killed
load(Path(sys.argv[1]) / "daily.yaml").run({"day": 1}, engine="pandas")
"""


@pytest.mark.part(3)
@pytest.mark.parametrize("when", ["before the file", "before the commit"])
def test_a_run_that_is_killed_before_its_commit_leaves_the_old_state(days, tmp_path, when):
    (tmp_path / "daily.yaml").write_text(pipeline_text())
    run(tmp_path, 0)
    before = state_of(tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), when], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    assert state_of(tmp_path) == before
    run(tmp_path, 1)
    run(tmp_path, 2)
    assert_tables_equal(written(tmp_path), expected(days[:3]))
    assert len(list((tmp_path / ".gpuetl/daily/windows").iterdir())) == 1


def test_a_run_that_writes_nothing_reads_the_state_and_leaves_it(days, tmp_path):
    run(tmp_path, 0)
    before = state_of(tmp_path)
    found = run(tmp_path, 1, write=False, keep="totals")["totals"].to_arrow()
    assert found["n"].to_pylist() == expected(days[:2]).slice(9)["n"].to_pylist() or max(found["n"].to_pylist()) > 2
    assert state_of(tmp_path) == before


@pytest.mark.parametrize(
    ("window", "filter_", "was", "now"),
    [
        (WINDOW.replace("lag(x)", "'lag(x, 2)'"), "x < 1000", "window column before = lag(x): int64", "window column before = lag(x, 2): int64"),
        (WINDOW.replace("by: user, ", ""), "x < 1000", "window by user: int64", "window by all rows"),
        (WINDOW, "x < 999", "filter x < 1000", "filter x < 999"),
    ],
)  # fmt: skip
def test_a_state_of_another_computation_is_refused(days, tmp_path, window, filter_, was, now):
    run(tmp_path, 0)
    with pytest.raises(InvalidPipeline) as caught:
        run(tmp_path, 1, pipeline_text(window, filter_))
    assert f"was: {was}" in str(caught.value)
    assert f"is: {now}" in str(caught.value)
    assert "run with --full-refresh, or undo the change" in str(caught.value)


def test_a_window_that_is_gone_is_refused(days, tmp_path):
    """Its groups would lack the rows of the runs without it, if it came back."""
    more = "      - window: {order_by: ts, columns: {m: row_number()}, state: keep}\n"
    run(tmp_path, 0, pipeline_text(more=more))
    with pytest.raises(
        InvalidPipeline, match="there is a state of stage 'totals', step 3 from earlier runs, and no such window"
    ):
        run(tmp_path, 1)


def test_a_new_window_starts_with_the_run(days, tmp_path):
    """Which a note says."""
    run(tmp_path, 0)
    done = run(
        tmp_path, 1, pipeline_text(more="      - window: {order_by: ts, columns: {m: row_number()}, state: keep}\n")
    )
    assert (
        "stage 'totals', step 3 has no state from earlier runs: it starts with the rows of this run"
        in done.report.notes
    )


def test_a_step_that_has_moved_keeps_its_state(days, tmp_path):
    """Its name is another one, and it computes the same."""
    for day in range(3):
        text = pipeline_text() if day < 1 else pipeline_text().replace("totals", "sums")
        done = run(tmp_path, day, text)
        assert ("stage 'sums', step 2 takes the window state of stage 'totals', step 2, which computed the same"
                in done.report.notes) is (day == 1)  # fmt: skip
    assert_tables_equal(written(tmp_path), expected(days[:3]))


def test_other_columns_of_a_source_do_not_matter(days, tmp_path):
    run(tmp_path, 0)
    pq.write_table(days[1].append_column("more", days[1]["x"]), tmp_path / "in/1.parquet")
    run(tmp_path, 1)
    assert state_of(tmp_path)["version"] == 2


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), r"the state of stage 'totals', step 2: it is gone"),
        (lambda path: path.write_bytes(b"ARROW1"), "it is damaged, or another file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "it is damaged, or another file"),
        (lambda path: pq.write_table(pa.table({"x": [1]}), path), "it is damaged, or another file"),
    ],
)
def test_a_state_that_is_damaged(days, tmp_path, damage, message):
    run(tmp_path, 0)
    (file,) = (tmp_path / ".gpuetl/daily/windows").iterdir()
    damage(file)
    with pytest.raises(RunFailed, match=message):
        run(tmp_path, 1)


def test_a_file_of_another_window(days, tmp_path):
    """It can be read, and is not the one that `state.json` names."""
    run(tmp_path, 0)
    (file,) = (tmp_path / ".gpuetl/daily/windows").iterdir()
    (tmp_path / ".gpuetl/daily/state.json").write_text(
        (tmp_path / ".gpuetl/daily/state.json").read_text().replace('"rows": 5', '"rows": 4')
    )
    with pytest.raises(
        RunFailed, match=f"{file.name} is not the state of stage 'totals', step 2 that state.json names"
    ):
        run(tmp_path, 1)


def test_sources_that_give_each_run_the_same_rows(days, tmp_path):
    text = pipeline_text().replace("${params.day}", "0")
    found = [str(one) for one in loads(text, tmp_path).plan({"day": 0}).warnings]
    assert found[0].startswith(
        "pipeline.yaml:11:9: stage 'totals', step 2 keeps its state, and each run reads the same rows of source 'events'"
    )
    assert not loads(text.replace("x < 1000", "x < $day"), tmp_path).plan({"day": 0}).warnings
    assert not loads(pipeline_text(), tmp_path).plan({"day": 0}).warnings


def test_rows_of_a_window_are_not_kept_under_a_key(days, tmp_path):
    """Of its plan and its files: the state decides, too."""
    plan = loads(pipeline_text(), tmp_path).plan({"day": 0})
    keys = result_keys(plan.stages.values())
    window = plan.stages["totals"]
    assert id(window) not in keys
    assert id(window.inputs[0]) in keys or not keys  # files that are new have no keys yet


def test_a_checkpoint_is_of_one_state(days, tmp_path):
    """A run that failed after it is resumed from it; a later run does not take it for its own."""
    text = pipeline_text().replace("    from: events", "    checkpoint: true\n    from: events")
    run(tmp_path, 0, text)
    held = text.replace("sinks:", "    expect:\n      - that: total < 3\nsinks:")
    with pytest.raises(Exception, match="total < 3"):
        run(tmp_path, 1, held)
    done = run(tmp_path, 1, text, resume=True)
    assert [one.state for one in done.report.checkpoints] == ["reused"]
    run(tmp_path, 2, text, resume=True)
    assert_tables_equal(written(tmp_path), expected(days[:3]))


NEW_FILES = "incremental: {new_files: true}"
WATERMARK = "incremental: {watermark: ts}"


def incremental_text(incremental: str, mode: str = "append") -> str:
    """Return a pipeline that reads what is new."""
    text = pipeline_text().replace('in/${params.day}.parquet"', f'in", {incremental}').replace(", run_key: day", "")
    return text.replace("required: true", "default: 0").replace("mode: append", f"mode: {mode}")


@pytest.mark.parametrize("incremental", [NEW_FILES, WATERMARK])
def test_incremental_sources_feed_a_window(days, tmp_path, incremental):
    """Files come one after another; a run without a new one changes nothing."""
    text, later = incremental_text(incremental), tmp_path / "later"
    (tmp_path / "in").rename(later)
    (tmp_path / "in").mkdir()
    for day in range(4):
        (later / f"{day}.parquet").rename(tmp_path / f"in/{day}.parquet")
        run(tmp_path, day, text)
        if day == 2:
            before = state_of(tmp_path)
            run(tmp_path, day, text)
            assert state_of(tmp_path) == before
    assert_tables_equal(written(tmp_path), expected(days))
    assert not loads(text, tmp_path).plan().warnings


def test_a_full_refresh_builds_the_state_anew(days, tmp_path):
    """From all files, also for a window that has changed, and without one that is gone."""
    more = "      - window: {order_by: ts, columns: {m: row_number()}, state: keep}\n"
    old = incremental_text(NEW_FILES, "overwrite")
    for day in range(4):
        (tmp_path / f"in/{day}.parquet").rename(tmp_path / f"{day}.parquet")
    for day in range(3):
        (tmp_path / f"{day}.parquet").rename(tmp_path / f"in/{day}.parquet")
        text = old.replace("sinks:", f"{more}sinks:").replace("lag(x)", "lag(ts)")
        run(tmp_path, day, text.replace("overwrite", "append"))
    (tmp_path / "3.parquet").rename(tmp_path / "in/3.parquet")
    with pytest.raises(InvalidPipeline, match="the window state of earlier runs is of another computation"):
        run(tmp_path, 3, old)
    run(tmp_path, 3, old, options=RunOptions(full_refresh=True))
    assert_tables_equal(written(tmp_path), expected(days))
    assert list(state_of(tmp_path)["windows"]) == ["stage 'totals', step 2"]


def test_tests_in_a_pipeline_file_start_without_a_state(days, tmp_path):
    """Whatever runs have left."""
    run(tmp_path, 0)
    tests = """\
tests:
  - name: totals
    params: {day: 0}
    given: {events: [{ts: 2024-01-01 00:00:00, user: 0, x: 1}, {ts: 2024-01-02 00:00:00, user: 0, x: 2}]}
    expect: {totals: [{n: 1, total: 1}, {n: 2, total: 3}]}
"""
    (result,) = loads(pipeline_text(more="") + tests, tmp_path).test(engine="pandas").results
    assert result.passed, result


def test_the_plan_says_that_the_state_is_kept(days, tmp_path):
    assert ", state kept" in loads(pipeline_text(), tmp_path).explain({"day": 0}, engine="pandas")


def test_yaml_is_written_as_it_was_read(tmp_path, days):
    text = pipeline_text(WINDOW[:-1] + ", late_rows: drop, forget: interval '90 days'}")
    pipeline = loads(text, tmp_path)
    assert loads(pipeline.to_yaml(), tmp_path).spec == pipeline.spec
