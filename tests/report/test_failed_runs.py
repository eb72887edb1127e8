"""The reports of runs that fail: they say so, and never stay those of an earlier run."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import ContractBroken, RunFailed, load
from gpuetl.report.run_report import seconds_text

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
    assert (report["sinks"], report["stages"]) == ([], [])
    if engine == "pandas":
        assert gpuetl(*arguments, page).exit_code == 1
        assert f"<p class='failed'>Failed: {file}:8:27: stage &#x27;kept&#x27;" in page.read_text()
        assert "Row 2 of" in page.read_text()
        assert "<h2>Sinks</h2>" not in page.read_text()


def test_a_rule_that_fails_stands_at_the_top_of_the_page(file, tmp_path):
    """With the rows that break it; ties among them are no remark on the user's steps."""
    pq.write_table(pa.table({"x": [1, 1]}), tmp_path / "rows.parquet")
    done = gpuetl("run", file, "--engine", "pandas", "--report", tmp_path / "r.html")
    assert done.exit_code == 4
    assert "rows tie" not in done.output
    page = (tmp_path / "r.html").read_text()
    print(page[page.index("class='failed") :][:300])
    assert "<p class='failed'>Failed: 1 expectation failed; no sink has changed" in page
    assert page.index("class='failed'") < page.index("<h2>Stages</h2>")
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
    assert "." in line.split()[2]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.0, "0.000"), (1.4e-05, "< 0.001"), (0.0005, "0.001"), (0.0227753, "0.023"), (4321.5, "4,321.500")],
)
def test_seconds_are_shown_to_the_millisecond(seconds, text):
    """And never as 1.4e-05."""
    assert seconds_text(seconds) == text
