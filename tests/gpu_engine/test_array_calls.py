"""NumPy and CuPy are asked for memory alone: CuPy compiles a kernel, at run time, for whatever else it is asked."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpu_engine.device_arrays import Computed, DeviceArrays
from gpuetl.engines import cudf

FOLDER = Path(cudf.__file__).parent
MEMORY = {"asarray", "asnumpy", "cuda", "empty", "empty_like", "ndarray", "zeros", "RawModule"}
"""What may be asked of the array module: memory, streams and events, and the user's kernels."""
METHODS = {
    "argmax", "argmin", "argsort", "cumsum", "cumprod", "fill", "max", "mean", "min", "nonzero", "prod", "searchsorted",
    "sort", "sum", "take",
}  # fmt: skip
"""Methods of CuPy's arrays that compile."""
MAPPINGS = {"items", "keys", "values"}
"""`arrays` may be a mapping of them."""
ON_HOST = {
    "columns/concat.py": {"nulls.sum"},
    "columns/pieces.py": {"sizes.sum"},
    "codegen/emit.py": {"self.take"},
    "runtime/device_files.py": {"thread_storage().fill"},
    "programs/kernel_build.py": {"jobs.sort"},
    "io/value_encoders.py": {"sizes.sum"},
}
"""What has such methods and is no array of the device, by file: arrays of NumPy, mostly."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the engine's modules."""
    for path in sorted(FOLDER.rglob("*.py")):
        yield path.relative_to(FOLDER).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def is_array_module(node: ast.expr) -> bool:
    """Tell whether an expression is the array module: `machine.arrays`, what it is assigned to, or CuPy."""
    return ast.unparse(node) in ("arrays", "cupy") or (isinstance(node, ast.Attribute) and node.attr == "arrays")


def array_names(tree: ast.Module) -> set[str]:
    """Return the names that a file uses for `machine.arrays`, beside `arrays`."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr == "arrays"
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def refused(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the calls of a file that compile a kernel."""
    others = array_names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        written = ast.unparse(node)
        owner = node.value
        known = is_array_module(owner) or (isinstance(owner, ast.Name) and owner.id in others)
        if known and node.attr not in MEMORY | MAPPINGS:
            yield f"{name}:{node.lineno}: {written}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            owner = ast.unparse(node.func.value)
            if owner.split("(")[0].split(".")[0] not in ("np", "self.data") and (
                ast.unparse(node.func) not in ON_HOST.get(name, ())
            ):
                yield f"{name}:{node.lineno}: {ast.unparse(node.func)}"


def test_the_array_module_is_asked_for_memory_alone() -> None:
    """Put a kernel into device/closed/arrays.cu for what is found here, and its call into columns/arrays.py."""
    assert [found for name, tree in modules() for found in refused(name, tree)] == []


@pytest.mark.parametrize(
    "source",
    [
        "machine.arrays.cumsum(x)",
        "self.machine.arrays.where(a, b, c)",
        "arrays.concatenate([x])",
        "xp = machine.arrays\nxp.arange(4)",
        "cupy.full(4, 1)",
        "found.data.sum()",
        "vector.offsets.cumsum(dtype='int64')",
    ],
)
def test_calls_that_compile_are_found(source: str) -> None:
    assert [*refused("x.py", ast.parse(source))]


def test_memory_is_given() -> None:
    source = "arrays = machine.arrays\narrays.empty(3, 'int8')\nmachine.arrays.zeros(1, 'uint64')\nnp.cumsum(x).sum()"
    assert not [*refused("x.py", ast.parse(source))]


ARRAYS = DeviceArrays()


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a + 1,
        lambda a: a == 1,
        lambda a: -a,
        lambda a: a.sum(),
        lambda a: a.astype("int64"),
        np.cumsum,
        lambda a: a[a],
        lambda a: a[[1, 2]],
        lambda a: a[0] + 1,
        lambda a: a.__setitem__(slice(0, 1), 1),
        lambda a: a.__setitem__(slice(0, 1), ARRAYS.zeros(1, "int32")),
        lambda a: a[::2].copy(),
        lambda a: ARRAYS.arange(3),
    ],
)
def test_arrays_of_tests_refuse_what_compiles(use) -> None:
    """Operators and indices too, which no source tells; all tests of the engine on a CPU run on such arrays."""
    with pytest.raises(Computed):
        use(ARRAYS.asarray(np.arange(4)))


def test_arrays_of_tests_have_views_and_copies() -> None:
    array = ARRAYS.asarray(np.arange(6))
    assert (int(array[1]), array[2:4].tolist(), array[::-2].tolist()) == (1, [2, 3], [5, 3, 1])
    array[1:3] = ARRAYS.asarray(np.array([8, 9]))
    assert array.reshape(2, 3).tolist() == [[0, 8, 9], [3, 4, 5]]
    assert array.view("uint64")[:2].copy().tolist() == [0, 8]
