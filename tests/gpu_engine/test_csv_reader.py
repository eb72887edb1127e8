"""CSV text parsed by kernels against the pandas engine, on files of values at the edges of what types read."""

import random

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import HostMachine
from gpuetl import Pipeline, RunFailed, RunOptions, expr
from gpuetl.engines.cudf.columns.interchange import to_arrow
from gpuetl.engines.cudf.io import csv_parts, csv_reader
from gpuetl.engines.cudf.io.csv_fields import DeviceText, Fields, WantedFields
from gpuetl.formats import csv_pieces
from gpuetl.formats.csv_options import CsvOptions

TYPES = {
    "i8": "int8", "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64", "d": "decimal(10,2)",
    "wide": "decimal(38,5)", "b": "bool", "day": "date", "t": "timestamp", "z": "timestamp[UTC]", "s": "string",
}  # fmt: skip
GOOD = {
    "i8": ["1", "-128", "127", "+1", "007", "-0", '"5"', ""],
    "i64": ["9223372036854775807", "-9223372036854775808", "0", "", '"12"'],
    "u64": ["18446744073709551615", "0", ""],
    "f32": ["1e5", "nan", "-inf", "3.4028235e38", "1e-46", ".5", "5.", ""],
    "f64": ["1e308", "NaN", "INFINITY", "0.1", "-0.0", "4.9e-324", "1E5", "123456789012345678", ""],
    "d": ["1.5", "-99999999.99", "1e2", "0", ""],
    "wide": ["123456789012345678901234567890123.12345", "-1", ""],
    "b": ["true", "FALSE", "1", "0", ""],
    "day": ["2024-02-29", "0001-01-01", "9999-12-31", ""],
    "t": ["2024-01-31", "2024-01-31 10:00", "2024-01-31T10:00:00.123456", ""],
    "z": ["2024-01-31 10:00:00Z", "2024-01-31T10:00:00+01:30", ""],
    "s": ["a", "", '""', '"a,b"', '"a""b"', '"\n"', "ü€😀", " a ", "5' pipe", '""""', "NULL", "\0", '"""a"""'],
}
BAD = {
    "i8": ["128", "1.0", "1e2", " ", "x", '""'],
    "i64": ["9223372036854775808", "0x10", "1_0", "--1", "１"],
    "u64": ["-1", "18446744073709551616"],
    "f32": ["1e39", "1,5", "infinit"],
    "f64": ["1e309", "1.2.3", "e5"],
    "d": ["1.005", "100000000", "nan"],
    "wide": ["1e39"],
    "b": ["yes", "2", "t"],
    "day": ["2023-02-29", "2024-1/1", "2024-01-31 10:00"],
    "t": ["2024-01-31 24:01", "2024-01-31 10:00:00Z"],
    "z": ["2024-01-31 10:00:00"],
    "s": ['"a"b'],
}
SPACED = {"i64": " 1\t", "f64": " 1.5 ", "day": " 2024-01-31", "b": "true "}


@pytest.fixture
def read(pipeline):
    """Reads the text of a CSV file on an engine: its rows, or its error, and whether the kernels read all of it."""

    def outcome(engine, text, types, **keys):
        (pipeline.root / "s.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        reads = Pipeline("reads", root=pipeline.root)
        reads.read_csv("s", "s.csv", types, **keys)
        try:
            run = reads.run(engine=engine, keep=["s"], options=RunOptions(partition_rows=1000))
        except RunFailed as error:
            return str(error), False
        return run["s"].to_arrow(), not any("were read on the CPU" in one for one in run.report.notes)

    return outcome


@pytest.fixture
def agree(read):
    """Reads a text on both engines, compares the rows, and returns whether the kernels read all of it."""

    def on_both(text, types, **keys):
        expected, _ = read("pandas", text, types, **keys)
        got, all_by_kernels = read("cudf-on-cpu", text, types, **keys)
        assert same(got, expected), (text, got, expected)
        return all_by_kernels

    return on_both


def same(left, right):
    """Compare tables to the bit, NaN with NaN; or errors."""
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    columns = zip(left.columns, right.columns, strict=True)
    return left.schema.equals(right.schema) and all(str(a.to_pylist()) == str(b.to_pylist()) for a, b in columns)


@pytest.mark.parametrize("name", list(TYPES))
def test_values_at_the_edges_are_read_by_kernels(agree, name):
    rows = [f"{value},{place}" for place, value in enumerate(GOOD[name])]
    assert agree("\n".join(["x,n", *rows, ""]), {"x": TYPES[name], "n": "int64"})


@pytest.mark.part(4)
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
@pytest.mark.parametrize("mode", ["fail", None, "quarantine"])
def test_values_that_do_not_fit_are_those_of_the_oracle(read, name, value, mode):
    text = f"x,n\n{GOOD[name][0]},1\n{value},2\n"
    keys = {"types": {"x": TYPES[name], "n": "int64"}, "on_bad_row": mode}
    if mode == "quarantine":
        return  # the quarantine is read by the pandas engine
    got, expected = (read(engine, text, **keys)[0] for engine in ("cudf-on-cpu", "pandas"))
    assert same(got, expected)


@pytest.mark.parametrize("name", list(SPACED))
def test_spaces_around_values_do_not_count(agree, name):
    for value in (SPACED[name], f'"{SPACED[name]}"'):
        assert agree(f"x,n\n{value},1\n", {"x": TYPES[name], "n": "int64"})


@pytest.mark.parametrize(
    ("text", "by_kernels"),
    [
        ("x,s\n1,a\n2,b", True),
        ("x,s\r\n1,a\r\n2,b\r\n", True),
        ('x,s\r\n1,"a"\r\n2,b\r\n', True),
        ('x,s\r\n1,"a\r\nb"\r\n\r\n2,b', True),
        ("x,s\r1,a\r2,b\r", False),
        ("x,s\n1,a\n\n2,b\n", True),
        ("x,s\n\n\r\n1,a\n\n", True),
        ('x,s\n1,5" pipe\n2,b\n', False),
        ("x,s\n", True),
        ("x,s\n1,a\n2\n", False),
        ("x,s\n1,a,9\n2,b\n", False),
        ("x,s\n1,a,2\nb\n", False),
        (b"x,s\n1,a\n2,\xff\n", False),
        ("\ufeffx,s\n1,a\n", True),
        ('x,s\n1,"a\n2,b\n', False),
    ],
)
def test_rows_of_all_forms_are_those_of_the_oracle(agree, text, by_kernels):
    assert agree(text, {"x": "int64", "s": "string"}) == by_kernels or "a" not in str(text)


def test_one_column_has_nulls_in_empty_lines(agree):
    assert agree("x\n1\n\n2\n\n", {"x": "int64"})


def test_nulls_may_be_other_strings(agree):
    text = 'x;s\nNA;NA\n1;-\n2;"NA"\n3;\n'
    assert agree(text, {"x": "int64", "s": "string"}, delimiter=";", nulls=["NA", "-"])
    assert agree(text, {"x": "int64", "s": "string"}, delimiter=";", nulls={"x": "NA", "s": ["", "-"]})


def test_columns_that_are_not_wanted_are_not_cast(pipeline):
    (pipeline.root / "s.csv").write_text("x,y\n1,bad\n2,3\n")
    pipeline.read_csv("s", "s.csv", {"x": "int64", "y": "int64"}).select("x").stage("t")
    run = pipeline.run(engine="cudf-on-cpu")
    assert run["t"].to_arrow().to_pydict() == {"x": [1, 2]}
    assert not any("were read on the CPU" in one for one in run.report.notes)


@pytest.mark.parametrize("keys", [{"escape": "\\"}, {"comment": "#"}, {"decimal": ",", "delimiter": ";"}])
def test_other_dialects_are_read_on_the_cpu(pipeline, keys):
    (pipeline.root / "s.csv").write_text("x\n1\n")
    pipeline.read_csv("s", "s.csv", {"x": "int64"}, **keys)
    run = pipeline.run(engine="cudf-on-cpu", keep=["s"])
    assert run["s"].to_arrow().to_pydict() == {"x": [1]}
    assert run.report.device == "CPU"


@pytest.mark.part(4)
@pytest.mark.parametrize("piece_bytes", [7, 50, 1 << 24])
@pytest.mark.parametrize("part_bytes", [100, 300, 1 << 27])
@pytest.mark.parametrize("carried_bytes", [30, 1000])
def test_random_files_are_those_of_the_oracle(read, monkeypatch, piece_bytes, part_bytes, carried_bytes):
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", piece_bytes)
    set_part_bytes(monkeypatch, part_bytes, carried_bytes)
    draw = random.Random(piece_bytes)
    for _ in range(6):
        rows = [[draw.choice(GOOD[name]) for name in TYPES] for _ in range(draw.randrange(1, 9))]
        text = "\n".join([",".join(TYPES), *map(",".join, rows)]) + "\n" * draw.randrange(2)
        got, expected = (read(engine, text, TYPES)[0] for engine in ("cudf-on-cpu", "pandas"))
        assert same(got, expected), text


@pytest.mark.part(3)
@pytest.mark.parametrize("part_bytes", [5, 17, 1 << 27])
def test_random_bytes_are_those_of_the_oracle(read, monkeypatch, part_bytes):
    set_part_bytes(monkeypatch, part_bytes, 8)
    draw = random.Random(part_bytes)
    for _ in range(60):
        body = "".join(draw.choices('a",\r\n', [4, 3, 3, 1, 3], k=draw.randrange(1, 200)))
        got, expected = (
            read(engine, f"x,y\n{body}", {"x": "string", "y": "string"})[0] for engine in ("cudf-on-cpu", "pandas")
        )
        assert same(got, expected), body


def test_parts_without_bad_rows_are_read_by_kernels(read, monkeypatch):
    """A bad row is in the third of many parts: the rows after it are read by kernels again."""
    set_part_bytes(monkeypatch, 256, 64)
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 100)
    rows = [f"{number},{number}.5" for number in range(200)]
    rows[60] = "x,1"
    notes = list[str]()
    monkeypatch.setattr(csv_reader, "note", notes.append)
    keys = {"types": {"n": "int64", "f": "float64"}, "on_bad_row": None}
    text = "\r\n".join(["n,f", *rows])
    got, expected = (read(engine, text, **keys)[0] for engine in ("cudf-on-cpu", "pandas"))
    assert same(got, expected)
    assert len(notes) == 1
    assert "lines from 61 on" in notes[0]


@pytest.mark.parametrize("memory", [None, 40_000])
def test_planning_does_not_read_a_file_that_fits_the_memory(pipeline, monkeypatch, memory):
    looks = list[int]()
    look = csv_pieces.starts_of_block
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 1000)
    monkeypatch.setattr(csv_pieces, "starts_of_block", lambda *keys: (looks.append(1), look(*keys))[1])
    (pipeline.root / "s.csv").write_text("\n".join(["n", *map(str, range(1000))]))
    pipeline.read_csv("s", "s.csv", {"n": "int64"}).aggregate(total=expr("sum(n)")).stage("t")
    run = pipeline.run(engine="cudf-on-cpu", keep=["t"], options=RunOptions(memory=memory))
    assert run["t"].to_arrow().to_pydict() == {"total": [499500]}
    assert bool(looks) == (memory is not None)


def set_part_bytes(monkeypatch, size, carried_bytes):
    """Let a part have so many bytes, and leave so many to the next one."""
    for name in ("LEAST_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(csv_parts, name, size)
    monkeypatch.setattr(csv_parts, "CARRIED_BYTES", carried_bytes)


@pytest.mark.gpu
def test_a_gpu_reads_as_the_oracle_does(pipeline):
    """Large enough that the device parses it; with quotes, and without."""
    numbers = np.random.default_rng(3)
    rows = 400_000
    for quoted in (False, True):
        text = ['"a,""b"', '""', "ü"] if quoted else ["a", "", "ü"]
        lines = [f"{n},{v!r},{text[n % 3]}" for n, v in enumerate(numbers.random(rows).tolist())]
        (pipeline.root / "s.csv").write_text("\n".join(["i,f,s", *lines, ""]))
        reads = Pipeline("reads", root=pipeline.root)
        reads.read_csv("s", "s.csv", {"i": "int64", "f": "float64", "s": "string"})
        got, expected = (reads.run(engine=engine, keep=["s"])["s"].to_arrow() for engine in ("cudf", "pandas"))
        assert got.equals(expected.cast(got.schema))


def test_a_column_of_another_type_is_read_on_the_cpu(pipeline):
    (pipeline.root / "s.csv").write_text("x,n\n1,2\n")
    pipeline.read_csv("s", "s.csv", {"x": "duration", "n": "int64"})
    got = pipeline.run(engine="cudf-on-cpu", keep=["s"])["s"].to_arrow()
    assert got.column("x").cast(pa.int64()).to_pylist() == [1]


@pytest.mark.parametrize("quoted", [False, True])
def test_the_fields_of_a_gpu_are_those_of_the_cpu(quoted):
    """The GPU's side of the kernels, whose warps have rows of one column each."""
    draw = random.Random(5)
    cells = [b"1", b"", b"NA", *([b'"a,""b"', b'""', b'"\n"'] if quoted else [])]
    lines = [b",".join(draw.choices(cells, k=3)) for _ in range(1100)]
    text = np.frombuffer(b"\r\n".join([*lines, b""]), np.uint8)
    found = []
    for machine in (HostMachine(), EmulatedMachine()):
        array = machine.arrays.asarray(text)
        fields = Fields.of(DeviceText(array, is_last=True), CsvOptions(), 3, machine)
        wanted = WantedFields.of([2, 0], [False, True], [["NA"], [""]], machine)
        found.append([to_arrow(strings, machine).to_pylist() for strings in fields.strings(wanted, machine)])
    assert found[0] == found[1]
    plain = [line.split(b",") for line in lines]
    if not quoted:
        assert found[0] == [
            [None if row[2] == b"NA" else row[2].decode() for row in plain],
            [row[0].decode() or None for row in plain],
        ]
