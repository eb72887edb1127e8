"""The twin of the kernel that puts columns below each other."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gpuetl.backends.cudf.columns.pieces import WIDTHS
from gpuetl.backends.cudf.rehearsal.launch import Launch, set_bits, set_valid


def stack(launch: Launch) -> None:
    """Copy values and validity, which are known by their addresses."""
    widths = [width for width in WIDTHS for _ in range(launch[f"bytes{width}"])]
    ends, addresses = np.split(launch["table"], [launch["count"]])
    *sources, targets = addresses.reshape(-1, 2, len(widths)).tolist()
    rows = np.diff(ends, prepend=0).tolist()
    for column, width in enumerate(widths):
        parts = [memory(source[0][column], count * width) for source, count in zip(sources, rows, strict=True)]
        memory(targets[0][column], launch["rows"] * width)[:] = np.concatenate(parts)
        if targets[1][column]:
            valid = [valid_rows(source[1][column], count) for source, count in zip(sources, rows, strict=True)]
            set_valid(memory(targets[1][column], -(-launch["rows"] // 32) * 4), np.concatenate(valid))


def memory(address: int, size: int) -> Any:
    """Return the bytes at an address."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def valid_rows(address: int, rows: int) -> Any:
    """Return truth values of validity words, all true where there are none."""
    return set_bits(memory(address, -(-rows // 32) * 4))[:rows] if address else np.ones(rows, bool)
