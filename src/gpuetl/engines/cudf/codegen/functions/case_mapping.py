"""Strings in another case, and without accents."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.like import accents, lower_case, upper_case, word_members

HEADER = "case_mapping.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "upper": Device(lambda _, args: f"upper(out, {args[0]}, {upper_case()})", result_form="text"),
    "lower": Device(lambda _, args: f"lower(out, {args[0]}, {lower_case()})", result_form="text"),
    "strip_accents": Device(lambda _, args: f"strip_accents(out, {args[0]}, {accents()})", result_form="text"),
    "initcap": Device(
        lambda _, args: f"initcap(out, {args[0]}, {upper_case()}, {lower_case()}, {word_members()})", result_form="text"
    ),
}
