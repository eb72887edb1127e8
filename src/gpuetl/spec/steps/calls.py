"""Expressions over aggregates or windows, taken apart: what to compute before, bare calls, what to compute after."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from gpuetl.expressions.functions import Kind
from gpuetl.expressions.ir import Call, Column, Expr, Literal, Parameter, calls_of, transform


@dataclass
class Calls:
    """`sum(a * b) / count(*)` as a projection, calls on columns, and a projection.

    `before` are computed arguments, `calls` the calls by name, `after` the outputs in terms of the calls.  Names
    made here carry the output's name, so that errors point to it, and a colon, which keeps them apart.
    """

    before: dict[str, Expr] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    after: dict[str, Expr] = field(default_factory=dict)


def split_calls(kind: Kind, outputs: Mapping[str, Expr], taken: Container[str]) -> Calls:
    """Take the outputs' expressions apart at their calls of `kind`; equal calls are made once.

    A call that is an output as it is has the output's name, unless that name is `taken` by an input column.
    """
    parts = Calls()
    names: dict[Expr, str] = {}
    for output, expr in outputs.items():
        for call in calls_of(kind, [expr]):
            if call not in names:
                names[call] = output if call == expr and output not in taken else f"{output}:{len(names)}"
                parts.calls[names[call]] = _on_columns(call, output, parts.before)
    for output, expr in outputs.items():
        parts.after[output] = transform(expr, lambda node: Column(names[node], node.dtype) if node in names else node)
    return parts


def _on_columns(call: Call, output: str, before: dict[str, Expr]) -> Call:
    args: list[Expr] = []
    for argument in call.args:
        if isinstance(argument, Column | Literal | Parameter):
            args.append(argument)
            continue
        name = next((n for n, expr in before.items() if expr == argument), f"{output}:argument{len(before)}")
        before[name] = argument
        args.append(Column(name, argument.dtype))
    return replace(call, args=tuple(args))
