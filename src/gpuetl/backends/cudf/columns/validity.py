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
    nulls = machine.arrays.zeros(1, "uint64")
    words = words_of(valid, machine, nulls)
    return with_nulls(replace(made, valid=words), int(nulls[0]))


def with_nulls(made: Vector, nulls: int) -> Vector:
    """Return a column that was written, with its count of nulls."""
    if made.nulls == nulls and (nulls or made.valid is None):
        return made
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


def words_of(valid: Any, machine: Machine, nulls: Any = None) -> Any:
    """Return bytes of truth values as validity words, and add the nulls to a count (uint64) on the device."""
    arrays, rows = machine.arrays, len(valid)
    words, nulls = empty_bits(rows, machine), arrays.zeros(1, "uint64") if nulls is None else nulls
    flags = arrays.ascontiguousarray(valid).view("uint8")
    machine.launch(machine.closed("validity"), "pack_valid", rows, [rows, flags, words, nulls])
    return words
