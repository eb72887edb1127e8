"""Functions of plugins: expressions over gpuetl's functions, put in the place of a call before it is typed.

    net = MacroFunction("net", "price rate", "price / (1 + rate)", doc="The price without tax.")

`net(amount, 0.19)` is `amount / (1 + 0.19)`, on every engine.  An expression of aggregates is an aggregate, and one of
window functions a window function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.functions import Kind, find_function
from gpuetl.expressions.syntax import RUN_ID, STRUCT, SUBSCRIPT, Apply, CastTo, Name, ParameterName, Syntax
from gpuetl.messages import coded
from gpuetl.plugin_discovery import Plugin, PluginProblem, PluginTable
from gpuetl.records import dataclass

KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")
SPECIAL = (RUN_ID, STRUCT, SUBSCRIPT)


@dataclass(frozen=True)
class MacroFunction:
    """A function as an expression.

    Parameters
    ----------
    name
        The name that users write, which is that of the entry point.
    arguments
        The names of the arguments, with spaces between them.
    expression
        SQL over the arguments, by gpuetl's own functions.
    doc
        What it computes, as a sentence.
    """

    name: str
    arguments: str
    expression: str
    doc: str = ""


@dataclass(frozen=True)
class Macro:
    """A function whose expression is parsed and checked."""

    function: MacroFunction
    names: tuple[str, ...]
    body: Syntax

    def expanded(self, call: Apply) -> Syntax:
        """Return the expression in the place of a call.  Errors of the expression point at the call.

        Raises
        ------
        InvalidExpression
            For arguments that are missing, unknown or too many.
        """
        given: dict[str, Syntax] = dict(zip(self.names, call.args, strict=False))
        for name, value in call.keywords:
            if name in given or name not in self.names:
                raise self.wrong_arguments(f"has no open argument '{name}'", call)
            given[name] = value
        if len(call.args) > len(self.names) or len(given) < len(self.names):
            count = len(call.args) + len(call.keywords)
            raise self.wrong_arguments(f"got {count} argument{'s' * (count != 1)}", call)
        return substituted(self.body, given, call.span)

    def wrong_arguments(self, what: str, call: Apply) -> InvalidExpression:
        """Return the error of a call."""
        hint = f"It is {self.function.name}({', '.join(self.names)})."
        return InvalidExpression(coded("GE1104", f"{self.function.name} {what}"), call.span, hint)


def substituted(node: Syntax, values: Mapping[str, Syntax], span: Span | None) -> Syntax:
    """Return a body with the arguments in it; its own nodes stand at `span`."""
    if isinstance(node, Name) and node.name in values:
        return values[node.name]
    if isinstance(node, CastTo):
        return replace(node, operand=substituted(node.operand, values, span), span=span)
    if isinstance(node, Apply):
        args = tuple(substituted(arg, values, span) for arg in node.args)
        keywords = tuple((name, substituted(value, values, span)) for name, value in node.keywords)
        return replace(node, args=args, keywords=keywords, span=span)
    return replace(node, span=span)


def macro_of(plugin: Plugin, made: object) -> Macro:
    """Return the function of a plugin, checked.

    Raises
    ------
    PluginProblem
        For an object that is no `MacroFunction`, and for an expression that cannot be used.
    """
    from gpuetl.expressions.parse import parse_expression

    if not isinstance(made, MacroFunction):
        raise plugin.refused(f"is not a MacroFunction, but {type(made).__name__}")
    if made.name != plugin.name:
        raise plugin.refused(f"calls itself '{made.name}'")
    names = tuple(made.arguments.split())
    try:
        body = parse_expression(made.expression)
    except InvalidExpression as error:
        raise plugin.refused(f"has an expression that cannot be read: {error.message}") from None
    for node in nodes_of(body):
        if isinstance(node, Name) and node.name not in names:
            raise plugin.refused(f"names '{node.name}', which is none of its arguments")
        if isinstance(node, ParameterName):
            raise plugin.refused(f"names the parameter '${node.name}', which only pipelines have")
        if isinstance(node, Apply) and node.function not in SPECIAL and find_function(node.function, KINDS) is None:
            raise plugin.refused(f"calls '{node.function}', which is no function of gpuetl")
    return Macro(made, names, body)


def nodes_of(node: Syntax) -> Iterator[Syntax]:
    """Yield a node and all below it."""
    yield node
    for f in fields(node):
        value = getattr(node, f.name)
        for part in value if isinstance(value, tuple) else (value,):
            below = part[1] if isinstance(part, tuple) and len(part) == 2 else part
            if isinstance(below, Syntax):
                yield from nodes_of(below)


MACROS: PluginTable[Macro] = PluginTable("function", macro_of, {})
"""The functions of plugins that were used, by name."""


def macro_named(name: str, span: Span | None) -> Macro | None:
    """Return the function of a plugin, if there is one of the name.

    Raises
    ------
    InvalidExpression
        For a plugin that cannot be used.
    """
    try:
        return MACROS.find(name)
    except PluginProblem as error:
        raise InvalidExpression(error.message, span, error.hint) from None
