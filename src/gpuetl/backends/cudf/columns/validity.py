"""Validity words: made, counted, and as bytes where rows do not fall on their borders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector


def empty_bits(rows: int, machine: Machine) -> Any:
    """Return words of no valid row, padded to 64 bytes as libcudf wants them."""
    return machine.arrays.zeros((rows + 511) // 512 * 16, "uint32")


def with_valid(made: Vector, valid: Any, machine: Machine) -> Vector:
    """Return a column of values that is null where `valid`, truth values, is not true."""
    return with_nulls(replace(made, valid=words_of(valid, machine)), made.rows - int(valid.sum()))


def with_nulls(made: Vector, nulls: int) -> Vector:
    """Return a column that was written, with its count of nulls."""
    return replace(made, valid=made.valid if nulls else None, nulls=nulls)


def valid_rows(vector: Vector, machine: Machine) -> Any:
    """Return whether each row is valid, as bytes."""
    arrays = machine.arrays
    if vector.valid is None:
        return arrays.ones(vector.rows, "uint8")
    return arrays.unpackbits(vector.valid.view("uint8"), bitorder="little")[: vector.rows]


def words_of(valid: Any, machine: Machine) -> Any:
    """Return bytes of truth values as validity words."""
    words = empty_bits(len(valid), machine)
    packed = machine.arrays.packbits(valid, bitorder="little")
    words.view("uint8")[: len(packed)] = packed
    return words
