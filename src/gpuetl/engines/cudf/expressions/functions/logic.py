"""Comparison, three-valued logic and nulls; CASE and coalesce are branches of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as Choice

from gpuetl.engines.cudf.expressions.functions.device import Device, Library
from gpuetl.engines.cudf.expressions.functions.membership import is_member
from gpuetl.engines.cudf.expressions.functions.scales import gained_digits
from gpuetl.expressions.ir import Call, Cast

HEADER = "logic.cuh"


def comparison(symbol: str) -> Device:
    """Return a comparison by an operator of C++; decimals of two scales give -1, 0 or 1, compared with 0."""

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        if gained := gained_digits(call):
            return f"compared<{gained}>({', '.join(arguments)}) {symbol} 0"
        return f"{arguments[0]} {symbol} {arguments[1]}"

    return Device(spelling)


def with_scales(name: str, gives: Choice["value", "maybe"] = "value") -> Device:
    """Return a function of two values, which takes what decimals of two scales gain as template parameters."""

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        gained = gained_digits(call)
        return f"{name}{f'<{gained}>' if gained else ''}({', '.join(arguments)})"

    return Device(spelling, gives)


def of_all(name: str) -> Device:
    """Return a function of an array of all arguments."""
    return Device(lambda _, arguments: f"{name}({{{', '.join(arguments)}}})", gives="maybe")


FUNCTIONS: dict[str, Device | Library] = {
    "equal": comparison("=="),
    "not_equal": comparison("!="),
    "less": comparison("<"),
    "less_equal": comparison("<="),
    "greater": comparison(">"),
    "greater_equal": comparison(">="),
    "is_distinct": with_scales("is_distinct"),
    "is_not_distinct": with_scales("is_not_distinct"),
    "in": Device(is_member, gives="maybe"),
    "and": of_all("all_true"),
    "or": of_all("any_true"),
    "not": Device("!"),
    "is_null": Device("is_null"),
    "nullif": with_scales("null_if_equal", gives="maybe"),
    "greatest": of_all("greatest"),
    "least": of_all("least"),
}
