"""Validity words: made, counted, and as bytes where rows do not fall on their borders."""

from __future__ import annotations

from collections.abc import Iterable
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


def valid_in_all(vectors: Iterable[Vector], machine: Machine) -> Any:
    """Return whether each row is valid in every one of some columns, as bytes."""
    first, *others = (valid_rows(vector, machine) for vector in vectors)
    for valid in others:
        first = first & valid
    return first


def null_where_any(made: Vector, others: Iterable[Vector], machine: Machine) -> Vector:
    """Return a column of values with nulls where one of the others is null; the words of a single one are shared."""
    nullable = [vector for vector in others if vector.nulls]
    if len(nullable) < 2:
        return replace(made, valid=nullable[0].valid, nulls=nullable[0].nulls) if nullable else made
    return with_valid(made, valid_in_all(nullable, machine), machine)


def words_of(valid: Any, machine: Machine) -> Any:
    """Return bytes of truth values as validity words."""
    words = empty_bits(len(valid), machine)
    packed = machine.arrays.packbits(valid, bitorder="little")
    words.view("uint8")[: len(packed)] = packed
    return words
