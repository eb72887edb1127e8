"""Bad input through the command line: one clear message, the right exit code, no change on disk."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from messages import without_source

ROWS = pa.table({"x": pa.array(range(10), pa.int64()), "s": list("abcdefghij")})
PIPELINE = """\
gpuetl: 1
name: p
sources:
  t: {parquet: t.parquet}
stages:
  s: {from: t, steps: [filter: x > 0]}
sinks:
  o: {from: s, parquet: out.parquet, mode: overwrite}
"""
CSV = PIPELINE.replace("{parquet: t.parquet}", "{csv: t.csv, schema: {x: int64, s: string}}")
KERNEL = "{cuda: k.cu, entry: k, inputs: x, outputs: {y: int64}, reference: k.py:k}"
WITH_KERNEL = PIPELINE.replace("filter: x > 0", f"kernel: {KERNEL}")
CUDA = 'extern "C" __global__ void k(const long long* x, long long* y, long long n) {}\n'


def state(folder):
    """Return every path below a folder, and the bytes of files; manifests of runs do not count."""
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts and folder / ".gpuetl" not in (path, *path.parents)
    }


@pytest.fixture
def run(tmp_path):
    """Runs a pipeline over files; returns the exit code and the message, once nothing else has changed on disk."""

    def invoke(text=PIPELINE, *arguments, command="run", **files):
        pq.write_table(ROWS, tmp_path / "t.parquet")
        (tmp_path / "out.parquet").write_bytes(b"as it was")
        for name, content in files.items():
            path = tmp_path / name.replace("__", ".")
            path.unlink(missing_ok=True)
            if isinstance(content, pa.Table):
                pq.write_table(content, path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        (tmp_path / "p.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        before = state(tmp_path)
        done = gpuetl(command, tmp_path / "p.yaml", *["-q"] * (command == "run"), *arguments)
        assert done.exit_code == 0 or state(tmp_path) == before
        return done.exit_code, done.stderr.replace(str(tmp_path), "")

    return invoke


def parquet_bytes(**keys):
    sink = pa.BufferOutputStream()
    pq.write_table(ROWS, sink, compression="none", **keys)
    return sink.getvalue().to_pybytes()


def flipped(position, mask=0xFF):
    data = bytearray(parquet_bytes())
    data[position] ^= mask
    return bytes(data)


@pytest.mark.parametrize(
    ("file", "code", "message"),
    [
        (b"", 2, "t.parquet is not a Parquet file that can be read: its size is 0 bytes"),
        (b"no parquet here", 2, "the bytes PAR1 are missing at its end"),
        (parquet_bytes()[:-20], 2, "the bytes PAR1 are missing at its end"),
        (parquet_bytes()[: len(parquet_bytes()) // 2], 2, "the bytes PAR1 are missing at its end"),
        (b"PAR1" + b"\x00" * 8 + b"PAR1", 2, "t.parquet has metadata that contradicts itself: it ends within a value"),
        (parquet_bytes()[40:], 1, "cannot read /t.parquet"),
        (flipped(4), 1, "cannot read /t.parquet: it is damaged, or not in the declared format"),
        (pa.table({}), 2, "unknown column 'x'"),
        (ROWS.rename_columns(["X", "s"]), 2, "unknown column 'x'"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]), 2, "has two columns named 'x'"),
        (pa.table({"x": [{"a": 1}]}), 2, "cannot compare struct<a: int64> and int64"),
        (pa.table({"x": ["1"]}), 2, "cannot compare string and int64"),
    ],
)  # fmt: skip
def test_a_parquet_file_that_is_not_one_is_reported(run, file, code, message):
    got, text = run(t__parquet=file)
    assert (got, message in text) == (code, True), text


@pytest.mark.parametrize("table", [ROWS.slice(0, 0), pa.table({"x": pa.nulls(0, pa.int64())})])
def test_zero_rows_are_no_mistake(run, table):
    assert run(t__parquet=table) == (0, "")


def test_text_that_is_not_utf_8_is_reported_when_it_is_read(run):
    data = parquet_bytes(use_dictionary=False)
    code, text = run(t__parquet=data.replace(b"\x01\x00\x00\x00c", b"\x01\x00\x00\x00\xff"))
    assert code == 1
    assert "cannot read /t.parquet: a string is not UTF-8\n" in text


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("", "t.csv: empty; a CSV file begins with a line of column names"),
        ("\n1,a\n", "t.csv: line 1 is empty and should have the column names"),
        ("x\n1\n", "t.csv: there is no column 's'.  Columns: x."),
        ("X,s\n1,a\n", "t.csv: there is no column 'x'.  Columns: X, s."),
        ("x,x,s\n1,2,a\n", "t.csv: two columns are named 'x'\n"),
        ("x;s\n1;a\n", "no column 'x'.  Columns: x;s. Is the delimiter ';'?  Declare it: delimiter: \";\".\n"),
        ("x\ts\n1\ta\n", "Is the delimiter '\\t'?  Declare it: delimiter: \"\\t\".\n"),
        ("x,s\nn/a,b\n", "If 'n/a' stands for null, add it to the source's nulls."),
        ("x,s\n1,a\n2\n", "t.csv:3: 1 field, expected 2: 2\n"),
        ("x,s\n1,a,b\n", "t.csv:2: 3 fields, expected 2: 1,a,b\n"),
        ("x,s\n1,a\nfoo,b\n", "t.csv:3: column 'x': 'foo' is not a valid int64"),
        ("x,s\n1.5,a\n", "t.csv:2: column 'x': '1.5' is not a valid int64"),
        ("x,s\n9223372036854775808,a\n", "t.csv:2: column 'x': '9223372036854775808' is not a valid int64"),
        ("x,s\n1,é\n".encode("latin-1"), "t.csv:2: column 's': '\ufffd' is not a valid string, which is text in UTF-8\nSave the file as UTF-8, or"),
        ("x,s\n1,a\n".encode("utf-16"), "t.csv: the file is UTF-16 text, not UTF-8"),
        (b"\x00\x01\xff", "t.csv: the first line is not column names in UTF-8"),
    ],
)  # fmt: skip
def test_a_csv_file_that_is_not_as_declared_is_reported(run, file, message):
    code, text = run(CSV, t__csv=file)
    assert (code, message in without_source(text)) == (1, True), text


@pytest.mark.parametrize("text", ["x,s\n", "x,s", "\ufeffx,s\n1,a\n", "x,s\r\n1,a\r\n", 'x,s,"s"\n'[:3] + "\n1,a"])
def test_csv_files_with_a_header_alone_or_a_byte_order_mark_are_read(run, text):
    assert run(CSV, t__csv=text) == (0, "")


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "p.yaml is empty"), (b"# nothing\n", "p.yaml is empty"), (b"[1]", "a pipeline is a map"), (b"words", "got text"),
        (b"\xff\xfe\x00", "it is not UTF-8 text"), (PIPELINE.encode("utf-16"), "it is not UTF-8 text"),
        (PIPELINE.replace("name: p", "name: p\0"), "the character U+0000 is not text"),
        (PIPELINE.replace("  t:", "\tt:"), "p.yaml:4:1: this line is indented with a tab"),
        (PIPELINE + "---\n" + PIPELINE, "a file has one pipeline"),
        ("[" * 10_000, "p.yaml:1:66: it nests deeper than 64"), ("{a: " * 10_000, "it nests deeper than 64"),
        ("- " * 10_000, "it nests deeper than 64"), ("\n".join(" " * i + "a:" for i in range(900)), "it nests deeper than 64"),
        ("x" * 50_000_000, "p.yaml has more than 4,194,304 bytes"),
        ("\n".join(f"k{i}: {i}" for i in range(1_000)), "… and 982 more problems"),
        (PIPELINE.replace("name: p", 'name: "\\ud800"'), "half of a character is not text"),
        (PIPELINE.replace("name: p", "? [a]\n: b\nname: p"), "p.yaml:2:3: gpuetl does not support a list or map as a key"),
        (PIPELINE.replace("gpuetl: 1", "gpuetl: true"), "true or false as a version of the language is not supported"),
        (PIPELINE.replace("gpuetl: 1", "gpuetl: 1.0"), "a number as a version of the language is not supported"),
        (PIPELINE.replace("gpuetl: 1", "gpuetl: [1]"), "a list as a version of the language is not supported"),
        (PIPELINE.replace("gpuetl: 1", "gpuetl: 2"), "version 2 of the language is not supported"),
        (PIPELINE.replace("gpuetl: 1\n", ""), "the key 'gpuetl' is missing"),
        (PIPELINE.replace("name: p", "name: p\ndescription: [{a: 1}]"), "takes a string, got a map"),
        (PIPELINE.replace("name: p", "name: p\nparams: {p: {type: int64, required: maybe}}"), "takes true or false, got text 'maybe'"),
        (PIPELINE.replace("name: p", f"name: p\nparams: {{p: {{type: int64, default: {'9' * 5_000}}}}}"), "has too many digits for a number"),
        (PIPELINE.replace("filter: x > 0", f"limit: {'9' * 20}"), "takes a whole number that fits int64"),
        (PIPELINE.replace("from: t", "from: s"), "the stages go in a circle: s → s"),
        (PIPELINE.replace("filter: x > 0", "join: {with: s, on: x}"), "the stages go in a circle: s → s"),
        (PIPELINE.replace("  s: {", "  ../s: {"), "'../s' is not a valid name of a stage"),
    ],
    ids=lambda text: str(text[:30]),
)  # fmt: skip
def test_a_pipeline_file_that_is_none_is_reported(run, text, message):
    code, reported = run(text)
    assert (code, message in reported) == (2, True), reported[:2_000]
    assert len(reported) < 60_000


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("a" * 300 + ".parquet", 2, "a name in the path has 308 bytes; 255 are possible"),
        ("/".join(["a" * 100] * 50), 2, "bytes; fewer than 4,096 are possible"),
        ("a\0b", 2, "the character NUL cannot stand in a path"),
        ("\ud800", 2, "half of a character is not text"),
        ("", 2, "takes a name, got an empty string"),
        ("t.parquet", 2, "writes over source 't'"), ("x/../t.parquet", 2, "writes over source 't'"),
        (".", 2, "writes over the pipeline's own folder"), ("/", 2, "writes over the pipeline's own folder"),
        ("p.yaml", 1, "p.yaml is a file, and the sink writes a folder"), ("p.yaml/x", 1, "cannot write beside /p.yaml/x: Not a directory"),
        ("/dev/full", 1, "/dev/full is a file, and the sink writes a folder"),
        ("/proc/x.parquet", 1, "cannot write beside /proc/x.parquet"),
        ("${params.no}", 2, "unknown reference '${params.no}'"), ("${env.GPUETL_NOT_SET}", 2, "GPUETL_NOT_SET is not set"),
        ("${x}", 2, "unknown reference '${x}'"), ("${}", 2, "unknown reference '${}'"),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_a_place_where_no_sink_can_be_written_is_reported(run, path, code, message):
    got, text = run(PIPELINE.replace("out.parquet", json.dumps(path)))
    assert (got, message in text) == (code, True), text


@pytest.mark.parametrize("path", ["a" * 300, "a\0b", "none/*.parquet", "a[", "s3://bucket/x.parquet", "/dev/null"])
def test_a_place_where_no_source_can_be_is_reported(run, path):
    code, text = run(PIPELINE.replace("t: {parquet: t.parquet}", f"t: {{parquet: {json.dumps(path)}}}"))
    assert code == 2
    assert "/p.yaml:4:16: source 't': " in text


def test_a_sink_s_name_may_be_as_long_as_names_can_be(run, tmp_path):
    name = "é" * 123 + ".parquet"
    assert run(PIPELINE.replace("out.parquet", name)) == (0, "")
    assert pq.read_table(tmp_path / name).num_rows == 9


EXPRESSIONS = ["SELECT 1", "(SELECT x)", "x IN (SELECT x FROM t)", "EXISTS (SELECT 1)", "sum(x) OVER ()", "x;", "x; DROP TABLE t", "x ; ; x", "-- nothing", "/* not closed", "CAST(x AS variant)", "CAST(x AS struct<a int>)", "CAST(x AS int[])", "CAST(x AS map(int, int))", "CAST(x AS varchar(a))", "CAST(x AS 'int64')", "CAST(x)", "CAST(x AS int64 FORMAT 'a')", "SAFE_CAST(x AS int64)", "x::foo", "x y", "x > > 3", "x = = 3", "x =! 3", "!(x = 3)", "x && x", "x ^ 1", "s ~* 'a'", "s GLOB s", "s SIMILAR TO 'a' ESCAPE 'b'", "s LIKE ANY ('a', 'b')", "E'a\\n'", "N'abc'", "X'ABCD'", "U&'\\0041'", "$$abc$$", "$tag$abc$tag$", "'a' 'b'", "'it\\'s'", "`x`", "x[1]", "{{ x }}", "{% if %}", "${params.x}", "x -> x + 1", "lambda y: y", "STRUCT(1, 2)", "()", "x IN ()", "?", ":name", "%s", "@x", "$1", "$nope", "t.*", "* EXCEPT (x)", "COLUMNS(*)", "sum(DISTINCT x)", "lower(s ORDER BY s)", "first(x) IGNORE NULLS", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "x TABLESAMPLE (10)", "x FROM t", "x UNION SELECT 1", "VALUES (1)", "INSERT INTO t VALUES (1)", "SET x = 1", "INTERVAL '1' YEAR", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1 day; drop table t'", "INTERVAL 'one day'", "DATE 'x'", "TIMESTAMP '2020-13-01'", "CURRENT_DATE", "CASE END", "CASE WHEN x > 1 THEN END", "abs(x,)", "abs(,x)", "abs(x,,x)", "abs(y => 1)", "abs(x => 1, x => 2)", "abs(x)(1)", "schema.abs(x)", "1e", "1e+", "1.2.3", "1_000e", "9999999999999999999999999999999999999999", "__import__('os')", "x' OR '1'='1", "x)) OR ((1=1", "“x”", '""', "x ≥ 1"]  # fmt: skip


@pytest.mark.part(3)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_no_expression_of_the_language_is_reported_at_its_place(run, expression):
    code, text = run(
        PIPELINE.replace("filter: x > 0", f"with_columns: {{y: {json.dumps(expression, ensure_ascii=False)}}}")
    )
    assert code == 2
    assert text.startswith("/p.yaml:6:"), text
    assert "stage 's', step 1: " in text
    assert text.count("stage 's'") == 1


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "expression",
    ["(" * 10_000 + "x" + ")" * 10_000, "+".join(["x"] * 9_000), "- " * 9_000 + "x", "x" * 1_000_000, f"x IN ({','.join(['1'] * 100_000)})"],
    ids=["parentheses", "sums", "signs", "a million characters", "a hundred thousand values"],
)  # fmt: skip
def test_bombs_in_expressions_are_reported(run, expression):
    code, text = run(PIPELINE.replace("x > 0", json.dumps(expression)))
    assert code == 2
    assert any(word in text for word in ("nest", "operators", "characters")), text[:500]
    assert len(text) < 5_000


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        *(("int64", value, "is not a valid int64") for value in ("", "1; drop table t", "1 OR 1=1", "'1'", "1.0", "1e3", "0x10", "9" * 20, "9" * 5_000, "nan")),
        *(("float64", value, "is not a valid float64") for value in ("", "abc", "1e999", "0x1", "1;")),
        *(("date", value, "is not a valid date") for value in ("2020-13-01", "0000-01-01", "99999-01-01", "now")),
        *(("timestamp", value, "is not a valid timestamp") for value in ("2020-01-01T00:00:00Z", "2020-01-01 00:00:00.1234567", "2020-01-01 00:00:00.12x", "soon")),
        *(("duration", value, "is not a valid duration") for value in ("", "1 month", "1 day; drop table t", "x' or '1", "1e9 days")),
        *(("bool", value, "is not a valid bool") for value in ("", "1", "yes", "null")),
        *(("'decimal(10,2)'", value, "is not a valid decimal(10,2)") for value in ("1.005", "nan", "inf", "9" * 11)),
    ],
)  # fmt: skip
def test_a_parameter_s_value_that_is_not_of_its_type_is_reported(run, dtype, value, message):
    text = PIPELINE.replace("name: p", f"name: p\nparams: {{p: {{type: {dtype}, required: true}}}}")
    code, reported = run(text, "-p", f"p={value}")
    shown = value if len(value) <= 200 else f"{value[:200]}…"
    assert (code, f"parameter 'p': '{shown}' {message}" in reported) == (2, True), reported


@pytest.mark.parametrize("value", ["a' OR '1'='1", "x; drop table t", "$p", "${env.HOME}", "x > 0", "", "--", "\n"])
def test_a_parameter_s_text_stays_a_value(run, value):
    text = PIPELINE.replace("name: p", "name: p\nparams: {p: {type: string, required: true}}")
    assert run(text.replace("x > 0", "$p = s"), "-p", f"p={value}") == (0, "")


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("twin", "code", "message"),
    [
        ("def k(x):\n    return {'y': x\n", 2, "the kernel's twin /k.py, line 2: '{' was never closed"),
        ("def k(x):\n\treturn 1\n        return 2\n", 2, "the kernel's twin /k.py, line 3"),
        ("return 3\ndef k(x): pass\n", 2, "the kernel's twin /k.py, line 1: 'return' outside function"),
        ("def k(x):\0 pass\n", 2, "the kernel's twin /k.py"),
        (b"\xff\xfe", 2, "the kernel's twin /k.py"),
        ("def other(x): pass\n", 2, "k.py has no function 'k'"),
        ("", 2, "k.py has no function 'k'"),
        ("import no_such_module\ndef k(x): pass\n", 1, "cannot load the kernel's twin"),
        ("def k(x): raise ValueError('my own')\n", 1, "k in k.py raised ValueError: my own"),
        ("def k(x): return 1 / 0\n", 1, "k in k.py raised ZeroDivisionError"),
        ("def k(x): raise SystemExit(3)\n", 1, "k in k.py raised SystemExit: 3"),
        ("def k(x): return k(x)\n", 1, "k in k.py raised RecursionError"),
        ("def k(x): return x\n", 1, "k returned a ndarray, not a dict of arrays"),
        ("def k(x): return {'z': x}\n", 1, "k returned ['z']; declared are ['y']"),
        ("def k(x): return {3: x, 'y': x}\n", 1, "declared are ['y']"),
        ("def k(x): return {'y': x[:-1]}\n", 1, "output 'y' has shape (9,), and must have (10,)"),
        ("def k(x): return {'y': x.reshape(2, 5)}\n", 1, "output 'y' has shape (2, 5)"),
        ("def k(x): return {'y': x.astype('int32')}\n", 1, "output 'y' is int32, declared is int64"),
        ("def k(x): return {'y': [[1], [1, 2]]}\n", 1, "k: output 'y' is not an array"),
        ("def k(x): return {'y': None}\n", 1, "output 'y' has shape ()"),
        ("def k(x, z): return {'y': x}\n", 1, "k in k.py raised TypeError"),
        ("k = 3\n", 1, "has no function 'k'"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_twin_that_is_none_is_reported(run, twin, code, message):
    got, text = run(WITH_KERNEL, k__py=twin, k__cu=CUDA)
    assert (got, message in text) == (code, True), text


def test_a_twin_is_checked_without_being_run(run, tmp_path):
    twin = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\ndef k(x): return {{'y': x}}\n"
    assert run(WITH_KERNEL, command="validate", k__py=twin, k__cu=CUDA) == (0, "")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("block", [0, 1025])
def test_a_block_has_as_many_threads_as_devices_take(run, block):
    code, text = run(WITH_KERNEL.replace("entry: k", f"entry: k, block: {block}"), k__py="def k(x): pass\n", k__cu=CUDA)
    assert (code, f"block takes 1 to 1024 threads, got {block}" in text) == (2, True)


@pytest.mark.part(6)
@pytest.mark.parametrize(
    "name",
    [" ", "a b", "'", '"', "日本", "😀", "a" * 2_000, "x:0", ":row", ":row_list", "y:argument0", "select", "X", "a.b", "a,b", "\n", "\t", "\0",
     "null", "true", "$x", "${x}", "*", "a desc", "a/b", "..", ".", "a=b", "%2F", "_x", "\ufeff", "e\u0301"],
    ids=lambda name: repr(name)[:12],
)  # fmt: skip
def test_columns_may_have_any_name(run, tmp_path, name):
    table = pa.table({"x": pa.array([1, 2, 3]), name: pa.array([3, 1, 2]), "z": ["p", "q", "p"]})
    quoted = '"' + name.replace('"', '""') + '"'
    steps = [
        {"with_columns": {"y": f"{quoted} + 1"}},
        {"window": {"by": "z", "order_by": "x", "columns": {"n": f"row_number() - 1 + cum_sum({quoted} + 1)"}}},
        {"filter": f"{quoted} > 0"},
    ]
    if name.strip():
        steps += [
            {"distinct": name},
            {"aggregate": {"by": [name, "z"], "columns": {"c": f"sum({quoted} + 1) + count(*)"}}},
        ]
    text = PIPELINE.replace("[filter: x > 0]", json.dumps(steps))
    assert run(text, t__parquet=table) == (0, "")
    got = pq.read_table(tmp_path / "out.parquet")
    assert got.num_rows == 3
    assert sorted(got.column(name).to_pylist()) == [1, 2, 3]


@pytest.mark.parametrize(
    "name", ["a b", "日本", ":row", ":row_list", "..", ".", "a/b", "a=b", "%2F", "a\nb", "😀"], ids=repr
)
def test_a_partition_column_may_have_any_name(run, tmp_path, name):
    table = pa.table({"x": pa.array([1, 2, 3]), name: pa.array([3, 1, 3])})
    text = PIPELINE.replace("out.parquet", f"out, partition_by: {json.dumps(name)}")
    code, message = run(text, t__parquet=table)
    assert (code, message) == (0, "")
    assert len({path.parent for path in (tmp_path / "out").rglob("*.parquet")}) == 2


def test_a_file_of_a_terabyte_is_not_read_whole(tmp_path):
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    done = gpuetl("validate", path)
    assert done.exit_code == 2
    assert "big.yaml has more than 4,194,304 bytes; 1,048,576 characters are allowed" in done.stderr
