"""`gpuetl show` and `gpuetl graph`: looks at a pipeline that change nothing."""

import subprocess
import sys
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl

TEXT = """\
gpuetl: 1
name: shop
params: {least: {type: int64, default: 1}}
profiles: {all: {params: {least: 0}}}
sources:
  sales: {parquet: sales.parquet}
  broken: {csv: broken.csv, schema: {x: int64}}
stages:
  clean:
    from: sales
    steps:
      - filter: x >= $least
    expect:
      - not_null: [region]
      - {name: small, that: x < 3, on_fail: quarantine}
  top:
    from: clean
    steps:
      - sort: x desc
  other:
    from: broken
    steps:
      - limit: $least
sinks:
  out: {from: top, csv: out.csv}
  bad: {from: clean.rejected, csv: bad.csv}
  rest: {from: other, csv: rest.csv}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPUETL_PROFILE", raising=False)
    rows = {
        "region": ["EU", None, "AS", "US"],
        "x": [0, 1, 2, 9],
        "when": pa.array([1, 2, 3, 4], pa.timestamp("us", "UTC")),
    }
    pq.write_table(pa.table(rows), "sales.parquet")
    (tmp_path / "broken.csv").write_text("x\nno number\n")
    (tmp_path / "p.yaml").write_text(TEXT)
    return tmp_path / "p.yaml"


def shown(*arguments):
    done = gpuetl("show", "p.yaml", *arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    types, rows = done.stdout.split("\n", 3)[:3], done.stdout.split("\n")[6:]
    return types, [line.split() for line in rows if line.strip()]


def test_columns_and_first_rows_of_a_stage_are_shown_and_no_sink_is_written(file):
    """The stage breaks a rule, and another source cannot be read: neither matters."""
    types, rows = shown("top", "--engine", "pandas")
    assert types == ["region  string", "x       int64", "when    timestamp[UTC]"]
    assert [row[-5:][0] if len(row) < 4 else row[1] for row in rows] == ["2", "1"]
    assert not list(file.parent.glob("*.csv")) or [path.name for path in file.parent.glob("*.csv")] == ["broken.csv"]


def test_the_number_of_rows_is_chosen(file):
    assert len(shown("sales", "--rows", "3", "--engine", "pandas")[1]) == 3
    assert shown("sales", "--rows", "0", "--engine", "pandas")[1] == []


def test_profiles_and_parameters_count(file):
    assert len(shown("clean", "--engine", "pandas")[1]) == 2
    assert len(shown("clean", "--engine", "pandas", "--profile", "all")[1]) == 3
    assert len(shown("clean", "--engine", "pandas", "-p", "least=2")[1]) == 1


def test_rows_in_quarantine_are_shown(file):
    done = gpuetl("show", "p.yaml", "clean.rejected", "--engine", "pandas")
    assert done.exit_code == 0
    assert "_rule" in done.stdout
    assert "small" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["tpo"],
            "unknown source or stage 'tpo'\nSources and stages: broken, clean, other, sales, top. Did you mean 'top'?",
        ),
        (["top", "--rows", "-1"], "'-1' is not a whole number from 0"),
        (["other"], "column 'x': 'no number' is not a valid int64"),
    ],
)
def test_what_cannot_be_shown_is_an_error(file, arguments, message):
    done = gpuetl("show", "p.yaml", *arguments, "--engine", "pandas")
    assert (done.exit_code in (1, 2), message in done.stderr) == (True, True), done.stderr


def test_a_wrong_pipeline_is_reported_first(file):
    file.write_text(TEXT.replace("x desc", "y desc"))
    done = gpuetl("show", "p.yaml", "top", "--engine", "pandas")
    assert done.exit_code == 2
    assert "unknown column 'y'" in done.stderr


def test_little_is_read_of_a_large_file(file):
    pq.write_table(
        pa.table(
            {
                "region": ["a"] * 100_000,
                "x": range(100_000),
                "when": pa.array(range(100_000), pa.timestamp("us", "UTC")),
            }
        ),
        "sales.parquet",
        row_group_size=1000,
    )
    assert len(shown("sales", "--rows", "5", "--engine", "pandas")[1]) == 5


def test_a_graph_is_mermaid_or_a_picture(file):
    text = gpuetl("graph", "p.yaml").stdout
    assert text.startswith("flowchart LR\n")
    for word in ("sales", "clean", "top", "limit $least", "csv, error"):
        assert word in text
    assert text == gpuetl("graph", "p.yaml", "--mermaid").stdout
    picture = ElementTree.fromstring(gpuetl("graph", "p.yaml", "--svg").stdout)
    assert picture.tag.endswith("svg")
    words = {element.text for element in picture.iter() if element.text}
    assert {"sales", "clean", "top", "out"} <= words
    assert not (file.parent / "out.csv").exists()


def test_a_graph_of_a_wrong_pipeline_is_an_error(file):
    file.write_text(TEXT.replace("from: clean\n", "from: claen\n"))
    assert "unknown source or stage 'claen'" in gpuetl("graph", "p.yaml").stderr


def test_a_graph_needs_no_files(file):
    (file.parent / "sales.parquet").unlink()
    assert gpuetl("graph", "p.yaml").exit_code == 2
    assert gpuetl("graph", "p.yaml", "--no-files").stdout.startswith("flowchart LR\n")


def test_the_commands_work_as_processes(file):
    for command in (["show", "p.yaml", "top", "--engine", "pandas"], ["graph", "p.yaml", "--svg"]):
        done = subprocess.run([sys.executable, "-m", "gpuetl", *command], check=True, capture_output=True, text=True)
        assert done.stdout
        assert done.stderr == ""
