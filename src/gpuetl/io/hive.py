"""Hive partitions: rows split by the values of columns, which become the names of folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.io.dataset import NULL_PARTITION


def split_by_value(table: pa.Table, keys: tuple[str, ...]) -> list[tuple[str, pa.Table]]:
    """Return hive folder names and their rows, in the order of first appearance; rows keep their order."""
    names = [f"k{i}" for i in range(len(keys))]  # Arrow takes dots in a name for a path
    numbers = pa.array(range(table.num_rows), pa.int64())
    numbered = table.select(keys).rename_columns(names).append_column("row", numbers)
    groups = numbered.group_by(names, use_threads=False).aggregate([("row", "list")])
    first = pc.list_element(groups.column("row_list"), 0)  # Arrow's groups come in about this order
    groups = groups.take(pc.sort_indices(first))
    rows = groups.column("row_list").combine_chunks()
    ordered = table.drop_columns(list(keys)).take(rows.flatten())
    starts = rows.offsets.to_pylist()
    folders = folder_names(keys, [groups.column(name) for name in names])
    return [
        (folder, ordered.slice(start, stop - start))
        for folder, start, stop in zip(folders, starts[:-1], starts[1:], strict=True)
    ]


def folder_names(keys: Sequence[str], columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[str]:
    """Return the folder of each row of partition columns."""
    return ["/".join(map(_folder, keys, values)) for values in zip(*columns, strict=True)]


def _folder(key: str, value: Any) -> str:
    name = _quoted(key)
    return f"{name.replace('.', '%2E', 1) if name.startswith('.') else name}={_value(value)}"  # a dot would hide it


def _value(value: Any) -> str:
    if value.as_py() is None:
        return NULL_PARTITION
    text = _quoted(str(value.as_py()))
    return text.replace("_", "%5F") if text == NULL_PARTITION else text


def _quoted(text: str) -> str:
    return quote(text, safe=" ")
