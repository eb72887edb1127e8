"""Frames on the host that a user's function gets, and the frame that it returns, checked against the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.errors import EvaluationError, first_line
from gpuetl.messages import coded
from gpuetl.types.data_types import DataType, language_type, type_name
from gpuetl.user_kernels.python_function import TITLES, FrameKind, PythonFunction


def host_frame(table: pa.Table, kind: FrameKind) -> Any:
    """Return a table as the kind of frame that a function gets; pandas frames have Arrow types.

    So integers stay integers, and a null is not NaN.
    """
    if kind == "arrow":
        return table
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def part(frame: Any, start: int, stop: int) -> Any:
    """Return some rows of a frame, numbered from 0."""
    if isinstance(frame, pa.Table):
        return frame.slice(start, stop - start)
    return frame.iloc[start:stop].reset_index(drop=True)


def checked_columns(
    function: PythonFunction, result: Any, outputs: Mapping[str, DataType], rows: int
) -> dict[str, Any]:
    """Return the columns of a function's result by name: as many values as the frame had rows, in its order.

    Raises
    ------
    EvaluationError
        Where it is no frame, has other columns, more or fewer rows, or rows in another order.
    """
    columns = columns_of(function, result)
    if columns.keys() != outputs.keys():
        found, declared = (", ".join(sorted(map(str, names))) or "none" for names in (columns, outputs))
        raise wrong(function, f"returned the columns {found}, and the outputs are {declared}")
    for name, column in columns.items():
        check_rows(function, name, column, rows)
    return {name: columns[name] for name in outputs}


def columns_of(function: PythonFunction, result: Any) -> Mapping[str, Any]:
    """Return a result's columns: of a frame, or of a mapping of names to columns."""
    if isinstance(result, Mapping):
        return result
    if isinstance(result, pa.Table | pa.RecordBatch):
        return dict(zip(result.schema.names, result.columns, strict=True))
    names = getattr(result, "columns", None)
    if names is None or not hasattr(result, "index"):
        kind = TITLES[function.frame]
        raise wrong(function, f"returned a {type(result).__name__}, and not a {kind} frame or a dict of columns")
    return {name: result[name] for name in names}


def check_rows(function: PythonFunction, name: str, column: Any, rows: int) -> None:
    """Refuse more or fewer rows, and those of an index that says that they are in another order."""
    output = f"output '{name}'"
    if not hasattr(column, "__len__") or isinstance(column, str | bytes):
        raise wrong(function, f"gave a {type(column).__name__} for {output}, and not a column")
    if len(column) != rows:
        raise wrong(function, f"gave {len(column):,} rows for {output}, and its frame has {rows:,}")
    index = getattr(column, "index", None)
    if index is None or callable(index):  # a list has a method of that name
        return
    if not is_in_order(index, rows):
        hint = f"End with .sort_index(), or with .to_numpy() if {name} is in the order of the frame."
        raise wrong(function, f"gave {output} with another index than its frame has, which is 0 to {rows - 1:,}", hint)


def is_in_order(index: Any, rows: int) -> bool:
    """Return whether an index counts rows from 0."""
    if hasattr(index, "start") and hasattr(index, "step"):
        return not rows or (index.start == 0 and index.step == 1)
    values = index.to_numpy()
    return values.dtype.kind in "iu" and bool((values == np.arange(rows)).all())


def wrong(function: PythonFunction, what: str, hint: str = "") -> EvaluationError:
    """Return the error of a result that the step does not declare."""
    return EvaluationError(coded("GE1891", f"{function.function} in {function.reference.name} {what}"), hint)


def as_declared(function: PythonFunction, name: str, column: Any, dtype: DataType) -> Any:
    """Return a column as an Arrow array of its declared type.

    Only the layout may differ: units of times that lose nothing, strings of another width, categories, nothing but
    nulls.  A NaN among floats stays NaN.

    Raises
    ------
    EvaluationError
        Where its values have another type.
    """
    try:
        array = arrow_array(column, dtype)
        if array.type != dtype:
            array = converted(array, dtype)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise wrong(function, f"gave output '{name}', which is not {type_name(dtype)}: {first_line(error)}") from None
    if array is None:
        stored = arrow_array(column, dtype).type
        found = type_name(language_type(stored) or stored)
        hint = f"Declare {found}, or convert it in the function."
        raise wrong(function, f"gave output '{name}' as {found}, and {type_name(dtype)} is declared", hint)
    return array


def arrow_array(column: Any, dtype: DataType) -> Any:
    """Return a column as one Arrow array; Python's objects become values of the declared type."""
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(column, pa.Array):
        return column
    stored = getattr(column, "dtype", None)
    if stored is None:  # a list
        return pa.array(column, dtype)
    if isinstance(stored, np.dtype):
        values = column.to_numpy() if hasattr(column, "to_numpy") else column
        return pa.array(values, dtype, from_pandas=True) if stored.kind == "O" else pa.array(values, from_pandas=False)
    array = pa.array(getattr(column, "array", column))  # of a pandas series: with its own nulls
    return arrow_array(array, dtype) if isinstance(array, pa.ChunkedArray) else array


def converted(array: Any, dtype: DataType) -> Any:
    """Return an array in the declared type, where only the layout or the unit of time differs; else None."""
    found = array.type
    same_times = any(is_one(found) and is_one(dtype) for is_one in (pa.types.is_timestamp, pa.types.is_duration))
    same_times = same_times and getattr(found, "tz", None) == getattr(dtype, "tz", None)
    if pa.types.is_null(found) or same_times or language_type(found) == dtype:
        return array.cast(dtype)  # raises where a unit would lose something
    return None
