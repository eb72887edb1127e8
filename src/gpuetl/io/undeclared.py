"""Columns that stand in the paths of a source's files, as `name=value`, and that the source does not declare."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from gpuetl.io.data_file import NULL_PARTITION
from gpuetl.io.dataset import Dataset, folder_values
from gpuetl.io.dataset_error import DatasetError
from gpuetl.types.data_types import type_name

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
            declared = {key: type_name(dtype) for key, dtype in dataset.partitions.items()}
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
