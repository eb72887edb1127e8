"""Times of files that count other units than microseconds: converted exactly, or refused with their row."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from gpuetl.engines.cudf.expressions.faults import row_and_reason
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import DataType, is_list, language_type, type_name

CONVERTED = {"s": ("longer", 1_000_000), "ms": ("longer", 1_000), "ns": ("shorter", 1_000)}
"""Whether a unit is longer or shorter than microseconds, and how many are one."""


def counts_units(dtype: DataType) -> bool:
    """Tell whether a type is a timestamp or a duration, in whatever unit."""
    return bool(pa.types.is_timestamp(dtype) or pa.types.is_duration(dtype))


def type_as_read(stored: DataType) -> DataType:
    """Return the type in which a machine reads a stored one: the language's, but that times keep their unit."""
    if is_list(stored):
        return pa.list_(type_as_read(stored.value_type))
    return stored if counts_units(stored) else language_type(stored) or stored


def in_microseconds(vector: Vector, name: str, machine: Machine) -> Vector:
    """Return times, or lists of them, in microseconds; any other column as it is.  16 bytes a row, and one wait.

    Raises
    ------
    ValueError
        With the first row whose time is no whole number of microseconds that int64 holds.
    """
    if vector.elements is not None:
        elements = in_microseconds(vector.elements, name, machine)
        return replace(vector, dtype=pa.list_(elements.dtype), elements=elements)
    if not counts_units(vector.dtype) or vector.dtype.unit == "us":
        return vector
    unit = vector.dtype.unit
    than, factor = CONVERTED[unit]
    micros, fault = machine.arrays.empty(vector.rows, "int64"), machine.arrays.zeros(1, "uint64")
    arguments = [vector.rows, factor, micros, fault, vector.data, 0 if vector.valid is None else vector.valid]
    machine.launch(machine.closed("numbers"), f"convert_{than}", vector.rows, arguments)
    dtype = language_type(vector.dtype)
    assert dtype is not None
    if found := int(fault[0]):
        row, _ = row_and_reason(found)
        value = f"{int(vector.data[row])} {unit}"
        raise ValueError(f"column '{name}' in row {row}: {type_name(dtype)} does not hold {value} in microseconds")
    return replace(vector, dtype=dtype, data=micros)
