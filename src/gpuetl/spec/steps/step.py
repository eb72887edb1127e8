"""What a step of the language is: its keys, read from YAML or given from Python, and the plan nodes it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from gpuetl.errors import InvalidExpression, Place, Problems, Span, UnknownColumn, have_hint
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.resolve import SCALARS, Scope, resolve
from gpuetl.expressions.syntax import refuse_depth
from gpuetl.expressions.types import NULL, is_list, type_name
from gpuetl.plan.node import Node, Origin
from gpuetl.plan.nodes import Project
from gpuetl.plan.schema import Schema
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import keys_of, read_keys, required_keys, write_keys
from gpuetl.spec.values import Formula, Located, node_of


@dataclass(frozen=True)
class Context:
    """What a step is built with: the names it may use, and where its problems go.

    A step reports every problem and still returns the best node that it can, so that later steps are checked too.
    """

    origin: Origin
    problems: Problems
    parameters: Mapping[str, Expr]
    relation: Callable[[str], Node]
    folder: Path
    undeclared: Callable[[str], str] = lambda name: ""  # how to declare a column that a source's folders have
    node: Located | None = None  # where the step stands

    def problem(self, message: str, hint: str = "", at: object = None) -> None:
        """Keep a problem at the node that a value was read from, or else at the step."""
        self.problems.add(message, hint, self.place(node_of(at)), str(self.origin))

    def warning(self, message: str, hint: str = "", at: object = None) -> None:
        """Keep a warning at the node that a value was read from, or else at the step."""
        self.problems.warn(message, hint, self.place(node_of(at)), str(self.origin))

    def place(self, node: Located | None, span: Span | None = None) -> Place | None:
        """Return where a value stands, or else the step: values from Python stand nowhere."""
        place = node.place(span) if node else None
        return place if place and place.file else self.node.place() if self.node else None

    def expression(self, formula: Formula, schema: Schema, kinds: tuple[Any, ...] = SCALARS) -> Expr:
        """Return the typed expression, or null where it is wrong."""
        try:
            refuse_depth(formula.syntax)
            return resolve(formula.syntax, Scope(schema, self.parameters, kinds, schema.open))
        except InvalidExpression as error:
            place = self.place(formula.node, error.span)
            hint = self.have_hint(error.name, schema) if isinstance(error, UnknownColumn) else error.hint
            self.problems.add(error.message, hint, place, str(self.origin))
            return Literal(None, NULL)

    def known(self, names: Iterable[str], schema: Schema) -> tuple[str, ...]:
        """Return the names that are columns; the others are problems, unless the schema is open."""
        kept = []
        for name in names:
            if name in schema:
                kept.append(str(name))
            elif not schema.open:
                self.problem(f"unknown column '{name}'", self.have_hint(name, schema), name)
        return tuple(kept)

    def have_hint(self, name: str, schema: Schema) -> str:
        """List the columns, and say how to declare an unknown one that stands in folders, or what name is near."""
        return have_hint(name, schema, self.undeclared(name))

    def keys(self, names: Iterable[str], schema: Schema) -> tuple[str, ...]:
        """Return the names that are columns; besides the others, lists are problems: rows are compared by keys."""
        names = tuple(names)
        for name in names:
            if name in schema and is_list(schema[name]):
                message = f"'{name}' is {type_name(schema[name])}, and lists cannot be compared"
                self.problem(message, "Explode it in a step before.", name)
        return self.known(names, schema)


class Step:
    """One step of a stage: a frozen dataclass whose fields are its keys.

    `verb` is its key in YAML.  `main` is the key that a value fills which is no map of keys; where `bare`, the
    whole value is always that key's, since the user's own names are the keys of the map.
    """

    verb: ClassVar[str]
    main: ClassVar[str] = ""
    bare: ClassVar[bool] = False

    @classmethod
    def read(cls, node: TextNode, problems: Problems, within: str) -> Self | None:
        """Read the value under the verb; returns None, with its problems kept, where it is wrong."""
        if node.value is None and cls.main and cls.main not in required_keys(cls):
            node = replace(node, value={})  # `distinct:` is `distinct: {}`
        if cls.main and (cls.bare or not isinstance(node.value, dict)):
            keys = {cls.main: node}
            places = {cls.main: node.place()}
            node = TextNode(keys, node.document, node.line, node.column, node.width, keys=places)
        return read_keys(cls, node, problems, within)

    def written(self) -> Any:
        """Return the value under the verb as plain data."""
        keys = write_keys(self)
        return keys[self.main] if self.main and keys.keys() == {self.main} else keys

    def expression_of(self, output: str) -> Located | None:
        """Return where the expression of an output column stands; of the only expression where `output` is empty."""
        for name in (field.name for field in keys_of(type(self)).values()):
            value = getattr(self, name)
            if isinstance(value, Formula) and not output:
                return value.node
            if isinstance(value, Mapping) and output in value:
                written = next(key for key in value if key == output)  # which knows its place, where `output` does not
                return node_of(value[output]) or node_of(written)
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """The sources and stages that it reads besides its input: they are built before it."""
        return ()

    def build(self, context: Context, source: Node) -> Node:
        """Return the plan of this step on `source`."""
        raise NotImplementedError


class Unknown(Project):
    """Stands for a step that is wrong as a whole: its columns are unknown, so none is called unknown."""

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns, and any other."""
        return Schema(schemas[0], open=True)
