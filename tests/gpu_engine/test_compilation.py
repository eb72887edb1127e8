"""All kernels compile for GPUs, where there is none: shipped ones, and one that is generated for each device header."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest

from expressions.evaluation import typed
from fuzz.data import TYPES
from gpu_engine import nvrtc
from gpu_engine.differential import expressions
from gpu_engine.host_machine import HostMachine
from gpuetl.engines.cudf.codegen.casts import cast_headers
from gpuetl.engines.cudf.codegen.device_headers import DEVICE, closed_programs, closed_source, header_text
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.functions import HEADERS
from gpuetl.engines.cudf.codegen.functions.nested import OWN_FUNCTION_NAMES
from gpuetl.engines.cudf.codegen.nvrtc import named, users_lines
from gpuetl.engines.cudf.codegen.user_kernels import elementwise_source
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.relational.kernel_reduction import reduction_source
from gpuetl.engines.cudf.relational.kernel_scan import scan_source
from gpuetl.expressions.functions import INTERNAL
from gpuetl.expressions.functions.aggregates import EXACT_DURATION_MEAN, EXACT_MEAN
from gpuetl.expressions.functions.ordering import flat, joined
from gpuetl.expressions.ir import Call, Cast, Column, Literal
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Kernel, KernelReduction, Read
from gpuetl.types.data_types import DURATION, FLOAT64, INT64, can_cast
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.kernel_code import KernelCode

PIPELINES = Path(__file__).parents[2] / "pipelines"
OF_WINDOWS = {"windows.cuh", "reductions.cuh", "decay.cuh", "decayed_moments.cuh", "frames.cuh", "scan.cuh"}
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
    for header in sorted({HEADERS[name] for name in HEADERS if name not in {*INTERNAL, *OWN_FUNCTION_NAMES}} - {""}):
        own = (name for name in HEADERS if HEADERS[name] == header and name not in {*INTERNAL, *OWN_FUNCTION_NAMES})
        sources = (generated(*call) for name in own for call in list(expressions(name, 1))[:1])
        yield from islice((source for source in sources if mark(header) in source), 1)


def of_numbers():
    """Yield a kernel that compares decimals of two scales in every way, and rounds float32 to few and many places."""
    types = {"x": pa.decimal128(38, 2), "y": pa.decimal128(38, 20), "s": pa.float32()}
    rows = pa.table({name: pa.array([1], dtype) for name, dtype in types.items()})
    compared = "x < y AND x IN (y, 1) AND x IS DISTINCT FROM y AND nullif(x, y) = x"
    rounded = "round(s, 2) < round(s, 20) AND round(s, -2) < round(s, -20)"
    yield generated(typed(f"{compared} AND {rounded}", types), rows)


def of_formats():
    """Yield a kernel that writes numbers and strings by fields of a format."""
    types = {"i": INT64, "f": FLOAT64, "s": pa.string()}
    rows = pa.table({name: pa.array([None], dtype) for name, dtype in types.items()})
    yield generated(typed("printf('%05d|%-3s|%.2f', i, s, f)", types), rows)


def of_texts():
    """Yield a kernel that changes JSON, and one that reads the text of a list: other functions prepare what they take."""
    types = {"x": pa.string(), "y": pa.string()}
    rows = pa.table({name: pa.array([None], dtype) for name, dtype in types.items()})
    yield generated(typed("json_merge_patch(x, y)", types), rows)
    yield generated(typed("CAST(x AS list<int64>)", types), rows)


def of_orders():
    """Yield a kernel that writes values as a text that compares as they do."""
    types = {"i": INT64, "f": FLOAT64, "s": pa.string()}
    rows = pa.table({name: pa.array([None], dtype) for name, dtype in types.items()})
    yield generated(joined([flat(Column(name, dtype)) for name, dtype in types.items()]), rows)


def of_means():
    """Yield kernels that divide what partitions carry of means: durations, and decimals of any scale."""
    count, scales = Column("n", INT64), (0, 2, 19, 25, 38)
    totals = [Column("x", pa.decimal128(38, scale)) for scale in scales]
    calls = [Call(EXACT_DURATION_MEAN, (count, totals[0]), DURATION)]
    calls += [Call(EXACT_MEAN, (count, total), FLOAT64) for total in totals]
    calls += [Call(EXACT_MEAN, (count, total, Column("h", pa.decimal128(38, 0))), FLOAT64) for total in totals]
    for call in calls:
        yield generated(call, pa.table({arg.name: pa.array([None], arg.dtype) for arg in call.args}))


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
    body = KernelCode({"body": "y = x * scale + n; y_valid = x_valid && y == y;\nflag = y > 0;"}, Path("k.py"), "k")
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
            contract=KernelCode(texts, Path("k.py"), "k"), by=("k",), outputs={"y": dtype}, **shared
        )
        yield reduction_source(group, inputs, arguments)
    yield from of_users_scans(shared, inputs)


def of_users_scans(shared, inputs):
    """Yield scans: with and without masks and `post`, of fields of several types."""
    texts = {
        "map": "y = x * scale;\nflag = n > 0;", "combine": "y = a.y + b.y;\nflag = a.flag || b.flag;",
        "identity": "y = 0; flag = false;", "post": "z = y * scale;",
    }  # fmt: skip
    state = {"y": FLOAT64, "flag": pa.bool_(), "last": pa.timestamp("us"), "small": pa.int8(), "half": pa.float32()}
    scale = {"arguments": {"scale": Literal(2.0, FLOAT64)}}
    kernel = {**shared, **scale, "kind": "scan", "by": ("k",), "order_by": (SortKey("n"),), "nulls": "propagate"}
    scan = KernelCode(texts, Path("k.py"), "k", state)
    for nulls, post, outputs in (
        ("propagate", "z = y * scale;", {"z": FLOAT64}),
        ("masks", "z = int(y); z_valid = flag;", {"z": pa.int16()}),
        ("propagate", "", {"y": FLOAT64, "flag": pa.bool_()}),
    ):
        contract = replace(scan, snippets={**texts, "post": post})
        operation = Kernel(contract=contract, outputs=outputs, **{**kernel, "nulls": nulls})
        yield scan_source(operation, contract, inputs, {"scale": 2.0})


def of_operations():
    """Yield kernels that are no expression's."""
    yield from map(closed_source, closed_programs())


@pytest.fixture(scope="module")
def sources():
    """The texts of all kernels, each once."""
    shipped = [path.read_text() for path in sorted(PIPELINES.rglob("*.cu"))]
    return [
        *dict.fromkeys(
            [
                *shipped,
                *of_functions(),
                *of_numbers(),
                *of_formats(),
                *of_texts(),
                *of_orders(),
                *of_means(),
                *of_casts(),
                *of_users(),
                *of_operations(),
            ]
        )
    ]


def test_every_device_header_is_in_a_kernel(sources):
    """A header that no kernel here has would not be compiled."""
    names = {path.name for path in DEVICE.glob("*.cuh")} - OF_WINDOWS
    assert {name for name in names if not any(mark(name) in source for source in sources)} == set()
    assert all(sources)


def test_no_text_asks_for_the_architecture(sources):
    """What compiles for the oldest and the newest compiles for those between."""
    assert not [source for source in sources if "__CUDA_ARCH__" in source]


@pytest.mark.parametrize("architecture", nvrtc.CHECKED)
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
    """What is included has a different name."""
    log = nvrtc.problems(named('#include "none.cuh"\n', Path("k.cu")), "sm_90")
    assert users_lines(log).startswith('k.cu:1: catastrophic error: cannot open source file "none.cuh"')


def test_an_error_in_statements_shows_their_line():
    """Lines count from the body's first."""
    source = next(of_users()).replace("flag = y > 0;", "flag = zz > 0;")
    assert users_lines(nvrtc.problems(source, "sm_90")).splitlines()[0] == 'body:2: error: identifier "zz" is undefined'


@pytest.mark.parametrize(
    ("line", "wrong", "where"),
    [
        ("flag = n > 0;", "flag = zz > 0;", "map:2"),
        ("flag = a.flag || b.flag;", "flag = a.flag || zz;", "combine:2"),
        ("y = 0; flag = false;", "y = zz;", "identity:1"),
        ("z = y * scale;", "z = zz;", "post:1"),
    ],
)
def test_an_error_in_a_scan_shows_the_text_and_its_line(line, wrong, where):
    """Each text counts from its own first line."""
    scan = next(source for source in of_users() if line in source and "scan_tiles" in source)
    log = users_lines(nvrtc.problems(scan.replace(line, wrong), "sm_90"))
    assert log.splitlines()[0] == f'{where}: error: identifier "zz" is undefined'


def test_a_log_without_errors_is_shown_whole():
    """Nothing is hidden."""
    assert users_lines("nvrtc: out of memory") == "nvrtc: out of memory"
