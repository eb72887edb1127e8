"""Bytes as text and back."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "binary.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "hex": Device("write_hex", result_form="text"),
    "bit_length": Device(lambda _, arguments: f"8 * {arguments[0]}.size"),
    "unhex": Device("unhex", result_form="text"),
    "to_base64": Device("to_base64", result_form="text"),
    "from_base64": Device("from_base64", result_form="text"),
    "encode": Device("put_bytes", result_form="text"),
    "decode": Device("decode", result_form="text"),
}
