"""Paths of files in strings, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.expressions.functions.paths import SEPARATORS
from gpuetl.types.data_types import STRING


def pattern_of(options: tuple[Any, ...]) -> str:
    """Return the class of the characters that separate parts."""
    named = next((option for option in options if isinstance(option, str)), "both_slash")
    return f"[{re.escape(SEPARATORS[named])}]"


def filename(path: str, *options: Any) -> str:
    """Return the name behind the last separator, perhaps without its extension."""
    name = re.split(pattern_of(options), path)[-1]
    return name.rpartition(".")[0] if True in options and "." in name else name


def dirpath(path: str, *options: Any) -> str:
    """Return what stands before the last separator."""
    name = re.split(pattern_of(options), path)[-1]
    if not name and len(path) == 1:
        return path
    return path[: max(len(path) - len(name) - 1, 0)]


def dirname(path: str, *options: Any) -> str:
    """Return the first folder, or the separator before it."""
    first, *rest = re.split(pattern_of(options), path, maxsplit=1)
    return (first or path[:1]) if rest else ""


def parts(path: str, *options: Any) -> list[str]:
    """Return the folders and the name."""
    found = re.split(pattern_of(options), path)
    return [path[:1]] * (len(found) > 1 and not found[0]) + [part for part in found if part]


HANDLERS: dict[str, Callable[..., Any]] = {
    "parse_filename": by_row(filename, STRING),
    "parse_dirpath": by_row(dirpath, STRING),
    "parse_dirname": by_row(dirname, STRING),
    "parse_path": by_row(parts, pa.list_(STRING)),
}
