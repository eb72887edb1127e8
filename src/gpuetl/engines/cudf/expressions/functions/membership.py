"""`IN`: a few values are compared one by one, many constants are a sorted table of the kernel."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.device.types import c_constant, c_type, unscaled, whole_number
from gpuetl.engines.cudf.expressions.functions.scales import gained_digits, has_scales
from gpuetl.expressions.ir import Call, Cast, Literal
from gpuetl.types.data_types import STRING, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal

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
    kind, texts = table(constants, operand.dtype)
    made = f"[]() -> auto& {{ static constexpr {kind} sorted[] = {{{', '.join(texts)}}}; return sorted; }}()"
    return f"is_member({arguments[0]}, {made}, {'true' if len(constants) < len(values) else 'false'})"


def table(constants: Sequence[Any], dtype: DataType) -> tuple[str, list[str]]:
    """Return the C++ type of a table's entries, and their texts in its order."""
    if is_floating(dtype):  # by their bits; NaN equals nothing, so its bits are not met
        code, kind, suffix = ("<f", "uint32_t", "u") if dtype == pa.float32() else ("<d", "uint64_t", "ULL")
        size = struct.calcsize(code)
        bits = {int.from_bytes(struct.pack(code, value or 0.0), "little") for value in constants if value == value}
        return kind, [f"{entry}{suffix}" for entry in sorted(bits)] or [f"{(1 << 8 * size) - 1}{suffix}"]
    entries = {sort_key(value, dtype): value for value in constants}
    return c_type(dtype), [c_constant(entries[key], dtype) for key in sorted(entries)]


def sort_key(value: Any, dtype: DataType) -> Any:
    """Return what orders constants as C++ orders their values."""
    if dtype == STRING:
        return value.encode()
    return unscaled(value, dtype) if is_decimal(dtype) else whole_number(value, dtype)
