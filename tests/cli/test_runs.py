"""`gpuetl runs`: lists of runs, compared with the median of earlier ones; one run; two runs compared."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl.report.manifests import RunFile
from gpuetl.report.run_history import LEAST_EARLIER, RunSummary, compared, outlier, summaries
from gpuetl.state.files import LocalFiles

TEXT = """\
gpuetl: 1
name: small
params: {least: {type: int64, default: 0}}
sources: {rows: {parquet: rows.parquet}}
stages:
  kept: {from: rows, steps: [{filter: x > $least}, {with_columns: {y: CAST(x AS int8)}}]}
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
"""


@pytest.fixture
def file(tmp_path):
    """A pipeline, and rows for which it runs."""
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    write_rows(tmp_path, [1, 2])
    return path


def write_rows(folder, rows):
    """Write the rows of the source."""
    pq.write_table(pa.table({"x": pa.array(rows, pa.int64())}), folder / "rows.parquet")


def run(file, *arguments):
    """Run the pipeline; return its manifest."""
    return json.loads(gpuetl("run", file, "--engine", "pandas", "--json", "--quiet", *arguments).stdout)


def lines_of(done):
    """Return the lines of a table without spaces at their ends."""
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def test_runs_are_listed_the_newest_first(file, tmp_path):
    first = run(file)
    write_rows(tmp_path, [300])
    second = run(file)
    done = gpuetl("runs", file)
    assert done.exit_code == 0
    head, columns, _, failed, good = lines_of(done)
    assert head == f"small: 2 runs in {tmp_path}/.gpuetl/p"
    assert columns.split() == ["start", "run", "status", "code", "engine", "time", "rows", "in", "rows", "out", "read"]
    assert failed.split()[2:6] == [second["run_id"][-8:], "failed", "GE2002", "pandas"]
    assert good.split()[2:5] == [first["run_id"][-8:], "done", "pandas"]
    assert good.split()[7:9] == ["2", "2"]
    assert all(len(line) <= 100 for line in done.stdout.replace(str(tmp_path), "").splitlines())
    (only,) = json.loads(gpuetl("runs", file, "--failed", "--json").stdout)["pipelines"][0]["runs"]
    assert only["run_id"] == second["run_id"]
    (last,) = json.loads(gpuetl("runs", file, "--last", "1", "--json").stdout)["pipelines"][0]["runs"]
    assert last["run_id"] == second["run_id"]


def test_a_pipeline_without_runs(file, tmp_path):
    assert gpuetl("runs", file).stdout == f"small: 0 runs in {tmp_path}/.gpuetl/p\n"


def test_without_a_file_all_pipelines_below_the_folder_are_listed(file, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "q.yaml").write_text(TEXT.replace("rows.parquet", "../rows.parquet"))
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "h.yaml").write_text(TEXT.replace("rows.parquet", "../rows.parquet"))
    for one in (file, tmp_path / "other" / "q.yaml", tmp_path / ".hidden" / "h.yaml"):
        run(one)
    monkeypatch.chdir(tmp_path)
    heads = [line for line in lines_of(gpuetl("runs")) if " in " in line and line.count(":") == 1 and "run" in line]
    assert [head for head in heads if not head.startswith("start")] == [
        "p: 1 run in .gpuetl/p",
        "other/q: 1 run in other/.gpuetl/q",
    ]
    monkeypatch.chdir(tmp_path / "other")
    assert [one["name"] for one in json.loads(gpuetl("runs", "--json").stdout)["pipelines"]] == ["q"]
    (tmp_path / "none").mkdir()
    monkeypatch.chdir(tmp_path / "none")
    assert gpuetl("runs").stdout == "no runs: no folder below this one has a folder .gpuetl\n"


def test_the_runs_of_a_file_that_is_damaged_now_are_listed(file):
    run(file)
    file.write_text("gpuetl: 1\n a: [")
    done = gpuetl("runs", file)
    assert "p: 1 run" in done.stdout
    assert "these are the runs in the default state folder" in done.stderr


def test_one_run_is_shown(file, tmp_path):
    data = run(file, "-p", "least=1")
    for name in (data["run_id"], data["run_id"][-8:], "last"):
        shown = gpuetl("runs", file, name).stdout
        assert f"run:        {data['run_id']}\npipeline:   small\nstatus:     done, exit code 0\n" in shown
        assert "parameters: least=1" in shown
        assert f"wrote out: 1 row, {data['sinks'][0]['file_bytes']} B in 1 file: {tmp_path}/out.parquet" in shown
    assert "1 filter" in shown
    assert json.loads(gpuetl("runs", file, "last", "--json").stdout) == data


def test_a_failed_run_is_shown_with_its_error(file, tmp_path):
    write_rows(tmp_path, [300])
    run(file)
    shown = gpuetl("runs", file, "last").stdout
    assert "status:     failed, exit code 1" in shown
    assert "error: " in shown
    assert "has no result" in shown


def test_a_run_that_is_not_there_is_an_error(file):
    data = run(file)
    done = gpuetl("runs", file, "ffff")
    assert done.exit_code == 2
    assert "there is no run 'ffff' in" in done.stderr
    assert f"The newest runs: {data['run_id']}." in done.stderr


def test_an_end_of_several_ids_is_an_error(file, tmp_path):
    files = LocalFiles(tmp_path / ".gpuetl" / "p")
    for run_id in ("20260101T000000-aa", "20260102T000000-ba"):
        files.write(f"runs/{run_id}.json", b"{}")
    assert "2 runs have ids that end in 'a'" in gpuetl("runs", file, "a").stderr
    assert "run 20260101T000000-aa cannot be shown: its manifest is damaged" in gpuetl("runs", file, "aa").stderr
    assert " unreadable " in gpuetl("runs", file).stdout


def test_wrong_arguments_are_errors(file):
    assert "RUN and --compare cannot be given together" in gpuetl("runs", file, "x", "--compare", "a", "b").stderr
    assert "--compare needs FILE" in gpuetl("runs", "--compare", "a", "b").stderr
    assert "'0' is not a whole number from 1" in gpuetl("runs", file, "--last", "0").stderr


def test_two_runs_are_compared(file, tmp_path):
    first = run(file)
    file.write_text(TEXT.replace("x > $least", "x > $least AND x < 3"))
    write_rows(tmp_path, [1, 2, 3])
    second = run(file, "-p", "least=1")
    done = gpuetl("runs", file, "--compare", first["run_id"][-8:], "last")
    assert done.exit_code == 0
    lines = [" ".join(line.split()) for line in lines_of(done)]
    assert lines[:2] == [f"A: {first['run_id']}", f"B: {second['run_id']}"]
    assert "least 0 1" in lines
    assert "rows read 2 3 +50.0 %" in lines
    assert "kept 1 filter 2 1 -50.0 %" in lines
    assert "out write 2 1 -50.0 %" in lines
    text = done.stdout
    assert f"--- {file} ({first['run_id']})\n+++ {file} ({second['run_id']})\n" in text
    assert "-  kept: {from: rows, steps: [{filter: x > $least}," in text
    assert "+  kept: {from: rows, steps: [{filter: x > $least AND x < 3}," in text
    data = json.loads(gpuetl("runs", file, "--compare", first["run_id"], second["run_id"], "--json").stdout)
    assert data["params"] == [{"what": "least", "before": "0", "after": "1"}]
    assert {"stage": "out", "step": "write", "before": 2, "after": 1} in data["rows"]
    assert [one["what"] for one in data["facts"]] == ["fingerprint"]
    assert data["versions"] == []


def test_the_same_text_is_said_to_be_the_same(file):
    run(file)
    run(file)
    ids = [one["run_id"] for one in json.loads(gpuetl("runs", file, "--json").stdout)["pipelines"][0]["runs"]]
    assert gpuetl("runs", file, "--compare", *ids).stdout.endswith("the pipeline's text is the same\n")


def test_far_numbers_are_marked(file, tmp_path):
    for rows in (100, 101, 99, 100, 102, 10):
        write_rows(tmp_path, [1 + number % 100 for number in range(rows)])
        run(file)
    done = gpuetl("runs", file)
    first, *others = [line for line in lines_of(done) if " done " in line]
    assert first.split().count("!") >= 2
    assert all(line.count("!") == 0 or "ms !" in line or "s !" in line for line in others)
    assert "rows out 10 (-90 %), median of 5 runs 100" in done.stdout
    assert "MAD" in done.stdout
    (newest, *_) = json.loads(gpuetl("runs", file, "--json").stdout)["pipelines"][0]["runs"]
    assert {one["what"]: one["median"] for one in newest["outliers"] if one["what"] != "time"} == {
        "rows in": 100.0, "rows out": 100.0,
    }  # fmt: skip


def summary(rows, seconds=1.0, status="done", pipeline="p", writes=True):
    """Return a run."""
    return RunSummary("r", pipeline, status, seconds=seconds, rows_in=rows, rows_out=rows, writes=writes)


@pytest.mark.parametrize(
    ("value", "others", "is_far"),
    [
        (130, [100, 100, 100, 100, 100], True),
        (120, [100, 100, 100, 100, 100], False),  # 20 %
        (130, [80, 90, 100, 110, 120], False),  # 3 × 1.4826 × 10
        (145, [80, 90, 100, 110, 120], True),
        (0, [100, 101, 99, 100, 100], True),
        (5, [0, 0, 0, 0, 0], True),
        (0, [0, 0, 0, 0, 0], False),
    ],
)
def test_an_outlier_is_beyond_the_spread_and_a_fifth(value, others, is_far):
    assert bool(outlier("rows in", [value, *others])) == is_far


def test_times_differ_by_more_than_a_second():
    assert outlier("time", [1.5, 0.6, 0.6, 0.6, 0.6, 0.6]) is None
    assert outlier("time", [1.7, 0.6, 0.6, 0.6, 0.6, 0.6])


def test_a_run_is_compared_with_successful_runs_of_its_own_that_write():
    enough = [summary(100)] * LEAST_EARLIER
    assert compared(summary(10), enough).outliers
    assert not compared(summary(10), enough[1:]).outliers
    assert not compared(summary(10, status="failed"), enough).outliers
    assert not compared(summary(10, writes=False), enough).outliers
    for other in (summary(100, status="failed"), summary(100, pipeline="q"), summary(100, writes=False)):
        assert not compared(summary(10), [other, *enough[1:]]).outliers


def test_a_manifest_of_a_run_that_did_not_begin_has_no_rows():
    data = {
        "schema_version": 3, "status": "failed", "started": 1.0, "pipeline": "p", "engine": "x", "duration_s": 0.1,
        "declared": [], "stages": [], "sinks": [], "failure": {"code": "GE1003"}, "exit_code": 2,
    }  # fmt: skip
    (found,) = summaries([RunFile("r", data)])
    assert (found.rows_in, found.rows_out, found.input_bytes, found.code) == (None, None, None, "GE1003")


def test_the_last_of_two_runs_in_one_second_is_the_one_that_began_later(file):
    first, second = run(file), run(file)
    folder = file.parent / ".gpuetl" / "p" / "runs"
    for data, run_id in ((first, "20260101T020000-ffffffff"), (second, "20260101T020000-00000000")):
        text = (folder / f"{data['run_id']}.json").read_text()
        (folder / f"{data['run_id']}.json").unlink()
        (folder / f"{run_id}.json").write_text(text.replace(data["run_id"], run_id))
    done = gpuetl("runs", file, "last", "--json")
    assert json.loads(done.stdout)["run_id"] == "20260101T020000-00000000"
