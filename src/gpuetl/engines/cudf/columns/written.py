"""Columns that kernels write: memory for values, and offsets once the sizes of texts or lists are known."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import converted, scan
from gpuetl.engines.cudf.columns.validity import empty_bits
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.types.data_types import DataType

MOST = 1 << 31
"""Elements of a column of lists are fewer: its offsets have 32 bits.  Those of texts have 64 from as many bytes on."""


def empty_values(dtype: DataType, rows: int, machine: Machine) -> Array:
    """Return memory for the values of a column of fixed width."""
    storage = storage_type(dtype)
    wide = storage == "V16"
    return machine.arrays.empty((rows, 2) if wide else rows, "int64" if wide else storage)


def empty_column(dtype: DataType, rows: int, machine: Machine, nullable: bool = True) -> Vector:
    """Return a column of fixed width whose values, and validity where it can have nulls, are to be written."""
    return Vector(dtype, rows, empty_values(dtype, rows, machine), empty_bits(rows, machine) if nullable else None)


def offsets_type(total: int) -> str:
    """Return the type of the offsets of texts of so many bytes in all."""
    return "int32" if total < MOST else "int64"


def text_offsets(offsets: Array, total: int, machine: Machine) -> Array:
    """Return offsets (int64) of texts of so many bytes in all as a column has them."""
    return converted(offsets, offsets_type(total), machine)


def offsets_of_sizes(sizes: Array, total: int, machine: Machine) -> Array:
    """Return the offsets of texts whose sizes are these, after a first 0, and `total` in all."""
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
