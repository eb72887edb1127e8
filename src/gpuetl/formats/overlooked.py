"""What a source has and does not read: files, columns, and columns in paths that are not declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from gpuetl.formats.dataset import Dataset, folder_values, plain_suffixes
from gpuetl.io.data_file import NULL_PARTITION
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.places.registry import filesystem_of
from gpuetl.types.data_types import type_name

# What a source has and does not read: files in its folder that look like data, columns that later files add.


SHOWN = 3
LIKE_DATA = frozenset(
    (".parquet", ".parq", ".pq", ".csv", ".tsv", ".json", ".jsonl", ".gz", ".zst", ".bz2", ".xz", ".lz4", ".zip", "")
)
"""Suffixes in lower case; files without one are those of some writers."""


def overlooked_warnings(dataset: Dataset) -> Iterator[str]:
    """Yield warnings of files and links that are not read, files that are read twice, and columns that later files add.

    Raises
    ------
    DatasetError
        For a file that cannot be read.
    """
    warnings = (files_warning, links_warning, repeated_warning, columns_warning)
    yield from filter(None, (warning(dataset) for warning in warnings))


def columns_warning(dataset: Dataset) -> str | None:
    """Name a column that a later file has, and that neither the first file nor the source's own choice has.

    The choice of columns, by `schema` or `columns`, was made for the first file.  With the key `extra_columns` it is
    meant for all of them.
    """
    if dataset.extra_columns or not dataset.files:
        return None
    first, others = dataset.all_files[0], dataset.files
    known = {*dataset.stored(first), *dataset.declared, *dataset.wanted, *dataset.partitions, *dataset.excluded, ""}
    for file in others:
        added = [name for name in dataset.stored(file) if name not in known]
        if added:
            names = ", ".join(f"'{name}'" for name in added[:SHOWN]) + (", …" if len(added) > SHOWN else "")
            what = f"{file.path} has columns that {first.path} does not have, and they are not read: {names}"
            return coded("GE1708", f"{what}.  Set extra_columns: add to read them, or extra_columns: ignore")
    return None


def files_warning(dataset: Dataset) -> str | None:
    """Count the files that a source leaves out though they look like data, and name a few; None where there are none.

    Of a folder these are those that do not end in its format's suffix; of a glob, what is in folders that it matches.
    """
    listing, suffixes = dataset.listing, dataset.suffixes
    if listing.is_folder:
        left_out = sorted(path for path in listing.others if path.suffix.lower() in LIKE_DATA)
        why, fix = (
            f"only files that end in {plain_suffixes(suffixes)} are",
            "Rename them, or read them with a glob.",
        )
    else:
        left_out, why = list(of_glob(dataset)), "the glob matches their folder, and not them"
        fix = f"Read the folder, or write **/*{suffixes[0]}."
    if not left_out:
        return None
    one = "1 file of the path looks like data and is not read"
    count = one if len(left_out) == 1 else f"{len(left_out):,} files of the path look like data and are not read"
    return coded("GE1705", f"{count}, since {why}: {named(left_out)}.  {fix}")


def of_glob(dataset: Dataset) -> Iterator[FilePath]:
    """Yield the files of the format in folders that a glob matches, where it does not match the files, too."""
    read = {file.path for file in dataset.all_files} if dataset.listing.folders else set()
    for folder in sorted(dataset.listing.folders):
        found = filesystem_of(folder).list_files(folder, dataset.suffixes).files
        yield from (path for path, _ in found if path not in read)


def links_warning(dataset: Dataset) -> str | None:
    """Name the links to folders that the source does not follow, and whose files it reads nowhere else."""
    links = sorted(dataset.listing.links)
    if not links:
        return None
    count = "1 link to a folder is" if len(links) == 1 else f"{len(links):,} links to folders are"
    fix = "Read such a folder as a separate source, or name the link in a glob."
    return coded("GE1725", f"{count} not followed: {named(links)}.  {fix}")


def repeated_warning(dataset: Dataset) -> str | None:
    """Name a file that the source reads by two paths, as through a link."""
    listing = dataset.listing
    pairs = [(path, first) for path, state in listing.files if (first := listing.by_identity[state.identity]) != path]
    if not pairs:
        return None
    path, other = pairs[0]
    more = f"  So are {len(pairs) - 1:,} others." if len(pairs) > 1 else ""
    return coded("GE1726", f"{path} and {other} are one file, whose rows are read twice.{more}")


def named(paths: Sequence[FilePath]) -> str:
    """Name the first paths."""
    return ", ".join(map(str, paths[:SHOWN])) + (", …" if len(paths) > SHOWN else "")


# Columns that stand in the paths of a source's files, as `name=value`, and that the source does not declare.


INTEGER = re.compile(r"[-+]?[0-9]+")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def undeclared_columns(dataset: Dataset) -> dict[str, str]:
    """Return their names with the type that their values look like: int64, date, or string; none without files."""
    try:
        folders = [folder_values(file.path) for file in dataset.files]
    except DatasetError:
        return {}
    names = dict.fromkeys(name for values in folders for name in values if name not in dataset.schema)
    return {name: _likely_type(values[name] for values in folders if name in values) for name in names}


def declaring_hint(name: str, datasets: Iterable[Dataset]) -> str:
    """Tell of the first source whose folders have the column, and how it is declared there; nothing of none."""
    for dataset in datasets:
        undeclared = undeclared_columns(dataset)
        if name in undeclared:
            declared = {key: type_name(dtype) for key, dtype in dataset.partitions.items() if key != dataset.filename}
            listed = ", ".join(f"{key}: {dtype}" for key, dtype in {**declared, **undeclared}.items())
            where = f"Folders '{name}=…' of source '{dataset.name}' have it"
            return f"{where}: declare it there by partitions: {{{listed}}}."
    return ""


def _likely_type(values: Iterable[str]) -> str:
    texts = [unquote(value) for value in values if value != NULL_PARTITION]
    for form, dtype in ((INTEGER, "int64"), (DATE, "date")):
        if texts and all(form.fullmatch(text) for text in texts):
            return dtype
    return "string"
