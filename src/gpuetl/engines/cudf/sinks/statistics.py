"""Least and greatest values of column chunks, from numbers in their order: `ordered` of parquet.cuh turned back."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from gpuetl.engines.cudf.sinks.footer import Limits
from gpuetl.engines.cudf.vector import storage_type
from gpuetl.types.data_types import BOOL, DataType, is_floating

DOUBLE = struct.Struct("<d")
SIGN, ALL = 1 << 63, (1 << 64) - 1
LimitsOf = Callable[[int, int], Limits | None]
"""Makes limits of the numbers of a least and a greatest value."""


def ranges_found(measured: np.ndarray[Any, Any]) -> list[list[int]]:
    """Return the two numbers of each page's `Range`."""
    pages: list[list[int]] = measured.view(np.uint64).reshape(-1, 2).tolist()
    return pages


def merged(ranges: Sequence[list[int]]) -> tuple[int, int] | None:
    """Return the least and the greatest number of pages, stored as `Range` does; None where there is no value."""
    least, greatest = ranges[0] if len(ranges) == 1 else map(max, zip(*ranges, strict=True))
    return None if least == greatest == 0 else (least ^ ALL, greatest)


@cache
def limits_of(dtype: DataType) -> LimitsOf:
    """Return what makes limits of a type's numbers, as PLAIN encodes them."""
    if is_floating(dtype):
        return lambda least, greatest: float_limits(least, greatest, "<f" if storage_type(dtype) == "float32" else "<d")
    if dtype == BOOL:
        return lambda least, greatest: (bytes([least]), bytes([greatest]))
    storage = storage_type(dtype)
    width = 8 if storage.endswith("64") else 4
    if storage.startswith("u"):
        return lambda least, greatest: (least.to_bytes(width, "little"), greatest.to_bytes(width, "little"))
    return lambda least, greatest: (signed(least, width), signed(greatest, width))


def signed(number: int, width: int) -> bytes:
    """Return a signed integer, whose number has the sign turned over."""
    return (number - SIGN).to_bytes(width, "little", signed=True)


def float_limits(least: int, greatest: int, form: str) -> Limits:
    """Return a float's limits; zeros have the signs that include the other zero, as the format asks."""
    low, high = (float_of(number) for number in (least, greatest))
    return struct.pack(form, -0.0 if low == 0 else low), struct.pack(form, 0.0 if high == 0 else high)


def float_of(number: int) -> float:
    """Return the float of a number."""
    bits = number ^ SIGN if number & SIGN else number ^ ALL
    (value,) = DOUBLE.unpack(bits.to_bytes(8, "little"))
    return float(value)


def text_limits(texts: Sequence[bytes]) -> LimitsOf:
    """Return what makes limits of the numbers of texts; as pyarrow, none of texts of over 4 KiB."""

    def limits(least: int, greatest: int) -> Limits | None:
        found = texts[least], texts[greatest]
        return found if max(map(len, found)) <= 4096 else None

    return limits
