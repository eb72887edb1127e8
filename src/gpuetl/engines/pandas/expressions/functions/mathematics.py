"""Mathematics on Arrow values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, to_masked


def radians(x: Any) -> Any:
    """Degrees to radians."""
    return pc.multiply(x, pa.scalar(math.pi / 180, x.type))


def degrees(x: Any) -> Any:
    """Radians to degrees."""
    return pc.multiply(x, pa.scalar(180 / math.pi, x.type))


def cotangent(x: Any) -> Any:
    """1 / tan(x)."""
    return pc.divide(pa.scalar(1, x.type), pc.tan(x))


def cube_root(x: Any) -> Any:
    """The cube root, which Arrow does not have."""
    return over_columns(_cube_roots, x)


def _cube_roots(x: Any) -> Any:
    column = to_masked(x)
    return from_masked(Masked(np.cbrt(column.values), column.valid), x.type)


def pi() -> Any:
    """The constant."""
    return pa.scalar(math.pi)


def in_float64(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler that computes float32 in float64 and rounds once: libraries' float32 functions differ."""

    def handle(*values: Any) -> Any:
        if values[0].type != pa.float32():
            return handler(*values)
        return pc.cast(handler(*(pc.cast(value, pa.float64()) for value in values)), pa.float32(), safe=False)

    return handle


IN_FLOAT64: dict[str, Callable[..., Any]] = {
    "sqrt": pc.sqrt,
    "exp": pc.exp,
    "ln": pc.ln,
    "log10": pc.log10,
    "log2": pc.log2,
    "power": pc.power,
    "sin": pc.sin,
    "cos": pc.cos,
    "tan": pc.tan,
    "cot": cotangent,
    "asin": pc.asin,
    "acos": pc.acos,
    "atan": pc.atan,
    "atan2": pc.atan2,
    "radians": radians,
    "degrees": degrees,
    "cbrt": cube_root,
    "hypot": pc.hypot,
    "expm1": pc.expm1,
    "log1p": pc.log1p,
    "sinh": pc.sinh,
    "cosh": pc.cosh,
    "tanh": pc.tanh,
    "asinh": pc.asinh,
    "acosh": pc.acosh,
    "atanh": pc.atanh,
}

HANDLERS: dict[str, Callable[..., Any]] = {
    **{name: in_float64(handler) for name, handler in IN_FLOAT64.items()},
    "is_nan": pc.is_nan,
    "pi": pi,
    "is_finite": pc.is_finite,
    "is_infinite": pc.is_inf,
}
