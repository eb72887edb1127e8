"""cuDF frames of results and for users' functions; the only module that imports cudf, when a user asks for it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.types.data_types import TIME, TIMESTAMP_NS, DataType, can_be_key, is_binary
from gpuetl.types.nested_types import is_list


def to_dataframe(frame: Frame) -> Any:
    """Return a cuDF frame on the memory of the engine's."""
    import cudf

    columns = {name: to_series(vector) for name, vector in frame.columns.items()}
    return cudf.DataFrame(columns, index=cudf.RangeIndex(frame.rows))


def is_shared(dtype: DataType) -> bool:
    """Return whether cuDF holds columns of a type as the engine does: flat ones, and lists of these."""
    flat = dtype.value_type if is_list(dtype) else dtype
    return can_be_key(flat) and not is_binary(flat) and flat not in (TIME, TIMESTAMP_NS)


def to_series(vector: Vector) -> Any:
    """Return a column as a cuDF series; libcudf's moments are UTC, so a zone is put on."""
    import cudf

    from gpuetl.engines.cudf.runtime.gpu_machine import machine
    from gpuetl.engines.cudf.runtime.libcudf import to_libcudf

    series = cudf.Series.from_pylibcudf(to_libcudf(vector, machine()))
    zone = vector.dtype.tz if pa.types.is_timestamp(vector.dtype) else None
    return series.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else series


def from_series(values: Any, dtype: DataType) -> Vector:
    """Return a column that a user's function gave, on its memory: a cuDF series, or an array of CuPy's.

    Raises
    ------
    TypeError
        Where its values have another type.
    """
    import cudf

    from gpuetl.engines.cudf.runtime.libcudf import from_libcudf, libcudf_type

    series = values if isinstance(values, cudf.Series) else cudf.Series(values)
    found = str(series.dtype)
    if pa.types.is_timestamp(dtype):
        zone = getattr(series.dtype, "tz", None)
        if (str(zone) if zone is not None else None) != dtype.tz:
            raise TypeError(found)
        series = series.dt.tz_convert("UTC").dt.tz_localize(None) if zone is not None else series
    column = series.to_pylibcudf()
    column = column[0] if isinstance(column, tuple) else column
    expected = dtype.value_type if is_list(dtype) else dtype
    inner = column.children()[1] if is_list(dtype) and len(column.children()) > 1 else column
    if inner.type() != libcudf_type(expected):
        raise TypeError(found)
    return from_libcudf(column, dtype)
