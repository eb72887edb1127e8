"""JSON lines parsed by kernels against the pandas engine, on values at the edges of what types read."""

import json
import random

import pytest

from gpuetl import GpuetlError, Pipeline, RunOptions
from gpuetl.engines.cudf.io import json_reader

TYPES = {
    "i8": "int8", "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64", "d": "decimal(10,2)",
    "wide": "decimal(38,5)", "b": "bool", "day": "date", "t": "timestamp", "z": "timestamp[UTC]", "s": "string",
    "l": "list<int64>", "ls": "list<string>", "r": "struct<a: int64, b: string, c: list<float64>>",
    "ll": "list<list<bool>>", "lr": "list<struct<a: date, b: struct<c: string>>>", "ü": "string",
}  # fmt: skip
GOOD = {
    "i8": ["1", "-128", "127", "-0", "null"],
    "i64": ["9223372036854775807", "-9223372036854775808", "0", "null"],
    "u64": ["18446744073709551615", "0"],
    "f32": ["1e5", "3.4028235e38", "1e-46", "0.1", "7", "-0"],
    "f64": ["1e308", "0.1", "-0.0", "4.9e-324", "1E+5", "123456789012345678", "2.2250738585072014e-308"],
    "d": ["1.5", "-99999999.99", '"12.25"', "0", '"-1"'],
    "wide": ["123456789012345678901234567890123.12345", "-1", '"7"'],
    "b": ["true", "false", "null"],
    "day": ['"2024-02-29"', '"0001-01-01"', '"9999-12-31"', '"2024-\\u0030\\u0031-01"'],
    "t": ['"2024-01-31"', '"2024-01-31 10:00"', '"2024-01-31T10:00:00.123456"'],
    "z": ['"2024-01-31 10:00:00Z"', '"2024-01-31T10:00:00+01:30"'],
    "s": [
        '"a"',
        '""',
        '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
        '"\\u00fc\\u20ac\\uD83D\\ude00 ü€😀"',
        '"\\u0000"',
        '"{[,:"',
        '"\x7f"',
    ],
    "l": ["[]", "[1]", "[ 1 , null,2 ]", "null"],
    "ls": ['["a","","]",null]', "[]", '["\\n"]'],
    "r": ['{"a":1,"b":"x","c":[1,2.5]}', "{}", '{"c":[],"a":null}', '{ "b" : "\\t" , "other" : {"a": [1, {}]} }'],
    "ll": ["[[true],[],null]", "[[ ]]", "[]"],
    "lr": ['[{"a":"2024-01-01","b":{"c":"x"}},null,{}]', "[]", '[{"b":null},{"b":{}}]'],
    "ü": ['"x"', "null"],
}
BAD = {
    "i8": ["128", "1.0", "1e2", '"1"', "true"],
    "i64": ["9223372036854775808", "01", "+1", "-", "1_0", "[]", "{}"],
    "u64": ["-1", "18446744073709551616"],
    "f32": ["1e39", '"1"'],
    "f64": ["1e309", "NaN", "Infinity", ".5", "5.", "1e", "0x10"],
    "d": ["1.005", "100000000", '"x"', '""', "1e-9"],
    "wide": ["1e39"],
    "b": ["1", '"true"', "tru", "True"],
    "day": ['"2023-02-29"', '"2024-1/1"', "20240101"],
    "t": ['"2024-01-31 24:01"', '"2024-01-31 10:00:00Z"'],
    "z": ['"2024-01-31 10:00:00"'],
    "s": ["5", '"\\ud800"', '"\\udc00\\ud800"', '"\\x"', '"\t"', '"a', "{}", '"\\u12g4"'],
    "l": ["[1,]", "[,1]", '["a"]', "[1", "{}", "[[1]]", "5"],
    "ls": ["[1]", '["a" "b"]'],
    "r": ['{"a":1,"a":2}', '{"a":"x"}', "[]", '{"a" 1}', '{"a":1,}', '{,"a":1}', '{"b":"x"]', "{a:1}"],
    "ll": ["[true]", "[[1]]"],
    "lr": ['[{"a":"x"}]', "[[]]"],
    "ü": ["1"],
}
OTHER = {"d": ["1e2"], "s": []}
"""Values that the pandas engine reads, and the kernels leave to it."""

OPTIONS = RunOptions(partition_rows=1000, skip_passes=("read_small_on_cpu",))


@pytest.fixture
def read(pipeline):
    """Reads lines on an engine: the rows, or the error, and whether the kernels read all of them."""

    def outcome(engine, text, types, **keys):
        (pipeline.root / "s.jsonl").write_bytes(text if isinstance(text, bytes) else text.encode())
        reads = Pipeline("reads", root=pipeline.root)
        source = reads.read_json("s", "s.jsonl", **({"schema": types} if types else {}), **keys)
        kept = ["s"]
        if keys.get("on_bad_row") == "quarantine":
            kept.append(source.rejected.stage("r").origin)
        try:
            run = reads.run(engine=engine, keep=kept, options=OPTIONS)
        except GpuetlError as error:
            return str(error), False
        notes = [one for one in run.report.notes if "read on the CPU" in one and ".rejected" not in one.split(":")[0]]
        return [run[name].to_arrow().drop_columns("_run" if name != "s" else []) for name in kept], not notes

    return outcome


@pytest.fixture(params=["cudf-on-cpu", pytest.param("cudf", marks=pytest.mark.gpu)])
def agree(read, request):
    """Reads lines on both engines, compares the rows, and returns whether the kernels read all of them."""

    def on_both(text, types, **keys):
        expected, _ = read("pandas", text, types, **keys)
        got, all_by_kernels = read(request.param, text, types, **keys)
        if isinstance(expected, str) or isinstance(got, str):
            assert got == expected, text
        else:
            for ours, theirs in zip(got, expected, strict=True):
                assert ours.schema == theirs.schema, text
                assert repr(ours.to_pylist()) == repr(theirs.to_pylist()), text
        return all_by_kernels

    return on_both


def line_of(values):
    """Return an object of values as they are written."""
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in values.items()) + "}\n"


@pytest.mark.parametrize("name", TYPES)
def test_every_good_value_is_read_by_the_kernels(agree, name):
    text = "".join(line_of({name: value}).replace("\\u00fc", "ü", 1) for value in GOOD[name])
    assert agree(text, {name: TYPES[name]}) or name == "s"
    assert agree(text.replace("\n", "\r\n"), {name: TYPES[name]})


@pytest.mark.part(12)
@pytest.mark.parametrize("name", TYPES)
def test_bad_values_are_as_on_the_cpu(agree, name):
    for value in BAD[name]:
        for mode in ("fail", "null", "quarantine"):
            text = line_of({name: GOOD[name][0]}) + line_of({name: value}) + line_of({name: GOOD[name][-1]})
            assert not agree(text, {name: TYPES[name]}, on_bad_row=mode), value


@pytest.mark.parametrize("name", OTHER)
def test_values_that_the_kernels_do_not_read_are_read(agree, name):
    for value in OTHER[name]:
        assert not agree(line_of({name: value}), {name: TYPES[name]}), value


@pytest.mark.part(4)
@pytest.mark.parametrize(
    ("line", "by_kernels"),
    [
        ("", True), (" \t\r", True), ("{}", True), ('\t{ "a" : 1 } ', True), ('{"a":1,"b":{"a":{"a":[{}]}}}', True),
        ('{"b":[1,"x",null,true,{"c":-1.5e+3}],"a":2}', True), ('{"b":1,"b":2,"a":3}', True),
        ('{"b":' + "[" * 60 + "]" * 60 + "}", True), ('{"b":' + "[" * 70 + "]" * 70 + "}", False),
        ('{"\\u0061":1}', False), ('{"a":1,"a":2}', False), ('{"a":null,"a":2}', False), ('{"a":1}{"a":2}', False),
        ('{"a":1} x', False), ("[]", False), ("5", False), ("null", False), ('{"a":1', False), ('{"a"}', False),
        ('{"a":1,}', False), ("{,}", False), ('{"a":1]', False), ("{'a':1}", False), ("\x0b{}", False),
        ('{"a":1 "b":2}', False), ('{"a":1,"b":tru}', False), ('{"a":1,"b":"\x01"}', False), ('{"a":1,"b":01}', False),
        ('{"a":1,"b":"\\u123"}', False), ('{"a":1} // x', False), ('{"a":1,"b":[1,2}]', False), ('{"a":1\x00}', False),
        ('{"b":1e400,"a":1}', True), ('{"b":"\\ud800","a":1}', False), ('{"a":1,"b":nul', False), ('{"a":1,"b":-}', False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["fail", "quarantine"])
def test_lines(agree, line, by_kernels, mode):
    assert agree('{"a":1}\n' + line + '\n{"a":7}', {"a": "int64"}, on_bad_row=mode) == by_kernels


def test_bytes_that_are_no_utf8_are_bad_where_they_are_read(agree):
    types = {"a": "string", "l": "list<string>", "n": "int64"}
    assert not agree(b'{"a":"x"}\n{"a":"\xff"}\n', types)
    assert not agree(b'{"l":["x","\xc0\x80"]}\n', types)
    assert agree('{"l":["x","ü"]}\n', types)


def test_keys_that_the_schema_does_not_have(agree):
    text = '{"a":1,"b":2}\n{"b":3}\n'
    assert agree(text, {"a": "int64"})
    assert not agree(text, {"a": "int64"}, extra_columns="error")


def test_inferred_columns_are_read_by_the_kernels(agree):
    text = '{"a":1,"b":[{"c":"x"}],"n":null}\n{"a":2.5,"b":[]}\n'
    assert agree(text, None)
    assert agree(text, None, exclude=["b"])
    assert not agree(text + '{"x":1}\n', None, sample_rows=1, extra_columns="error")


def test_blocks_and_parts_have_all_lines_once(agree, monkeypatch):
    monkeypatch.setattr(json_reader, "MOST_BYTES", 64)
    text = "".join(line_of({"a": number, "s": json.dumps("x" * (number % 40))}) for number in range(50))
    assert agree(text, {"a": "int64", "s": "string", "l": "list<int64>"})
    assert not agree(text + line_of({"s": json.dumps("x" * 100)}), {"a": "int64", "s": "string"})


def test_random_lines_agree(agree):
    draws = random.Random(5)
    for _ in range(40):
        names = draws.sample(list(TYPES), draws.randint(1, 6))
        lines = []
        for _ in range(draws.randrange(1, 8)):
            own = draws.sample(names, draws.randint(0, len(names)))
            line = line_of({name: draws.choice(GOOD[name]) for name in own})
            if draws.random() < 0.2:
                place = draws.randrange(len(line))
                line = (
                    line[:place]
                    + draws.choice(['"', "\\", "{", "}", "[", "]", ",", ":", "1", "\x00", " ", ""])
                    + line[place + 1 :]
                )
            lines.append(line)
        mode = draws.choice(["fail", "null", "quarantine"])
        agree("".join(lines), {name: TYPES[name] for name in names}, on_bad_row=mode)


def test_maps_are_read_on_the_cpu_with_a_reason(agree):
    assert not agree('{"a":null}\n{"a":{"x":1}}\n', {"a": "map<string, int64>"})
