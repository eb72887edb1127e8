"""Hive partitions: rows split by the values of columns, which become the names of folders."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

import pyarrow as pa

from gpuetl.io.data_file import NULL_PARTITION
from gpuetl.messages import coded
from gpuetl.value_texts import shown

SHOWN_CHARACTERS = 30


def split_by_value(table: pa.Table, keys: tuple[str, ...]) -> list[tuple[str, pa.Table]]:
    """Return hive folder names and their rows, in the order of first appearance; rows keep their order."""
    import pyarrow.compute as pc  # it takes 30 ms, and a plan writes nothing

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
    texts = [_texts(key, column) for key, column in zip(keys, columns, strict=True)]
    return ["/".join(map(_folder, keys, values)) for values in zip(*texts, strict=True)]


def _texts(key: str, column: pa.Array | pa.ChunkedArray) -> list[str | None]:
    try:
        return [None if (item := value.as_py()) is None else str(item) for value in column]
    except (OverflowError, ValueError):
        raise ImpossiblePartition(key, next(filter(_is_far, column))) from None


def _is_far(value: pa.Scalar) -> bool:
    try:
        value.as_py()
    except (OverflowError, ValueError):
        return True
    return False


def _folder(key: str, value: str | None) -> str:
    name = _quoted(key)
    return f"{name.replace('.', '%2E', 1) if name.startswith('.') else name}={_value(value)}"  # a dot would hide it


def _value(value: str | None) -> str:
    if value is None:
        return NULL_PARTITION
    text = _quoted(value)
    return text.replace("_", "%5F") if text == NULL_PARTITION else text


class ImpossiblePartition(Exception):
    """A value that no folder can be named after: a date or timestamp outside of the years 1 to 9999."""

    def __init__(self, column: str, value: pa.Scalar) -> None:
        super().__init__(
            coded(
                "GE1531",
                f"column '{column}' has the value {shown(value)}, and partitions take years from 1 to 9999.  Filter "
                f"such rows out, or partition by a number, such as year({column})",
            )
        )


def check_folder(folder: str, name_bytes: int) -> None:
    """Refuse a folder of partitions that has a name of more than so many bytes.

    Raises
    ------
    ImpossibleName
        With the column, its value, and what to do.
    """
    for part in folder.split("/"):
        if (length := len(part.encode())) > name_bytes:
            column, _, value = part.partition("=")
            raise ImpossibleName(unquote(column), unquote(value), length, name_bytes)


class ImpossibleName(Exception):
    """A partition's folder whose name is longer than the file system allows."""

    def __init__(self, column: str, value: str, length: int, most: int) -> None:
        text = value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}…"
        super().__init__(
            coded(
                "GE1530",
                f"column '{column}' has the value '{text}' of {len(value):,} characters.  Its folder's name would have "
                f"{length:,} bytes, and the file system allows {most:,}.  Partition by another column, or by a shorter "
                f"form, such as left({column}, 20)",
            )
        )


def _quoted(text: str) -> str:
    return quote(text, safe=" ")
