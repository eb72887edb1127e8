"""`over` in the columns of a step: the window steps that compute it first.

    t.with_columns(n=row_number().over("k", order_by="ts"))      window: {by: k, order_by: ts, columns: …}
    t.with_columns(share=col("x") / col("x").sum().over("k"))    window: {by: k, columns: …}

Columns that a step adds for this are named `over_1`, `over_2` and so on; they are dropped again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpuetl.column_arguments import groups_of, order_of
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import find_function
from gpuetl.expressions.functions.aggregates import ORDERED
from gpuetl.expressions.syntax import Apply, Name, Over, Syntax, parts, rebuilt
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec import steps as verbs
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import Formula

if TYPE_CHECKING:
    from gpuetl.table import Table

Spec = tuple[tuple[str, ...], tuple[str, ...]]
"""The keys of a group, and the order of its rows."""


def lift_overs(
    table: Table, columns: Mapping[str, Formula], *, names_stay: bool = False
) -> tuple[Table, dict[str, Formula], list[str]]:
    """Return the table after the steps that compute what is over groups, the columns on it, and the names added.

    Where one window step gives all of the columns, and `names_stay` says that they are added to those of the table,
    that step is all, and no column is left.
    """
    overs = list({part: None for formula in columns.values() for part in formula.parts if isinstance(part, Over)})
    if not overs:
        return table, dict(columns), []
    for over in overs:
        check_over(over)
    if names_stay and len({spec_of(over) for over in overs}) == 1:
        bare = {name: formula for name, formula in columns.items() if _is_over(formula.syntax)}
        if len(bare) == len(columns):
            return window_step(table, spec_of(overs[0]), {n: _inner(f.syntax) for n, f in bare.items()}), {}, []
    names: list[str] = []
    replaced: dict[Syntax, Syntax] = {}
    windows: dict[Spec, dict[str, Syntax]] = {}
    for over in overs:
        names.append(name := f"over_{len(names) + 1}")
        windows.setdefault(spec_of(over), {})[name] = over.operand
        replaced[over] = Name(name)
    for spec, calls in windows.items():
        table = window_step(table, spec, calls, WindowOfNewColumns)
    return table, {name: Formula(rebuilt(f.syntax, replaced.get)) for name, f in columns.items()}, names


@dataclass(frozen=True)
class WindowOfNewColumns(verbs.Window):
    """A window step whose columns are dropped later, and so must not be columns of the table."""

    def build(self, context: Context, source: Node) -> Node:
        """Report a column that the table has; else build as a window step does."""
        for name in (name for name in self.columns if name in source.schema):
            message = coded("GE1023", f"over adds a column '{name}', and the table has one of this name")
            context.problem(message, "Rename it in a step before.")
        return super().build(context, source)


def window_step(
    table: Table, spec: Spec, columns: Mapping[str, Syntax], kind: type[verbs.Window] = verbs.Window
) -> Table:
    """Add a window step."""
    by, order = spec
    formulas = {name: Formula(syntax) for name, syntax in columns.items()}
    return table.step(kind(formulas, groups_of("over: by", by), order_of("over", order)))


def spec_of(over: Over) -> Spec:
    """Return the groups of an `over`, and their order."""
    return over.by, over.order_by


def check_over(over: Over) -> None:
    """Check that an `over` has aggregates or window functions.

    Raises
    ------
    InvalidExpression
        Where it has neither, and for an order of aggregates that need none: in SQL that is another sum.
    """
    functions = [part.function for part in parts(over.operand) if isinstance(part, Apply)]
    window = [name for name in functions if find_function(name, ("window",)) and not _is_aggregate(name)]
    aggregate = [name for name in functions if find_function(name, ("aggregate",)) and name not in window]
    text = shown_sql(over)
    if any(isinstance(part, Over) for part in parts(over.operand)):
        raise InvalidExpression(coded("GE1213", f"an over stands inside another: {text}"), hint="Use two steps.")
    if not window and not aggregate:
        message = coded("GE1213", f"over takes aggregates or window functions, got neither in {text}")
        raise InvalidExpression(message, hint="Such as col('x').sum().over('k').")
    if aggregate and not window and over.order_by:
        message = coded("GE1213", f"{aggregate[0]} over a group takes no order_by")
        cumulative = f"cum_{aggregate[0]}"
        hint = f"Leave it out, or write {cumulative} for the rows so far."
        raise InvalidExpression(message, hint=hint if find_function(cumulative, ("window",)) else "Leave it out.")


def _is_aggregate(name: str) -> bool:
    """Return whether a function is an aggregate: `first` and `last`, which are both, need an order."""
    return bool(find_function(name, ("aggregate",))) and name not in ORDERED


def _is_over(node: Syntax) -> bool:
    return isinstance(node, Over)


def _inner(node: Syntax) -> Syntax:
    assert isinstance(node, Over)
    return node.operand
