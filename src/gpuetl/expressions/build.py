"""The Python way to write expressions: `col("amount") * 2 > lag(col("amount"))`, from what one begins with."""

from __future__ import annotations

from typing import Any

from gpuetl.expressions.expression import Expression, apply
from gpuetl.expressions.syntax import RUN_ID, STRUCT, Constant, Name, ParameterName
from gpuetl.records import dataclass


def col(name: str) -> Expression:
    """A column."""
    return Expression(Name(name))


def lit(value: Any) -> Expression:
    """A constant."""
    return Expression(Constant(value))


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

    branches: tuple[tuple[Any, Any], ...]

    def when(self, condition: Expression, value: Any) -> When:
        """Add a branch."""
        return When((*self.branches, (condition, value)))

    def otherwise(self, value: Any) -> Expression:
        """Close with the value for the rows that no branch takes."""
        return apply("case", *(part for branch in self.branches for part in branch), value)

    def end(self) -> Expression:
        """Close with null for the rows that no branch takes."""
        return apply("case", *(part for branch in self.branches for part in branch))


def when(condition: Expression, value: Any) -> When:
    """Begin `CASE WHEN condition THEN value`."""
    return When(((condition, value),))


def struct(**fields: Any) -> Expression:
    """A struct of named values: `struct(a=col("x"))` is `struct_pack(a := x)`."""
    return apply(STRUCT, **fields)


def run_id() -> Expression:
    """The run's id, the same text in every row: `run_id()`."""
    return apply(RUN_ID)


def count(x: Expression | None = None) -> Expression:
    """`count(*)`, or the number of values of `x` that are not null."""
    return apply("count_rows") if x is None else apply("count", x)


def row_number() -> Expression:
    """The row's place in its window's group, from 1."""
    return apply("row_number")


def rank() -> Expression:
    """1 more than the rows before it in its window's group; rows that tie share it."""
    return apply("rank")


def dense_rank() -> Expression:
    """1 more than the distinct keys before it in its window's group; rows that tie share it."""
    return apply("dense_rank")


def percent_rank() -> Expression:
    """(rank - 1) / (rows - 1) in its window's group."""
    return apply("percent_rank")


def cume_dist() -> Expression:
    """The share of its window's group that comes no later in order."""
    return apply("cume_dist")


def ntile(n: Any) -> Expression:
    """The tile, from 1, when the rows of its window's group are dealt to n equal tiles."""
    return apply("ntile", n)


def lag(x: Expression, *offset: Any, **options: Any) -> Expression:
    """The x of `offset` (1) rows before in the window's group; `default` and `ignore_nulls` as in SQL."""
    return apply("lag", x, *offset, **options)


def lead(x: Expression, *offset: Any, **options: Any) -> Expression:
    """The x of `offset` (1) rows after in the window's group; `default` and `ignore_nulls` as in SQL."""
    return apply("lead", x, *offset, **options)


def session_id(gap: Any) -> Expression:
    """How many gaps longer than `gap` the window's group has had so far."""
    return apply("session_id", gap=gap)
