"""Strings."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_int, c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library, Spelling
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.text_rules import WHITE_SPACE
from gpuetl.types.data_types import STRING

MOST = (1 << 62) - 1
"""More code points than a text has, and far from overflow."""


def by_default(name: str, default: str) -> Spelling:
    """Return how a function is spelled whose last argument, a text, may be left out."""

    def spelling(call: Call, args: Sequence[str]) -> str:
        left_out = len(call.args) < len(call.function.arguments)
        return f"{name}({', '.join([*args, *[c_text(default)] * left_out])})"

    return spelling


def substring(call: Call, args: Sequence[str]) -> str:
    """SQL's substring: positions from 1, or from the end; those before the text count and hold nothing."""
    start, *lengths = constants(call)
    length = [count for count in lengths if count is not None]
    if start is None or len(length) < len(lengths):
        return f"substring({', '.join(args)})"
    if length and length[0] < 0:
        return f"substring({args[0]}, {c_int(start)}, {c_int(length[0])})"
    if start < 0:
        without = max(-start - length[0], 0) if length else 0
        return f"sliced_from_end({args[0]}, {c_int(-start)}, {c_int(without)})"
    stop = max(start + length[0] - 1, 0) if length else MOST
    return f"sliced({args[0]}, {c_int(min(max(start, 1) - 1, stop, MOST))}, {c_int(min(stop, MOST))})"


def left(call: Call, args: Sequence[str]) -> str:
    """The first code points, or all but the last."""
    (count,) = constants(call)
    if count is None:
        return f"left({', '.join(args)})"
    if count < 0:
        return f"sliced_from_end({args[0]}, {c_int(MOST)}, {c_int(-count)})"
    return f"sliced({args[0]}, 0, {c_int(count)})"


def right(call: Call, args: Sequence[str]) -> str:
    """The last code points, or all but the first."""
    (count,) = constants(call)
    if count is None:
        return f"right({', '.join(args)})"
    if count < 0:
        return f"sliced({args[0]}, {c_int(-count)}, {c_int(MOST)})"
    return f"last_code_points({args[0]}, {c_int(count)})"


def constants(call: Call) -> list[int | None]:
    """Return the arguments after the first; None for one that is no constant."""
    return [arg.value if isinstance(arg, Literal) else None for arg in call.args[1:]]


def padded(name: str) -> Spelling:
    """Return how text is filled: by one character, or by any text, which may be empty where the row is not refused."""

    def spelling(call: Call, args: Sequence[str]) -> str:
        fill = call.args[2] if len(call.args) > 2 else Literal(" ", STRING)
        text = [*args, *[c_text(" ")] * (len(args) < 3)]
        if isinstance(fill, Literal) and fill.value is not None and len(fill.value) == 1:
            before = ["out", "at"] if call.function.fails_for(call.args) else ["out"]
            return f"{name}({', '.join([*before, *text])})"
        return f"{name}_with({', '.join(['out', 'at' if call.function.fails_for(call.args) else 'NoFault{}', *text])})"

    return spelling


HEADER = "strings.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "concat": Device("concat", result_form="text"),
    "concat_ws": Device("concat_ws", result_form="maybe_text"),
    "length": Device("length"),
    "byte_length": Device("byte_length"),
    "trim": Device(by_default("trim", WHITE_SPACE)),
    "ltrim": Device(by_default("ltrim", WHITE_SPACE)),
    "rtrim": Device(by_default("rtrim", WHITE_SPACE)),
    "substring": Device(substring),
    "text_slice": Device("text_slice"),
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
    "lpad": Device(padded("lpad"), result_form="text"),
    "rpad": Device(padded("rpad"), result_form="text"),
    "starts_with": Device("starts_with"),
    "ends_with": Device("ends_with"),
    "contains": Device("contains"),
}
