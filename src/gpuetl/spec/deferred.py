"""Constants that are parameters: `limit: $n`, `range: {amount: [$least, $greatest]}`, `delimiter: $delimiter`.

A key that takes constants keeps a `Deferred` in the place of its value where the file names a parameter.  Before a
pipeline is bound, `with_values` reads the same node with the parameters' values in it, by the same form.  So a value
from a parameter is checked as a written one is.  It is a value, and never text: nothing is parsed twice.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gpuetl.errors import Problems, have_hint
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.syntax import ParameterName
from gpuetl.format_options import NO_OPTIONS, Plain
from gpuetl.messages import coded, recoded
from gpuetl.records import dataclass
from gpuetl.spec.document import Node, plain_data, plain_node
from gpuetl.spec.values import BadExpression, BadValue
from gpuetl.types.data_types import BOOL, DATE, DataType, is_floating, is_integer
from gpuetl.types.nested_types import is_list, is_map, is_struct

if TYPE_CHECKING:
    from gpuetl.spec.fields import Field
    from gpuetl.spec.model import PipelineSpec

T = TypeVar("T")
REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
ESCAPED = re.compile(r"\$(\$+[A-Za-z_][A-Za-z0-9_]*)")
"""`$$name` is the string `$name`."""


@dataclass(frozen=True)
class Deferred(Generic[T]):
    """A key's value in which parameters stand: what is read once their values are known.

    `data` is the value as plain data, `key` the name of the key if one is written, `within` names the part of the
    pipeline in messages.
    """

    data: Plain
    key: str = field(compare=False)
    node: Node = field(compare=False, repr=False)
    form: Field[T] = field(compare=False, repr=False)
    within: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.data)

    @property
    def label(self) -> str:
        """What messages begin with."""
        return f"{self.key}: " if self.key else ""

    def read(self, parameters: Mapping[str, Expr], problems: Problems) -> Any:
        """Return the value; `MISSING`, with the problem kept, for a wrong one.

        Where a parameter has no value yet, an example of its type stands for it, and `MISSING` if the key does not take
        that.
        """
        unknown = [one for one in scalars(self.node) if (name := reference(one)) and name not in parameters]
        for one in unknown:
            name = reference(one)
            message = coded("GE1021", f"{self.label}unknown parameter '${name}'")
            hint = have_hint(f"${name}", [f"${known}" for known in parameters], noun="Parameters")
            problems.add(message, hint if problems.hints_names else "", one.place(), self.within)
        bound = {
            name: parameters[name] for one in scalars(self.node) if (name := reference(one)) and name in parameters
        }
        if unknown:
            return MISSING
        if not all(isinstance(value, Literal) for value in bound.values()):
            return self.example(bound)
        try:
            return self.form.read(with_constants(self.node, bound))
        except BadValue as error:
            for wrong in error.each:
                text = wrong.message if isinstance(wrong, BadExpression) else f"{self.label}{wrong.message}"
                hint = f"{wrong.hint} It is the value of {reference_names(self.node)}.".strip()
                problems.add(recoded(text, wrong.message), hint, (wrong.node or self.node).place(), self.within)
            return MISSING

    def example(self, bound: Mapping[str, Expr]) -> Any:
        """Return a value that the key may have."""
        values = {name: one if isinstance(one, Literal) else example_of(one.dtype) for name, one in bound.items()}
        try:
            return self.form.read(with_constants(self.node, values))
        except BadValue:
            return MISSING


def example_of(dtype: DataType) -> Literal:
    """Return a value of a type: the least number that most keys take, and empty collections."""
    examples: tuple[tuple[Callable[[DataType], bool], Any], ...] = (
        (is_integer, 1), (is_floating, 0.5), (is_list, ()), (is_struct, {}), (is_map, {}),
    )  # fmt: skip
    value = next((example for holds, example in examples if holds(dtype)), "x")
    return Literal({BOOL: True, DATE: date(2000, 1, 1)}.get(dtype, value), dtype)


def reference(node: Node) -> str:
    """Return the name of the parameter that a scalar is; an empty one where it is none."""
    found = REFERENCE.fullmatch(node.value) if isinstance(node.value, str) else None
    return found[1] if found else ""


def reference_names(node: Node) -> str:
    """Return the parameters in a node as a list for a message."""
    names = dict.fromkeys(f"${name}" for one in scalars(node) if (name := reference(one)))
    return " and ".join(names)


def scalars(node: Node) -> Iterator[Node]:
    """Yield the scalars of a node."""
    if isinstance(node.value, dict | tuple):
        for part in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from scalars(part)
    else:
        yield node


def has_parameters(node: Node) -> bool:
    """Return whether a parameter stands in a node."""
    return any(map(reference, scalars(node)))


def unescaped(node: Node) -> Node:
    """Return a node in which `$$name` is the string `$name`."""
    return mapped(node, lambda one: replace(one, value=one.value[1:]) if is_escaped(one) else one)


def is_escaped(node: Node) -> bool:
    """Return whether a scalar is `$$name`."""
    return isinstance(node.value, str) and ESCAPED.fullmatch(node.value) is not None


def mapped(node: Node, change: Any) -> Node:
    """Return a node with each of its scalars changed."""
    if isinstance(node.value, dict):
        return replace(node, value={name: mapped(part, change) for name, part in node.items()})
    if isinstance(node.value, tuple):
        return replace(node, value=tuple(mapped(part, change) for part in node.value))
    return change(node)  # type: ignore[no-any-return]


def with_constants(node: Node, values: Mapping[str, Expr]) -> Node:
    """Return a node with the values of parameters in their places."""

    def change(one: Node) -> Node:
        if name := reference(one):
            literal = values[name]
            assert isinstance(literal, Literal)
            return constant_node(literal.value, one)
        return replace(one, value=one.value[1:]) if is_escaped(one) else one

    return mapped(node, change)


def constant_node(value: object, at: Node) -> Node:
    """Return a parameter's value as a file would have it, at the place where the parameter stands."""
    if isinstance(value, Mapping):
        parts = {str(name): constant_node(part, at) for name, part in value.items()}
        return replace(at, value=parts, keys=dict.fromkeys(parts, at.place()))
    if isinstance(value, list | tuple):
        return replace(at, value=tuple(constant_node(part, at) for part in value))
    if isinstance(value, Decimal):
        return replace(at, value=float(value), written=f"{value:f}")
    return replace(at, value=plain_constant(value))


def plain_constant(value: object) -> Any:
    """Return a single value as YAML has it: dates and durations are text."""
    from gpuetl.expressions.unparse import constant_text

    if isinstance(value, timedelta):
        return constant_text(value).removeprefix("INTERVAL ").strip("'")
    return value.isoformat() if isinstance(value, date) else value


# Keys: read from a file, given in Python, written.


def read_constant(form: Field[T], node: Node, key: str, within: str) -> T | Deferred[T]:
    """Read a key that takes constants; one in which a parameter stands is read later.

    Raises
    ------
    BadValue
        For a value that the form does not take.
    """
    if has_parameters(node):
        return Deferred(plain_data(node), key, node, form, within)
    return form.read(unescaped(node))


def python_node(value: Any) -> Node:
    """Return a value of Python as a node: `param("n")` is the parameter n, and the string "$n" is a string."""
    return plain_node(written(value))


def written(value: Any) -> Any:
    """Return plain data of Python as a file has it: `$n` for a parameter, `$$n` for the string `$n`."""
    if isinstance(value, Expression) and isinstance(value.syntax, ParameterName):
        return f"${value.syntax.name}"
    if isinstance(value, Mapping):
        return {name: written(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [written(part) for part in value]
    return f"${value}" if isinstance(value, str) and (REFERENCE.fullmatch(value) or ESCAPED.fullmatch(value)) else value


def names_parameter(value: Any) -> bool:
    """Return whether a value of Python is, or holds, a parameter."""
    if isinstance(value, Mapping):
        return any(map(names_parameter, value.values()))
    if isinstance(value, list | tuple):
        return any(map(names_parameter, value))
    return isinstance(value, Expression) and isinstance(value.syntax, ParameterName)


# Values: put in the places of parameters before a pipeline is bound.


def with_values(spec: PipelineSpec, parameters: Mapping[str, Expr], problems: Problems) -> PipelineSpec:
    """Return a pipeline in which every key has its value; what is wrong with a value is kept.

    A step or rule that lacks a value is None, as one that cannot be read.  A source or sink keeps its defaults.
    """

    def entry(one: Any) -> Any:
        return known(replaced_options(one, parameters, problems), parameters, problems) or with_defaults(one)

    sources = {name: entry(source) for name, source in spec.sources.items()}
    sinks = {name: entry(sink) for name, sink in spec.sinks.items()}
    stages = {}
    for name, stage in spec.stages.items():
        steps = tuple(step and known(step, parameters, problems) for step in stage.steps)
        rules = tuple(rule and known(rule, parameters, problems) for rule in stage.expect)
        stages[name] = (
            stage if steps == stage.steps and rules == stage.expect else replace(stage, steps=steps, expect=rules)
        )
    return replace(spec, sources=sources, sinks=sinks, stages=stages)


def replaced_options(entry: Any, parameters: Mapping[str, Expr], problems: Problems) -> Any:
    """Return a source or sink whose format's options have their values."""
    options = getattr(entry, "options", NO_OPTIONS)
    changed = known(options, parameters, problems) or with_defaults(options)
    return entry if changed is options else replace(entry, options=changed)


def with_defaults(part: Any) -> Any:
    """Return a source, sink or its options with defaults for deferred keys."""
    late = (f for f in dataclasses.fields(part) if isinstance(getattr(part, f.name), Deferred))
    return replace(part, **{f.name: f.default for f in late if f.default_factory is MISSING})


def known(part: Any, parameters: Mapping[str, Expr], problems: Problems) -> Any:
    """Return a step, rule, source or sink without deferred keys; None for one that lacks a key."""
    changes: dict[str, Any] = {}
    for f in dataclasses.fields(part):
        value = getattr(part, f.name)
        if isinstance(value, Deferred):
            changes[f.name] = value.read(parameters, problems)
    if any(value is MISSING for value in changes.values()):
        return None
    return replace(part, **changes) if changes else part
