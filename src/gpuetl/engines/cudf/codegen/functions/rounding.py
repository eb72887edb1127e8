"""Numbers rounded and truncated; what is done to decimals has their digits and scales as template parameters."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_float
from gpuetl.engines.cudf.codegen.functions.arithmetic import with_digits
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Cast, Expr, Literal
from gpuetl.types.data_types import FLOAT64, is_floating

HEADER = "rounding.cuh"


def rounded_digits(call: Expr) -> list[int]:
    """Return the result's digits and scale."""
    return [call.dtype.precision, call.dtype.scale]


def scale(call: Expr) -> list[int]:
    """Return the result's scale."""
    return [call.dtype.scale]


def power_of_ten(digits: Expr, text: str) -> str:
    """Return the power of ten nearest to 10^|digits|, which is known here where these are a constant."""
    if isinstance(digits, Literal) and digits.value is not None:
        return c_float(float(f"1e{abs(digits.value)}"), FLOAT64)
    return f"power_of_ten_near({text})"


def rounded(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return a rounding; of floats by the power of ten nearest to it."""
    if not is_floating(call.dtype) or len(arguments) == 1:
        return with_digits("round", rounded_digits).text(call, arguments)
    assert isinstance(call, Call)
    power = power_of_ten(call.args[1], arguments[1])
    return f"{'rounded_float' if call.dtype == FLOAT64 else 'rounded_single'}(at, {', '.join(arguments)}, {power})"


def truncated(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return a number without what is behind some places."""
    assert isinstance(call, Call)
    if len(arguments) == 1:
        return with_digits("without_fraction", scale).text(call, arguments)
    if is_floating(call.dtype):
        return f"truncated({', '.join(arguments)}, {power_of_ten(call.args[1], arguments[1])})"
    return with_digits("truncated", scale).text(call, arguments)


FUNCTIONS: dict[str, Device | Library] = {
    "round": Device(rounded),
    "floor": with_digits("floor", rounded_digits),
    "ceil": with_digits("ceil", rounded_digits),
    "trunc": Device(truncated),
}
