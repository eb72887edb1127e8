"""Rows of CSV files that are not as the schema says: an error, null, or quarantine."""

import re
from decimal import Decimal

import pytest

from gpuetl import InvalidPipeline, RunFailed, RunOptions, col, count, loads
from gpuetl.formats import csv_pieces
from messages import without_place
from tables import table

TYPES = {"id": "int64", "amount": "decimal(12,2)", "who": "string"}
DIRTY = 'id,amount,who\n1,1.50,a\n\n2,"12,5","b\nb"\nx,,c\n4,4\n5,5,e,f\n"6",n,""\n7,7.00,"a ""b"""\n'
REJECTED = {"line": "int64", "text": "string", "_rule": "string"}
BAD = [
    (4, '2,"12,5","b\nb"', "amount: '12,5' is not a valid decimal(12,2)"),
    (6, "x,,c", "id: 'x' is not a valid int64"),
    (7, "4,4", "2 fields, expected 3"),
    (8, "5,5,e,f", "4 fields, expected 3"),
    (9, '"6",n,""', "amount: 'n' is not a valid decimal(12,2)"),
]
CLEAN = table(TYPES, (8, 8, "g"), (9, None, None))


@pytest.fixture(params=["\n", "\r\n"], ids=["lf", "crlf"])
def txns(request, pipeline):
    """Declares a source of a dirty file and a clean one."""
    (pipeline.root / "a.csv").write_bytes(DIRTY.replace("\n", request.param).encode())
    (pipeline.root / "b.csv").write_bytes(b"who,amount,id\ng,8,8\n,,9\n")
    return lambda **keys: pipeline.read_csv("txns", "*.csv", TYPES, **keys)


def lf(rows):
    """Return rows whose texts have plain newlines."""
    columns = [rows.column(name).to_pylist() for name in rows.column_names]
    return [
        tuple(v.replace("\r\n", "\n") if isinstance(v, str) else v for v in row) for row in zip(*columns, strict=True)
    ]


@pytest.mark.part(2)
def test_bad_rows_are_set_aside(txns, pipeline, answer, check, request):
    t = txns(on_bad_row="quarantine")
    pipeline.table("txns.rejected").stage("rejects")
    check(t, table(TYPES, (1, Decimal("1.5"), "a"), (7, 7, 'a "b"'), (8, 8, "g"), (9, None, None)))
    check(t.select("who"), table({"who": "string"}, ("a",), ('a "b"',), ("g",), (None,)))
    rejected = answer(pipeline.table("rejects"))
    assert sorted(lf(rejected.select(list(REJECTED)))) == BAD
    assert set(rejected.column("file").to_pylist()) == {str(pipeline.root / "a.csv")}
    assert re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{8}", rejected.column("_run")[0].as_py())


def test_bad_values_are_null(txns, engine, pipeline):
    t = txns(on_bad_row=None).named()
    run = pipeline.run(engine=engine, keep=[t], options=RunOptions(partition_rows=2))
    rows = [
        (1, Decimal("1.5"), "a"),
        (2, None, "b\nb"),
        (None, None, "c"),
        (4, 4, None),
        (5, 5, "e"),
        (6, None, ""),
        (7, 7, 'a "b"'),
    ]
    got = run[t].to_arrow()
    assert sorted(map(str, lf(got))) == sorted(map(str, lf(table(TYPES, *rows, (8, 8, "g"), (9, None, None)))))
    assert list(run.report.warnings) == [
        f"source 'txns': {pipeline.root}/a.csv: values that are not of their type are null: "
        "column 'id': 1 (line 6: 'x'); column 'amount': 2 (line 4: '12,5', line 9: 'n'); "
        "rows with too few fields get nulls: 1 (line 7); rows with too many fields lose the last ones: 1 (line 8)"
    ]


def test_bad_values_of_all_pieces_of_a_file_are_one_warning(engine, pipeline, monkeypatch):
    """There was one for each piece."""
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 100)
    lines = [f"{row},{'n/a' if row % 10 == 3 else row}" for row in range(1, 201)]
    lines[149] = "150"
    (pipeline.root / "s.csv").write_text("id,x\n" + "\n".join(lines) + "\n")
    s = pipeline.read_csv("s", "s.csv", {"id": "int64", "x": "int64"}, on_bad_row=None)
    s.select("id").stage("ids")
    run = pipeline.run(engine=engine, keep=["s", "ids"], options=RunOptions(partition_rows=20))
    assert list(run.report.warnings) == [
        f"source 's': {pipeline.root}/s.csv: values that are not of their type are null: "
        "column 'x': 20 (line 4: 'n/a', line 14: 'n/a', line 24: 'n/a', …); "
        "rows with too few fields get nulls: 1 (line 151)"
    ]


def test_the_first_bad_row_is_reported(txns, engine, pipeline):
    t = txns().named()
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine=engine, keep=[t])
    assert without_place(str(caught.value)) == (
        f"source 'txns': {pipeline.root}/a.csv:4: column 'amount': '12,5' is not a valid decimal(12,2), "
        "which is a number with up to 10 digits before the point and 2 after it\n"
        "2 of the 4 values of the column in this file are not valid.  on_bad_row: quarantine sets such rows aside; "
        "on_bad_row: null reads such values as null."
    )


def test_a_clean_source_has_no_rejected_rows(pipeline, check):
    (pipeline.root / "b.csv").write_text("id,amount,who\n8,8,g\n9,,\n")
    t = pipeline.read_csv("txns", "b.csv", TYPES, on_bad_row="quarantine")
    check(t.rejected.aggregate(n=count()), table({"n": "int64"}, (0,)))
    check(t, CLEAN)


def test_sinks_joins_and_unions_name_the_rejected_rows(pipeline, engine):
    (pipeline.root / "a.csv").write_text("x\n1\nb\nc\n")
    text = """
gpuetl: 1
name: p
sources:
  s: {csv: a.csv, schema: {x: int64}, on_bad_row: quarantine}
stages:
  twice: {from: s.rejected, steps: [union: s.rejected, {join: {with: s.rejected, on: [line, text], how: semi}}]}
sinks:
  rejects: {from: s.rejected, csv: rejects.csv, mode: overwrite}
"""
    run = loads(text, root=pipeline.root).run(engine=engine, keep=["twice"])
    assert sorted(run["twice"].to_arrow().column("text").to_pylist()) == ["b", "b", "c", "c"]
    assert len((pipeline.root / "rejects.csv").read_text().splitlines()) == 3


def test_a_misspelt_quarantine_is_one_problem():
    text = """
gpuetl: 1
name: p
sources: {s: {csv: a.csv, schema: {x: int64}, on_bad_row: quarantine}}
sinks: {rejects: {from: s.rejectd, csv: rejects.csv}}
"""
    with pytest.raises(InvalidPipeline) as caught:
        loads(text).plan()
    (problem,) = caught.value.problems
    assert problem.message == "unknown source or stage 's.rejectd'"
    assert problem.hint == "Sources and stages: s, s.rejected. Did you mean 's.rejected'?"


def test_rejected_rows_of_steps_are_those_of_the_stage_before():
    """A stage of a source that is set aside needs no name of its own."""
    pipeline = loads("gpuetl: 1\nname: p\nsources: {s: {csv: a.csv, schema: {x: int64}, on_bad_row: quarantine}}\n")
    rejected = pipeline.table("s").rejected
    rejected.filter(col("line") > 2).write_parquet("out", "out.parquet")
    assert pipeline.spec.sinks["out"].from_ == "s_rejected_1"
    pipeline.plan()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{csv: a.csv, schema: {x: int64}, on_bad_row: quarantine}", "source 's': bad rows go to s.rejected, and nothing reads it"),
        ("{parquet: a, schema: {x: int64}, on_bad_row: null}", "source 's': on_bad_row is an option of CSV and JSON sources"),
        ("{csv: a.csv, schema: {x: int64}, on_bad_row: drop}", "on_bad_row: takes one of fail, null, quarantine, got 'drop'"),
    ],
)  # fmt: skip
def test_a_quarantine_that_cannot_be_is_reported(source, message):
    with pytest.raises(InvalidPipeline, match=re.escape(message)):
        loads(f"gpuetl: 1\nname: p\nsources: {{s: {source}}}\n").plan()


def test_rejected_rows_of_a_source_without_quarantine_are_reported_with_how_to_have_them():
    text = (
        "gpuetl: 1\nname: p\nsources: {s: {csv: a.csv, schema: {x: int64}}}\nsinks: {o: {from: s.rejected, csv: o}}\n"
    )
    with pytest.raises(
        InvalidPipeline, match=r"'s\.rejected'\n.*\n.*\nSet on_bad_row: quarantine on source 's', or read 's'\."
    ):
        loads(text).plan()


def test_other_bytes_than_utf_8_are_bad_values(pipeline, check):
    (pipeline.root / "a.csv").write_bytes(b"\xef\xbb\xbfs,x\n\xff,1\nb,2\n\xff,2,3\n\xc3\xa9,4\n")
    t = pipeline.read_csv("s", "a.csv", {"s": "string", "x": "int64"}, on_bad_row="quarantine")
    expected = [(2, "\ufffd,1", "s: '\ufffd' is not a valid string"), (4, "\ufffd,2,3", "3 fields, expected 2")]
    check(t.rejected.select(*REJECTED), table(REJECTED, *expected))
    check(t, table({"s": "string", "x": "int64"}, ("b", 2), ("é", 4)))


def test_lines_are_counted_in_a_large_file_with_newlines_in_strings(pipeline):
    """Records of more than Arrow's block, too; a long text is cut short."""
    long = "y" * (3 << 20)
    rows = "".join(f'"a\nb",{x}\n\n' for x in range(5_000))
    (pipeline.root / "a.csv").write_text(f"s,x\n{rows}{long},z\n{rows}c,3,4\n")
    t = pipeline.read_csv("s", "a.csv", {"s": "string", "x": "int64"}, on_bad_row="quarantine")
    run = pipeline.run(engine="pandas", keep=["s", (rejected := t.rejected.stage("r").origin)])
    got = run[rejected].to_arrow()
    assert got.column("line").to_pylist() == [15_002, 30_003]
    assert got.column("text")[0].as_py() == "y" * 2000 + f"… ({len(long) + 2:,} characters)"
    assert run["s"].to_arrow().num_rows == 10_000


def test_a_file_of_one_column_has_empty_lines_as_nulls(pipeline, check):
    (pipeline.root / "a.csv").write_text("x\n1\n\nb\n2,3\n")
    t = pipeline.read_csv("s", "a.csv", {"x": "int64"}, on_bad_row="quarantine")
    expected = [(4, "b", "x: 'b' is not a valid int64"), (5, "2,3", "2 fields, expected 1")]
    check(t.rejected.select(*REJECTED), table(REJECTED, *expected))
    check(t, table({"x": "int64"}, (1,), (None,)))


ADVICE = [
    (
        ["1", "5.0"],
        "int64",
        "The 2 values of the column in this file are valid decimal(18,1): declare x: decimal(18,1).",
    ),
    (["1", "3000000000"], "int32", "The 2 values of the column in this file are valid int64: declare x: int64."),
    (["1", "18446744073709551615"], "int64", "are valid uint64: declare x: uint64."),
    (["1", "1e400", "1e3"], "decimal(9,2)", "1 of the 3 values of the column in this file is not valid."),
    (["1.5", "1e30"], "decimal(9,2)", "are valid float64: declare x: float64."),
    (["1", "n/a"], "int64", "All other values are valid.  If 'n/a' stands for null, add it to the source's nulls."),
    (["1", "foo"], "int64", "1 of the 2 values of the column in this file is not valid.  on_bad_row: quarantine sets"),
    (["2024-01-01", "2024-01-01 10:00:00"], "date", "are valid timestamp: declare x: timestamp."),
    (["yep"], "bool", "The one value of the column in this file is not valid."),
]


@pytest.mark.parametrize(("texts", "dtype", "advice"), ADVICE)
def test_the_next_step_destroys_no_data(pipeline, texts, dtype, advice):
    (pipeline.root / "a.csv").write_text("x\n" + "\n".join(texts))
    pipeline.read_csv("s", "a.csv", {"x": dtype})
    with pytest.raises(RunFailed, match=re.escape(advice)) as caught:
        pipeline.run(engine="pandas", keep=["s"])
    assert "a.csv:" in str(caught.value)
