"""What users of other tools write first: one message for one mistake, and what to write instead."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl

HEAD = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\n"
SINK = "sinks: {o: {from: s, parquet: out, mode: overwrite}}\n"


def stage(*lines: str) -> str:
    return HEAD + "stages:\n  s:\n" + "".join(f"    {line}\n" for line in lines) + SINK


def step(text: str) -> str:
    return stage("from: t", "steps:", f"  - {text}")


CASES = {
    "a misspelt key that a stage needs": (
        stage("form: t", "steps: [limit: 1]"), "6:5: stage 's': unknown key 'form'", "Did you mean 'from'?",
    ),
    "a misspelt list of steps": (
        stage("from: t", "step: [limit: 1]"), "7:5: stage 's': unknown key 'step'", "Did you mean 'steps'?",
    ),
    "a misspelt format": (
        HEAD.replace("parquet:", "parqet:"), "3:15: source 't': unknown key 'parqet'", "Did you mean 'parquet'?",
    ),
    "a format that there is not": (
        step("limit: 1").replace("parquet: out", "xml: out"), "9:22: sink 'o': unknown key 'xml'", "Keys: parquet, csv,",
    ),
    "steps without dashes": (
        stage("from: t", "steps:", "  filter: x > 1", "  limit: 1"), "8:7: stage 's': needs steps: a list",
        "Begin each step with a dash: - filter: …",
    ),
    "a rule that is no condition for a reason": (
        stage("from: t", "steps: [limit: 1]", "expect: [{that: x = NULL}]"),
        "8:21: stage 's': 'x = NULL' is true for no row", "Write x IS NULL.",
    ),
    "an aggregate in a rule": (
        stage("from: t", "steps: [limit: 1]", "expect: [{that: count(*) > 1}]"),
        "8:21: stage 's': count is an aggregate function and cannot stand here", "",
    ),
    "a reference with a dollar sign": (
        step("with_columns: {r: $run.id}"), "8:27: stage 's', step 1: '$run.id': columns have plain names",
        "Write run_id().",
    ),
    "a parameter as in a path": (
        step("filter: x > params.least"), "8:21: stage 's', step 1: 'params.least': columns have plain names",
        "Write $least.",
    ),
    "all columns": (
        step('select: ["*", x]'), "8:18: stage 's', step 1: unknown column '*'",
        "with_columns keeps all columns, and drop leaves some out.",
    ),
    "Python's col": (
        step("filter: col('x') > 1"), "8:17: stage 's', step 1: unknown function 'col'", "Write the name alone: x > 1.",
    ),
    "pyspark's col": (
        step("filter: F.col('x') > 1"), "8:17: stage 's', step 1: 'F.col()': SQL has no methods",
        "Write the name alone: x > 1.",
    ),
    "pandas' nunique": (
        step("aggregate: {columns: {n: nunique(x)}}"), "8:34: stage 's', step 1: unknown function 'nunique'",
        "Write count(DISTINCT x).",
    ),
    "an unknown aggregate with an order": (
        step('aggregate: {columns: {n: "colect(x ORDER BY x)"}}'), "8:35: stage 's', step 1: unknown function 'colect'", "",
    ),
    "a stage that reads what it rejects": (
        stage("from: t", "steps: [union: s.rejected]", "expect: [{not_null: x, on_fail: quarantine}]"),
        "6:11: stage 's': the stages go in a circle: s → s",
        "A stage cannot read its own rows, or those that it rejects.",
    ),
    "a space that is none": (
        stage("from:\u00a0t", "steps: [limit: 1]"), "6:5: 'from:\u00a0t' is not a key and a value",
        "Write a plain space after the colon.",
    ),
    "a list that is not closed": (
        HEAD + "stages: [\n", "4:9: the file ends in the middle of a list or map",
        "Close each '[' with ']' and each '{' with '}'.",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a source, in which commands run."""
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_reported_once_with_what_to_write(case):
    text, first, hint = CASES[case]
    Path("p.yaml").write_text(text)
    refused = gpuetl("validate", "p.yaml")
    assert refused.exit_code == 2
    lines = refused.stderr.splitlines()
    assert lines[0].startswith(f"p.yaml:{first}"), refused.stderr
    assert sum(line.startswith("p.yaml:") for line in lines) == 1, refused.stderr
    assert hint in lines[-1]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (gzip.compress(b"x\n1\n", mtime=0), "a gzip file"),
        (b"PK\x03\x04rest", "a ZIP file, such as a workbook"),
        (b"\x28\xb5\x2f\xfd\x00", "a Zstandard file"),
        (b"PAR1\x15\x00", "a Parquet file"),
    ],
    ids=["gzip", "zip", "zstd", "parquet"],
)
def test_a_csv_file_of_another_format_is_named(folder, content, what):
    """Not as text in a wrong encoding."""
    (folder / "c.csv").write_bytes(content)
    (folder / "p.yaml").write_text("gpuetl: 1\nname: p\nsources: {c: {csv: c.csv, schema: {x: int64}}}\n")
    refused = gpuetl("validate", "p.yaml")
    assert refused.exit_code == 2
    assert f"source 'c': c.csv is {what}, not CSV text" in refused.stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["clean", "recover"])
def test_an_empty_path_is_refused(command):
    """As of a variable of a script that is not set: it is not this folder."""
    refused = gpuetl(command, "")
    assert refused.exit_code == 2
    assert "a path is empty" in refused.stderr
