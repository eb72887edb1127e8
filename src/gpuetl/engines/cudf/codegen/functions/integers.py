"""Divisors, bits and digits of integers, and buckets of equal width."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "integers.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "gcd": Device("gcd"),
    "lcm": Device("lcm"),
    "binom": Device("binom"),
    "factorial": Device("factorial"),
    "bit_count": Device("bit_count"),
    "bin": Device("write_bin", result_form="text"),
    "to_base": Device("to_base", result_form="text"),
    "width_bucket": Device("width_bucket"),
}
