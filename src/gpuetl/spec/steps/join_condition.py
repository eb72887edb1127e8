"""The condition of a join: names of both sides, and the typed expression over their columns."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.expressions.ir import Column, Expr, substitute
from gpuetl.expressions.syntax import Apply, Constant, Name, Syntax, rebuilt
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan.nodes.condition_join import LEFT, RIGHT
from gpuetl.records import dataclass
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import Formula, PartPlace
from gpuetl.types.data_types import BOOL, NULL, UNKNOWN, type_name
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class Sides:
    """The columns of both sides as the user knows them, and what they are called in the plan.

    `shared` are names of keys that both sides have: there a plain name is the left one.
    """

    left: Schema
    right: Schema
    suffix: str
    shared: frozenset[str]

    @property
    def columns(self) -> Schema:
        """The columns with the prefix of their side."""
        names = {
            **{LEFT + name: dtype for name, dtype in self.left.items()},
            **{RIGHT + name: dtype for name, dtype in self.right.items()},
        }
        return Schema(names, self.left.open or self.right.open)

    def prefixed(self, name: str) -> str | None:
        """Return a plain name with the prefix of its side; nothing where both have it, None where neither has."""
        on_left, on_right = name in self.left, name in self.right
        if on_left and on_right and name not in self.shared:
            return ""
        if on_left:
            return LEFT + name
        if on_right:
            return RIGHT + name
        bare = name.removesuffix(self.suffix) if self.suffix else name
        return RIGHT + bare if bare != name and bare in self.right and bare in self.left else None


def join_condition(context: Context, formula: Formula, sides: Sides) -> Expr:
    """Return the typed condition, over columns with the prefix of their side; mistakes are problems."""

    def of_side(part: Syntax) -> Syntax | None:
        if isinstance(part, Apply) and part.function == "struct_extract":
            table, column = part.args
            if isinstance(table, Name) and table.name in ("l", "r") and isinstance(column, Constant):
                return Name(f"{table.name}.{column.value}", quoted=True, span=part.span)
        if not isinstance(part, Name):
            return None
        name = sides.prefixed(part.name)
        if name == "":
            message = coded("GE1812", f"both sides have a column '{part.name}'")
            hint = f"Write l.{part.name} or r.{part.name}."
            context.problem(message, hint, PartPlace(formula.node, part.span) if formula.node else None)
        return Name(name or LEFT + part.name, quoted=True, span=part.span) if name is not None else None

    written = Formula(rebuilt(formula.syntax, of_side), formula.node)
    condition = context.expression(written, sides.columns)
    if condition.dtype not in (BOOL, NULL, UNKNOWN):
        message = (
            f"the condition of a join is true or false, and {shown_sql(condition)} is {type_name(condition.dtype)}"
        )
        context.problem(coded("GE1117", message), "Compare it with something.", formula)
    return condition


def with_names(condition: Expr, right: Mapping[str, Column]) -> Expr:
    """Return a condition with the names that the right side's columns have in the plan."""
    columns: dict[str, Expr] = {RIGHT + name: Column(RIGHT + new.name, new.dtype) for name, new in right.items()}
    return substitute(condition, columns)
