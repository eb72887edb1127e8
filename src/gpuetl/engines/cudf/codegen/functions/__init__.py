"""The functions of the language in CUDA: one family a file, as in the function table, beside its header in `device`."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions import (
    arithmetic,
    binary,
    calendar,
    case_mapping,
    characters,
    digests,
    formats,
    hashing,
    integers,
    json,
    json_editing,
    json_writing,
    like,
    list_aggregates,
    list_edits,
    list_statistics,
    lists,
    logic,
    maps,
    mathematics,
    means,
    nested,
    nested_text,
    ordering,
    paths,
    readable,
    regex,
    regex_rows,
    rounding,
    strings,
    text_formats,
    timestamps,
    zones,
)
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

__all__ = ["DEVICE_FUNCTIONS", "HEADERS", "Device", "Library"]

FAMILIES = (
    arithmetic, binary, calendar, case_mapping, characters, digests, formats, hashing, integers, json, json_editing,
    json_writing, like, list_aggregates, list_edits, list_statistics, lists, logic, maps, mathematics, means,
    nested, nested_text, ordering, paths, readable, regex, regex_rows, rounding, strings, text_formats, timestamps,
    zones,
)  # fmt: skip

DEVICE_FUNCTIONS: dict[str, Device | Library] = {name: f for family in FAMILIES for name, f in family.FUNCTIONS.items()}
HEADERS: dict[str, str] = {name: family.HEADER for family in FAMILIES for name in family.FUNCTIONS}
"""The header that has a function's device code; empty where it has none."""
