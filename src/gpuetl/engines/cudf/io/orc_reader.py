"""ORC on the GPU: libcudf decodes stripes of columns whose types it reads as Arrow does; Arrow reads the others.

libcudf reads decimals by their digits and not by their declared ones, and timestamps by rules of its own for the zone
of the writer.  A dot in a name stands for a field in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.parquet_reader import Piece, check_count, checked, stopped_by
from gpuetl.engines.cudf.machine import Machine
from gpuetl.lost_device import is_fault, lose_device
from gpuetl.places.open_file import read_by_path
from gpuetl.places.registry import local_path
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import BOOL, DATE, STRING, DataType, is_floating, is_integer
from gpuetl.types.nested_types import is_nested, type_parts


def device_columns(read: Read, piece: Piece, names: Sequence[str], machine: Machine) -> dict[str, Vector]:
    """Return those columns of stripes of one file that libcudf reads; notes say why others are read on the CPU.

    None are for few values, which Arrow reads sooner, for a file that is not on a disk of this machine, and for one
    that libcudf refuses: Arrow then says what is wrong with it.

    Raises
    ------
    DatasetError
        For a file that has changed since it was planned: libcudf opens files by their paths.
    """
    file, groups = piece
    rows, path = sum(group.rows for group in groups), local_path(file.path)
    stored = read.dataset.stored(file)
    there = {name: stored[name] for name in names if name in stored}
    small = chosen("read_small_on_cpu") and rows * len(there) <= machine.host_values()
    if not there or not rows or small:
        return {}
    if path is None:
        note(f"{read.origin}: {file.path} was read on the CPU: it is not on a disk of this machine")
        return {}
    reasons = reasons_for_cpu(there)
    for name, reason in reasons.items():
        note(f"{read.origin}: column '{name}' was read on the CPU: {reason}")
    types = {name: dtype for name, dtype in there.items() if name not in reasons}
    if not types:
        return {}
    try:
        with read_by_path([file]):
            columns = machine.read_orc(path, [group.index for group in groups], types)
        for name, vector in columns.items():
            check_count(name, vector.rows, rows)
        return dict(checked(columns, machine))
    except MemoryError:  # Arrow's is one of its other errors, too
        raise
    except (OSError, RuntimeError, ValueError, TypeError, LookupError, OverflowError, pa.ArrowException) as error:
        if is_fault(error):
            lose_device()
            raise stopped_by([piece]) from error
        note(f"{read.origin}: {file.path} was read on the CPU: libcudf cannot read it")
        return {}


def reasons_for_cpu(types: Mapping[str, DataType]) -> dict[str, str]:
    """Return why columns are not read by libcudf, of those that are not."""
    reasons = dict[str, str]()
    for name, dtype in types.items():
        if "." in name:
            reasons[name] = "libcudf takes a dot in a name for a field"
        elif other := next((leaf for leaf in type_parts(dtype) if not is_read_alike(leaf)), None):
            reasons[name] = f"libcudf may read {other} of ORC otherwise than Arrow"
    return reasons


def is_read_alike(dtype: DataType) -> bool:
    """Tell whether libcudf reads a type as Arrow does, whatever it is made of."""
    return is_nested(dtype) or is_integer(dtype) or is_floating(dtype) or dtype in (BOOL, STRING, DATE)
