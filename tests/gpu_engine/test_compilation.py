"""All kernels compile for GPUs, where there is none: shipped ones, and one that is generated for each device header."""

from pathlib import Path

import pyarrow as pa
import pytest

from fuzz.data import TYPES
from gpu_engine import nvrtc
from gpu_engine.differential import expressions
from gpu_engine.host_machine import HostMachine
from gpuetl.backends.cudf.aggregates.reduce import reduce_source
from gpuetl.backends.cudf.aggregates.states import STATES
from gpuetl.backends.cudf.columns.gather import copy_source, gather_source
from gpuetl.backends.cudf.device.headers import DEVICE, header_text, headers_text
from gpuetl.backends.cudf.expressions.casts import cast_headers
from gpuetl.backends.cudf.expressions.evaluate import evaluate
from gpuetl.backends.cudf.expressions.functions import HEADERS
from gpuetl.backends.cudf.gpu.compiler import named, users_lines
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.operations.elementwise import elementwise_source
from gpuetl.backends.cudf.operations.kernel_reduction import reduction_source
from gpuetl.backends.cudf.sinks.delta import delta_source
from gpuetl.backends.cudf.sinks.levels import counting_source
from gpuetl.backends.cudf.sinks.texts import lengths_source, rows_source
from gpuetl.backends.cudf.sinks.values import compacting_source, packing_source, ranges_source, turning_source
from gpuetl.backends.cudf.sources.utf8 import source_of
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Cast, Column
from gpuetl.expressions.types import FLOAT64, INT64, can_cast
from gpuetl.kernels.texts import KernelTexts
from gpuetl.plan.nodes import Kernel, KernelReduction, Read
from gpuetl.plan.schema import Schema

PIPELINES = Path(__file__).parents[2] / "pipelines"
OF_WINDOWS = {"windows.cuh", "reductions.cuh", "decay.cuh", "frames.cuh", "scan.cuh"}
"""Their kernels are compiled in test_windows.py."""
MACHINE = HostMachine()
pytestmark = pytest.mark.skipif(
    nvrtc.library() is None, reason="needs NVIDIA's runtime compiler: nvidia-cuda-nvrtc-cu12"
)


class Recorded(Exception):
    """The text of a kernel that would have been compiled."""


class RecordingMachine(HostMachine):
    """Compiles nothing."""

    def compiled(self, source):
        raise Recorded(source)


def generated(expr, table):
    """Return the first kernel that an expression needs, if it needs one."""
    columns = {name: from_arrow(table.column(name), MACHINE) for name in table.column_names}
    try:
        evaluate({"": expr}, columns, table.num_rows, RecordingMachine())
    except Recorded as source:
        return str(source)
    return ""


def mark(header):
    """Return a line that is in no other header."""
    lines = header_text(header).splitlines()
    return max((line for line in lines if not line.startswith("//")), key=len)


def of_functions():
    """Yield a kernel of the first function of each family whose kernel has the family's header."""
    for header in sorted({*HEADERS.values()} - {""}):
        own = (name for name in HEADERS if HEADERS[name] == header)
        sources = (generated(*call) for name in own for call in list(expressions(name, 1))[:1])
        yield next((source for source in sources if mark(header) in source), "")


def of_casts():
    """Yield a kernel for each header of casts."""
    seen = set()
    for source in TYPES.values():
        for target in TYPES.values():
            if not can_cast(source, target) or source == target:
                continue
            cast = Cast(Column("x", source), target)
            if not {*cast_headers(cast)} <= seen:
                seen |= {*cast_headers(cast)}
                yield generated(cast, pa.table({"x": pa.array([None], source)}))


def column(dtype):
    return from_arrow(pa.chunked_array([pa.array([None, 1], dtype)]), MACHINE)


def of_users():
    """Yield kernels around a user's texts, with all that is passed to them."""
    source = Read.__new__(Read)
    object.__setattr__(source, "schema", Schema({"k": INT64, "x": FLOAT64, "n": INT64}))
    object.__setattr__(source, "ordering", ())
    inputs, arguments = {"x": column(FLOAT64), "n": column(INT64)}, {"scale": column(FLOAT64)}
    body = KernelTexts({"body": "y = x * scale + n; y_valid = x_valid && y == y;\nflag = y > 0;"}, Path("k.py"), "k")
    shared = {"source": source, "reads": ("x", "n"), "arguments": {}}
    row = Kernel(
        contract=body,
        kind="elementwise",
        nulls="masks",
        by=(),
        order_by=(),
        outputs={"y": FLOAT64, "flag": pa.bool_()},
        **shared,
    )
    yield elementwise_source(row, body, inputs, arguments)
    texts = {"map": "x * n * scale", "reduce": "a + b", "identity": "0", "post": "sqrt(double(a)) * scale"}
    for dtype in (FLOAT64, pa.float32(), pa.int8(), pa.bool_()):
        group = KernelReduction(
            contract=KernelTexts(texts, Path("k.py"), "k"), by=("k",), outputs={"y": dtype}, **shared
        )
        yield reduction_source(group, inputs, arguments, ordered=True)


def of_operations():
    """Yield kernels that are no expression's."""
    calls = [
        Call(FUNCTIONS["aggregate", name], (Column("x", FLOAT64),), FLOAT64)
        for name in STATES if name in ("sum", "mean", "var", "std", "count")
    ]  # fmt: skip
    yield reduce_source({"x": column(FLOAT64)}, calls, ordered=True)
    texts = from_arrow(pa.chunked_array([["a", None]]), MACHINE)
    yield gather_source([column(INT64), texts], 4)
    yield headers_text(["rows.cuh", "reduce.cuh"]) + copy_source(64, 64, 32)
    yield source_of({"s": texts})


def of_sinks():
    """Yield the kernels of Parquet's pages."""
    stored = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"]
    yield from map(delta_source, stored)
    yield from (ranges_source(c_type) for c_type in ("float", "double", "uint8_t", "uint32_t"))
    yield from (compacting_source(c_type) for c_type in (*stored, "float", "double", "int128_t"))
    yield from (packing_source("uint8_t"), packing_source("int32_t"), turning_source(), counting_source())
    yield from (lengths_source(width, nullable) for width in (4, 8) for nullable in (False, True))
    yield from map(rows_source, (False, True))


@pytest.fixture(scope="module")
def sources():
    """The texts of all kernels, each once."""
    shipped = [path.read_text() for path in sorted(PIPELINES.rglob("*.cu"))]
    return [*dict.fromkeys([*shipped, *of_functions(), *of_casts(), *of_users(), *of_operations(), *of_sinks()])]


def test_every_device_header_is_in_a_kernel(sources):
    """A header that no kernel here has would not be compiled."""
    names = {path.name for path in DEVICE.glob("*.cuh")} - OF_WINDOWS
    assert {name for name in names if not any(mark(name) in source for source in sources)} == set()
    assert all(sources)


@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
def test_kernels_compile(sources, architecture):
    """From the oldest architecture that RAPIDS runs on to the newest."""
    for source in sources:
        assert nvrtc.problems(source, architecture) == "", source


def test_an_error_in_a_user_s_file_shows_its_line():
    """With the file's own name and number, whatever stands before it."""
    source = 'extern "C" __global__ void k(double* y) {\n    int unused;\n    y[0] = z;\n    y[1] = 1 +;\n}\n'
    log = nvrtc.problems(named(source, Path('/my data/k "1".cu')), "sm_90")
    assert users_lines(log) == (
        'k "1".cu:3: error: identifier "z" is undefined\n      y[0] = z;\n             ^\n'
        'k "1".cu:4: error: expected an expression\n      y[1] = 1 +;\n                ^'
    )


def test_an_error_in_a_user_s_header_is_the_header_s():
    """What is included has a name of its own."""
    log = nvrtc.problems(named('#include "none.cuh"\n', Path("k.cu")), "sm_90")
    assert users_lines(log).startswith('k.cu:1: catastrophic error: cannot open source file "none.cuh"')


def test_an_error_in_statements_shows_their_line():
    """Lines count from the body's first."""
    source = next(of_users()).replace("flag = y > 0;", "flag = zz > 0;")
    assert users_lines(nvrtc.problems(source, "sm_90")).splitlines()[0] == 'body:2: error: identifier "zz" is undefined'


def test_a_log_without_errors_is_shown_whole():
    """Nothing is hidden."""
    assert users_lines("nvrtc: out of memory") == "nvrtc: out of memory"
