"""Mathematics: functions of the machine's library, computed in float64 and rounded to the result's type."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_type
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Cast

HEADER = "mathematics.cuh"
LIBRARY = {
    "sqrt": "sqrt", "exp": "exp", "ln": "log", "log10": "log10", "log2": "log2", "power": "pow", "sin": "sin",
    "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2", "cbrt": "cbrt",
    "hypot": "hypotenuse", "expm1": "expm1", "log1p": "log1p", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "log": "logarithm", "gamma": "tgamma", "lgamma": "lgamma", "fdiv": "floor_divide", "fmod": "floor_modulo",
    "even": "even", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "cot": "1 / tan",
}  # fmt: skip
"""What C calls them; `name(x, …)` is the value."""


def in_float64(name: str) -> Device:
    """Return a function of the library."""

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        return f"{c_type(call.dtype)}({name}({', '.join(f'double({argument})' for argument in arguments)}))"

    return Device(spelling)


FUNCTIONS: dict[str, Device | Library] = {
    **{name: in_float64(c_name) for name, c_name in LIBRARY.items()},
    "radians": Device("radians"),
    "degrees": Device("degrees"),
    "pi": Device(lambda *_: "3.141592653589793"),
    "is_finite": Device("is_finite"),
    "is_infinite": Device("is_infinite"),
    "is_nan": Device("is_nan"),
    "nextafter": Device("next_float"),
    "signbit": Device("has_sign_bit"),
}
