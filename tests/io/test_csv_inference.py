"""`schema: infer`: the types of a CSV file's columns by its first rows, and what a later value is told."""

import gzip

import pytest

import gpuetl as ge
from gpuetl import InvalidPipeline, Pipeline, RunFailed
from gpuetl.formats import csv_inference
from gpuetl.types.data_types import type_name

TEXT = """\
int,negative,code,plus,big,huge,float,exp,words,bool,date,time,zoned,text,none
1,-1,007,+1,9223372036854775808,1234567890123456789012345678901234567890,1.5,1e3,nan,true,2024-01-31,2024-01-31 10:00,2024-01-31T10:00:00Z,a,
0,20,12,2,1,1,2,.5,1.5,FALSE,2024-02-29,2024-01-31T10:00:00.5,2024-01-31 10:00:00+01:00,1,
"""
TYPES = {
    "int": "int64", "negative": "int64", "code": "string", "plus": "string", "big": "decimal(38,0)", "huge": "string",
    "float": "float64", "exp": "float64", "words": "float64", "bool": "bool", "date": "date", "time": "timestamp",
    "zoned": "timestamp[UTC]", "text": "string", "none": "string",
}  # fmt: skip


@pytest.fixture
def types(pipeline):
    """Returns the types of a CSV file's columns, by name."""

    def inferred(text, **keys):
        (pipeline.root / "s.csv").write_text(text)
        source = Pipeline("reads", root=pipeline.root)
        source.read_csv("s", "s.csv", "infer", **keys)
        schema = source.plan().sources["s"].schema
        return {name: type_name(dtype) for name, dtype in schema.items()}

    return inferred


def test_types_are_those_of_all_values(types):
    assert types(TEXT) == TYPES


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["1", "x"], "string"),
        (["1", ""], "int64"),
        (["", ""], "string"),
        ([" 1 ", "2"], "int64"),
        (["1", "true"], "string"),
        (["nan", "inf"], "string"),
        (["12345678901234567", "1.5"], "string"),
        (["2023-02-29"], "string"),
        (["2024-01-31", "2024-01-31 10:00"], "timestamp"),
        (["-0", "00"], "string"),
        (["1.", "-.5"], "float64"),
        (['"1"', "2"], "int64"),
        (['""', "2"], "string"),
        (["1_000"], "string"),
        (["٣"], "string"),
    ],
)
def test_types_are_narrow_and_careful(types, values, dtype):
    assert types("\n".join(["x,y", *(f"{value},z" for value in values)])) == {"x": dtype, "y": "string"}


def test_options_count(types):
    text = "a;b;c;d\n1.234,5;31.01.2024;31.01.2024 10:00;-\n-;29.02.2024;31.01.2024 11:00;-\n"
    keys = {"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y", "timestamp_format": "%d.%m.%Y %H:%M"}
    got = types(text, delimiter=";", nulls=["-"], **keys)
    assert got == {"a": "float64", "b": "date", "c": "timestamp", "d": "string"}
    assert types("1,a\n2,b\n", header=False) == {"c1": "int64", "c2": "string"}
    assert types("x,\n1,\n") == {"x": "int64"}


def test_inferred_columns_are_read_on_every_engine(pipeline, engine):
    (pipeline.root / "s.csv.gz").write_bytes(gzip.compress(b"1,2024-01-31\n2,\n"))
    pipeline.read_csv("s", "s.csv.gz", "infer", header=False)
    run = pipeline.run(engine=engine, keep=["s"])
    got = run["s"].to_arrow().to_pydict()
    assert (got["c1"], [str(day) for day in got["c2"]]) == ([1, 2], ["2024-01-31", "None"])
    (note,) = [note for note in run.report.notes if "inferred" in note]
    assert note == (
        f"source 's': schema inferred from the first 2 rows of {pipeline.root}/s.csv.gz: {{c1: int64, c2: date}}"
    )


def test_a_later_value_that_does_not_fit_names_its_row_and_what_to_do(pipeline, engine, monkeypatch):
    monkeypatch.setattr(csv_inference, "SAMPLE_ROWS", 2)
    (pipeline.root / "s.csv").write_text("x,y\n1,a\n2,b\n1.5,c\n")
    pipeline.read_csv("s", "s.csv", "infer")
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine=engine, keep=["s"])
    message = str(caught.value)
    assert "s.csv:4: column 'x': '1.5' is not a valid int64" in message
    assert "The type was inferred from the first 2 rows: write out the schema." in message
    assert "declare x: decimal(18,1)." in message


def test_a_later_file_with_other_columns_is_an_error(pipeline):
    (pipeline.root / "lake").mkdir()
    (pipeline.root / "lake/1.csv").write_text("x\n1\n")
    (pipeline.root / "lake/2.csv").write_text("x,y\n1,2\n")
    pipeline.read_csv("s", "lake", "infer")
    with pytest.raises(RunFailed, match=r"2\.csv has column 'y'"):
        pipeline.run(engine="pandas", keep=["s"])


def test_infer_comes_back_from_yaml(pipeline):
    pipeline.read_csv("s", "s.csv", "infer")
    text = pipeline.to_yaml()
    assert "schema: infer" in text
    assert ge.loads(text, pipeline.root).spec == pipeline.spec


def test_a_parquet_source_states_its_types(pipeline):
    with pytest.raises(InvalidPipeline, match="schema: infer is for files that state no types, and Parquet files do"):
        ge.loads("gpuetl: 1\nname: p\nsources: {s: {parquet: s.parquet, schema: infer}}\n", pipeline.root).plan()


def test_a_file_that_does_not_exist_is_an_error(pipeline):
    pipeline.read_csv("s", "s.csv", "infer")
    with pytest.raises(InvalidPipeline, match=r"s\.csv does not exist"):
        pipeline.plan()
