"""Runs that write no sink: `run(write=False)` and `gpuetl run --no-write`."""

import json

import pytest

from command import gpuetl
from gpuetl import col
from gpuetl.testing import assert_tables_equal
from tables import table

TEXT = """
gpuetl: 1
name: dry
sources: {rows: {csv: rows.csv, schema: {x: int64}}}
stages:
  kept: {from: rows, steps: [{filter: x > 1}, {join: {with: rows, on: x, how: semi}}]}
  other: {from: rows, steps: [{limit: 1}]}
sinks:
  out: {from: kept, parquet: out.parquet}
  more: {from: other, csv: more}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n2\n3\n")
    path = tmp_path / "dry.yaml"
    path.write_text(TEXT)
    return path


def test_the_last_stages_are_computed_and_no_sink_is_written(source, pipeline, tmp_path, engine):
    some = source(table({"x": "int64"}, (1,), (2,))).filter(col("x") > 1).stage("some")
    some.write_parquet("out", "out.parquet")
    some.with_columns(y=col("x")).stage("more")
    run = pipeline.run(engine=engine, write=False)
    assert list(run.results) == ["more"]
    assert_tables_equal(run["more"].to_arrow(), table({"x": "int64", "y": "int64"}, (2, 2)))
    assert run.report.sinks == ()
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    assert pipeline.run(engine=engine, keep="some", write=False)["some"].to_arrow().num_rows == 1


def test_without_stages_the_sources_are_kept(source, pipeline):
    source(table({"x": "int64"}, (1,))).write_parquet("out", "out.parquet")
    assert pipeline.run(write=False)["t"].to_arrow().num_rows == 1


def test_the_command_shows_first_rows_of_all_stages(file):
    done = gpuetl("run", file, "--no-write", "--engine", "pandas")
    assert done.exit_code == 0
    assert "first rows of kept" in done.stdout
    assert "first rows of other" in done.stdout
    assert sorted(path.name for path in file.parent.iterdir()) == [".gpuetl", "dry.yaml", "rows.csv"]


def test_steps_are_shown_when_asked_for_and_always_in_reports(file):
    plain = gpuetl("run", file, "--no-write", "--engine", "pandas")
    assert "2 + 3" not in plain.stdout
    assert "3 + 3" in plain.stdout
    assert "2 join" not in plain.stdout
    page, data = file.parent / "run.html", file.parent / "run.json"
    done = gpuetl("run", file, "--steps", "--no-write", "--engine", "pandas", "--report", page)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["kept", "from", "rows", "3"] in lines
    assert ["1", "filter", "3", "2"] in lines
    assert ["2", "join", "2", "rows", "3", "2"] in lines
    cells = '2 join</th><td class="number">2</td><td>rows 3</td><td class="number">2</td>'
    assert cells in page.read_text()
    gpuetl("run", file, "-q", "--no-write", "--engine", "pandas", "--report", data)
    kept = next(stage for stage in json.loads(data.read_text())["stages"] if stage["name"] == "kept")
    assert kept["inputs"] == [
        {"step": 0, "verb": "from", "name": "rows", "rows": 3},
        {"step": 2, "verb": "join", "name": "rows", "rows": 3},
    ]
    assert kept["steps"][0] == {"step": 1, "verb": "filter", "rows_in": 3, "rows_out": 2, "remark": ""}
