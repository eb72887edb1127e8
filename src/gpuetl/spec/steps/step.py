"""What a step of the language is, and how expressions over aggregates or windows are taken apart."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gpuetl.errors import InvalidExpression, Place, Problems, Span, UnknownColumn, have_hint, nearest, suggestion
from gpuetl.expressions.advice import doubts_in, mistakes_in
from gpuetl.expressions.functions import Kind
from gpuetl.expressions.functions.aggregates import is_sort_key
from gpuetl.expressions.functions.ordering import is_order_text
from gpuetl.expressions.ir import Call, Column, Expr, Literal, Parameter, calls_of, transform
from gpuetl.expressions.resolve import resolve_all
from gpuetl.expressions.scope import SCALARS, WRONG, Scope
from gpuetl.expressions.syntax import Name
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project
from gpuetl.records import dataclass
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import keys_of, read_keys, required_keys, write_keys
from gpuetl.spec.values import Formula, Located, PartPlace, node_of
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import DataType, can_be_key, can_compare, type_name, value_kinds
from gpuetl.types.nested_types import is_list, is_map, is_struct
from gpuetl.types.schema import Schema, free_name

if TYPE_CHECKING:
    from gpuetl.spec.steps.fit.fitted import Fits

# What a step of the language is: its keys, read from YAML or given from Python, and the plan nodes it becomes.


@dataclass(frozen=True)
class SiblingColumns:
    """The columns that a step computes beside one: what it computes from itself is not there yet."""

    columns: Container[str]
    name: str

    def __contains__(self, name: object) -> bool:
        return name != self.name and name in self.columns


@dataclass(frozen=True)
class Context:
    """What a step is built with: the names it may use, and where its problems go.

    A step reports every problem and still returns the best node that it can, so that later steps are checked too.
    """

    origin: Origin
    problems: Problems
    parameters: Mapping[str, Expr]
    relation: Callable[[str], Node]
    folder: FilePath
    undeclared: Callable[[str], str] = lambda name: ""  # how to declare a column that a source's folders have
    node: Located | None = None  # where the step stands
    run_id: str = "plan"  # what `run_id()` gives
    fits: Fits | None = None  # what `fit` steps have learned

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

    def scope(self, schema: Schema, kinds: tuple[Any, ...] = SCALARS) -> Scope:
        """Return what an expression over the columns may name."""
        return Scope(schema, self.parameters, kinds, schema.open, hints=self.problems.hints_names, run_id=self.run_id)

    def expression(
        self, formula: Formula, schema: Schema, kinds: tuple[Any, ...] = SCALARS, outputs: Container[str] = ()
    ) -> Expr:
        """Return the typed expression, or one of unknown type where it is wrong, with all that is wrong reported.

        `outputs` are the columns that the step computes: none sees another.
        """
        try:
            formula.refuse_depth()
            expr, errors = resolve_all(formula.syntax, self.scope(schema, kinds))
            errors += mistakes_in(formula.parts)
        except InvalidExpression as too_deep:
            expr, errors = WRONG, [too_deep]
        if formula.string in schema:
            errors.append(string_or_column(str(formula.string)))
        doubts = [*doubts_in(formula.parts)]
        if not (errors or doubts):
            return expr
        seen: set[object] = set()
        for error in errors:
            mistake = error.name if isinstance(error, UnknownColumn) else (error.message, error.span)
            if mistake not in seen:  # a name that is misspelt twice is one mistake
                self.wrong_expression(error, formula, schema, outputs)
            seen.add(mistake)
        for doubt in doubts:
            self.warning(doubt.message, doubt.hint, PartPlace(formula.node, doubt.span) if formula.node else None)
        return WRONG if errors else expr

    def wrong_expression(
        self, error: InvalidExpression, formula: Formula, schema: Schema, outputs: Container[str]
    ) -> None:
        """Keep what is wrong with an expression, at its place in the text."""
        message, hint = error.message, error.hint
        if isinstance(error, UnknownColumn):
            hint = self.have_hint(error.name, schema, error.advice)
            if error.name in outputs:
                message = coded("GE1024", f"'{error.name}' is computed in this same step")
                hint = f"Compute what needs '{error.name}' in a with_columns step after this one."
            elif may_be_string(error, formula) and self.problems.hints_names and not suggestion(error.name, schema):
                hint = have_hint(error.name, schema, f"To mean a string, write \"'{error.name}'\".")
        self.problems.add(message, hint, self.place(formula.node, error.span), str(self.origin))

    def known(self, names: Iterable[str], schema: Schema, of: str = "") -> tuple[str, ...]:
        """Return the names that are columns; the others are problems, unless the schema is open.

        `of` names the stage or source that has the schema, where it is not the step's own input.
        """
        kept = []
        for name in names:
            if name in schema:
                kept.append(str(name))
            elif not schema.open:
                hint = self.have_hint(name, schema, noun=f"Columns of {of}" if of else "Columns")
                self.problem(coded("GE1003", f"unknown column '{name}'{f' in {of!r}' if of else ''}"), hint, name)
        return tuple(kept)

    def have_hint(self, name: str, schema: Schema, advice: str = "", noun: str = "Columns") -> str:
        """List the columns, and say how to declare an unknown one that stands in folders, or what name is near."""
        if not self.problems.hints_names:
            return advice
        return have_hint(name, schema, self.undeclared(name) or suggestion(name, schema) or advice, noun)

    def doubtful(self, node: Node, names: Iterable[str], schema: Schema) -> Node:
        """Return the node, after which also those columns are known that misspelt ones among `names` stand for.

        So what follows may name them either way, and a mistake is told once.
        """
        wrong = [str(name) for name in names if name not in schema]
        if not wrong or node.schema.open:
            return node
        near = [nearest(name, schema) if self.problems.hints_names else None for name in wrong]
        columns: dict[str, Expr] = {} if None in near else {name: WRONG for name in (*wrong, *near) if name}
        return Unknown(source=node, columns=columns, origin=self.origin)

    def keys(self, names: Iterable[str], schema: Schema, of: str = "", nested: bool = False) -> tuple[str, ...]:
        """Return the names that are columns; others are problems, and so are those whose values are not compared.

        With `nested`, lists, structs and maps are compared, too: `build_step` gives such operations flat keys.
        """
        names = tuple(names)
        compares = can_compare if nested else can_be_key
        for name in names:
            if name in schema and not compares(dtype := schema[name]):
                fits = "are no keys here" if can_compare(dtype) else "cannot be compared"
                why = f"'{name}' is {type_name(dtype)}, and {value_kinds(dtype)} {fits}"
                self.problem(coded("GE1115", why), key_hint(name, dtype), name)
        return self.known(names, schema, of)


def key_hint(name: str, dtype: DataType) -> str:
    """Return how to compare rows by a column of a type that is not compared."""
    if is_struct(dtype):
        return f"Unnest it in a step before, or compute a column of a field: {name}.{dtype[0].name}."
    if is_map(dtype):
        return f"Compute a column of a value in a step before: {name}['key']."
    return "Explode it in a step before." if is_list(dtype) else "Leave it out."


def may_be_string(error: UnknownColumn, formula: Formula) -> bool:
    """Return whether an unknown column is all of an expression, as in `country: NO`: a listed name is not one."""
    return not error.advice and formula.syntax == Name(error.name) and formula.syntax.span is not None


class Step:
    """One step of a stage: a frozen dataclass whose fields are its keys.

    `verb` is its key in YAML.  `main` is the key that a value fills which is no map of keys; where `bare`, the
    whole value is always that key's, since the user's own names are the keys of the map.  `alone` says that the verb
    without a value is a whole step.  Of the keys `one_of`, at least one is there.
    """

    verb: ClassVar[str]
    main: ClassVar[str] = ""
    bare: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    one_of: ClassVar[tuple[str, ...]] = ()

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
        for name in (declared.name for declared in keys_of(type(self)).values()):
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
    """Stands for a step that is wrong: it has the input's columns, and `columns`; without these it may have any."""

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the columns; any other is there where these are not known."""
        columns = {**schemas[0], **{name: expr.dtype for name, expr in self.columns.items()}}
        return Schema(columns, open=schemas[0].open or not self.columns)


# Expressions over aggregates or windows, taken apart: what to compute before, bare calls, what to compute after.


@dataclass
class Calls:
    """`sum(a * b) / count(*)` as a projection, calls on columns, and a projection.

    `before` are computed arguments, `calls` the calls by name, `after` the outputs in terms of the calls.  Names
    made here carry the output's name, so that errors point to it, and a colon, which keeps them apart.
    """

    before: dict[str, Expr] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    after: dict[str, Expr] = field(default_factory=dict)


def string_or_column(name: str) -> InvalidExpression:
    """Return the error of a string in Python that is the name of a column, too."""
    message = coded("GE1215", f"the string {name!r} is the name of a column, too")
    return InvalidExpression(message, hint=f"Write col({name!r}) for the column, or lit({name!r}) for the string.")


def split_calls(kind: Kind, outputs: Mapping[str, Expr], used_names: Container[str], columns: Container[str]) -> Calls:
    """Take the outputs' expressions apart at their calls of `kind`; equal calls are made once.

    A call that is an output as it is has the output's name, unless that name is in `used_names`: an input column that
    the operation passes on.  No name made here is one of the input's `columns`, or an output's.
    """
    parts = Calls()
    names: dict[Expr, str] = {}
    arguments: dict[tuple[Expr, bool], str] = {}
    for output, expr in outputs.items():
        for call in calls_of(kind, [expr]):
            if call not in names:
                whole = call is expr and output not in used_names
                names[call] = output if whole else free_name(f"{output}:", columns, outputs, parts.calls)
                parts.calls[names[call]] = _on_columns(call, output, arguments, parts.before, columns)

    def named(node: Expr) -> Expr:
        is_named = isinstance(node, Call) and node.function.kind == kind and node in names
        return Column(names[node], node.dtype) if is_named else node

    parts.after = {output: transform(expr, named) for output, expr in outputs.items()}
    return parts


def _on_columns(
    call: Call, output: str, arguments: dict[tuple[Expr, bool], str], before: dict[str, Expr], columns: Container[str]
) -> Call:
    """Return a call on columns; `arguments` has the names of those that are computed `before`."""

    def on_column(argument: Expr) -> Expr:
        if isinstance(argument, Column | Literal | Parameter):
            return argument
        if is_sort_key(argument):
            return replace(argument, args=(on_column(argument.args[0]), *argument.args[1:]))
        own = is_order_text(argument) and call.args[0] in (argument, *argument.args)
        name = arguments.get((argument, own))
        if name is None:  # rows that tie in the text of the call's value are equal
            stem = f":order of {output}" if own else f"{output}:argument"
            name = arguments[argument, own] = free_name(stem, columns, before)
            before[name] = argument
        return Column(name, argument.dtype)

    return Call(call.function, tuple(map(on_column, call.args)), call.dtype)
