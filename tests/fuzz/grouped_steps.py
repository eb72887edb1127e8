"""Steps over groups: aggregates, windows, one row a key."""

from collections.abc import Container
from dataclasses import replace
from typing import Any

from fuzz.builder import Builder, Relation
from fuzz.expressions import Expressions, Leaf, all_names, typed
from fuzz.orders import total_order, with_expression
from fuzz.precision import precision_of
from gpuetl import Table, col
from gpuetl.expressions.expression import Expression, apply
from gpuetl.expressions.functions import Kind, find_function
from gpuetl.expressions.functions.aggregates import BY_STEP, ORDERABLE, ORDERED, split_order
from gpuetl.expressions.functions.windows import SKIPPING, TIE_FREE
from gpuetl.expressions.ir import calls_of
from gpuetl.expressions.scope import AGGREGATES, WINDOWS
from gpuetl.expressions.syntax import ORDER_BY, SORT_KEY, Apply, Constant, Name, Syntax, parts
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import is_temporal


def aggregated(builder: Builder, relation: Relation) -> Table | None:
    """Groups by up to two columns, with calls and expressions over calls; `first` and `last` in a total order."""
    by = builder.draws.some_of(relation.comparable(), 0, 2)
    drawn, order = builder.expressions(relation), total_order(builder, relation)
    keys = [leaf for leaf in drawn.leaves if str(to_sql(leaf.syntax)) in by]
    outputs = outputs_of(
        builder, relation, "aggregate", keys, {*all_names("aggregate")} - (set() if order else {*ORDERED, "array_agg"})
    )
    if not outputs:
        return None
    names = [next(n for j in range(1000) if (n := f"g{i + 3 * j}") not in by) for i in range(len(outputs))]
    resolved = [typed(output.syntax, drawn.scope(AGGREGATES)) for output in outputs]
    calls = calls_of("aggregate", [expr for expr in resolved if expr])
    needed = any(call.function.name in BY_STEP and not split_order(call)[1] for call in calls)
    columns = dict(zip(names, outputs, strict=True))
    draws = builder.draws
    having = apply("greater", apply("count_rows"), draws.between(0, 2)) if draws.chance(15) else None
    sets: Any = draws.one_of(("rollup", "cube")) if by and draws.chance(25) else None
    told = {"g:mask": apply("grouping", *map(col, by))} if sets else {}
    chosen = {name: col(name) for name in by} | (
        {"g:null": apply("is_null", col(by[0]))} if draws.chance(15) and by else {}
    )
    return relation.table.group_by(chosen).agg(
        *(expr.alias(name) for name, expr in {**columns, **told}.items()),
        order_by=order if needed and order else (), having=having, group_sets=sets,
    )  # fmt: skip


def outputs_of(
    builder: Builder, relation: Relation, kind: Kind, leaves: list[Leaf], functions: Container[str]
) -> list[Expression]:
    """Draw calls of aggregate or window functions, and expressions over them and `leaves`."""
    drawn, calls = builder.expressions(relation), []
    kinds = AGGREGATES if kind == "aggregate" else WINDOWS
    for _ in range(builder.draws.between(1, 3)):
        syntax = filtered_call(
            builder, drawn, ordered_call(builder, relation, drawn.special(kind, functions), kind), kind
        )
        resolved = typed(syntax, drawn.scope(kinds))
        if resolved is not None:
            calls.append(Leaf(syntax, resolved.dtype, precision_of(resolved, relation.facts.precision)))
    outputs = [builder.written(leaf.syntax) for leaf in calls]
    if calls and builder.draws.chance(40):
        over = replace(drawn, leaves=[*calls, *leaves])
        outputs[-1] = builder.written(over.any())
    return outputs


def ordered_call(builder: Builder, relation: Relation, syntax: Syntax, kind: Kind) -> Syntax:
    """Put an ORDER BY into a call, now and then; `first` and `last` need one that tells all rows apart."""
    draws, names = builder.draws, relation.exact()
    if kind != "aggregate" or not isinstance(syntax, Apply) or syntax.function not in ORDERABLE - ORDERED:
        return syntax
    if not names or not draws.chance(40):
        return syntax
    own = [syntax.args[0]] if syntax.function.endswith("_distinct") else map(Name, draws.some_of(names, 1, 2))
    keys = [Apply(SORT_KEY, (key, Constant(draws.chance(50)), Constant(draws.chance(30)))) for key in own]
    return replace(syntax, keywords=(*syntax.keywords, *((ORDER_BY, key) for key in keys)))


def filtered_call(builder: Builder, drawn: Expressions, syntax: Syntax, kind: Kind) -> Syntax:
    """Put a FILTER on a call, as SQL text, now and then."""
    takes_filter = kind == "aggregate" or (isinstance(syntax, Apply) and syntax.function in SKIPPING)
    if not (takes_filter and builder.draws.chance(20)):
        return syntax
    return builder.read(f"{to_sql(syntax)} FILTER (WHERE {to_sql(drawn.condition(1))})").syntax


def windowed(builder: Builder, relation: Relation) -> Table | None:
    """Window functions by up to two columns, in a total order that begins, half of the time, with a time.

    Where rows tie, only functions that give the same whatever the order of those.
    """
    draws, exact, schema = builder.draws, relation.exact(), relation.node.schema
    order, functions = total_order(builder, relation), all_names("window")
    if order is None or draws.chance(15):
        order, functions = draws.some_of(exact, 1, 2), tuple(TIE_FREE)
    if not order:
        return None
    by = draws.some_of(relation.comparable(), 0, 2)
    times = [name for name in exact if is_temporal(schema[name])]
    if times and draws.chance(70):
        order = [draws.one_of(times) + " nulls first" * draws.chance(25), *order]
    leaves = list(builder.expressions(relation).leaves)
    outputs = outputs_of(builder, relation, "window", leaves, functions)
    if functions == tuple(TIE_FREE):
        outputs = [output for output in outputs if "'ordinal'" not in to_sql(output.syntax)]
    totals = {*all_names("aggregate")} - ORDERED - {"array_agg"}
    if draws.chance(25):
        outputs = outputs_of(builder, relation, "aggregate", leaves, totals) + outputs * draws.chance(50)
    if not outputs:
        return None
    if not needs_order(outputs):
        order = []
    names = [next(n for j in range(1000) if (n := f"w{i + 3 * j}") not in schema) for i in range(len(outputs))]
    groups: list[str | Expression] = [*by, apply("is_null", col(draws.one_of(exact)))] if draws.chance(10) else [*by]
    return relation.table.window(groups, with_expression(draws, exact, order), **dict(zip(names, outputs, strict=True)))


def needs_order(outputs: list[Expression]) -> bool:
    """Return whether a window function is among the calls, or no function at all."""
    names = {part.function for output in outputs for part in parts(output.syntax) if isinstance(part, Apply)}
    windows = {name for name in names if find_function(name, ("window",))}
    return bool(windows) or not any(find_function(name, ("aggregate",)) for name in names)


def distinct(builder: Builder, relation: Relation) -> Table | None:
    """One row a key: the first in a total order, or any where rows of one key are the same."""
    exact = relation.comparable()
    if not exact:
        return None
    on = builder.draws.some_of(exact, 1, 3)
    order = total_order(builder, relation)
    if order and builder.draws.chance(50):
        return relation.table.distinct(*on, keep="first", order_by=order)
    return builder.extended(relation, relation.table.select(*on)).table.distinct(*on if len(on) > 1 else ())
