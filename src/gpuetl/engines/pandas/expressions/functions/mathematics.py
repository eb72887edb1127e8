"""Mathematics on Arrow values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, to_masked
from gpuetl.engines.pandas.expressions.clock import by_row
from gpuetl.types.data_types import BOOL


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


def of_floats(compute: Callable[..., NDArray[Any]]) -> Callable[..., Any]:
    """Return the handler of what NumPy computes of floats, in their type."""

    def handle(*values: Any) -> Any:
        def quiet(*floats: NDArray[Any]) -> NDArray[Any]:
            with np.errstate(all="ignore"):
                return compute(*floats)

        return by_row(quiet, values[0].type, *values)

    return handle


def one_by_one(compute: Callable[[float], float], at_pole: Callable[[float], float]) -> Callable[..., Any]:
    """Return the handler of a function of Python's, which raises where C's has no finite value."""

    def value(x: float) -> float:
        try:
            return compute(x)
        except ValueError:
            return at_pole(x)
        except OverflowError:
            return math.inf if x > 0 else -math.inf

    return of_floats(lambda values: np.array([value(float(x)) for x in values], np.float64))


def even(values: NDArray[Any]) -> NDArray[Any]:
    """Return the next even whole numbers away from 0."""
    whole = np.copysign(np.ceil(np.abs(values)), values)
    is_even = (np.floor(whole / 2) * 2 == whole) | np.isnan(whole)
    return np.asarray(np.where(is_even, whole, whole + np.copysign(1, whole)))


IN_FLOAT64 |= {
    "log": lambda base, x: pc.divide(pc.log10(x), pc.log10(base)),
    "gamma": one_by_one(math.gamma, lambda x: math.copysign(math.inf, x) if x == 0 else math.nan),
    "lgamma": one_by_one(math.lgamma, lambda x: math.inf),
    "fdiv": of_floats(lambda x, y: np.floor(x / y)),
    "fmod": of_floats(lambda x, y: x - np.floor(x / y) * y),
    "even": of_floats(even),
}

HANDLERS: dict[str, Callable[..., Any]] = {
    **{name: in_float64(handler) for name, handler in IN_FLOAT64.items()},
    "nextafter": of_floats(np.nextafter),
    "signbit": lambda x: by_row(np.signbit, BOOL, x),
    "is_nan": pc.is_nan,
    "pi": pi,
    "is_finite": pc.is_finite,
    "is_infinite": pc.is_inf,
}
