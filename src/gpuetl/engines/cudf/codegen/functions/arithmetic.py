"""Arithmetic: overloaded by type; what is done to decimals has their digits and scales as template parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal as Choice

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Cast, Expr
from gpuetl.types.data_types import TIME
from gpuetl.types.decimal_types import is_decimal

HEADER = "arithmetic.cuh"
Parameters = Callable[[Expr], Sequence[int]]


def with_digits(name: str, parameters: Parameters, result_form: Choice["value", "maybe"] = "value") -> Device:
    """Return a function that takes template parameters where it takes a decimal."""

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        assert isinstance(call, Call)
        template = f"<{', '.join(map(str, parameters(call)))}>" if is_decimal(call.args[0].dtype) else ""
        return f"{name}{template}({', '.join([*['at'] * call.function.can_fail, *arguments])})"

    return Device(spelling, result_form)


def sum_or_time(name: str, sign: int) -> Device:
    """Return a sum or a difference; of a time of day and a duration, one that goes on after midnight."""
    numbers = with_digits(name, sum_digits)

    def spelling(call: Call | Cast, arguments: Sequence[str]) -> str:
        return (
            f"moved_time({arguments[0]}, {arguments[1]}, {sign})"
            if call.dtype == TIME
            else numbers.text(call, arguments)
        )

    return Device(spelling)


def sum_digits(call: Expr) -> list[int]:
    """Return the result's digits, and how many digits after the point each operand gains."""
    assert isinstance(call, Call)
    return [call.dtype.precision, *(call.dtype.scale - arg.dtype.scale for arg in call.args)]


def product_digits(call: Expr) -> list[int]:
    """Return the result's digits."""
    return [call.dtype.precision]


def operator(symbol: str) -> Device:
    """Return an operator of C++."""
    return Device(lambda _, arguments: f"{arguments[0]} {symbol} {arguments[1]}")


FUNCTIONS: dict[str, Device | Library] = {
    "add": sum_or_time("add", 1),
    "subtract": sum_or_time("subtract", -1),
    "multiply": with_digits("multiply", product_digits),
    "divide": Device("divide"),
    "int_divide": Device("int_divide", result_form="maybe"),
    "modulo": Device("modulo", result_form="maybe"),
    "negate": Device("negate"),
    "abs": Device("abs"),
    "sign": Device("sign"),
    "try_add": Device("try_add", result_form="maybe"),
    "try_subtract": Device("try_subtract", result_form="maybe"),
    "try_multiply": Device("try_multiply", result_form="maybe"),
    "bit_and": operator("&"),
    "bit_or": operator("|"),
    "bit_xor": operator("^"),
    "bit_not": Device("~"),
    "shift_left": Device("shift_left", result_form="maybe"),
    "shift_right": Device("shift_right", result_form="maybe"),
    "clip": Device("clip"),
}
