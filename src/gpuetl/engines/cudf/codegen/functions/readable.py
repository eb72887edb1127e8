"""Numbers of bytes as text and back, and bars."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "readable.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "format_bytes": Device(lambda _, args: f"put_size<1024>(out, {args[0]})", result_form="text"),
    "formatreadabledecimalsize": Device(lambda _, args: f"put_size<1000>(out, {args[0]})", result_form="text"),
    "parse_formatted_bytes": Device("size_of"),
    "bar": Device("put_bar", result_form="text"),
}
