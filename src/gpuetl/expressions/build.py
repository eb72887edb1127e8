"""The Python way to write expressions: `col("amount") * 2 > lag(col("amount"))`, from what one begins with."""

from __future__ import annotations

from types import EllipsisType
from typing import overload

from gpuetl.expressions.expression import Expression, Operand, apply, as_syntax, refuse_string
from gpuetl.expressions.operands import IntoExpression, Scalar
from gpuetl.expressions.syntax import RUN_ID, STRUCT, Apply, Constant, Name, ParameterName
from gpuetl.records import dataclass


def col(name: str) -> Expression:
    """A column."""
    return Expression(Name(name))


def lit(value: Scalar | list[Expression | Scalar | None] | None) -> Expression:
    """A constant; a list is `[a, b]`."""
    return Expression(as_syntax(value) if isinstance(value, list) else Constant(value))


def param(name: str) -> Expression:
    """A parameter of the pipeline, `$name`."""
    return Expression(ParameterName(name))


def expr(sql: str) -> Expression:
    """An expression in SQL; raises `InvalidExpression` where it does not parse."""
    from gpuetl.expressions.parse import parse_expression

    return Expression(parse_expression(sql))


@dataclass(frozen=True)
class When:
    """A CASE under construction; ends with `otherwise(value)`, or `end()`, which gives null for the rest."""

    branches: tuple[tuple[IntoExpression, IntoExpression], ...]

    def when(self, condition: Expression, value: IntoExpression) -> When:
        """Add a branch."""
        return When((*self.branches, (condition, value)))

    def otherwise(self, value: IntoExpression) -> Expression:
        """Close with the value for the rows that no branch takes."""
        return apply("case", *(part for branch in self.branches for part in branch), value)

    def end(self) -> Expression:
        """Close with null for the rows that no branch takes."""
        return apply("case", *(part for branch in self.branches for part in branch))


@dataclass(frozen=True)
class Condition:
    """A condition whose value `then` gives."""

    condition: Expression
    branches: tuple[tuple[Expression, Operand], ...] = ()

    def then(self, value: Operand) -> Then:
        """Give the value; strings are refused: write `lit("a")` for the string, or `col("a")` for the column."""
        branches = (*self.branches, (self.condition, refuse_string("then", value)))
        return Then(Apply("case", tuple(as_syntax(part) for branch in branches for part in branch)), branches)


@dataclass(frozen=True, eq=False)
class Then(Expression):
    """A CASE that gives null for the rows that no branch takes, unless `otherwise` follows."""

    branches: tuple[tuple[Expression, Operand], ...]

    def when(self, condition: Expression) -> Condition:
        """Add a branch, whose value `then` gives."""
        return Condition(condition, self.branches)

    def otherwise(self, value: Operand) -> Expression:
        """Close with the value for the rows that no branch takes; strings are refused as by `then`."""
        return apply("case", *(part for branch in self.branches for part in branch), refuse_string("otherwise", value))


@overload
def when(condition: Expression) -> Condition: ...


@overload
def when(condition: Expression, value: IntoExpression) -> When: ...


def when(condition: Expression, value: IntoExpression | EllipsisType = ...) -> Condition | When:
    """Begin `CASE WHEN condition THEN value`: `when(c, v).otherwise(w)`, or `when(c).then(v).otherwise(w)`."""
    return Condition(condition) if value is ... else When(((condition, value),))


def struct(**fields: IntoExpression) -> Expression:
    """A struct of named values: `struct(a=col("x"))` is `struct_pack(a := x)`."""
    return apply(STRUCT, **fields)


def run_id() -> Expression:
    """The run's id, the same text in every row: `run_id()`."""
    return apply(RUN_ID)
