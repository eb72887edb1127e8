"""What a source has and does not read: files in its folder that look like data, columns that later files add."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path

from gpuetl.io.dataset import Dataset
from gpuetl.io.file_columns import stored_columns
from gpuetl.io.paths import find_files, is_hidden
from gpuetl.messages import coded

SHOWN = 3
LIKE_DATA = frozenset(
    (".parquet", ".parq", ".pq", ".csv", ".tsv", ".json", ".jsonl", ".gz", ".zst", ".bz2", ".xz", ".lz4", ".zip", "")
)
"""Suffixes in lower case; files without one are those of some writers."""


def overlooked_warnings(dataset: Dataset) -> Iterator[str]:
    """Yield a warning for files that are not read, and one for columns that later files add.

    Raises
    ------
    DatasetError
        For a file that cannot be read.
    """
    yield from filter(None, (files_warning(dataset), columns_warning(dataset)))


def columns_warning(dataset: Dataset) -> str | None:
    """Name a column that a later file has, and that neither the first file nor the source's own choice has.

    The choice of columns, by `schema` or `columns`, was made for the first file.  With the key `extra_columns` it is
    meant for all of them.
    """
    if dataset.extra_columns or not dataset.files:
        return None
    first, *others = dataset.files
    known = {*stored_columns(dataset, first), *dataset.declared, *dataset.wanted, *dataset.partitions, ""}
    for file in others:
        added = [name for name in stored_columns(dataset, file) if name not in known]
        if added:
            named = ", ".join(f"'{name}'" for name in added[:SHOWN]) + (", …" if len(added) > SHOWN else "")
            what = f"{file.path} has columns that {first.path} does not have, and they are not read: {named}"
            return coded("GE1708", f"{what}.  Set extra_columns: add to read them, or extra_columns: ignore")
    return None


def files_warning(dataset: Dataset) -> str | None:
    """Count the files that a source leaves out though they look like data, and name a few; None where there are none.

    Of a folder these are those that do not end in its format's suffix; of a glob, what is in folders that it matches.
    """
    suffix = f".{dataset.format}"
    if dataset.path.is_dir():
        left_out, why = list(of_folder(dataset.path, suffix)), f"only files that end in {suffix} are"
        fix = "Rename them, or read them with a glob."
    elif glob.has_magic(str(dataset.path)) and not dataset.path.exists():
        left_out, why = list(of_glob(dataset.path, suffix)), "the glob matches their folder, and not them"
        fix = f"Read the folder, or write **/*{suffix}."
    else:
        return None
    if not left_out:
        return None
    named = ", ".join(str(path) for path in left_out[:SHOWN]) + (", …" if len(left_out) > SHOWN else "")
    one = "1 file of the path looks like data and is not read"
    count = one if len(left_out) == 1 else f"{len(left_out):,} files of the path look like data and are not read"
    return coded("GE1705", f"{count}, since {why}: {named}.  {fix}")


def of_folder(folder: Path, suffix: str) -> Iterator[Path]:
    """Yield the visible files below a folder that look like data and have another suffix."""
    for path in sorted(folder.rglob("*")):
        other = not path.name.endswith(suffix) and path.suffix.lower() in LIKE_DATA
        if other and not is_hidden(path.parts[len(folder.parts) :]) and path.is_file():
            yield path


def of_glob(path: Path, suffix: str) -> Iterator[Path]:
    """Yield the files of the format in folders that a glob matches, where it does not match the files, too."""
    matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207  as the source's files are found
    folders = [Path(name) for name in matches if Path(name).is_dir()]
    if folders:
        read = set(find_files(path, suffix))
        yield from (file for folder in folders for file in find_files(folder, suffix) if file not in read)
