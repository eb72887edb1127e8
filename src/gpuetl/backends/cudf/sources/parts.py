"""A large read cut into parts that are read side by side: the bytes of one come while another is decoded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.machine import FileGroups
from gpuetl.io.dataset import RowGroup

MOST_PARTS = 4
LEAST_BYTES = 256 << 20
"""Of a part, as stored: its rows are copied once, and smaller sources are read beside others already."""


def parts_of(groups: Sequence[RowGroup], columns: Sequence[str]) -> list[FileGroups]:
    """Cut Parquet row groups, in order, into parts of about as many stored bytes of the columns; few make one.

    A row group is of the part that the middle of its bytes lies in.
    """
    sizes = [sum(group.file_bytes.get(name, 0) for name in columns) for group in groups]
    size = sum(sizes)
    most = min(MOST_PARTS, size // LEAST_BYTES) if chosen("read_side_by_side") else 1
    parts: list[dict[Path, list[int]]] = [{} for _ in range(max(1, most))]
    begin = 0
    for group, own in zip(groups, sizes, strict=True):
        place = (begin + own // 2) * len(parts) // size if len(parts) > 1 else 0
        parts[place].setdefault(group.file.path, []).append(group.index)
        begin += own
    return [part for part in parts if part]
