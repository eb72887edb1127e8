"""Hashes of values of any types, null among them."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "hashing.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "hash": Device(lambda _, args: f"chained_hash({', '.join(['uint64_t(0)', *args])})"),
    "bucket": Device("bucket"),
}
