"""Maps made of lists, and of maps: device functions that write the places of keys and of values."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.list_edits import ListDevice
from gpuetl.engines.cudf.codegen.functions.nested import deferred
from gpuetl.expressions.ir import Call, Cast


def united(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text that writes two maps as one; the values lie as their keys do."""
    return f"map_union(out, {arguments[0]}, b0, {arguments[2]}, b2)"


HEADER = "maps.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "map": ListDevice("make_map", result_form="text", elements="pairs"),
    "map_union": ListDevice(united, result_form="maybe_text", elements="pairs"),
    "map_concat": Library(deferred("value_column")),
    "map_entries": Library(deferred("entries_column")),
}
"""`map_concat` is computed by `map_union`: see `in_flat_parts`."""
