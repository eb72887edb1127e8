"""Hive partitions: rows split on the device by the values of columns, which become the names of folders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from gpuetl.backends.cudf.columns.gather import take, take_rows
from gpuetl.backends.cudf.columns.order import sort_rows
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.interchange import to_arrow
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.sinks.pieces import fetched
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import is_floating
from gpuetl.io.hive import folder_names
from gpuetl.plan.node import SortKey


def split_by_value(frame: Frame, keys: tuple[str, ...], machine: Machine) -> list[tuple[str, Frame]]:
    """Return hive folder names and their rows, in the order of first appearance; rows keep their order.

    Both are what `io.hive.split_by_value` gives for Arrow tables; keys have a fixed width, or are texts.  The frames
    take as much memory as the columns that are not keys; nulls are not counted anew.
    """
    if not frame.rows:
        return []
    rest = frame.select(tuple(name for name in frame.columns if name not in keys))
    groups = rows_by_value(frame.select(keys), machine)
    first = machine.arrays.concatenate([rows[:1] for rows in groups])
    values = take(frame.select(keys).columns, first, machine)
    folders = folder_names(keys, [to_arrow(values[name], machine) for name in keys])
    return [(name, take_rows(rest, rows, machine, permuted=True)) for name, rows in zip(folders, groups, strict=True)]


def rows_by_value(keys: Frame, machine: Machine) -> list[Array]:
    """Return the numbers of the rows of each distinct value, in the order of first appearance."""
    compared = Frame({name: as_compared(vector) for name, vector in keys.columns.items()}, keys.rows)
    order = sort_rows(compared, [SortKey(name) for name in keys.columns], len(keys.columns), False, machine)
    rows = machine.arrays.arange(keys.rows) if order.rows is None else order.rows
    starts = order.group_starts(machine)
    first, start = fetched([rows[starts].astype("int64"), starts.astype("int64")], machine)
    end = np.append(start[1:], keys.rows)
    return [rows[start[group] : end[group]] for group in np.argsort(first).tolist()]


def as_compared(vector: Vector) -> Vector:
    """Return a key whose values differ where their folders do: zeros have signs there, so floats are their bits."""
    if not is_floating(vector.dtype):
        return vector
    bits = vector.data.dtype.itemsize * 8
    return replace(vector, dtype=pa.int64() if bits == 64 else pa.int32(), data=vector.data.view(f"int{bits}"))
