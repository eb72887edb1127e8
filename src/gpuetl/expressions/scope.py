"""What an expression may name where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpuetl.errors import InvalidExpression
from gpuetl.expressions import ir
from gpuetl.expressions.functions import Function, Kind
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.records import dataclass
from gpuetl.types.data_types import UNKNOWN, DataType

SCALARS: tuple[Kind, ...] = ("scalar",)
AGGREGATES: tuple[Kind, ...] = ("aggregate", "scalar")
WINDOWS: tuple[Kind, ...] = ("window", "scalar")
GROUP_WINDOWS: tuple[Kind, ...] = ("window", "aggregate", "scalar")

WRONG = Literal(None, UNKNOWN)
"""Stands for an expression that is wrong; its error is reported."""


@dataclass(frozen=True)
class Scope:
    """What an expression may name: columns, parameters (bound ones are literals) and kinds of functions.

    In an `open` scope any column may be named: the schema is unknown since an earlier step is wrong.
    `inside` is the aggregate or window function whose argument this is.  `run_id` is the result of `run_id()`.
    `errors` collects what is wrong.  With `hints`, the error of an unknown column lists the known ones.
    `variables` are those of lambdas around the expression.
    """

    columns: Mapping[str, DataType]
    parameters: Mapping[str, Expr]
    kinds: tuple[Kind, ...] = SCALARS
    open: bool = False
    inside: Function | None = None
    run_id: str = "plan"
    hints: bool = True
    variables: Mapping[str, ir.Variable] = field(default_factory=dict)
    errors: list[InvalidExpression] = field(default_factory=list, compare=False, repr=False)

    def within(
        self, function: Function | None, kinds: tuple[Kind, ...], errors: list[InvalidExpression] | None = None
    ) -> Scope:
        """Return the scope of an argument of a function, perhaps with other errors."""
        errors = self.errors if errors is None else errors  # no `replace`: this is done for every expression
        return Scope(
            self.columns, self.parameters, kinds, self.open, function, self.run_id, self.hints, self.variables, errors
        )
