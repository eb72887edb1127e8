"""The fill_null step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa

from gpuetl.expressions.coercion import coerce
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, Parameter
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project, passing
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSIONS
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula
from gpuetl.types.data_types import (  # fmt: skip
    UNKNOWN,
    DataType,
    common_type,
    integer_fits,
    is_floating,
    is_integer,
    is_number,
    type_name,
)
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class FillNull(Step):
    """Replace nulls: `fill_null: {amount: 0, status: "'none'", paid_at: created_at}`.

    Each value is an expression, so a string needs quotes inside quotes. `x: value` means `coalesce(x, value)`. Every
    expression reads the columns before the step. A column keeps its type, and the value must fit it. NaN is not null.
    """

    verb: ClassVar[str] = "fill_null"
    main: ClassVar[str] = "columns"
    bare: ClassVar[bool] = True
    columns: Mapping[str, Formula] = key(EXPRESSIONS, doc="columns with the values that replace nulls")

    def build(self, context: Context, source: Node) -> Node:
        """Project with a coalesce for each of the columns."""
        known = context.known(self.columns, source.schema)
        filled = {name: self.filled(context, name, source.schema) for name in known}
        for name in self.columns.keys() - {*known}:  # its value may be wrong, too
            context.expression(self.columns[name], source.schema)
        return Project(source=source, columns={**passing(source.schema), **filled}, origin=context.origin)

    def filled(self, context: Context, name: str, schema: Schema) -> Expr:
        """Return the column with its value for null."""
        column = Column(name, schema[name])
        value = context.expression(self.columns[name], schema)
        if UNKNOWN in (column.dtype, value.dtype):
            return column
        fitted = as_type(value, column.dtype)
        if fitted is None:
            found = f"{shown_sql(value)} ({type_name(value.dtype)})"
            message = coded("GE1103", f"cannot fill '{name}' ({type_name(column.dtype)}) with {found}")
            context.problem(message, "Cast the value, or the column in a step before.", self.columns[name])
            return column
        return Call(FUNCTIONS["scalar", "coalesce"], (column, fitted), column.dtype)


def as_type(value: Expr, dtype: DataType) -> Expr | None:
    """Return the value as `dtype`: one that widens to it, or a numeric constant that it can hold; else None."""
    if common_type(value.dtype, dtype) == dtype:
        return coerce(value, dtype)
    numbers = is_number(value.dtype) and (is_number(dtype) or pa.types.is_decimal(dtype))
    if not numbers or not isinstance(value, Literal | Parameter) or (is_integer(dtype) and is_floating(value.dtype)):
        return None
    if isinstance(value, Literal) and value.value is not None:
        if not _holds(dtype, value.value if value.number is None else value.number):
            return None
        if value.number is not None:
            return coerce(value, dtype)
    if isinstance(value, Parameter) or pa.types.is_decimal(dtype):
        return Cast(value, dtype)
    return Literal(float(value.value) if is_floating(dtype) and value.value is not None else value.value, dtype)


def _holds(dtype: DataType, value: Any) -> bool:
    """Return whether a type can hold a number; a float may be rounded."""
    if is_integer(dtype):
        return integer_fits(value, dtype)
    if is_floating(dtype):
        return math.isfinite(pa.scalar(float(value), dtype).as_py()) or not math.isfinite(value)
    try:
        pa.scalar(value if isinstance(value, Decimal) else Decimal(repr(value)), dtype)
    except (pa.ArrowInvalid, ArithmeticError):
        return False
    return True
