"""cuDF frames of results; the only module that imports cudf, when a user asks for one of its frames."""

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
