"""`scalar(stage.column)` in the expressions of a step: the one value of another stage, as a column for this step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gpuetl.expressions.functions import FUNCTIONS, find_function
from gpuetl.expressions.ir import Call, Column
from gpuetl.expressions.syntax import SCALAR, Apply, Constant, Name, Syntax, rebuilt
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.nested_keys import with_flat_keys
from gpuetl.plan.node import Node
from gpuetl.plan.nodes.scalar_join import ScalarJoin
from gpuetl.spec.fields import keys_of
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula, Located, PartPlace, Text
from gpuetl.types.data_types import INT64, UNKNOWN, can_be_key, type_name
from gpuetl.types.schema import free_name

COUNT = "rows:"


class ScalarUse(NamedTuple):
    """A stage, its column, and where an expression asks for its value."""

    stage: str
    column: str
    written: Apply
    node: Located | None

    @property
    def place(self) -> Located | None:
        """Where it stands in the file."""
        return PartPlace(self.node, self.written.span) if self.node else None


def path_in(call: Syntax) -> tuple[str, str] | None:
    """Return the stage and the column of `scalar(stage.column)`; None for what is none."""
    if not isinstance(call, Apply) or call.function != SCALAR or len(call.args) != 1 or call.keywords:
        return None
    names, inner = list[str](), call.args[0]
    while isinstance(inner, Apply) and inner.function == "struct_extract" and isinstance(inner.args[1], Constant):
        names.append(str(inner.args[1].value))
        inner = inner.args[0]
    if not isinstance(inner, Name) or not names:
        return None
    return ".".join([inner.name, *reversed(names[1:])]), names[0]


def formulas_in(value: Any) -> Iterator[Formula]:
    """Yield the expressions of a key of a step."""
    if isinstance(value, Formula):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from formulas_in(one)
    elif isinstance(value, tuple):
        for one in value:
            yield from formulas_in(one)


def scalars_in(step: Step) -> list[ScalarUse]:
    """Return the values of other stages that the expressions of a step have."""
    return [
        ScalarUse(*path, part, formula.node)
        for key in keys_of(type(step)).values()
        for formula in formulas_in(getattr(step, key.name))
        for part in formula.parts
        if isinstance(part, Apply) and part.function == SCALAR and (path := path_in(part))
    ]


def scalar_stages(step: object) -> tuple[str, ...]:
    """Return the stages whose values a step's expressions have."""
    return tuple(use.stage for use in scalars_in(step)) if isinstance(step, Step) else ()


def build_step(step: Step, context: Context, source: Node) -> Node:
    """Return the plan of a step; values of other stages are columns before it, which are dropped after it."""
    uses = scalars_in(step)
    if not uses:
        return with_flat_keys(step.build(context, source), source, context.origin)
    names: dict[tuple[str, str], str] = {}
    joined = source
    for use in uses:
        key = use.stage, use.column
        if key not in names:
            shown = f"scalar({use.stage}.{use.column})"
            names[key] = shown if shown not in source.schema else free_name(shown, source.schema)
            joined = with_value(context, joined, use, names[key])
    if step.verb == "aggregate":
        refuse_outside_calls(context, step)
    built = with_names(step, lambda part: named(part, names)).build(context, joined)
    built = with_flat_keys(built, joined, context.origin)
    added = frozenset(names.values())
    if not added & built.schema.keys():
        return built
    kept = built.schema.select(name for name in built.schema if name not in added)
    return nodes.Project(source=built, columns=nodes.passing(kept), origin=context.origin)


def named(part: Syntax, names: Mapping[tuple[str, str], str]) -> Syntax | None:
    """Return the column that stands for a value; None for another part of an expression."""
    path = path_in(part)
    return Name(names[path], quoted=True, span=part.span) if path else None


def with_names(step: Step, change: Callable[[Syntax], Syntax | None]) -> Step:
    """Return a step with parts of its expressions changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, Formula):
            return replace(value, syntax=rebuilt(value.syntax, change))
        if isinstance(value, Mapping):
            return {key: changed(one) for key, one in value.items()}
        return tuple(map(changed, value)) if type(value) is tuple else value

    found = {key.name: getattr(step, key.name) for key in keys_of(type(step)).values()}
    changes = {name: changed(value) for name, value in found.items() if any(formulas_in(value))}
    return replace(step, **changes)  # type: ignore[type-var]


def with_value(context: Context, source: Node, use: ScalarUse, name: str) -> Node:
    """Return the rows with the value of a stage in a column; a column that the stage lacks is a problem."""
    relation = context.relation(Text(use.stage, use.place))
    dtype = relation.schema.get(use.column, UNKNOWN)
    if use.column not in relation.schema:
        context.known([Text(use.column, use.place)], relation.schema, of=use.stage)
    elif dtype != UNKNOWN and not can_be_key(dtype):
        message = coded("GE1115", f"scalar({use.stage}.{use.column}) is {type_name(dtype)}, which has no single value")
        context.problem(message, "Take a part of it in a step of that stage.", use.place)
        dtype = UNKNOWN
    if dtype == UNKNOWN:
        return nodes.Project(
            source=source, columns={**nodes.passing(source.schema), name: Column(name, UNKNOWN)}, origin=context.origin
        )
    calls = {
        name: Call(FUNCTIONS["aggregate", "min"], (Column(use.column, dtype),), dtype),
        COUNT: Call(FUNCTIONS["aggregate", "count_rows"], (), INT64),
    }
    value = nodes.Aggregate(source=relation, by=(), calls=calls, origin=context.origin)
    return ScalarJoin(
        left=source, right=value, left_on=(), right_on=(), how="cross", value=name, count=COUNT, stage=use.stage,
        origin=context.origin,
    )  # fmt: skip


def refuse_outside_calls(context: Context, step: Step) -> None:
    """Report values that stand outside the calls of an aggregate step: its rows are groups, which do not have them."""
    for key in keys_of(type(step)).values():
        for formula in formulas_in(getattr(step, key.name)):
            for part in outside_calls(formula.syntax):
                if path := path_in(part):
                    message = coded("GE1810", f"scalar({'.'.join(path)}) stands outside the calls of an aggregate step")
                    hint = "Use it in a step after this one."
                    context.problem(message, hint, PartPlace(formula.node, part.span) if formula.node else None)


def outside_calls(node: Syntax) -> Iterator[Syntax]:
    """Yield the parts of an expression that are in no aggregate."""
    if isinstance(node, Apply) and find_function(node.function, ("aggregate",)):
        return
    yield node
    if isinstance(node, Apply) and node.function != SCALAR:
        for part in (*node.args, *(value for _, value in node.keywords)):
            yield from outside_calls(part)
    elif hasattr(node, "operand"):
        yield from outside_calls(node.operand)
