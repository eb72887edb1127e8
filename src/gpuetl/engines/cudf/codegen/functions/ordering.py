"""Values as texts whose bytes compare as the values do."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.marked_text import statements
from gpuetl.expressions.ir import Call, Cast


def joined(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the statements that write text, and values in the places of its marks."""
    assert isinstance(call, Call)
    return statements(call.args[0], args[1:], "put_order_or_null(out, {})".format, "out.put({}.value)".format)


HEADER = "ordering.cuh"
FUNCTIONS: dict[str, Device | Library] = {"order_join": Device(joined, result_form="text")}
