"""Read the keys that Python gives to sources and sinks, as those of a file are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuetl.column_arguments import order_texts
from gpuetl.expressions.expression import as_syntax
from gpuetl.spec.fields import form_of, keys_of, read_plain
from gpuetl.spec.format_keys import Entry, options_of
from gpuetl.spec.forms import NAME, NAMES, ORDER
from gpuetl.spec.incremental import INCREMENTAL
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.places import caller
from gpuetl.spec.storage import STORAGE_OPTIONS
from gpuetl.spec.values import Formula, Text, as_names

CHOICES = ("extra_columns", "missing_columns")
"""Keys of a source that take one of a few names."""


def source_keys(format: str, keys: Mapping[str, Any], within: str) -> dict[str, Any]:  # noqa: A002
    """Read the keys of a source."""
    read, declared = dict(keys), keys_of(SourceSpec)
    for name in ("schema", "partitions", *CHOICES):
        if name in read:
            read[name] = read_plain(
                form_of(declared[name]), read[name], f"{within}: {name}" if name in CHOICES else within
            )
    if "incremental" in read:
        read["incremental"] = read_plain(INCREMENTAL, read["incremental"], f"{within}: incremental")
    for name in ("columns", "exclude"):
        if name in read:
            read[name] = read_plain(NAMES, as_names(read[name]), f"{within}: {name}")
    if "filter" in read:
        read["filter"] = Formula(as_syntax(read["filter"]))
    return read | _storage_values(keys, within) | _option_values(SourceSpec, format, keys, within)


def sink_keys(format: str, keys: Mapping[str, Any], within: str) -> dict[str, Any]:  # noqa: A002
    """Read the keys of a sink."""
    read = dict(keys)
    if "sort_by" in read:
        read["sort_by"] = read_plain(ORDER, order_texts(read["sort_by"]), within)
    for several in ("partition_by", "run_key", "on"):
        if several in read:
            read[several] = read_plain(NAMES, as_names(read[several]), within)
    return read | _storage_values(keys, within) | _option_values(SinkSpec, format, keys, within)


def _storage_values(keys: Mapping[str, Any], within: str) -> dict[str, Any]:
    """Read the options of a store among the keys, and the name of storage."""
    read: dict[str, Any] = {}
    if "storage" in keys:
        read["storage"] = Text(read_plain(NAME, keys["storage"], f"{within}: storage"), caller())
    if "storage_options" in keys:
        read["storage_options"] = read_plain(STORAGE_OPTIONS, keys["storage_options"], f"{within}: storage_options")
    return read


def _option_values(entry: Entry, format: str, keys: Mapping[str, Any], within: str) -> dict[str, Any]:  # noqa: A002
    """Read the options of a format among the keys."""
    declared = keys_of(options_of(entry, format))
    return {
        name: read_plain(form_of(declared[name]), value, f"{within}: {name}")
        for name, value in keys.items()
        if name in declared
    }
