"""Python functions over frames that depend on what they must not are told from those that do not."""

import pytest

from command import gpuetl
from gpu_engine.host_machine import HostMachine
from gpuetl.kernels.check.kernel_check import check_kernel, kernels_of
from tables import table, write_source

TYPES = {"k": "string", "t": "int64", "x": "float64", "s": "struct<a: list<string>>", "m": "map<string, int64>"}
FUNCTIONS = """\
import numpy as np
import pyarrow as pa


def doubled(frame):
    return {"y": frame["x"] * 2}


def share(frame):
    return {"y": frame["x"] / frame["x"].sum()}


def running(frame):
    return {"y": frame["x"].fillna(0).cumsum()}


def random(frame):
    return {"y": np.random.default_rng().random(len(frame))}


def shorter(frame):
    return {"y": frame["x"].dropna()}


def no_empty(frame):
    return {"y": frame["x"] + frame["x"].iloc[0]}


def nested(table):
    return pa.table({"y": pa.array([float(len(row or "")) for row in table["k"].to_pylist()])})


def reference(frame):
    return {"y": frame["x"] * 3}
"""


@pytest.fixture
def checked(pipeline, tmp_path):
    """Checks a function."""
    (tmp_path / "f.py").write_text(FUNCTIONS)
    t = write_source(pipeline, "t", table(TYPES))

    def run(function, machine=None, **keys):
        keys = {"inputs": "x", "outputs": {"y": "float64"}, **keys}
        name = t.python_kernel(f"f.py:{function}", **keys).named()
        (operation,) = kernels_of([pipeline.plan().stages[name]])
        return check_kernel(operation, machine)

    return run


def test_right_functions_are_the_same_in_every_split(checked):
    for outcome in (
        checked("doubled"),
        checked("share", by="k"),
        checked("running", by="k", order_by="t"),
        checked("nested", inputs=["k", "s", "m"], frame="arrow"),
        checked("nested", inputs="k", frame="arrow", nulls="forbid"),
    ):
        assert outcome.ok, outcome
        assert outcome.compared > 1000


@pytest.mark.parametrize(
    ("function", "keys", "what"),
    [
        ("share", {}, "the result of a row depends on the other rows of its frame"),
        ("running", {"by": "k"}, "the result depends on the order of rows, and the step has no order_by"),
        ("random", {"by": "k"}, "two calls with the same frame differ"),
        ("shorter", {}, "it failed: shorter in f.py gave 0 rows for output 'y', and its frame has 1"),
        ("doubled", {"outputs": {"y": "int64"}}, "it failed: doubled in f.py gave output 'y' as float64, and int64"),
    ],
)
def test_what_a_function_must_not_do_is_reported(checked, function, keys, what):
    outcome = checked(function, **keys)
    assert not outcome.ok
    assert outcome.mismatches[0].what.startswith(what)


def test_a_function_over_cudf_frames_is_compared_with_its_reference(checked):
    right = checked("doubled", HostMachine(), frame="cudf", reference="f.py:doubled")
    assert right.ok
    (mismatch,) = checked("doubled", HostMachine(), frame="cudf", reference="f.py:reference").mismatches
    assert mismatch.what == "the result on the GPU differs from the reference"
    assert mismatch.rows[0].got != mismatch.rows[0].expected


def test_the_command_needs_no_gpu_for_frames_of_the_host(tmp_path):
    (tmp_path / "f.py").write_text(FUNCTIONS)
    (tmp_path / "t.csv").write_text("x\n1.5\n")
    (tmp_path / "p.yaml").write_text("""\
gpuetl: 1
name: test
sources: {t: {csv: t.csv, schema: {x: float64}}}
stages:
  s:
    from: t
    steps:
      - kernel: {python: f.py:doubled, inputs: x, outputs: {y: float64}}
      - kernel: {python: f.py:share, inputs: x, outputs: {y: float64}}
""")
    done = gpuetl("kernel", "check", tmp_path / "p.yaml")
    output = done.stdout
    assert done.exit_code == 3
    assert f"stage 's', step 1: kernel 'doubled' ({tmp_path}/f.py): the same in every call, order and split" in output
    assert f"step 2: kernel 'share' ({tmp_path}/f.py): is not what its step declares\n" in output
