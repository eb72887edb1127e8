"""Sinks of mode `upsert` as written: their keys, and what they cannot be."""

from __future__ import annotations

from gpuetl.formats.registry import format_named
from gpuetl.messages import coded
from gpuetl.spec.model import SinkSpec
from gpuetl.spec.steps import Context
from gpuetl.types.data_types import is_floating, type_name
from gpuetl.types.schema import Schema

LOSSLESS = ("parquet", "arrow")
"""Formats whose files give each value and each type back as it was written."""


def upsert_keys(context: Context, spec: SinkSpec, schema: Schema) -> tuple[str, ...]:
    """Return the columns by which rows are found; problems are told.  A sink of another mode has none."""
    if spec.mode != "upsert":
        if spec.on:
            message = coded("GE1565", f"on is for mode upsert, and the mode is {spec.mode}")
            context.problem(message, "Set mode: upsert, or leave it out.", spec.on[0])
        return ()
    if not spec.on:
        message = coded("GE1564", "mode upsert needs on, the columns that identify a row")
        context.problem(message, "Add it, such as on: [id].", spec.path)
    if spec.format not in LOSSLESS:
        title, formats = format_named(spec.format).title, " or ".join(format_named(name).title for name in LOSSLESS)
        message = coded("GE1566", f"mode upsert reads the rows that stay, and {title} files do not keep all types")
        context.problem(message, f"Write {formats}.", spec.path)
    for name in spec.partition_by:
        if name in schema and is_floating(schema[name]):
            message = coded("GE1505", f"'{name}' is {type_name(schema[name])}, which has several names for one value")
            context.problem(message, f"Partition by a number or a string, such as CAST({name} AS string).", name)
    keys = context.keys(spec.on, schema)
    return tuple(dict.fromkeys(keys))
