"""Kernels that contain nothing of a pipeline: each is written once, for whatever columns there are.

A file of `device/closed` is a program.  What differs between columns is an argument: their addresses, their widths, and
whether they have validity words.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from gpuetl.engines.cudf.device.headers import DEVICE, headers_text
from gpuetl.engines.cudf.vector import Vector

FOLDER = "closed"


def closed_programs() -> list[str]:
    """Return the names of all programs."""
    return sorted(path.stem for path in (DEVICE / FOLDER).glob("*.cu"))


def common_programs() -> list[str]:
    """Return the names of those that most plans need: not keys of many columns, Parquet encoders and measurements."""
    others = {"deltas", "distinct_values", "pages", "stencil", "wide_keys", "wide_lookup"}
    return [name for name in closed_programs() if name not in others]


@cache
def closed_source(*programs: str) -> str:
    """Return the text of programs, with each header that they include once."""
    return headers_text(f"{FOLDER}/{program}.cu" for program in programs)


def integer_name(array: Any) -> str:
    """Return the signed integer type of an array's width, as names of kernels have it."""
    return f"int{8 * array.dtype.itemsize}"


def text_arguments(texts: Vector) -> list[Any]:
    """Return what kernels take of texts that lie in memory: bytes, offsets and validity words, 0 for none."""
    return [texts.data, texts.offsets, 0 if texts.valid is None else texts.valid]
