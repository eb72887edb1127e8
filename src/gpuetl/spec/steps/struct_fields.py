"""Fields of structs as columns: what unnest, explode of maps and `s.*` give."""

from __future__ import annotations

from collections.abc import Container

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.messages import coded
from gpuetl.spec.steps.step import Context
from gpuetl.types.data_types import STRING, DataType
from gpuetl.types.nested_types import field_type, is_struct

ALL_FIELDS = ".*"
"""How a name ends that stands for all fields of a struct."""


def field_of(struct: Expr, name: str, dtype: DataType) -> Expr:
    """Return a field of a struct."""
    return Call(FUNCTIONS["scalar", "struct_extract"], (struct, Literal(name, STRING)), dtype)


def fields_of(struct: Expr, prefix: str = "") -> dict[str, Expr]:
    """Return the fields of a struct by the names of their columns."""
    return {f"{prefix}{field.name}": field_of(struct, field.name, field.type) for field in struct.dtype}


def inner_struct(column: Expr, path: list[str]) -> Expr | None:
    """Return the field to which a path leads from a column; None where there is none."""
    for name in path:
        dtype = field_type(column.dtype, name) if is_struct(column.dtype) else None
        if dtype is None:
            return None
        column = field_of(column, name, dtype)
    return column


def report_twice(
    step: str, new: Container[str], columns: dict[str, Expr], hint: str, at: str, context: Context
) -> None:
    """Report names that a step gives to two columns."""
    for twice in (name for name in columns if name in new):
        context.problem(coded("GE1023", f"{step} gives two columns the name '{twice}'"), hint, at)
