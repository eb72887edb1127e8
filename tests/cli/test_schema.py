"""`gpuetl schema`: what it prints is a source that reads the files."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl.cli import execute


@pytest.fixture
def printed(tmp_path, capsys, monkeypatch):
    """Returns what the command prints, run in the folder of the files."""
    monkeypatch.chdir(tmp_path)

    def text(*arguments):
        execute(["schema", *arguments])
        return capsys.readouterr().out

    return text


def test_a_csv_file_is_described_with_its_options(printed, tmp_path):
    (tmp_path / "sales 1.csv").write_bytes("id;stadt;code\n1;Köln;007\n2;Ulm;1\n".encode("cp1252"))
    text = printed("sales 1.csv")
    assert (
        text
        == """\
# sales 1.csv: types of the first 2 rows of sales 1.csv
sources:
  sales_1:
    csv: sales 1.csv
    schema:
      id: int64
      stadt: string
      code: string
    delimiter: ;
    encoding: cp1252
"""
    )
    pipeline = ge.loads(f"gpuetl: 1\nname: p\n{text}", tmp_path)
    rows = pipeline.run(engine="pandas", keep=["sales_1"])["sales_1"].to_arrow().to_pylist()
    assert rows == [{"id": 1, "stadt": "Köln", "code": "007"}, {"id": 2, "stadt": "Ulm", "code": "1"}]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("1\t2\n3\t4\n", {"delimiter": "\t", "header": False}),
        ("a|b\n1|2,5\n", {"delimiter": "|"}),
        ("a,b\n1,x;y\n", {}),
        ("a\n1\n", {}),
        ("a,b,\n1,2,\n", {}),
        ("a,,b\n1,2,3\n", {"header": False}),
        ('"a;b",c\n"1;2",3\n', {}),
    ],
)
def test_delimiter_and_header_are_detected(printed, tmp_path, text, changed):
    (tmp_path / "1.csv").write_text(text)
    source = ge.loads(f"gpuetl: 1\nname: p\n{printed('1.csv')}", tmp_path).spec.sources["source_1"]
    assert dict(source.options.changed) == changed


def test_encodings_are_detected(printed, tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("x,s\n1,ü\n".encode("utf-16")))
    (tmp_path / "b.csv").write_bytes("x,s\n1,ü\n".encode("utf-8-sig"))
    spec = ge.loads(f"gpuetl: 1\nname: p\n{printed('a.csv.gz', 'b.csv')}", tmp_path).spec
    assert spec.sources["a"].options.encoding == "utf-16"
    assert spec.sources["b"].options.encoding == "utf-8"


def test_files_of_other_formats_are_described(printed, tmp_path):
    (tmp_path / "lake").mkdir()
    pq.write_table(pa.table({"x": [1], "s": ["a"]}), tmp_path / "lake" / "1.parquet")
    assert (
        printed("lake", "lake/*.parquet")
        == """\
sources:
  lake:
    parquet: lake
    schema:
      x: int64
      s: string
  source:
    parquet: lake/*.parquet
    schema:
      x: int64
      s: string
"""
    )


def test_columns_of_nulls_are_strings(printed, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a":null,"b":[null],"c":{"d":null},"e":[],"f":{}}\n')
    text = printed("a.jsonl")
    types = ge.loads(f"gpuetl: 1\nname: p\n{text}", tmp_path).run(engine="pandas", keep=["a"])["a"].to_arrow()
    assert types.to_pylist() == [{"a": None, "b": [None], "c": {"d": None}, "e": [], "f": []}]
    assert "a: string" in text
    assert "b: list<string>" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt"], "cannot tell the format of a.txt"),
        (["a.csv"], "a.csv does not exist"),
        (["a.csv", "--format", "xml"], "--format: 'xml' is not a format"),
    ],
)
def test_what_cannot_be_described_is_an_error(printed, capsys, arguments, message):
    with pytest.raises(SystemExit):
        printed(*arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,amount,amount\n1,10.5,11\n", "two columns are named 'amount'"),
        ("a,b,a,b\nx,y,z,z\n", "columns are named 'a' and 'b', twice each"),
        ("a,a\n", "two columns are named 'a'"),
    ],
)
def test_a_header_with_repeated_names_is_an_error(capsys, tmp_path, monkeypatch, text, message):
    """It was taken for a row, and the types of all columns for strings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(SystemExit, match="2"):
        execute(["schema", "s.csv"])
    assert capsys.readouterr().err == (
        f"s.csv: {message}\n"
        "Rename one in the header.  Or name the columns yourself: header: false, skip_rows: 1, and a schema.\n"
    )


def test_a_first_row_with_values_of_other_rows_is_no_header(printed, tmp_path):
    (tmp_path / "s.csv").write_text("red,red\nblue,red\n")
    assert "header: false" in printed("s.csv")


def test_columns_with_repeated_names_are_read_by_names_of_the_schema(pipeline):
    """As the error advises."""
    (pipeline.root / "s.csv").write_text("id,amount,amount\n1,10,11\n")
    types = {"id": "int64", "net": "int64", "gross": "int64"}
    pipeline.read_csv("s", "s.csv", types, header=False, skip_rows=1)
    assert pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pylist() == [{"id": 1, "net": 10, "gross": 11}]


def test_a_column_that_is_nearly_of_a_type_gets_a_hint(printed, tmp_path):
    (tmp_path / "trips.csv").write_text("id,km\n1,4.5\n2,n/a\n3,1.5\n4,2.5\n5,3.5\n")
    text = printed("trips.csv")
    assert (
        text
        == """\
# trips.csv: types of the first 5 rows of trips.csv
# hint: trips.csv: column 'km' is a string: 1 of 5 values (20 %) is not valid as float64: 'n/a' in
#   row 2.  To read it as float64, write km: float64 in the schema, and next to it nulls: ["",
#   "n/a"]
sources:
  trips:
    csv: trips.csv
    schema:
      id: int64
      km: string
"""
    )
    assert dict(ge.loads(f"gpuetl: 1\nname: p\n{text}", tmp_path).spec.sources["trips"].schema)["km"] == pa.string()
