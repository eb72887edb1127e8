"""Where a sink writes: its mode, its Hive folders, and marks in the names of appended files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

import pyarrow as pa

from gpuetl.io.data_file import NULL_PARTITION
from gpuetl.messages import coded
from gpuetl.places.paths import is_hidden
from gpuetl.records import dataclass
from gpuetl.value_texts import shown

# Where and how a sink writes.


Mode = Literal["error", "overwrite", "append", "replace_partitions"]
OnEmpty = Literal["write", "keep", "error"]


@dataclass(frozen=True)
class Target:
    """A sink's file, or its folder.

    A path that ends in the format's suffix is one file; any other is a folder of parts, below `name=value` folders
    where it is partitioned.

    `on_empty` says what becomes of the target where the sink gets no rows.  `run_key` names the parameters that tell
    runs apart in mode `append`.  `mark` is a digest in the names of appended files: equal for runs whose rows must not
    be there twice (`io/sink_target.py`).
    """

    name: str
    format: str
    path: Path
    partition_by: tuple[str, ...] = ()
    mode: Mode = "error"
    on_empty: OnEmpty = "write"
    run_key: tuple[str, ...] = ()
    mark: str = ""
    keep_foreign: bool = False
    file_suffix: str = ""

    @property
    def suffix(self) -> str:
        """How names of the sink's files end: `file_suffix`, by default the format's name after a dot."""
        return self.file_suffix or f".{self.format}"

    @property
    def place(self) -> Path:
        """The path, or what it points to where it is a symbolic link: the link stays."""
        return Path(os.path.realpath(self.path)) if self.path.is_symlink() else self.path

    @property
    def is_file(self) -> bool:
        """Whether the target is one file."""
        return self.path.suffix == self.suffix and not self.partition_by


# Hive partitions: rows split by the values of columns, which become the names of folders.


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


# Marks in the names of appended files: which run wrote them, so that a second one can replace or notice them.
#
# `part-<mark>-<run id>-00000.parquet`: other tools see plain files.


MARK_DIGITS = 12


def mark_of(*parts: str) -> str:
    """Return a digest of texts that fits a file's name."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:MARK_DIGITS]


def part_prefix(target: Target, run_id: str) -> str:
    """Return how the names of a run's files begin."""
    return f"part-{target.mark}-{run_id}" if target.mark else f"part-{run_id}"


def marked_files(target: Target, folder: Path) -> list[Path]:
    """Return the files below a folder that runs of the target's mark appended, in the order of their paths."""
    if not target.mark or not folder.is_dir():
        return []
    found = folder.rglob(f"part-{target.mark}-*{target.suffix}")
    return sorted(path for path in found if path.is_file() and not is_hidden(path.relative_to(folder).parts))
