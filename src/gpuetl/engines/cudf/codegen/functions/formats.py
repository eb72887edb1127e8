"""Dates and times as text."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.clocks import format_statement, read
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Literal

HEADER = "formats.cuh"


def format_of(expr: Call) -> str:
    """Return the format that is a call's second argument."""
    assert isinstance(expr.args[1], Literal)
    return str(expr.args[1].value)


def strftime(expr: Call, arguments: Sequence[str]) -> str:
    """Spell what writes each field."""
    return f"{format_statement(format_of(expr), expr.args[0].dtype, arguments[0])}.strict(at)"


def strptime(expr: Call, arguments: Sequence[str]) -> str:
    """Spell what reads each field."""
    return f"timestamp_of(at, {read(format_of(expr), arguments[0])})"


def try_strptime(expr: Call, arguments: Sequence[str]) -> str:
    """Spell what reads each field."""
    return f"timestamp_of({read(format_of(expr), arguments[0])})"


FUNCTIONS: dict[str, Device | Library] = {
    "strftime": Device(strftime, result_form="text"),
    "strptime": Device(strptime),
    "try_strptime": Device(try_strptime, result_form="maybe"),
}
