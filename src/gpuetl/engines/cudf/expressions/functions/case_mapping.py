"""Texts in another case."""

from __future__ import annotations

from gpuetl.engines.cudf.expressions.functions.code_points import lower_case, upper_case, word_members
from gpuetl.engines.cudf.expressions.functions.device import Device, Library

HEADER = "case_mapping.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "upper": Device(lambda _, args: f"upper(out, {args[0]}, {upper_case()})", gives="text"),
    "lower": Device(lambda _, args: f"lower(out, {args[0]}, {lower_case()})", gives="text"),
    "initcap": Device(
        lambda _, args: f"initcap(out, {args[0]}, {upper_case()}, {lower_case()}, {word_members()})", gives="text"
    ),
}
