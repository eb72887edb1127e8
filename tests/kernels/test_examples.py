"""The kernels of examples/kernels: naive, optimised and fused ones give the same rows, and what their twins give."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import load
from gpuetl.kernels.check.kernel_check import check_kernel, kernels_of
from gpuetl.testing import Tolerance, assert_tables_equal

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "vector_add": {"carrier": "DL", "flights": 11},
    "reduction": {"carrier": "B6", "norm": 361.1038631751258},
    "stencil": {"carrier": "B6", "largest": 138.3846153846154},
    "monte_carlo": {"carrier": "DL", "flights": 14},
    "histogram": {"bin": 7, "flights": 225},
}
STAGES = ("naive", "optimised", "fused")
MORE = pytest.mark.full(reason="kernels of examples against their twins, on the CPU")
CHECKED = [pytest.param(name, marks=MORE if name in ("reduction", "stencil") else ()) for name in EXAMPLES]
KERNELS = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The examples beside the flights of one day."""
    root = tmp_path_factory.mktemp("examples")
    shutil.copytree(ROOT / "examples" / "kernels", root / "examples" / "kernels")
    (root / "data" / "flights").mkdir(parents=True)
    flights = pq.read_table(ROOT / "data" / "flights" / "flights.parquet").slice(20_000, 800)
    pq.write_table(flights, root / "data" / "flights" / "flights.parquet")
    return root / "examples" / "kernels"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_file_is_used(name):
    """Each example has a pipeline with three stages and their twins."""
    assert {path.suffix for path in (ROOT / "examples" / "kernels").glob(f"{name}.*")} >= {".yaml", ".py"}
    assert {"naive", "optimised", "fused"} <= load(ROOT / "examples" / "kernels" / f"{name}.yaml").plan().stages.keys()


@pytest.mark.part(4)
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("engine", ["pandas", pytest.param(ON_CPU, marks=KERNELS)])
def test_the_three_kernels_give_the_same_rows(folder, name, engine):
    run = load(folder / f"{name}.yaml").run(engine=engine, keep=STAGES, write=False)
    naive, *others = (run[stage].to_arrow() for stage in STAGES)
    assert naive.slice(7 if name == "histogram" else 3, 1).to_pylist() == [pytest.approx(EXAMPLES[name])]
    for other in others:
        assert_tables_equal(other, naive, tolerance=Tolerance(1e-12, 0))


@KERNELS
@pytest.mark.parametrize("name", CHECKED)
def test_each_kernel_equals_its_twin(folder, name):
    for kernel in kernels_of(load(folder / f"{name}.yaml").plan().stages.values()):
        outcome = check_kernel(kernel, HostMachine(), (0, 33, 300))
        assert outcome.ok, outcome


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXAMPLES)
def test_each_kernel_equals_its_twin_on_a_gpu(name):
    done = gpuetl("kernel", "check", ROOT / "examples" / "kernels" / f"{name}.yaml")
    assert done.exit_code == 0, done.output


@pytest.mark.gpu
def test_examples_are_timed_on_a_gpu(folder):
    done = gpuetl("kernel", "bench", folder / "stencil.yaml", "--rows", "1e5", "--seconds", "0.1", "--json")
    assert done.exit_code == 0, done.output
    assert [kernel["stage"] for kernel in json.loads(done.stdout)["kernels"]] == list(STAGES)
