"""CSV files in pieces: the same rows, lines and errors as at once, wherever a piece begins."""

import gzip
import random

import pytest

from gpuetl import Pipeline, RunFailed, RunOptions, col
from gpuetl.formats import csv_pieces, csv_text
from gpuetl.formats.csv_options import Dialect
from gpuetl.formats.csv_records import CsvRecords

DIALECTS = [
    {}, {"quote": None}, {"escape": "\\"}, {"comment": "#"}, {"escape": "\\", "comment": "#"}, {"skip_rows": 1},
    {"header": False}, {"encoding": "utf-16"},
]  # fmt: skip


MODES = pytest.mark.full(reason="dialects of CSV in pieces, with bad rows left out or in quarantine")
EACH = [
    pytest.param(mode, keys, marks=[MODES] * bool(keys and mode != "fail"), id=f"{mode}-{' '.join(keys) or 'plain'}")
    for mode in ("fail", None, "quarantine")
    for keys in DIALECTS
]


@pytest.mark.part(5)
@pytest.mark.slow
@pytest.mark.parametrize(("mode", "keys"), EACH)
def test_random_files_are_read_in_pieces_as_at_once(pipeline, monkeypatch, pytestconfig, keys, mode):
    draw = random.Random(repr(keys))
    s = pipeline.read_csv("s", "s.csv.gz", {"x": "string", "y": "string"}, on_bad_row=mode, **keys)
    t = pipeline.read_csv("t", "t.csv", {"x": "string", "y": "string"}, on_bad_row=mode, **keys)
    rejected = [one.rejected.stage(f"rejected_{one.origin}").origin for one in (s, t)] if mode == "quarantine" else []

    def outcome(piece_bytes):
        monkeypatch.setattr(csv_pieces, "PIECE_BYTES", piece_bytes)
        monkeypatch.setattr(csv_text, "BLOCK_BYTES", max(3, piece_bytes // 2))
        try:
            run = pipeline.run(engine="pandas", keep=["s", "t", *rejected])
        except RunFailed:
            return "an error"  # of those that a file has, pieces may find another one first
        tables = [run[name].to_arrow() for name in ("s", "t", *rejected)]
        return [
            table.drop_columns([n for n in ("file", "_run") if n in table.column_names]).to_pydict() for table in tables
        ]

    for _ in range(25 if pytestconfig.getoption("full") else 10):
        body = "".join(draw.choices('a",\r\n\\#', [5, 4, 4, 1, 4, 1, 1], k=draw.randrange(1, 40)))
        data = f"x,y\n{body}".encode(keys.get("encoding", "utf-8"))
        (pipeline.root / "s.csv.gz").write_bytes(gzip.compress(data))
        (pipeline.root / "t.csv").write_bytes(data)
        whole = outcome(1 << 24)
        for piece_bytes in (1, 4, 9):
            assert outcome(piece_bytes) == whole, (body, piece_bytes)


def test_a_file_is_looked_at_once_and_its_rows_are_known(pipeline, monkeypatch):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 100)
    (pipeline.root / "s.csv").write_text("x,s\n" + "".join(f'{n},"a\n{n}"\n' for n in range(100)))
    pipeline.read_csv("s", "s.csv", {"x": "int64", "s": "string"})
    groups = pipeline.plan().sources["s"].dataset.row_groups
    assert sum(group.rows for group in groups) == 100
    assert len(groups) > 8
    assert [group.extent.line for group in groups[:2]] == [2, 2 + 2 * groups[0].rows]
    assert [group.extent.records for group in groups[:2]] == [0, groups[0].rows]


@pytest.mark.parametrize("columns", [1, 2])
def test_pieces_have_the_records_and_lines_of_their_text(pipeline, monkeypatch, columns):
    draw, counted = random.Random(columns), 0
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 5)
    header, types = [("x\n", {"x": "string"}), ("x,y\n", {"x": "string", "y": "string"})][columns - 1]
    for _ in range(300):
        body = "".join(draw.choices(["\n", "a,b\n", '"a\n\nb",c\n', "ab", '""', "\r\n"], [6, 6, 3, 1, 1, 0.2], k=9))
        (pipeline.root / "s.csv").write_text(header + body, newline="")
        reads = Pipeline("reads", root=pipeline.root)
        reads.read_csv("s", "s.csv", types)
        groups = reads.plan().sources["s"].dataset.row_groups
        extents = [group.extent for group in groups]
        starts = [extent.start - len(header) for extent in extents]
        before = [CsvRecords(body[:start].encode(), Dialect(), columns == 1) for start in starts]
        assert [extent.line for extent in extents] == [2 + len(part.line_ends) for part in before], body
        assert [extent.records for extent in extents] == [len(part) for part in before], body
        assert sum(group.rows for group in groups) == len(CsvRecords(body.encode(), Dialect(), columns == 1)), body
        counted += len(groups)
    assert counted > 1000


def test_a_failing_row_is_named_by_its_number_in_the_file(pipeline, engine, monkeypatch):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 20)
    (pipeline.root / "s.csv").write_text("x\n" + "".join(f"{n}\n" for n in range(50)) + "a\n")
    pipeline.read_csv("s", "s.csv", {"x": "string"}).with_columns(y=col("x").cast("int64")).stage("t")
    with pytest.raises(RunFailed, match=r"Row 52 of \S*s\.csv"):
        pipeline.run(engine=engine, options=RunOptions(partition_rows=10))


def test_a_limit_reads_the_first_pieces(pipeline, engine, monkeypatch):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 20)
    (pipeline.root / "s.csv").write_text("x\n" + "".join(f"{n}\n" for n in range(50)))
    pipeline.read_csv("s", "s.csv", {"x": "int64"}).limit(7).stage("t")
    assert pipeline.run(engine=engine)["t"].to_arrow().to_pydict() == {"x": [*range(7)]}


@pytest.mark.parametrize("mode", ["fail", "quarantine"])
def test_limits_count_no_bad_rows(pipeline, engine, monkeypatch, mode):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 4)
    (pipeline.root / "s.csv").write_text("x,y\n" + "a,1\n" * 3 * (mode == "quarantine") + "1,1\n2,2\n3,3\n")
    s = pipeline.read_csv("s", "s.csv", {"x": "int64", "y": "int64"}, on_bad_row=mode)
    s.limit(2).stage("t")
    if mode == "quarantine":
        s.rejected.stage("r")
    assert pipeline.run(engine=engine, keep=["t"])["t"].to_arrow().to_pydict() == {"x": [1, 2], "y": [1, 2]}


def test_pieces_out_of_order_are_decoded_again(pipeline, monkeypatch):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 20)
    (pipeline.root / "s.csv.gz").write_bytes(gzip.compress(("x\n" + "".join(f"{n}\n" for n in range(50))).encode()))
    pipeline.read_csv("s", "s.csv.gz", {"x": "int64"})
    read = pipeline.plan().sources["s"]
    from gpuetl.engines.pandas.io.read import read_row_groups

    groups = read.dataset.row_groups
    rows = [read_row_groups(read, [group]).column("x").to_pylist() for group in reversed(groups)]
    assert [x for part in reversed(rows) for x in part] == list(range(50))


def test_a_record_that_never_ends_is_an_open_quote(pipeline, monkeypatch):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 16)
    monkeypatch.setattr(csv_pieces, "LONGEST_RECORD", 1000)
    (pipeline.root / "s.csv.gz").write_bytes(gzip.compress(b'x,s\n1,"' + b"a\n" * 2000))
    reads = Pipeline("reads", root=pipeline.root)
    reads.read_csv("s", "s.csv.gz", {"x": "int64", "s": "string"})
    with pytest.raises(RunFailed, match="the quote that opens in line 2 is not closed"):
        reads.run(engine="pandas", keep=["s"])
