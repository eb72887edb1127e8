"""JSON lines: read with declared and inferred columns, bad lines, compressed, and written, on every engine."""

import datetime as dt
import gzip
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet
import pytest

import gpuetl as ge
from gpuetl.formats import json_text
from gpuetl.options import RunOptions
from tables import table

LAYOUTS = pytest.mark.parametrize("partition_rows", [2, None])
LIMIT = "{limit: 99}"


def written(folder, *lines, name="t.jsonl"):
    """Write a file of lines."""
    (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))


def load(folder, keys, steps=LIMIT, name="t.jsonl", more=""):
    """Return a pipeline over the file."""
    source = f"{{json: {name}{', ' * bool(keys)}{keys}}}"
    return ge.loads(
        f"gpuetl: 1\nname: p\nsources: {{t: {source}}}\nstages: {{s: {{from: t, steps: [{steps}]}}}}\n{more}", folder
    )


def run(folder, keys="", steps=LIMIT, engine="pandas", partition_rows=None, name="t.jsonl"):
    """Return the rows of steps over the file."""
    options = RunOptions(partition_rows=partition_rows)
    return load(folder, keys, steps, name).run(engine=engine, options=options)["s"].to_arrow().to_pylist()


def failure(folder, keys="", steps=LIMIT, engine="pandas"):
    """Return the message with which steps over the file fail."""
    with pytest.raises(ge.GpuetlError) as caught:
        load(folder, keys, steps).run(engine=engine)
    return str(caught.value)


@LAYOUTS
def test_declared_types_are_read(engine, tmp_path, partition_rows):
    written(
        tmp_path,
        '{"k":"a","i":1,"f":0.5,"b":true,"d":"2020-01-31","m":1.25,"t":"2020-01-01T12:30:00.000007","l":[1,null]}',
        '{"k":null,"i":null,"f":null,"b":null,"d":null,"m":null,"t":null,"l":null}',
        "{}",
        "",
        ' {"m":"12","l":[], "k":"\\u00fc\\ud83d\\ude00\\n","f":7,"unknown":{"x":[]}}',
    )
    types = "k: string, i: int64, f: float64, b: bool, d: date, m: 'decimal(9,2)', t: timestamp, l: list<int32>"
    expected = table(
        {"k": "string", "i": "int64", "f": "float64", "b": "bool", "d": "date", "m": "decimal(9,2)", "t": "timestamp"},
        ("a", 1, 0.5, True, dt.date(2020, 1, 31), Decimal("1.25"), dt.datetime(2020, 1, 1, 12, 30, 0, 7)),
        (None, None, None, None, None, None, None),
        (None, None, None, None, None, None, None),
        ("ü😀\n", None, 7.0, None, None, Decimal("12"), None),
    ).to_pylist()
    lists = [[1, None], None, None, []]
    rows = run(tmp_path, f"schema: {{{types}}}", "{filter: i = 1 OR i IS NULL}", engine, partition_rows)
    assert rows == [{**row, "l": each} for row, each in zip(expected, lists, strict=True)]


@LAYOUTS
def test_types_of_the_first_lines_are_read(engine, tmp_path, partition_rows):
    written(
        tmp_path,
        '{"k":"a","i":1,"x":1}',
        '{"i":9223372036854775807,"x":2.5,"new":true}',
        '{"k":"2020-01-01","new":null}',
    )
    expected = [
        {"k": "a", "i": 1, "x": 1.0, "new": None},
        {"k": None, "i": 2**63 - 1, "x": 2.5, "new": True},
        {"k": "2020-01-01", "i": None, "x": None, "new": None},
    ]
    assert run(tmp_path, engine=engine, partition_rows=partition_rows) == expected


def test_an_inferred_schema_may_be_asked_for(engine, tmp_path):
    written(tmp_path, '{"a":1,"b":["x"]}', '{"a":null}')
    assert run(tmp_path, "schema: infer", engine=engine) == [{"a": 1, "b": ["x"]}, {"a": None, "b": None}]
    assert run(tmp_path, "schema: infer, exclude: [b]", engine=engine) == [{"a": 1}, {"a": None}]
    source = ge.Pipeline("p", root=tmp_path).read_json("t", "t.jsonl", schema="infer")
    assert source.select("a").stage("r") is not None


@LAYOUTS
def test_objects_without_keys_are_maps(engine, tmp_path, partition_rows):
    """A struct without fields has no place in a schema, nor in a Parquet file."""
    written(tmp_path, '{"a":{},"b":[{}],"c":{"d":{}}}', '{"a":null}')
    assert run(tmp_path, engine=engine, partition_rows=partition_rows) == [
        {"a": [], "b": [[]], "c": {"d": []}},
        {"a": None, "b": None, "c": None},
    ]
    note = "{a: map<string, string>, b: list<map<string, string>>, c: struct<d: map<string, string>>}"
    assert any(note in each for each in load(tmp_path, "").run(engine="pandas").report.notes)


def test_a_note_shows_the_types_of_the_first_lines(tmp_path):
    written(tmp_path, '{"a":1,"b":["x"]}')
    notes = load(tmp_path, "sample_rows: 5").run(engine="pandas").report.notes
    assert (
        f"source 't': schema inferred from up to 5 lines of {tmp_path}/t.jsonl: {{a: int64, b: list<string>}}" in notes
    )
    assert not any(
        "inferred" in note for note in load(tmp_path, "schema: {a: int64}").run(engine="pandas").report.notes
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"a":1}', '{"a":"x"}'], "t.jsonl:2: column 'a' is a string, and a number in an earlier line"),
        (['{"a":18446744073709551616}'], "t.jsonl:1: column 'a' has the integer 18446744073709551616, which 64 bits"),
        (['{"a":1}', "", "3"], "t.jsonl:3: the line is a number, not an object"),
        (['{"a":1}', '{"a":1'], "t.jsonl:2: the line is not valid JSON"),
        (['{"a":1,"a":2}'], "t.jsonl:1: the line has the key 'a' twice"),
        (['{"a":NaN}'], "t.jsonl:1: the line has NaN, which is not JSON"),
        (['{"":1}'], "t.jsonl:1: a key is empty"),
        (["{}"], "t.jsonl: the file has no line with a column"),
        (['[{"a":1}]'], "t.jsonl begins with an array; gpuetl reads JSON lines"),
    ],
)
def test_lines_without_common_types_are_an_error(tmp_path, lines, message):
    written(tmp_path, *lines)
    assert message in failure(tmp_path)


def test_a_line_after_the_sample_that_does_not_fit_is_an_error(engine, tmp_path):
    written(tmp_path, '{"a":1}', '{"a":2}', '{"a":2.5}')
    assert "t.jsonl:3: column 'a': 2.5 is not a valid int64" in failure(tmp_path, "sample_rows: 2", engine=engine)
    written(tmp_path, '{"a":1}', '{"a":2}', '{"a":3,"b":4}')
    message = failure(tmp_path, "sample_rows: 2", engine=engine)
    assert "t.jsonl:3: the line has the key 'b', and the source has no such column" in message
    assert run(tmp_path, "sample_rows: 2, extra_columns: ignore", engine=engine) == [{"a": 1}, {"a": 2}, {"a": 3}]


BAD = [
    ("int64", "1.0", "1.0 is not a valid int64"),
    ("int64", "1e3", "1e3 is not a valid int64"),
    ("int64", '"1"', "'1' is not a valid int64"),
    ("int64", "9223372036854775808", "9223372036854775808 is not a valid int64"),
    ("int8", "128", "128 is not a valid int8"),
    ("uint8", "-1", "-1 is not a valid uint8"),
    ("bool", "1", "1 is not a valid bool"),
    ("string", "5", "5 is not a valid string"),
    ("string", '"\\ud800"', "'?' is not a valid string"),
    ("float64", "1e400", "1e400 is not a valid float64"),
    ("float64", "1.7976931348623159e308", "1.7976931348623159e308 is not a valid float64"),
    ("float64", '"NaN"', "'NaN' is not a valid float64"),
    ("float32", "1e39", "1e39 is not a valid float32"),
    ("decimal(4,2)", "1.005", "1.005 is not a valid decimal(4,2)"),
    ("decimal(4,2)", "100", "100 is not a valid decimal(4,2)"),
    ("decimal(38,0)", "1e38", "1e38 is not a valid decimal(38,0)"),
    ("date", '"2020-02-30"', "'2020-02-30' is not a valid date"),
    ("date", "20200101", "20200101 is not a valid date"),
    ("timestamp", '"yesterday"', "'yesterday' is not a valid timestamp"),
    ("list<int64>", "[1,[2]]", "an array is not a valid int64"),
    ("list<int64>", "7", "7 is not a valid list<int64>"),
    ("string", '{"x":1}', "an object is not a valid string"),
]


@pytest.mark.parametrize(("dtype", "value", "message"), BAD)
def test_a_value_of_another_kind_is_an_error(tmp_path, dtype, value, message):
    written(tmp_path, '{"a":null}', "", f'{{"a":{value}}}')
    found = failure(tmp_path, f"schema: {{a: '{dtype}'}}")
    assert "t.jsonl:3: column 'a': " in found
    assert message.split(" is not")[0] in found
    assert run(tmp_path, f"schema: {{a: '{dtype}'}}, on_bad_row: 'null'") == [{"a": None}, {"a": None}]


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("uint64", "18446744073709551615", 2**64 - 1),
        ("float64", "9007199254740993", 9007199254740992.0),
        ("float32", "0.1", 0.10000000149011612),
        ("decimal(38,0)", "9" * 38, Decimal("9" * 38)),
        ("decimal(4,2)", "1.500", Decimal("1.50")),
        ("decimal(4,2)", "15e-1", Decimal("1.50")),
        ("decimal(4,2)", '"-1.5"', Decimal("-1.50")),
        ("decimal(4,2)", '"+.5"', Decimal("0.50")),
        ("decimal(4,2)", '"5."', Decimal("5.00")),
        ("int64", "-0", 0),
        ("timestamp", '"2020-01-01"', dt.datetime(2020, 1, 1)),
        ("timestamp[UTC]", '"2020-01-01T01:00:00+01:00"', dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),
        ("string", '"\\u0000x"', "\0x"),
        ("list<date>", '["2020-01-31",null]', [dt.date(2020, 1, 31), None]),
    ],
)
def test_a_value_is_the_same_beside_a_bad_line(tmp_path, dtype, value, expected):
    keys = f"schema: {{a: '{dtype}'}}"
    written(tmp_path, f'{{"a":{value}}}')
    assert run(tmp_path, keys) == [{"a": expected}]
    written(tmp_path, f'{{"a":{value}}}', '{"a":{}}')
    assert run(tmp_path, f"{keys}, on_bad_row: 'null'") == [{"a": expected}, {"a": None}]


MIXED = ['{"a":1,"b":"x"}', '{"a":"2","b":5}', '{"a":3}{"a":4}', "oops", '{"a":5,"b":"y"}', '{"a":6,"a":7}', "null"]


@LAYOUTS
def test_bad_lines_go_to_quarantine(engine, tmp_path, partition_rows, monkeypatch):
    written(tmp_path, *MIXED)
    more = "sinks: {bad: {from: t.rejected, parquet: bad.parquet, mode: overwrite}}"
    pipeline = load(tmp_path, "schema: {a: int64, b: string}, on_bad_row: quarantine", more=more)
    done = pipeline.run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    assert done["s"].to_arrow().to_pylist() == [{"a": 1, "b": "x"}, {"a": 5, "b": "y"}]
    bad = pa.parquet.read_table(tmp_path / "bad.parquet").to_pylist()
    assert [(row["line"], row["text"], row["_rule"]) for row in bad] == [
        (2, MIXED[1], "a: '2' is not a valid int64; b: 5 is not a valid string"),
        (3, MIXED[2], "is not valid JSON: Extra data at character 8"),
        (4, "oops", "is not valid JSON: Expecting value at character 1"),
        (6, MIXED[5], "has the key 'a' twice"),
        (7, "null", "is null, not an object"),
    ]
    assert {row["file"] for row in bad} == {str(tmp_path / "t.jsonl")}


def test_bad_values_are_null_and_counted(engine, tmp_path):
    written(tmp_path, *MIXED[:2])
    done = load(tmp_path, "schema: {a: int64, b: string}, on_bad_row: 'null'").run(engine=engine)
    assert done["s"].to_arrow().to_pylist() == [{"a": 1, "b": "x"}, {"a": None, "b": None}]
    assert any("column 'a': 1 (line 2: '2'); column 'b': 1 (line 2: 5)" in one for one in done.report.warnings)
    written(tmp_path, *MIXED)
    assert "t.jsonl:3: the line is not valid JSON" in failure(tmp_path, "schema: {a: int64}, on_bad_row: 'null'")


@pytest.mark.parametrize("name", ["t.ndjson", "t.json", "t.jsonl.gz", "t.json.gz", "t.ndjson.zst"])
def test_endings_and_compressions_are_read(engine, tmp_path, name):
    text = b'\xef\xbb\xbf{"a":1}\r\n{"a":2}\r\n\r\n{"a":3}'
    packed = {"gz": gzip.compress, "st": pa.Codec("zstd").compress}.get(name[-2:], lambda data: data)(text)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(packed)
    for keys in ("", "schema: {a: int32}"):
        assert run(tmp_path, keys, engine=engine, name="in") == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_a_damaged_compression_is_an_error(tmp_path):
    (tmp_path / "t.jsonl").write_bytes(gzip.compress(b'{"a":1}\n' * 1000)[:-12])
    assert "t.jsonl" in failure(tmp_path, "schema: {a: int64}")


@pytest.mark.parametrize("size", [1, 3, 8, 9, 20, 1000])
def test_parts_of_a_file_have_all_lines_once(tmp_path, monkeypatch, size):
    monkeypatch.setattr(json_text, "PART_BYTES", size)
    monkeypatch.setattr(json_text, "MORE_BYTES", 5)
    written(tmp_path, *(f'{{"a":{number}}}' for number in range(12)), "", '{"a":"x"}')
    keys = "schema: {a: int64}"
    assert "t.jsonl:14: column 'a': 'x' is not" in failure(tmp_path, keys)
    rows = run(tmp_path, f"{keys}, on_bad_row: 'null'")
    assert rows == [{"a": number} for number in range(12)] + [{"a": None}]
    message = failure(
        tmp_path, f"{keys}, on_bad_row: 'null'", "{filter: a = 9}, {with_columns: {b: CAST(a + 200 AS int8)}}"
    )
    assert f"Line 10 of {tmp_path}/t.jsonl" in message


def test_an_empty_file_has_no_rows(engine, tmp_path):
    written(tmp_path)
    assert run(tmp_path, "schema: {a: int64}", engine=engine) == []
    assert run(tmp_path, "schema: {a: int64}", "{aggregate: {columns: {n: count(*)}}}", engine=engine) == [{"n": 0}]
    written(tmp_path, '{"a":1}', "", '{"a":2}')
    assert run(tmp_path, "schema: {a: int64}", "{aggregate: {columns: {n: count(*)}}}", engine=engine) == [{"n": 2}]


def test_a_long_line_is_read(tmp_path):
    long = "x" * (5 << 20)
    written(tmp_path, '{"a":"s"}', f'{{"a":"{long}"}}', '{"a":"t"}')
    assert [len(row["a"]) for row in run(tmp_path, "schema: {a: string}")] == [1, 5 << 20, 1]


def test_columns_of_later_files_are_added(engine, tmp_path):
    (tmp_path / "in").mkdir()
    written(tmp_path / "in", '{"a":1}', name="1.jsonl")
    written(tmp_path / "in", '{"a":2.5,"b":"x"}', name="2.jsonl")
    rows = run(tmp_path, "extra_columns: add", engine=engine, name="in")
    assert rows == [{"a": 1.0, "b": None}, {"a": 2.5, "b": "x"}]


ROWS = table(
    {"k": "string", "i": "int64", "f": "float64", "b": "bool", "d": "date", "m": "decimal(12,2)", "t": "timestamp"},
    ('a"\\\n\x01', 1, 0.5, True, dt.date(2020, 1, 31), Decimal("1.25"), dt.datetime(2020, 1, 1, 12, 30, 0, 7)),
    (None, None, None, None, None, None, None),
    ("ü", -(2**63), 1e300, False, dt.date(1, 1, 1), Decimal("-0.01"), dt.datetime(9999, 12, 31)),
    ("", 2**63 - 1, 3.0, True, dt.date(9999, 12, 31), Decimal("9999999999.99"), dt.datetime(1970, 1, 1)),
)
TYPES = "k: string, i: int64, f: float64, b: bool, d: date, m: 'decimal(12,2)', t: timestamp"


@pytest.mark.part(4)
@pytest.mark.parametrize(("codec", "end"), [("none", ""), ("gzip", ".gz"), ("zstd(9)", ".zst")])
@LAYOUTS
def test_rows_come_back_from_a_sink(engine, tmp_path, codec, end, partition_rows):
    pa.parquet.write_table(ROWS, tmp_path / "t.parquet", row_group_size=2)
    text = f"""
gpuetl: 1
name: p
sources: {{t: {{parquet: t.parquet}}}}
sinks:
  one: {{from: t, json: one.ndjson{end}, compression: {codec}}}
  parts: {{from: t, json: parts, partition_by: [b], compression: {codec}}}
  more: {{from: t, json: more, mode: append, compression: {codec}}}
"""
    ge.loads(text, tmp_path).run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    for name in (f"one.ndjson{end}", "more"):
        assert run(tmp_path, f"schema: {{{TYPES}}}", engine=engine, name=name) == ROWS.to_pylist()
    assert {path.name.partition(".")[2] for path in (tmp_path / "parts" / "b=True").iterdir()} == {f"jsonl{end}"}
    read = run(
        tmp_path, "schema: {k: string}, partitions: {b: bool}", "{filter: b}, {select: [k]}", engine, name="parts"
    )
    assert read == [{"k": 'a"\\\n\x01'}, {"k": ""}]


def test_text_of_a_sink(engine, tmp_path):
    pa.parquet.write_table(
        pa.table(
            {
                "l": [[1, None], [], None],
                "x y": ["a", None, "b"],
                "z": pa.array([0, None, 1], pa.timestamp("us", "UTC")),
            }
        ),
        tmp_path / "t.parquet",
    )
    text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\nsinks: {o: {from: t, json: o.json}}"
    ge.loads(text, tmp_path).run(engine=engine)
    assert (tmp_path / "o.json").read_text().splitlines() == [
        '{"l":[1,null],"x y":"a","z":"1970-01-01T00:00:00.000000Z"}',
        '{"l":[],"x y":null,"z":null}',
        '{"l":null,"x y":"b","z":"1970-01-01T00:00:00.000001Z"}',
    ]


def test_the_path_says_the_compression(engine, tmp_path):
    pa.parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "t.parquet")
    text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\nsinks: {o: {from: t, json: o.ndjson.gz}}"
    ge.loads(text, tmp_path).run(engine=engine)
    assert gzip.decompress((tmp_path / "o.ndjson.gz").read_bytes()) == b'{"a":1}\n{"a":2}\n'


def test_what_json_has_not_is_an_error(engine, tmp_path):
    text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\nsinks: {o: {from: t, json: o.jsonl}}"
    for column, message in (
        (pa.array([1.0, float("nan")]), "column 'a' has NaN or an infinite number, which JSON does not have"),
        (pa.array([10**17], pa.timestamp("us")).cast(pa.timestamp("us")), None),
        (pa.array([10**18], pa.timestamp("us")), "column 'a' has a time outside of the years 1 to 9999"),
    ):
        pa.parquet.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
        if message is None:
            continue
        with pytest.raises(ge.RunFailed) as caught:
            ge.loads(text, tmp_path).run(engine=engine)
        assert message in str(caught.value)
        assert not (tmp_path / "o.jsonl").exists()


def test_a_duration_is_refused_before_the_run(tmp_path):
    pa.parquet.write_table(pa.table({"a": pa.array([1], pa.duration("us"))}), tmp_path / "t.parquet")
    text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\nsinks: {o: {from: t, json: o.jsonl.gz, compression: none}}"
    with pytest.raises(ge.InvalidPipeline) as caught:
        ge.loads(text, tmp_path).plan()
    assert "a JSON file cannot hold duration, the type of 'a'" in str(caught.value)
    written(tmp_path, '{"a":1}')
    with pytest.raises(ge.InvalidPipeline, match="a JSON file cannot hold duration"):
        load(tmp_path, "schema: {a: duration}").plan()


@LAYOUTS
def test_structs_and_maps_are_read_and_written(engine, tmp_path, partition_rows):
    lines = [
        '{"s":{"x":1,"at":"2020-01-31"},"m":{"a":1,"b":null},"l":[{"y":"q"}]}',
        '{"s":null,"m":{},"l":[]}',
        '{"s":{"x":null,"at":null},"m":null,"l":null}',
    ]
    written(tmp_path, *lines)
    types = "s: 'struct<x: int64, at: date>', m: 'map<string, int64>', l: 'list<struct<y: string>>'"
    pipeline = load(tmp_path, f"schema: {{{types}}}", more="sinks: {o: {from: t, json: o.jsonl, mode: overwrite}}")
    done = pipeline.run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    assert done["s"].to_arrow().to_pylist() == [
        {"s": {"x": 1, "at": dt.date(2020, 1, 31)}, "m": [("a", 1), ("b", None)], "l": [{"y": "q"}]},
        {"s": None, "m": [], "l": []},
        {"s": {"x": None, "at": None}, "m": None, "l": None},
    ]
    assert (tmp_path / "o.jsonl").read_text().splitlines() == lines
    written(tmp_path, '{"s":{"x":1}}', '{"s":{"x":"one"}}')
    assert "t.jsonl:2: column 's': 'one' is not a valid struct<x: int64>" in failure(
        tmp_path, "schema: {s: 'struct<x: int64>'}"
    )
