"""Comparison, three-valued logic and nulls; CASE and coalesce are branches of the kernel."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.arithmetic import operator
from gpuetl.backends.cudf.expressions.functions.device import Device, Library
from gpuetl.backends.cudf.expressions.functions.membership import is_member

HEADER = "logic.cuh"


def of_all(name: str) -> Device:
    """Return a function of an array of all arguments."""
    return Device(lambda _, arguments: f"{name}({{{', '.join(arguments)}}})", gives="maybe")


FUNCTIONS: dict[str, Device | Library] = {
    "equal": operator("=="),
    "not_equal": operator("!="),
    "less": operator("<"),
    "less_equal": operator("<="),
    "greater": operator(">"),
    "greater_equal": operator(">="),
    "is_distinct": Device("is_distinct"),
    "is_not_distinct": Device("is_not_distinct"),
    "in": Device(is_member, gives="maybe"),
    "and": of_all("all_true"),
    "or": of_all("any_true"),
    "not": Device("!"),
    "is_null": Device("is_null"),
    "nullif": Device("null_if_equal", gives="maybe"),
    "greatest": of_all("greatest"),
    "least": of_all("least"),
}
