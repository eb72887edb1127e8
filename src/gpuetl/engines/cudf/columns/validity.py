"""Validity words, and memory for columns that kernels write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gpuetl.engines.cudf.columns.arrays import converted, join_valid, scan, unpack
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.types.data_types import DataType

# Validity words: made, counted, and as bytes where rows do not fall on their borders.


def empty_bits(rows: int, machine: Machine) -> Array:
    """Return words of no valid row, padded to 64 bytes as libcudf wants them."""
    return machine.arrays.zeros((rows + 511) // 512 * 16, "uint32")


def with_valid(output: Vector, valid: Any, machine: Machine) -> Vector:
    """Return a column of values that is null where `valid`, booleans, is not true."""
    nulls = machine.arrays.zeros(1, "uint64")
    words = words_of(valid, machine, nulls)
    return with_nulls(replace(output, valid=words), int(nulls[0]))


def with_nulls(output: Vector, nulls: int) -> Vector:
    """Return a column that was written, with its count of nulls."""
    if output.nulls == nulls and (nulls or output.valid is None):
        return output
    return replace(output, valid=output.valid if nulls else None, nulls=nulls)


def valid_rows(vector: Vector, machine: Machine) -> Any:
    """Return whether each row is valid, as bytes."""
    flags = machine.arrays.empty(vector.rows, "uint8")
    unpack(vector.valid, flags, machine)
    return flags


def valid_in_all(vectors: Iterable[Vector], machine: Machine) -> Any:
    """Return whether each row is valid in every one of some columns, as bytes."""
    first, *others = vectors
    if others:
        words, _ = valid_words([first.valid, *(vector.valid for vector in others)], first.rows, machine)
        first = replace(first, valid=words)
    return valid_rows(first, machine)


def valid_words(masks: Sequence[Array | None], rows: int, machine: Machine) -> tuple[Array, Array]:
    """Return words of the rows that are valid in all of some columns, and how many are null (uint64), on the device."""
    output, nulls = empty_bits(rows, machine), machine.arrays.zeros(1, "uint64")
    join_valid(masks, rows, output, nulls, machine)
    return output, nulls


def valid_in(masks: Sequence[Array | None], output: Vector, machine: Machine) -> Vector:
    """Return a column of values that is null where one of some validity words says so."""
    valid, nulls = valid_words(masks, output.rows, machine)
    return with_nulls(replace(output, valid=valid), int(nulls[0]))


def null_where_any(output: Vector, others: Iterable[Vector], machine: Machine) -> Vector:
    """Return a column of values with nulls where one of the others is null; the words of a single one are shared."""
    nullable = [vector for vector in others if vector.nulls]
    if len(nullable) < 2:
        return replace(output, valid=nullable[0].valid, nulls=nullable[0].nulls) if nullable else output
    return valid_in([vector.valid for vector in nullable], output, machine)


def words_of(valid: Array, machine: Machine, nulls: Array | None = None) -> Array:
    """Return booleans (uint8) as validity words, and add the nulls to a count (uint64) on the device."""
    arrays, rows = machine.arrays, len(valid)
    words, nulls = empty_bits(rows, machine), arrays.zeros(1, "uint64") if nulls is None else nulls
    machine.launch(machine.closed("validity"), "pack_valid", rows, [rows, valid, words, nulls])
    return words


# Columns that kernels write: memory for values, and offsets once the sizes of strings or lists are known.


MOST = 1 << 31
"""Elements of a list column are fewer: its offsets have 32 bits. From as many bytes on, offsets of strings have 64."""


def empty_values(dtype: DataType, rows: int, machine: Machine) -> Array:
    """Return memory for the values of a column of fixed width."""
    storage = storage_type(dtype)
    wide = storage == "V16"
    return machine.arrays.empty((rows, 2) if wide else rows, "int64" if wide else storage)


def empty_column(dtype: DataType, rows: int, machine: Machine, nullable: bool = True) -> Vector:
    """Return a column of fixed width whose values, and validity where it can have nulls, are to be written."""
    return Vector(dtype, rows, empty_values(dtype, rows, machine), empty_bits(rows, machine) if nullable else None)


def offsets_type(total: int) -> str:
    """Return the type of the offsets of strings of so many bytes in all."""
    return "int32" if total < MOST else "int64"


def text_offsets(offsets: Array, total: int, machine: Machine) -> Array:
    """Return offsets (int64) of strings of so many bytes in all as a column has them."""
    return converted(offsets, offsets_type(total), machine)


def offsets_of_sizes(sizes: Array, total: int, machine: Machine) -> Array:
    """Return the offsets of strings whose sizes are these, after a first 0, and `total` in all."""
    return scan(sizes, machine, offsets_type(total))


def list_offsets(offsets: Array, total: int, machine: Machine) -> Array:
    """Return offsets (int64) of lists of so many elements in all as a column has them.

    Raises
    ------
    EvaluationError
        Where there are 2^31 elements or more.
    """
    check_elements(total)
    return converted(offsets, "int32", machine)


def check_elements(total: int) -> None:
    """Raise `EvaluationError` where lists have 2^31 elements or more."""
    if total >= MOST:
        raise EvaluationError(
            coded("GE2008", f"{total:,} elements are more than a column of lists holds.  Run with smaller partitions")
        )
