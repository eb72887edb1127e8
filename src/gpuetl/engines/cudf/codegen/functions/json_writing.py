"""Values of the language as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_int128
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.marked_text import statements
from gpuetl.expressions.ir import Call, Cast
from gpuetl.types.decimal_types import is_decimal


def value(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the code that writes a value that is not null."""
    assert isinstance(call, Call)
    if is_decimal(dtype := call.args[0].dtype):
        return f"write_decimal(out, {args[0]}, {c_int128(10**dtype.scale)}, {dtype.scale})"
    return f"json::put_value(out, {fault(call)}, {args[0]})"


def joined(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the statements that write text, and values in the places of its marks."""
    assert isinstance(call, Call)

    def put_value(value: str) -> str:
        return f"json::put_value_or_null(out, {fault(call)}, {value})"

    return statements(call.args[0], args[1:], put_value, "json::put_text_or_null(out, {})".format)


def fault(call: Call) -> str:
    """Return what is told of a number that JSON lacks."""
    return "at" if call.function.fails_for(call.args) else "NoFault{}"


HEADER = "json_writing.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "to_json": Device(value, result_form="text"),
    "json_join": Device(joined, result_form="text"),
}
