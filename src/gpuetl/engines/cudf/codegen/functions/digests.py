"""Digests of strings: of the family `hashing`, in a header of their own."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "digests.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "md5": Device("md5", result_form="text"),
    "sha1": Device("sha1", result_form="text"),
    "sha256": Device("sha256", result_form="text"),
}
