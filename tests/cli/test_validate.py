"""`gpuetl validate`: what it finds in files and kernels, and what it says that it did not check."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, Pipeline, load
from gpuetl.engines.cudf.codegen import nvrtc

HEAD = "gpuetl: 1\nname: p\nparams: {day: {type: date, required: true}}\nsources:\n"
TWIN = "def k(x):\n    return x\n"
KERNELS = """  b: {parquet: b.parquet}
stages:
  s:
    from: b
    steps:
      - kernel: {body: "z = x * q;", inputs: x, outputs: {z: int64}, reference: k.py:k}
      - kernel: {cuda: k.cu, entry: k, inputs: x, outputs: {w: int64}, reference: k.py:k}
"""
CUDA = 'extern "C" __global__ void k(const long long* x, long long* y, long long n) { y[0] = x[0] + nothing; }\n'


@pytest.fixture
def validate(tmp_path):
    def run(text, *arguments):
        (tmp_path / "p.yaml").write_text(HEAD + text)
        done = gpuetl("validate", tmp_path / "p.yaml", *arguments)
        return done.exit_code, done.output.replace(f"{tmp_path}/", "")

    return run


def write(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / name.replace("__", ".")
        pq.write_table(content, path) if isinstance(content, pa.Table) else path.write_text(content)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{csv: none.csv, schema: {x: int64}}", "p.yaml:5:12: source 's': none.csv does not exist"),
        ("{csv: 'n*.csv', schema: {x: int64}}", "n*.csv matches no file"),
        ("{csv: 'a*.csv', schema: {x: int64, y: int64}}", "source 's': a2.csv: there is no column 'y'.  Columns: x."),
        (
            "{csv: 'a*.csv', schema: {X: int64}}",
            "a1.csv: there is no column 'X'.  Columns: x, y. Did you mean 'x'?  Upper and lower case differ.",
        ),
        ("{csv: empty.csv, schema: {x: int64}}", "empty.csv: empty; a CSV file begins with a line of column names"),
        ("{csv: two.csv, schema: {x: int64}}", "two.csv: two columns are named 'x'"),
        ("{parquet: 'b*.parquet'}", "source 's': b2.parquet has column 'n', and b1.parquet does not"),
        ("{parquet: 'b*.parquet', schema: {x: string}}", "b1.parquet: column 'x' is int64, and the source says string"),
        ("{parquet: empty.csv, schema: {x: int64}}", "empty.csv is not a Parquet file that can be read"),
    ],
)
def test_files_that_are_not_as_the_source_says_are_reported(validate, tmp_path, source, message):
    write(tmp_path, a1__csv="x,y\n1,2\n", a2__csv="x\n1\n", empty__csv="", two__csv="x,x\n1,2\n")
    write(tmp_path, b1__parquet=pa.table({"x": [1]}), b2__parquet=pa.table({"x": [1], "n": ["a"]}))
    code, output = validate(f"  s: {source}\n")
    assert (code, message in output) == (2, True), output
    if "schema" in source:
        assert validate(f"  s: {source}\n", "--no-files")[0] == 0


def test_without_files_the_columns_of_a_source_are_not_known(validate):
    code, output = validate(
        "  s: {parquet: none.parquet}\nstages: {t: {from: s, steps: [filter: x > 1]}}\n", "--no-files"
    )
    assert (code, output.splitlines()[0]) == (
        0,
        "not checked: source 's' states no schema, and files were not looked at",
    )


def test_a_path_that_is_not_known_yet_is_not_looked_at(validate):
    code, output = validate('  s: {csv: "${params.day}.csv", schema: {x: int64}}\n')
    assert code == 0
    assert output.startswith("not checked: files of source 's', whose path needs a value for a parameter\n")
    assert validate('  s: {csv: "${params.day}.csv", schema: {x: int64}}\n', "-p", "day=2024-01-01")[0] == 2


@pytest.mark.parametrize(
    "text",
    [
        "  s: {parquet: 'hdfs://lake/t'}\n", "  s: {csv: 'ftp://${params.day}/t.csv', schema: {x: int64}}\n",
        "  b: {parquet: b.parquet}\nsinks: {o: {from: b, parquet: 'https://lake/o'}}\n",
        KERNELS.replace("cuda: k.cu", "cuda: 'ftp://k/k.cu'").replace("x * q", "x"),
    ],
)  # fmt: skip
def test_a_scheme_that_gpuetl_does_not_support_is_refused(validate, tmp_path, text):
    write(tmp_path, b__parquet=pa.table({"x": [1]}), k__py=TWIN)
    code, output = validate(text, "--no-files")
    assert (code, output.count("gpuetl does not support the scheme '")) == (2, 1), output
    assert "; it supports local paths and file://" in output


@pytest.mark.parametrize("scheme", ["s3", "gs", "az", "https", "S3"])
def test_a_path_with_one_slash_after_its_scheme_is_refused(validate, scheme):
    code, output = validate(f"  s: {{parquet: '{scheme}:/shop/t.parquet'}}\n", "--no-files")
    assert code == 2
    assert f"source 's': '{scheme}:/shop/t.parquet' has one slash after the scheme" in output
    assert f"Did you mean '{scheme.lower()}://shop/t.parquet'?" in output


@pytest.mark.parametrize("path", ["out/*.csv", "s3://shop/*"])
def test_the_path_of_a_sink_is_no_glob(validate, tmp_path, path):
    write(tmp_path, b__parquet=pa.table({"x": [1]}))
    code, output = validate(f"  b: {{parquet: b.parquet}}\nsinks: {{o: {{from: b, csv: '{path}', mode: overwrite}}}}\n")
    assert (code, f"sink 'o': the path '{path}' has a '*', which only paths of sources have" in output) == (2, True)


def test_a_file_url_is_a_local_path(validate, tmp_path):
    write(tmp_path, a_b__csv="x\n1\n")
    (tmp_path / "a_b.csv").rename(tmp_path / "a b.csv")
    source = f"  s: {{csv: 'file://{tmp_path}/a%20*.csv', schema: {{x: int64}}}}\n"
    assert validate(f"{source}sinks: {{o: {{from: s, csv: 'file://{tmp_path}/o'}}}}\n")[0] == 0
    code, output = validate("  s: {csv: 'file://data/t.csv', schema: {x: int64}}\n", "--no-files")
    assert (code, "'file://data/t.csv' is not a path of this machine: write file:///data/t.csv" in output) == (2, True)
    write(tmp_path, b__parquet=pa.table({"x": [1]}), k__py=TWIN, k__cu=CUDA)
    kernel = KERNELS.replace("cuda: k.cu", f"cuda: 'file://{tmp_path}/k.cu'").replace("x * q", "x")
    assert validate(kernel, "--no-files")[0] == 0


@pytest.mark.parametrize("command", ["validate", "run", "plan", "test"])
def test_a_pipeline_file_of_another_scheme_is_refused(command):
    done = gpuetl(command, "hdfs://shop/p.yaml")
    assert (done.exit_code, done.output.splitlines()) == (
        2,
        [
            "gpuetl does not support the scheme 'hdfs' of 'hdfs://shop/p.yaml'; it supports local paths and file://, s3://, "
            "gs://, az://, https://, http://",
            "Copy the files to this machine, or mount their store, and give the local path.",
        ],
    )


def test_a_pipeline_file_may_be_a_file_url(tmp_path):
    write(tmp_path, b__parquet=pa.table({"x": [1]}), p__yaml=f"{HEAD}  b: {{parquet: b.parquet}}\n")
    assert gpuetl("validate", f"file://{tmp_path}/p.yaml").exit_code == 0
    assert load(f"file://{tmp_path}/p.yaml").root == tmp_path


@pytest.mark.skipif(nvrtc.library() is None, reason="needs NVRTC")
def test_kernels_that_do_not_compile_are_reported_with_their_lines(validate, tmp_path):
    write(tmp_path, b__parquet=pa.table({"x": [1]}), k__py=TWIN, k__cu=f"\n{CUDA}")
    code, output = validate(KERNELS)
    assert code == 2
    assert "p.yaml:10:24: stage 's', step 1: kernel 'k' does not compile" in output
    assert 'body:1: error: identifier "q" is undefined' in output
    assert 'k.cu:2: error: identifier "nothing" is undefined' in output
    write(tmp_path, k__cu=CUDA.replace("nothing", "n"))
    assert validate(KERNELS.replace("x * q", "x * 2"))[1].startswith("p.yaml: valid, 1 source, 1 stage, 0 sinks\n")


def test_kernels_are_not_checked_without_a_compiler_or_a_header(validate, tmp_path, monkeypatch):
    write(tmp_path, b__parquet=pa.table({"x": [1]}), k__py=TWIN, k__cu=f"#include <none.h>\n{CUDA}")
    if nvrtc.library() is not None:
        assert (
            "not checked: kernel 'k' of stage 's', step 2, because a header was not found here"
            in (validate(KERNELS.replace("x * q", "x * 2"))[1])
        )
    monkeypatch.setattr(nvrtc, "library", lambda: None)
    monkeypatch.setattr(nvrtc.shutil, "which", lambda name: None)
    code, output = validate(KERNELS)
    assert (code, output.count("because no NVRTC and no nvcc was found")) == (0, 2)


def test_files_that_are_left_out_are_counted_in_a_warning(validate, tmp_path):
    (tmp_path / "lake/sub").mkdir(parents=True)
    for name in ("a.csv", "b.CSV", "c.csv.xz", "_SUCCESS", ".hidden.CSV", "notes.txt", "sub/d.csv"):
        (tmp_path / "lake" / name).write_text("x\n1\n")
    reported = "2 files of the path look like data and are not read, since only files that end in .csv are: lake/b.CSV, lake/c.csv.xz"
    code, output = validate("  s: {csv: lake, schema: {x: int64}}\n")
    assert (code, reported in output) == (0, True), output
    assert "1 file of the path look" in validate("  s: {csv: 'lake/*', schema: {x: int64}}\n")[1]
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.read_csv("s", "lake", {"x": "int64"})
    (warning,) = pipeline.run(engine="pandas", keep=["s"]).report.warnings
    assert "2 files of the path look like data" in warning


def test_the_outcome_is_printed_as_json(validate, tmp_path):
    write(tmp_path, b__parquet=pa.table({"x": [1]}))
    text = "  b: {parquet: b.parquet}\n  spare: {parquet: b.parquet}\nstages:\n  t:\n    from: b\n    steps:\n      - filter: y > 1\n"
    code, output = validate(text.replace("y > 1", "x > 1 AND zz > 1 OR y > 1"), "--json")
    found = json.loads(output)
    assert code == 2
    assert {name: found[name] for name in ("file", "valid", "warnings", "not_checked", "counts")} == {
        "file": "p.yaml", "valid": False, "warnings": [], "not_checked": [], "counts": None,
    }  # fmt: skip
    assert [(one["message"], one["column"]) for one in found["problems"]] == [
        ("unknown column 'zz'", 27),
        ("unknown column 'y'", 37),
    ]
    assert found["problems"][0] == {
        "code": "GE1003", "message": "unknown column 'zz'", "within": "stage 't', step 1", "file": "p.yaml",
        "line": 11, "column": 27, "width": 2, "row": "", "hint": "Columns: x.",
    }  # fmt: skip
    code, output = validate(text.replace("y > 1", "x > 1"), "--json")
    found = json.loads(output)
    assert (code, found["valid"], found["problems"]) == (0, True, [])
    assert found["counts"] == {"sources": 2, "stages": 1, "sinks": 0, "tests": 0}
    assert [(one["within"], one["message"]) for one in found["warnings"]] == [
        ("source 'spare'", "no stage and no sink reads it"),
        ("parameter 'day'", "nothing uses it"),
    ]
    code, output = validate("  b: [", "--json")
    assert (code, json.loads(output)["valid"]) == (2, False)


def test_python_has_it(tmp_path):
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.read_csv("s", "none.csv", {"x": "int64"})
    assert pipeline.validate(files=False).not_checked == ()
    with pytest.raises(InvalidPipeline, match=r"none\.csv does not exist"):
        pipeline.validate()


def test_rules_of_columns_that_are_not_known_are_no_mistake(tmp_path):
    text = """\
gpuetl: 1
name: p
sources: {t: {parquet: t.parquet}}
stages:
  s:
    from: t
    steps: [filter: x > 0]
    expect: [{in: {k: [a]}}, {range: {x: [1, null]}}, {not_null: [x]}, {unique: [x]}, {matches: {k: a}}, {that: x < 3}]
sinks: {o: {from: s, csv: o.csv}}
"""
    (tmp_path / "p.yaml").write_text(text)
    done = gpuetl("validate", tmp_path / "p.yaml", "--no-files")
    assert (done.exit_code, done.stderr) == (0, "")
