"""Report columns of types that the files of a source or sink cannot hold, and say what holds them."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.formats.registry import format_named
from gpuetl.messages import coded
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.types.data_types import (
    UNKNOWN,
    UUID,
    DataType,
    is_binary,
    is_opaque,
    type_name,
)
from gpuetl.types.nested_types import is_list, is_map, is_struct


def report_lists(
    reporter: Reporter, kind: str, of: str, spec: SourceSpec | SinkSpec, columns: Mapping[str, DataType]
) -> None:
    """Report columns of lists where the format cannot hold them."""
    form = format_named(spec.format)
    lists = [name for name, dtype in columns.items() if not form.holds_lists and is_list(dtype)]
    if lists:
        message = coded("GE1505", f"a {form.title} file cannot hold lists, and '{lists[0]}' is one")
        hint = "Use Parquet, or explode it." if kind == "sink" else "Declare it as a string, and split it."
        reporter.add(message, hint, spec.path, kind, of)


def report_other_types(
    reporter: Reporter, kind: str, of: str, spec: SourceSpec | SinkSpec, columns: Mapping[str, DataType]
) -> None:
    """Report columns of types that the format does not have."""
    form = format_named(spec.format)
    in_paths = spec.partition_by if isinstance(spec, SinkSpec) else spec.partitions
    for name, dtype in columns.items():
        hint = other_form(name, dtype) if kind == "sink" else "Declare it as a number or a string."
        if dtype != UNKNOWN and name not in in_paths and not form.holds(dtype):
            article = "an" if form.title[0] in "AEIO" else "a"
            message = f"{article} {form.title} file cannot hold {type_name(dtype)}, the type of '{name}'"
            reporter.add(coded("GE1505", message), hint, spec.path, kind, of)


def other_form(name: str, dtype: DataType) -> str:
    """Return what to do with a column that a sink's file cannot hold."""
    if is_struct(dtype):
        return "Unnest it, or write Parquet."
    if is_map(dtype):
        return f"Take values of it, such as {name}['key'], or write Parquet."
    if is_binary(dtype):
        return f"Write hex({name}), or write Parquet."
    return "Drop it." if is_opaque(dtype) else "Cast it to another type, or write Parquet."


def folder_text(name: str, dtype: DataType) -> str:
    """Return the expression of a string that stands for a value in the name of a folder."""
    return f"hex({name})" if is_binary(dtype) and dtype != UUID else f"CAST({name} AS string)"
