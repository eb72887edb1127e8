"""What the stored state of a window depends on, as lines of text: runs whose lines are equal may share the state.

The lines say what the step computes, and what the steps above it do to its rows, in the columns that it needs.  Left
out are the files of sources and which of their rows are new, columns that the window does not need, and values of
parameters in the steps above: these are what differs from day to day.  Values of parameters in the step itself count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, Parameter, transform
from gpuetl.expressions.unparse import to_sql
from gpuetl.optimize.prune_columns import prune_columns
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, SortKey, written_key, written_keys
from gpuetl.plan.nodes import Filter, KeptWindow, NewRows, Project, Read, passing
from gpuetl.plan.plan import Plan, content_of
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import type_name
from gpuetl.types.schema import Schema

FORM = 1
"""The form of stored states; a greater one is of a later version of gpuetl."""
ANY_VALUE = "value"
"""The parameter that stands for all values of parameters."""


def dependencies(node: KeptWindow, stored: Schema) -> tuple[str, ...]:
    """Return the lines of a window: its own first, with the columns of its state, then those of the steps above it."""
    calls = [f"{name} = {to_sql(call)}: {type_name(call.dtype)}" for name, call in node.calls.items()]
    schema = node.source.schema
    groups = ", ".join(f"{name}: {type_name(schema[name])}" for name in written_keys(node.by)) or "all rows"
    keys = (replace(key, column=written_key(key.column)) for key in node.order_by)
    order = ", ".join(f"{key}: {type_name(schema[key.column])}" for key in keys)
    own = [f"window by {groups}", f"window order by {order}", *(f"window column {call}" for call in calls)]
    state = ", ".join(f"{name}: {type_name(dtype)}" for name, dtype in stored.items())
    return (*own, *(_line(one, node.origin) for one in _above(node)), f"state columns {state}")


def fingerprint_of(lines: tuple[str, ...]) -> str:
    """Return a digest of the lines, and of the form in which states are stored."""
    return hashlib.sha256("\n".join([f"form {FORM}", *lines]).encode()).hexdigest()[:16]


def differences(before: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    """Return what has changed, as `was …, is …`; without the columns of the state, which follow from it."""
    before, now = (tuple(line for line in lines if not line.startswith("state columns")) for lines in (before, now))
    found = []
    for tag, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag != "equal":
            old, new = "; ".join(before[a:b]), "; ".join(now[c:d])
            found.append(f"was: {old or 'nothing'}\nis: {new or 'nothing'}")
    return found


def _above(node: KeptWindow) -> list[Node]:
    """Return the nodes above a window, with the columns that it needs."""
    needed = node.source.schema.select(sorted(node.sort_columns | node.arguments_read))
    wanted = Project(source=node.source, columns=passing(needed), origin=node.origin)
    plan = Plan(name="", sources={}, stages={}, sinks={}, kept={"rows": wanted})
    (top,) = prune_columns(plan).kept.values()
    return [one for one in walk_graph(top) if one is not top and not isinstance(one, NewRows)]


def _line(node: Node, window: Origin) -> str:
    """Return what a node does, without its inputs."""
    if isinstance(node, Read):
        columns = ", ".join(f"{name}: {type_name(dtype)}" for name, dtype in node.schema.items())
        return f"read {columns}"
    masks = node.origin != window
    if isinstance(node, Filter):
        return f"filter {_text(node.predicate, masks)}"
    if isinstance(node, Project):
        passed = set(passing(node.source.schema).items())
        outputs = (n if (n, e) in passed else f"{n} = {_text(e, masks)}" for n, e in node.columns.items())
        return f"columns {', '.join(outputs)}"
    fields = (f"{name} = {_text(value, masks)}" for name, value in _fields(node))
    return f"{type(node).__name__.lower()} {'; '.join(fields)}"


def _fields(node: Node) -> Iterator[tuple[str, Any]]:
    """Yield a node's own fields with their values: expressions as they are, else as digests have them."""
    for name, plain in content_of(node):
        if name == "locality":
            continue
        value = getattr(node, name)
        yield name, value if _has_expressions(value) else plain


def _has_expressions(value: Any) -> bool:
    """Return whether a value is an expression, or has some."""
    if isinstance(value, Mapping):
        return any(map(_has_expressions, value.values()))
    if isinstance(value, tuple) and not isinstance(value, Literal):
        return any(map(_has_expressions, value))
    return isinstance(value, Column | Literal | Parameter | Cast | Call)


def _text(value: Any, masks: bool) -> str:
    """Return a value as text."""
    if isinstance(value, Column | Literal | Parameter | Cast | Call):
        return to_sql(transform(value, _masked) if masks else value)
    if isinstance(value, SortKey):
        return str(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} := {_text(item, masks)}" for name, item in value.items())
    if isinstance(value, tuple):
        return f"({', '.join(_text(item, masks) for item in value)})"
    return repr(value)


def _masked(expr: Expr) -> Expr:
    """Stand in for the value of a parameter."""
    declared = isinstance(expr, Literal) and expr.declared
    return Parameter(ANY_VALUE, expr.dtype) if declared or isinstance(expr, Parameter) else expr
