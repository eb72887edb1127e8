"""Pipeline files, and the files of their kernels, in object stores: relative paths begin in the store."""

import obstore
import pyarrow as pa
import pytest

import gpuetl as ge
from clusters import needs_this_process
from command import gpuetl
from gpuetl import InvalidPipeline, Pipeline
from gpuetl.places.paths import ImpossiblePath
from gpuetl.places.registry import path_of
from gpuetl.sandbox import in_sandbox
from servers.http_files import http_files

PIPELINE = """\
gpuetl: 1
name: daily
sources:
  t: {{csv: ../in/t.csv, schema: {{x: int64}}}}
stages:
  twice:
    from: t
    steps:
      - kernel: {{body: y = 2 * x;, inputs: x, outputs: {{y: int64}}, reference: "{0}:twice"}}
      - sort: x
sinks:
  out: {{from: twice, csv: out/twice.csv, mode: overwrite}}
tests:
  - name: two is four
    given: {{t: [{{x: 2}}]}}
    expect: {{twice: [{{y: 4}}]}}
"""
TWIN = "def twice(x):\n    return {'y': 2 * x}\n"
CUDA = """\
#include "kernels/factor.h"
extern "C" __global__ void twice(const long long* x, long long* y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}
"""


@pytest.fixture
def shop(s3, s3_environment, bucket_name):
    put(s3, "in/t.csv", "x\n1\n2\n")
    put(s3, "pipelines/p.yaml", PIPELINE.format("twice.py"))
    put(s3, "pipelines/twice.py", TWIN)
    return f"s3://{bucket_name}"


def put(s3, key, text):
    obstore.put(s3, key, text.encode())


def test_a_pipeline_reads_and_writes_next_to_its_file(shop, s3, engine):
    needs_this_process(engine, "environment")
    ge.load(f"{shop}/pipelines/p.yaml").run(engine=engine)
    assert bytes(obstore.get(s3, "pipelines/out/twice.csv").bytes()) == b'"x","y"\n1,2\n2,4\n'


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["run", "--engine", "pandas"], "/pipelines/out/twice.csv"),
        (["plan", "--engine", "pandas"], "/pipelines/out/twice.csv"),
        (["validate"], "/pipelines/p.yaml: valid, 1 source, 1 stage, 1 sink, 1 test"),
        (["test", "--engine", "pandas"], "1 passed"),
        (["verify", "--engine", "pandas"], "twice"),
    ],
)
def test_commands_take_a_file_of_a_store(shop, arguments, shown):
    command, *others = arguments
    done = gpuetl(command, f"{shop}/pipelines/p.yaml", *others)
    assert done.exit_code == 0, done.stderr
    assert shown in done.stdout


def test_a_kernel_of_a_store_has_its_headers_there(shop, s3, engine):
    needs_this_process(engine, "environment")
    put(s3, "pipelines/twice.cu", CUDA)
    put(s3, "pipelines/kernels/factor.h", "#pragma once\n#define FACTOR 2\n")
    step = 'kernel: {{cuda: twice.cu, entry: twice, inputs: x, outputs: {{y: int64}}, reference: "{0}:twice"}}'
    text = PIPELINE.replace(PIPELINE[PIPELINE.index("kernel:") : PIPELINE.index("\n      - sort")], step)
    put(s3, "pipelines/cuda.yaml", text.format(f"{shop}/pipelines/twice.py"))
    found = ge.load(f"{shop}/pipelines/cuda.yaml").run(engine=engine, keep="twice", write=False)
    assert found["twice"].to_arrow().to_pydict() == {"x": [1, 2], "y": [2, 4]}


def test_a_header_that_is_not_in_the_store_is_named(shop, s3):
    put(s3, "pipelines/twice.cu", CUDA)
    step = "kernel: {{cuda: twice.cu, entry: twice, inputs: x, outputs: {{y: int64}}, reference: '{0}:twice'}}"
    text = PIPELINE.replace(PIPELINE[PIPELINE.index("kernel:") : PIPELINE.index("\n      - sort")], step)
    put(s3, "pipelines/cuda.yaml", text.format("twice.py"))
    with pytest.raises(InvalidPipeline, match=f"there is no file {shop}/pipelines/kernels/factor.h"):
        ge.load(f"{shop}/pipelines/cuda.yaml").plan()


def test_a_twin_that_is_not_in_the_store_is_named(shop, s3):
    put(s3, "pipelines/p.yaml", PIPELINE.format("none.py"))
    with pytest.raises(InvalidPipeline, match=f"the kernel's twin {shop}/pipelines/none.py: there is no such object"):
        ge.load(f"{shop}/pipelines/p.yaml").plan()


def test_an_error_in_a_twin_shows_its_line(shop, s3):
    put(s3, "pipelines/twice.py", "def twice(x):\n    raise ValueError('no')\n")
    with pytest.raises(ge.RunFailed) as failed:
        ge.load(f"{shop}/pipelines/p.yaml").run(engine="pandas")
    assert f"{shop}/pipelines/twice.py:2:" in str(failed.value)
    assert "raise ValueError('no')" in str(failed.value)


def test_a_kernel_of_a_store_in_a_local_pipeline(shop, tmp_path):
    (tmp_path / "t.csv").write_text("x\n3\n")
    pipeline = ge.loads(PIPELINE.format(f"{shop}/pipelines/twice.py").replace("../in/t.csv", "t.csv"), tmp_path)
    pipeline.run(engine="pandas")
    assert (tmp_path / "out" / "twice.csv").read_text() == '"x","y"\n3,6\n'


def test_a_file_that_is_not_there(shop):
    with pytest.raises(InvalidPipeline, match=f"cannot read {shop}/none.yaml: there is no such object"):
        ge.load(f"{shop}/none.yaml")
    done = gpuetl("run", f"{shop}/none.yaml")
    assert (done.exit_code, done.stdout) == (2, "")


def test_tests_are_not_written_into_a_store(shop):
    done = gpuetl("test", f"{shop}/pipelines/p.yaml", "--from-run", "twice", "--write")
    assert done.exit_code == 2
    assert f"--write cannot change {shop}/pipelines/p.yaml" in done.stderr


def test_the_root_may_be_a_folder_of_a_store(shop, tmp_path, s3):
    (tmp_path / "p.yaml").write_text(PIPELINE.format("twice.py"))
    done = gpuetl("run", tmp_path / "p.yaml", "--root", f"{shop}/pipelines", "--engine", "pandas", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert bytes(obstore.get(s3, "pipelines/out/twice.csv").bytes()) == b'"x","y"\n1,2\n2,4\n'


def test_a_store_is_outside_of_a_sandbox(shop, tmp_path):
    with in_sandbox(tmp_path), pytest.raises(InvalidPipeline, match="is outside of the sandbox"):
        ge.load(f"{shop}/pipelines/p.yaml").plan()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a.csv", "s3://shop/pipelines/a.csv"),
        ("./x/../a.csv", "s3://shop/pipelines/a.csv"),
        ("../in/*.csv", "s3://shop/in/*.csv"),
        ("gs://other/a.csv", "gs://other/a.csv"),
        ("/data/a.csv", "/data/a.csv"),
        ("file:///data/a.csv", "/data/a.csv"),
    ],
)
def test_paths_in_a_folder_of_a_store(text, path):
    assert str(path_of(text, path_of("s3://shop/pipelines", None))) == path


def test_a_path_does_not_leave_the_bucket():
    with pytest.raises(ImpossiblePath, match=r"'\.\./\.\./a' leads out of s3://shop"):
        path_of("../../a", path_of("s3://shop/pipelines", None))


def test_a_pipeline_of_an_http_server_has_no_sinks_there():
    pipeline = Pipeline("p", root="https://example.com/pipelines")
    pipeline.from_frame("t", pa.table({"x": [1]})).write_csv("out", "out/rows.csv")
    with pytest.raises(InvalidPipeline, match="does not support the scheme 'https'"):
        pipeline.plan()


@pytest.mark.parametrize("command", ["recover", "clean"])
def test_what_dead_runs_left_in_a_store(shop, command):
    done = gpuetl(command, f"{shop}/pipelines/out")
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["recover", "clean"])
@pytest.mark.parametrize(
    ("path", "message"),
    [("s3://", "has no bucket"), ("https://example.com/out", "does not support the scheme 'https'")],
)
def test_paths_that_commands_refuse(command, path, message):
    done = gpuetl(command, path)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize("command", ["recover", "clean"])
def test_a_profile_that_is_not_there(command, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "none-of-mine")
    done = gpuetl(command, "s3://shop/out")
    assert done.exit_code == 1
    assert "cannot use AWS profiles" in done.stderr
    assert "bug" not in done.stderr


def test_a_pipeline_of_an_http_server_reads_what_lies_next_to_it(tmp_path, engine):
    site = tmp_path / "site"
    (site / "pipelines").mkdir(parents=True)
    (site / "in").mkdir()
    (site / "in/t.csv").write_text("x\n1\n2\n")
    (site / "pipelines/twice.py").write_text(TWIN)
    (site / "pipelines/p.yaml").write_text(
        PIPELINE.format("twice.py").replace("csv: out/twice.csv", f"csv: '{tmp_path}/out.csv'")
    )
    with http_files(site, tmp_path / "server.log") as host:
        address = f"http://{host}/plain"
        ge.load(f"{address}/pipelines/p.yaml").run(engine=engine)
        assert (tmp_path / "out.csv").read_text() == '"x","y"\n1,2\n2,4\n'
        with pytest.raises(InvalidPipeline, match=r"cannot read http://.*/none\.yaml: there is no such object"):
            ge.load(f"{address}/none.yaml")
