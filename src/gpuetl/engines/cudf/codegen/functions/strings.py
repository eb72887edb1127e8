"""Strings."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_int, c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library, Spelling
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.text_rules import WHITE_SPACE

MOST = (1 << 62) - 1
"""More code points than a text has, and far from overflow."""


def by_default(name: str, default: str, *before: str) -> Spelling:
    """Return how a function is spelled whose last argument, a text, may be left out."""

    def spelling(call: Call, args: Sequence[str]) -> str:
        left_out = len(call.args) < len(call.function.arguments)
        return f"{name}({', '.join([*before, *args, *[c_text(default)] * left_out])})"

    return spelling


def substring(call: Call, args: Sequence[str]) -> str:
    """SQL's substring: positions from 1, or from the end; those before the text count and hold nothing."""
    start, *length = constants(call)
    if start < 0:
        without = max(-start - length[0], 0) if length else 0
        return f"sliced_from_end({args[0]}, {c_int(-start)}, {c_int(without)})"
    stop = max(start + length[0] - 1, 0) if length else MOST
    return f"sliced({args[0]}, {c_int(min(max(start, 1) - 1, stop, MOST))}, {c_int(min(stop, MOST))})"


def left(call: Call, args: Sequence[str]) -> str:
    """The first code points, or all but the last."""
    (count,) = constants(call)
    if count < 0:
        return f"sliced_from_end({args[0]}, {c_int(MOST)}, {c_int(-count)})"
    return f"sliced({args[0]}, 0, {c_int(count)})"


def right(call: Call, args: Sequence[str]) -> str:
    """The last code points, or all but the first."""
    (count,) = constants(call)
    if count < 0:
        return f"sliced({args[0]}, {c_int(-count)}, {c_int(MOST)})"
    return f"last_code_points({args[0]}, {c_int(count)})"


def constants(call: Call) -> list[int]:
    """Return the constant arguments after the first."""
    return [arg.value for arg in call.args[1:] if isinstance(arg, Literal)]


HEADER = "strings.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "concat": Device("concat", result_form="text"),
    "concat_ws": Device("concat_ws", result_form="text"),
    "length": Device("length"),
    "byte_length": Device("byte_length"),
    "trim": Device(by_default("trim", WHITE_SPACE)),
    "ltrim": Device(by_default("ltrim", WHITE_SPACE)),
    "rtrim": Device(by_default("rtrim", WHITE_SPACE)),
    "substring": Device(substring),
    "left": Device(left),
    "right": Device(right),
    "replace": Device("replace", result_form="text"),
    "translate": Device("translate", result_form="text"),
    "remove_prefix": Device("remove_prefix"),
    "remove_suffix": Device("remove_suffix"),
    "repeat": Device("repeat", result_form="text"),
    "split_part": Device("split_part"),
    "strpos": Device("strpos"),
    "reverse": Device("reverse", result_form="text"),
    "lpad": Device(by_default("lpad", " ", "out"), result_form="text"),
    "rpad": Device(by_default("rpad", " ", "out"), result_form="text"),
    "starts_with": Device("starts_with"),
    "ends_with": Device("ends_with"),
    "contains": Device("contains"),
}
