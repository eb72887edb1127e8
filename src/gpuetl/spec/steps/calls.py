"""Expressions over aggregates or windows, taken apart: what to compute before, bare calls, what to compute after."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field, replace

from gpuetl.expressions.functions import Kind
from gpuetl.expressions.ir import Call, Column, Expr, Literal, Parameter, calls_of, transform
from gpuetl.records import dataclass
from gpuetl.types.schema import free_name


@dataclass
class Calls:
    """`sum(a * b) / count(*)` as a projection, calls on columns, and a projection.

    `before` are computed arguments, `calls` the calls by name, `after` the outputs in terms of the calls.  Names
    made here carry the output's name, so that errors point to it, and a colon, which keeps them apart.
    """

    before: dict[str, Expr] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    after: dict[str, Expr] = field(default_factory=dict)


def split_calls(kind: Kind, outputs: Mapping[str, Expr], taken: Container[str], columns: Container[str]) -> Calls:
    """Take the outputs' expressions apart at their calls of `kind`; equal calls are made once.

    A call that is an output as it is has the output's name, unless that name is `taken` by an input column that the
    operation passes on.  No name made here is one of the input's `columns`, or an output's.
    """
    parts = Calls()
    names: dict[Expr, str] = {}
    arguments: dict[Expr, str] = {}
    for output, expr in outputs.items():
        for call in calls_of(kind, [expr]):
            if call not in names:
                made = free_name(f"{output}:", columns, outputs, parts.calls)
                names[call] = output if call == expr and output not in taken else made
                parts.calls[names[call]] = _on_columns(call, output, arguments, parts.before, columns)
    for output, expr in outputs.items():
        parts.after[output] = transform(expr, lambda node: Column(names[node], node.dtype) if node in names else node)
    return parts


def _on_columns(
    call: Call, output: str, arguments: dict[Expr, str], before: dict[str, Expr], columns: Container[str]
) -> Call:
    """Return a call on columns; `arguments` has the names of those that are computed `before`."""
    args: list[Expr] = []
    for argument in call.args:
        if isinstance(argument, Column | Literal | Parameter):
            args.append(argument)
            continue
        name = arguments.setdefault(argument, free_name(f"{output}:argument", columns, before))
        before[name] = argument
        args.append(Column(name, argument.dtype))
    return replace(call, args=tuple(args))
