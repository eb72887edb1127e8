"""Regular expressions whose patterns, groups or replacements are values of rows: functions of whole columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuetl.engines.cudf.codegen.functions import regex
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.functions import FUNCTIONS as LANGUAGE
from gpuetl.expressions.functions.function import ENTRIES, Function
from gpuetl.expressions.ir import Call, Expr, Literal

ROW_FUNCTIONS: dict[str, Function] = {
    name: replace(LANGUAGE["scalar", name], name=f"{name}_by_row") for name in regex.FUNCTIONS
}
"""By the function of the language the one that takes its arguments from rows, of this engine alone."""
ASKED: dict[str, str] = {own.name: name for name, own in ROW_FUNCTIONS.items()}
"""By the name of a function of rows that of the language."""
ENTRIES.update({(own.kind, own.name): own for own in ROW_FUNCTIONS.values()})


def by_row(expr: Expr) -> Expr:
    """Return a call as one of rows, where its pattern, group and replacement are not constants that it takes."""
    if not isinstance(expr, Call) or expr.function.name not in ROW_FUNCTIONS:
        return expr
    is_null = any(isinstance(arg, Literal) and arg.value is None for arg in expr.args[1:])
    if not is_null and not expr.function.fails_for(expr.args):
        return expr
    return replace(expr, function=ROW_FUNCTIONS[expr.function.name])


def is_of_rows(expr: Expr) -> bool:
    """Return whether an expression is a call of rows."""
    return isinstance(expr, Call) and expr.function.name in ASKED


def as_asked(expr: Expr) -> Expr:
    """Return a call of rows as one of the language's function."""
    if not isinstance(expr, Call) or expr.function.name not in ASKED:
        return expr
    return replace(expr, function=LANGUAGE["scalar", ASKED[expr.function.name]])


def matched_rows(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Compute a call of rows, by kernels whose writers import this table."""
    from gpuetl.engines.cudf.codegen import regex_columns

    return regex_columns.matched_rows(call, arguments, rows, machine)


HEADER = "regex.cuh"
FUNCTIONS: dict[str, Device | Library] = dict.fromkeys(ASKED, Library(matched_rows))
