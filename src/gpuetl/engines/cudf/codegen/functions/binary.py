"""Bytes as text and back."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "binary.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "hex": Device("write_hex", gives="text"),
    "unhex": Device("unhex", gives="text"),
    "to_base64": Device("to_base64", gives="text"),
    "from_base64": Device("from_base64", gives="text"),
    "encode": Device("put_bytes", gives="text"),
    "decode": Device("decode", gives="text"),
}
