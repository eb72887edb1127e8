"""Hive partitions: rows split on the device by the values of columns, which become the names of folders."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import iota, pick
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.interchange import to_arrow
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.io.hive import folder_names
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import is_floating


class Folders(NamedTuple):
    """Rows by the values of keys: `rows` has their numbers, folder by folder.

    `folders` are names with the places in `rows` where each one's begin and end, in the order of first appearance.
    """

    rows: Array
    folders: list[tuple[str, int, int]]


def rows_by_value(keys: Frame, machine: Machine) -> Folders:
    """Return the rows of each distinct value, in their order, under the name of the value's hive folder."""
    compared = Frame({name: as_compared(vector) for name, vector in keys.columns.items()}, keys.rows)
    order = sort_rows(compared, [SortKey(name) for name in keys.columns], len(keys.columns), False, machine)
    rows = iota(keys.rows, machine) if order.rows is None else order.rows
    starts = order.group_starts(machine)
    first, start = machine.host(pick(rows, starts, machine)), machine.host(starts)
    appearance = np.argsort(first)
    values = take(keys.columns, machine.arrays.asarray(first[appearance]), machine)
    names = folder_names(tuple(values), [to_arrow(vector, machine) for vector in values.values()])
    end = np.append(start[1:], keys.rows)
    return Folders(rows, list(zip(names, start[appearance].tolist(), end[appearance].tolist(), strict=True)))


def as_compared(vector: Vector) -> Vector:
    """Return a key whose values differ where their folders do: zeros have signs there, so floats are their bits."""
    if not is_floating(vector.dtype):
        return vector
    bits = vector.data.dtype.itemsize * 8
    return replace(vector, dtype=pa.int64() if bits == 64 else pa.int32(), data=vector.data.view(f"int{bits}"))
