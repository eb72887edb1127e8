"""Kernels that are wrong are told from those that are right, on a machine of the CPU."""

import json
import random
import shutil
from pathlib import Path

import pytest

from command import gpuetl
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, Dim3, HostMachine, as_c, library
from gpu_engine.host_machine import USER as FOR_THE_CPU
from gpuetl import load
from gpuetl.cli import kernel as command
from gpuetl.engines import registry
from gpuetl.engines.cudf.codegen.nvrtc import refuse_block
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check import cases as generated
from gpuetl.kernels.check import kernel_check as checking
from gpuetl.kernels.check.cases import SHAPES
from gpuetl.kernels.check.kernel_check import check_kernel, kernels_of
from tables import table, write_source

FILES = Path(__file__).parent.parent / "kernel_files"
PIPELINES = Path(__file__).parents[2] / "pipelines"
SIZES = (0, 1, 31, 32, 33, 300)
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


class ShuffledMachine(HostMachine):
    """Runs threads in another order each time, as a GPU may."""

    def __init__(self):
        self.random = random.Random(7)

    def user_kernel(self, source, path, entry):
        module = library(FOR_THE_CPU + source)
        places = {name: Dim3.in_dll(module, name) for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")}

        def launch(blocks, threads, arguments, shared_bytes):
            places["gridDim"].x, places["blockDim"].x = blocks, threads
            passed = [as_c(argument) for argument in arguments]
            for number in self.random.sample(range(blocks * threads), blocks * threads):
                places["blockIdx"].x, places["threadIdx"].x = divmod(number, threads)
                module[entry](*passed)

        return launch


@pytest.fixture
def t(pipeline, tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    return write_source(pipeline, "t", table({"k": "int64", "x": "float64"}, (1, 1.0)))


@pytest.fixture
def checked(t):
    """Checks a step's kernel."""

    def run(steps, machine=None, sizes=SIZES):
        name = steps.named()
        (operation,) = kernels_of([steps.pipeline.plan().stages[name]])
        return check_kernel(operation, machine or HostMachine(), sizes)

    return run


def rows_kernel(t, entry, twin="twice", **keys):
    return t.kernel("wrong.cu", entry, "x", {"y": "float64"}, f"wrong.py:{twin}", block=32, **keys)


def groups_kernel(t, entry):
    return t.kernel("wrong.cu", entry, "x", {"total": "float64"}, "wrong.py:sizes", by="k", order_by="x", block=32)


def test_a_kernel_that_is_right_equals_its_twin(t, checked):
    """On ordinary and on extreme values, of each size."""
    outcome = checked(rows_kernel(t, "twice"))
    assert outcome.ok
    assert outcome.cases == 11
    assert outcome.compared + outcome.unsteady == 2 * sum(SIZES)
    assert outcome.unsteady < 10


@pytest.mark.parametrize(
    ("entry", "rows", "what"),
    [
        ("beyond", 1, "it wrote outside of its rows: 1 values after the last row of output 'y', the nearest 1 away"),
        ("before", 1, "it wrote outside of its rows: 1 values before the first row of output 'y', the nearest 3 away"),
        ("no_last_block", 1, "output 'y': 1 of 1 differ; 1 were never written, the first is row 0"),
        ("changes_input", 1, "it changed input 'x'"),
    ],
)
def test_a_kernel_that_writes_too_much_or_too_little_is_reported(t, checked, entry, rows, what):
    """Guard values and the pattern in outputs tell."""
    outcome = checked(rows_kernel(t, entry))
    assert not outcome.ok
    assert outcome.mismatches[0].case == f"{rows} rows, ordinary values"
    assert outcome.mismatches[0].what == what


def test_the_first_rows_that_differ_are_shown_with_their_inputs(t, checked):
    """A kernel that forgets the last block."""
    (mismatch, *_) = checked(rows_kernel(t, "no_last_block"), sizes=(33,)).mismatches
    assert mismatch.what == "output 'y': 1 of 33 differ; 1 were never written, the first is row 32"
    (row,) = mismatch.rows
    assert row.row == 32
    assert row.expected == 2 * row.inputs["x"] != row.got


def test_a_kernel_that_is_wrong_for_nan_alone_is_reported(t, checked):
    """Extreme values have it."""
    (mismatch, *_) = checked(rows_kernel(t, "no_nan"), sizes=(300,)).mismatches
    assert mismatch.case == "300 rows, extreme values"
    assert (mismatch.rows[0].inputs, mismatch.rows[0].got, mismatch.rows[0].expected) == ({"x": "nan"}, 0.0, "nan")


def test_a_kernel_that_ignores_nulls_is_reported(t, checked):
    """What is under a null is not zero."""
    outcome = checked(rows_kernel(t, "ignores_nulls", "twice_valid", nulls="masks"), sizes=(300,))
    row = outcome.mismatches[0].rows[0]
    assert row.inputs == {"x": None}
    assert row.expected is None
    assert row.got is not None


def test_threads_that_race_are_reported(t, checked):
    """Two launches differ."""
    outcome = checked(rows_kernel(t, "races"), ShuffledMachine(), sizes=(300,))
    assert "two launches on the same inputs differ: threads race" in outcome.mismatches[0].what


def test_a_block_a_group_and_a_thread_a_group_both_fit_the_grid(t, checked):
    """As many blocks as groups."""
    assert checked(groups_kernel(t, "a_block_a_group")).ok


def test_a_kernel_over_groups_that_forgets_groups_is_reported(t, checked):
    """One group is right, and many are not."""
    (mismatch, *_) = checked(groups_kernel(t, "only_first_group"), sizes=(33,)).mismatches
    assert mismatch.case == "33 rows, ordinary values, a group a row"


def test_generated_kernels_are_checked_too(t, checked):
    """Nulls included."""
    assert checked(t.elementwise_kernel("y = 2 * x;", "x", {"y": "float64"}, "wrong.py:twice")).ok


def test_a_reduction_that_differs_is_reported_with_its_group(t, checked):
    """NaN is not less than anything."""
    keys = {"outputs": {"y": "float64"}, "reference": "wrong.py:negated", "identity": "-1.0 / 0.0", "post": "-a"}
    right = t.reduction_kernel("x", **keys, reduce="a != a || a > b ? a : b", by="k")
    assert checked(right, sizes=(0, 1, 33)).ok


def test_a_reduction_with_a_wrong_identity_is_reported(t, checked):
    """All values of a group may be below it."""
    keys = {"outputs": {"y": "float64"}, "reference": "wrong.py:negated", "identity": "0", "post": "-a"}
    (mismatch, *_) = checked(t.reduction_kernel("x", **keys, reduce="a > b ? a : b", by="k"), sizes=(33,)).mismatches
    assert mismatch.case == "33 rows, ordinary values, a group a row"
    assert mismatch.rows[0].got == 0


@pytest.mark.parametrize(("rows", "shapes"), [(33, SHAPES), (2100, ["one group"])])
def test_the_gpus_side_of_generated_kernels_equals_their_twins(t, checked, rows, shapes, monkeypatch):
    """Lanes of a warp meet, and chunks of a group."""
    monkeypatch.setattr(generated, "SHAPES", shapes)
    keys = {"outputs": {"y": "float64"}, "reference": "wrong.py:negated", "identity": "-1.0 / 0.0", "post": "-a"}
    right = t.reduction_kernel("x", **keys, reduce="a != a || a > b ? a : b", by="k")
    (operation,) = kernels_of([right.stage("r").pipeline.plan().stages["r"]])
    outcome = check_kernel(operation, EmulatedMachine(), (rows,))
    assert outcome.mismatches == ()
    assert checked(
        t.elementwise_kernel("y = 2 * x;", "x", {"y": "float64"}, "wrong.py:twice"), EmulatedMachine(), (rows,)
    ).ok


def running_sum(t, combine="y = a.y + b.y;", **changes):
    keys = {"identity": "y = 0;", "by": "k", "order_by": "x", "inputs": "x", "outputs": {"y": "float64"}}
    return t.scan_kernel(reference="wrong.py:running_sum", combine=combine, **{**keys, **changes})


def running_count(t, combine="n = a.n + b.n;", **changes):
    keys = {"identity": "n = 0;", "map": "n = x > 0;", "outputs": {"n": "int64"}, "reference": "wrong.py:positive"}
    return t.scan_kernel(inputs="x", combine=combine, by="k", order_by="x", **{**keys, **changes})


def test_a_scan_that_is_right_equals_its_twin(t, checked):
    """Though floats are added in another order."""
    for steps in (running_sum(t), running_count(t)):
        outcome = checked(steps)
        assert outcome.mismatches == ()
        assert outcome.cases == 33


def test_a_scan_whose_operator_takes_the_wrong_side_is_reported(t, checked):
    """Rows are shown with their own inputs."""
    (mismatch, *_) = checked(running_count(t, "n = a.n + 0 * b.n;"), sizes=(33,)).mismatches
    assert mismatch.case == "33 rows, ordinary values, one group"
    assert mismatch.rows[0].expected == mismatch.rows[0].got + 1


@pytest.mark.parametrize(("rows", "shapes"), [(33, SHAPES), (3000, ["one group", "skewed groups"])])
def test_the_gpus_side_of_scans_equals_their_twins(t, checked, rows, shapes, monkeypatch):
    """Rows of a thread, lanes of a warp, warps of a block, and tiles meet."""
    monkeypatch.setattr(generated, "SHAPES", shapes)
    masks = {"nulls": "masks", "state": {"m": "int64"}, "reference": "wrong.py:seen", "identity": "m = 0;"}
    masks |= {"map": "m = x_valid;", "combine": "m = a.m + b.m;", "post": "n = m; n_valid = m > 2;"}
    for steps in (running_sum(t), running_count(t), running_count(t, **masks)):
        assert checked(steps, EmulatedMachine(), (rows,)).mismatches == ()


def test_a_scan_with_a_wrong_identity_is_reported_on_the_gpus_side(t, checked):
    """There is none among the rows of the twin's side."""
    (mismatch, *_) = checked(running_count(t, identity="n = 1;"), EmulatedMachine(), (33,)).mismatches
    assert mismatch.case == "33 rows, ordinary values, one group"


def test_an_operator_that_does_not_associate_is_reported(t, checked):
    """Of many rows: rows are put together in another order than the twin's."""
    (mismatch, *_) = checked(running_count(t, "n = b.n - a.n;"), EmulatedMachine(), (300,)).mismatches
    assert mismatch.case == "300 rows, ordinary values, one group"


def test_a_text_that_does_not_compile_is_reported(t, checked):
    """With the compiler's words."""
    outcome = checked(t.elementwise_kernel("y = 2 * z;", "x", {"y": "float64"}, "wrong.py:twice"))
    assert outcome.mismatches[0].what.startswith("it failed: kernel 'twice' does not compile:")
    assert "body:1:" in outcome.mismatches[0].what
    outcome = checked(running_sum(t, "y = 0;\ny = a.y + b.yy;"))
    assert outcome.mismatches[0].what.startswith("it failed: kernel 'running_sum' does not compile:")
    assert "combine:2:" in outcome.mismatches[0].what


def test_a_twin_that_breaks_its_declaration_is_reported(t, checked):
    """Also of no rows."""
    outcome = checked(t.elementwise_kernel("z = 2 * x;", "x", {"z": "float64"}, "wrong.py:twice"))
    assert outcome.mismatches[0].what == "it failed: twice returned ['y']; declared are ['z']"


def test_every_shipped_kernel_equals_its_twin():
    """On values far beyond degrees."""
    operations = [k for path in PIPELINES.glob("*.yaml") for k in kernels_of(load(path).plan().stages.values())]
    assert [k.contract.entry for k in operations] == ["strain", "haversine"]
    for operation in operations:
        assert check_kernel(operation, HostMachine(), SIZES).mismatches == ()


def test_a_block_beyond_declared_bounds_is_a_problem(t, problem):
    """What the device would refuse."""
    keys = ("wrong.cu", "bounded", "x", {"y": "float64"}, "wrong.py:twice")
    text = problem(t.kernel(*keys, block=256))
    assert "kernel 'bounded' has __launch_bounds__(128), and block is 256.  Set block: 128, or declare more." in text


def test_a_block_within_declared_bounds_is_taken(t, checked):
    """The bound itself."""
    assert checked(t.kernel("wrong.cu", "bounded", "x", {"y": "float64"}, "wrong.py:twice", block=128)).ok


def test_a_block_beyond_what_a_device_takes_is_an_error():
    """It depends on the registers that the compiler gave."""
    refuse_block("k", 640, 640)
    with pytest.raises(EvaluationError, match="'k' takes at most 640 threads a block on this GPU, and block is 1024"):
        refuse_block("k", 1024, 640)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["flights", "features"])
def test_every_shipped_kernel_equals_its_twin_on_a_gpu(name):
    """By the command, in all sizes."""
    pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    done = gpuetl("kernel", "check", PIPELINES / f"{name}.yaml")
    assert done.exit_code == 0, done.output


@pytest.fixture
def file(t, tmp_path):
    """A pipeline of two kernels, of which one is wrong."""
    stage = rows_kernel(t, "twice").stage("right")
    rows_kernel(stage.drop("y"), "no_nan").stage("wrong")
    t.pipeline.to_yaml(tmp_path / "p.yaml")
    return tmp_path / "p.yaml"


@pytest.fixture
def on_cpu(monkeypatch):
    """Lets the command run on the CPU, with few rows."""
    monkeypatch.setattr(command, "the_machine", HostMachine)
    monkeypatch.setattr(checking, "SIZES", (0, 33))
    monkeypatch.setattr(checking.check_kernel, "__defaults__", ((0, 33), checking.ROUNDING))


def test_the_command_tells_what_differs_and_exits_with_3(file, on_cpu):
    """And 0 where nothing does."""
    done = gpuetl("kernel", "check", file)
    assert done.exit_code == 3
    right, wrong, case, *rows = done.stdout.splitlines()
    assert right.startswith("stage 'right', step 1: kernel 'twice' (")
    assert ": equal to its twin, " in right
    assert wrong.endswith("wrong.cu): differs from its twin")
    assert case.startswith("  33 rows, extreme values: output 'y': ")
    assert rows[0].endswith(": x = nan: got 0.0, expected nan")
    assert gpuetl("kernel", "check", file, "--stage", "right").exit_code == 0


def test_the_command_gives_json(file, on_cpu):
    """For machines."""
    done = gpuetl("kernel", "check", file, "--json")
    assert done.exit_code == 3
    found = json.loads(done.stdout)
    assert [(k["stage"], k["kernel"], k["ok"]) for k in found["kernels"]] == [
        ("right", "twice", True),
        ("wrong", "no_nan", False),
    ]
    assert found["kernels"][1]["mismatches"][0]["rows"][0]["expected"] == "nan"


def test_the_command_without_a_gpu_says_what_to_do(file, monkeypatch):
    """It runs kernels."""
    search = registry.GpuSearch(problem="no NVIDIA driver was found", fix="Install a driver")
    monkeypatch.setattr(registry, "look_for_gpu", lambda: search)
    done = gpuetl("kernel", "check", file)
    assert done.exit_code == 2
    assert done.stderr == (
        "kernel check runs kernels on an NVIDIA GPU: no NVIDIA driver was found.  Install a driver, or see `gpuetl doctor`\n"
    )


def test_the_command_knows_stages(file):
    """And those that there are not."""
    done = gpuetl("kernel", "check", file, "--stage", "wrnog")
    assert done.exit_code == 2
    assert "unknown stage 'wrnog'" in done.stderr
