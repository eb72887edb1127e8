"""Comparison, `IN`, three-valued logic and nulls."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any
from typing import Literal as Choice

import pyarrow as pa

from gpuetl.engines.cudf.codegen.cuda_types import c_constant, c_type, unscaled, whole_number
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.columns.vector import has_bytes
from gpuetl.expressions.ir import Call, Cast, Literal
from gpuetl.types.data_types import DataType, is_floating
from gpuetl.types.decimal_types import is_decimal

# What decimals of two scales gain where they are compared, since no decimal of 38 digits holds both.


DECIMAL_COMPARISONS = "decimal_comparisons.cuh"
COMPARING = frozenset((
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_distinct", "is_not_distinct", "in",
    "nullif",
))  # fmt: skip


def has_scales(call: Call) -> bool:
    """Return whether a call compares decimals of two scales."""
    compares = call.function.name in COMPARING
    return compares and any(gained_digits(call, place) for place in range(1, len(call.args)))


def gained_digits(call: Call | Cast, place: int = 1) -> str:
    """Return how many digits the first argument and another gain after the point; nothing where scales are equal."""
    assert isinstance(call, Call)
    left, right = call.args[0].dtype, call.args[place].dtype
    if not is_decimal(left) or not is_decimal(right) or left.scale == right.scale:
        return ""
    scale = max(left.scale, right.scale)
    return f"{scale - left.scale}, {scale - right.scale}"


# `IN`: a few values are compared one by one, many constants are a sorted table of the kernel.


FEW = 8
"""So many are compared with x without a table in memory."""


def is_member(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text of `x IN (…)`; each argument's text is that of a `Maybe`."""
    assert isinstance(call, Call)
    operand, *values = call.args
    if has_scales(call):
        found = (
            f"is_equal<{gained_digits(call, place) or '0, 0'}>({arguments[0]}, {arguments[place]})"
            for place in range(1, len(arguments))
        )
        return f"any_true({{{', '.join(found)}}})"
    constants = [value.value for value in values if isinstance(value, Literal) and value.value is not None]
    if len(constants) <= FEW or not all(isinstance(value, Literal) for value in values):
        return f"is_member({arguments[0]}, {{{', '.join(arguments[1:])}}})"
    kind, values_text = table(constants, operand.dtype)
    member_call = (
        f"[]() -> auto& {{ static constexpr {kind} sorted[] = {{{', '.join(values_text)}}}; return sorted; }}()"
    )
    return f"is_member({arguments[0]}, {member_call}, {'true' if len(constants) < len(values) else 'false'})"


def table(constants: Sequence[Any], dtype: DataType) -> tuple[str, list[str]]:
    """Return the C++ type of a table's entries, and their C++ code in its order."""
    if is_floating(dtype):  # by their bits; NaN equals nothing, so its bits are not met
        code, kind, suffix = ("<f", "uint32_t", "u") if dtype == pa.float32() else ("<d", "uint64_t", "ULL")
        size = struct.calcsize(code)
        bits = {int.from_bytes(struct.pack(code, value or 0.0), "little") for value in constants if value == value}
        return kind, [f"{entry}{suffix}" for entry in sorted(bits)] or [f"{(1 << 8 * size) - 1}{suffix}"]
    entries = {sort_key(value, dtype): value for value in constants}
    return c_type(dtype), [c_constant(entries[key], dtype) for key in sorted(entries)]


def sort_key(value: Any, dtype: DataType) -> Any:
    """Return what orders constants as C++ orders their values."""
    if has_bytes(dtype):
        return value.encode() if isinstance(value, str) else value
    return unscaled(value, dtype) if is_decimal(dtype) else whole_number(value, dtype)


# Comparison, three-valued logic and nulls; CASE and coalesce are branches of the kernel.


HEADER = "logic.cuh"


def comparison(symbol: str) -> Device:
    """Return a comparison by an operator of C++; decimals of two scales give -1, 0 or 1, compared with 0."""

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        if gained := gained_digits(call):
            return f"compared<{gained}>({', '.join(arguments)}) {symbol} 0"
        return f"{arguments[0]} {symbol} {arguments[1]}"

    return Device(spelling)


def with_scales(name: str, result_form: Choice["value", "maybe"] = "value") -> Device:
    """Return a function of two values, which takes what decimals of two scales gain as template parameters."""

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        gained = gained_digits(call)
        return f"{name}{f'<{gained}>' if gained else ''}({', '.join(arguments)})"

    return Device(spelling, result_form)


def of_all(name: str) -> Device:
    """Return a function of an array of all arguments."""
    return Device(lambda _, arguments: f"{name}({{{', '.join(arguments)}}})", result_form="maybe")


FUNCTIONS: dict[str, Device | Library] = {
    "equal": comparison("=="),
    "not_equal": comparison("!="),
    "less": comparison("<"),
    "less_equal": comparison("<="),
    "greater": comparison(">"),
    "greater_equal": comparison(">="),
    "is_distinct": with_scales("is_distinct"),
    "is_not_distinct": with_scales("is_not_distinct"),
    "in": Device(is_member, result_form="maybe"),
    "and": of_all("all_true"),
    "or": of_all("any_true"),
    "not": Device("!"),
    "is_null": Device("is_null"),
    "nullif": with_scales("null_if_equal", result_form="maybe"),
    "greatest": of_all("greatest"),
    "least": of_all("least"),
}
