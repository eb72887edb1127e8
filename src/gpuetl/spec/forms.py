"""The forms that a key's value can have: how each is read from a node, and written back as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from gpuetl.expressions.syntax import Constant, Name
from gpuetl.format_options import JsonSchema
from gpuetl.messages import coded
from gpuetl.spec.document import Node
from gpuetl.spec.fields import Field
from gpuetl.spec.synonyms import word_suggestion
from gpuetl.spec.values import BadExpression, BadValue, BadValues, Formula, KeyPlace, Order, Text, parse_order
from gpuetl.types.data_types import (
    BINARY,
    DURATION,
    INT64,
    NAMED,
    TIME,
    TIMESTAMP_NS,
    UUID,
    DataType,
    integer_fits,
    is_binary,
    is_temporal,
    parse_type,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.missing_types import MISSING_TYPES
from gpuetl.types.nested_types import is_list, type_parts
from gpuetl.types.time_zones import UnknownZone

T = TypeVar("T")


def _scalar(node: Node, kind: type | tuple[type, ...], what: str) -> Any:
    wrong = isinstance(node.value, bool) and kind is not bool
    if wrong or not isinstance(node.value, kind):
        shown = (
            f" '{node.value}'" if isinstance(node.value, str | int | float) and not isinstance(node.value, bool) else ""
        )
        raise BadValue(coded("GE1008", f"takes {what}, got {node.kind}{shown}"), node)
    return node.value


def read_name(node: Node) -> Text:
    """Read a name; numbers and booleans are not names."""
    text = _scalar(node, str, "a name")
    if not text.strip():
        raise BadValue(coded("GE1008", "takes a name, got an empty string"), node)
    return Text(text, node)


def read_names(node: Node) -> tuple[Text, ...]:
    """Read a name, or a list of them without repeats."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    names = tuple(_all_read(read_name, nodes))
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadValue(coded("GE1008", f"'{name}' is named twice"), name.node)
        seen.add(name)
    return names


def _all_read(read: Callable[[Node], T], nodes: Iterable[Node]) -> list[T]:
    """Read several nodes; raise the errors of all that are wrong."""
    values: list[T] = []
    errors: list[BadValue] = []
    for node in nodes:
        try:
            values.append(read(node))
        except BadValue as error:
            errors += error.each
    if errors:
        raise BadValues(errors)
    return values


def read_mapping(read: Callable[[Node], T]) -> Callable[[Node], dict[str, T]]:
    """Return the reader of a map whose values `read` reads."""

    def reader(node: Node) -> dict[str, T]:
        if not isinstance(node.value, dict):
            raise BadValue(coded("GE1008", f"takes a map of names, got {node.kind}"), node)
        if not node.value:
            raise BadValue(coded("GE1008", "takes a map with at least one entry"), node)
        values: dict[str, T] = {}
        errors: list[BadValue] = []
        usable = True
        for name, value in node.items():
            try:
                values[Text(name, KeyPlace(node.keys[name]))] = read(value)
            except BadValue as error:
                errors += error.each
                values[Text(name, KeyPlace(node.keys[name]))] = error.usable
                usable = usable and error.usable is not None
        if errors:
            raise BadValues(errors, values if usable else None)
        return values

    return reader


def read_formula(node: Node) -> Formula:
    """Read an expression: SQL text, or a number or truth value as it is."""
    from gpuetl.expressions.parse import read_expression

    if has_lost_digits(node):
        syntax, errors = read_expression(node.written)
    elif node.value is None or isinstance(node.value, bool | int | float):
        return Formula(Constant(node.value), node)
    else:
        syntax, errors = read_expression(_scalar(node, str, "an SQL expression"))
    if errors:
        raise BadValues([BadExpression(error, node) for error in errors], Formula(syntax, node))
    return Formula(syntax, node)


def has_lost_digits(node: Node) -> bool:
    """Return whether a number has more digits than its float64: its text then stands for it."""
    value = node.value
    if not isinstance(value, int | float) or isinstance(value, bool) or not node.written:
        return False
    try:
        return Decimal(repr(value)) != Decimal(node.written)
    except InvalidOperation:  # .inf
        return False


def write_formula(formula: Formula) -> Any:
    """Write an expression as SQL text, or a number or truth value as it is.

    Raises
    ------
    InvalidExpression
        For one that nests deeper than text may, or is longer: it could not be read back.
    """
    from gpuetl.expressions.parse import parse_expression
    from gpuetl.expressions.unparse import to_sql

    if isinstance(formula.syntax, Constant) and isinstance(formula.syntax.value, bool | int | float):
        return formula.syntax.value
    formula.refuse_depth()
    text = to_sql(formula.syntax)
    parse_expression(text)
    return text


def _placeholder(formula: Formula | None) -> int:
    """Stand for an expression that is parsed already where only the names beside it are checked."""
    return 0


def read_selection(node: Node) -> dict[str, Formula]:
    """Read the columns of a select: names in a list, or a map of names to expressions."""
    if node.value in ({}, ()):
        raise BadValue(coded("GE1207", "keeps no column"), node, "Keep at least one column.")
    if isinstance(node.value, dict):
        return read_mapping(read_formula)(node)
    return {name: Formula(Name(str(name)), name.node) for name in read_names(node)}


def write_selection(columns: Mapping[str, Formula]) -> Any:
    """Write a list of names where every column is only named, else a map."""
    if all(formula.syntax == Name(str(name)) for name, formula in columns.items()):
        return [str(name) for name in columns]
    return {str(name): write_formula(formula) for name, formula in columns.items()}


def read_type(node: Node) -> DataType:
    """Read a type by name."""
    text = _scalar(node, str, "a type")
    try:
        return parse_type(text)
    except UnknownZone as error:
        raise BadValue(coded("GE1026", str(error)), node, error.hint) from None
    except ValueError as error:
        names = [*NAMED, *PATTERNS]
        hint = MISSING_TYPES.get(text.lower()) or f"Types: {', '.join(names)}. {word_suggestion(text, names)}"
        raise BadValue(coded("GE1025", str(error)), node, hint.rstrip()) from None


PATTERNS = ("decimal(p,s)", "timestamp[ZONE]", "list<TYPE>", "struct<a: TYPE, b: TYPE>", "map<KEY, VALUE>", "binary(n)")
"""Names of types that have others in them, or numbers."""
PATH_TYPES = frozenset(NAMED.values()) - {DURATION, BINARY, UUID, TIME, TIMESTAMP_NS}
"""What names of folders stand for; and decimals, and timestamps with a zone."""


def read_order(node: Node) -> tuple[Order, ...]:
    """Read one sort key or a list of them."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    return tuple(_all_read(lambda item: parse_order(read_name(item), item), nodes))


def some(form: Field[T]) -> Field[T]:
    """Return the form of a list that is not empty."""

    def read(node: Node) -> T:
        if node.value in ({}, ()):
            raise BadValue(coded("GE1008", f"takes {form.what}, got none"), node)
        return form.read(node)

    return replace(form, read=read)


def _one_or_list(values: tuple[Any, ...]) -> Any:
    return str(values[0]) if len(values) == 1 else [str(value) for value in values]


def choice(*options: str) -> Field[str]:
    """Return the field of a name that is one of `options`."""

    def read(node: Node) -> str:
        text = str(_scalar(node, str, f"one of {', '.join(options)}"))
        if text not in options:
            raise BadValue(
                coded("GE1008", f"takes one of {', '.join(options)}, got '{text}'"),
                node,
                word_suggestion(text, options),
            )
        return text

    return Field(f"one of {', '.join(options)}", read, constant=True, schema={"enum": list(options)})


def choice_or_null(*options: str) -> Field[str]:
    """Return the field of a name that is one of `options`, among them null, which YAML's null is, too."""
    named = choice(*options)
    schema = {"enum": [*options, None]}
    return Field(
        named.what, lambda node: "null" if node.value is None else named.read(node), constant=True, schema=schema
    )


def read_count(node: Node) -> int:
    """Read a whole number from 0."""
    number = _scalar(node, int, "a whole number")
    if number < 0:
        raise BadValue(coded("GE1008", f"takes a whole number from 0, got {number}"), node)
    if not integer_fits(number, INT64):
        raise BadValue(coded("GE1008", f"takes a whole number that fits int64, got {number}"), node)
    return int(number)


def read_integer(node: Node) -> int:
    """Read a whole number of 64 bits."""
    number = int(_scalar(node, int, "a whole number"))
    if not integer_fits(number, INT64):
        raise BadValue(coded("GE1008", f"takes a whole number of 64 bits, got {number}"), node)
    return number


def read_fraction(node: Node) -> float:
    """Read a number from 0 to 1."""
    number = float(_scalar(node, (int, float), "a fraction from 0 to 1"))
    if not 0 <= number <= 1:
        raise BadValue(coded("GE1008", f"takes a fraction from 0 to 1, got {number:g}"), node)
    return number


def _plain(values: Mapping[str, Any], write: Callable[[Any], Any]) -> dict[str, Any]:
    return {str(name): write(value) for name, value in values.items()}


def read_strings(node: Node) -> tuple[str, ...]:
    """Read a text, or a list of them; empty ones count."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    return tuple(str(_scalar(item, str, "a string")) for item in nodes)


def read_code(node: Node) -> Text:
    """Read C++ code; a number or a boolean is one as it is written."""
    value = _scalar(node, str, "C++ code") if not isinstance(node.value, bool | int | float) else node.value
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip():
        raise BadValue(coded("GE1008", "takes C++ code, got an empty string"), node)
    return Text(text, node)


def read_partition_type(node: Node) -> DataType:
    """Read the type of a column in the path; durations and lists have no text there."""
    dtype = read_type(node)
    if dtype == DURATION:
        raise BadValue(
            coded("GE1008", "a partition cannot be a duration"), node, "Read it as a number, and compute the duration."
        )
    if is_list(dtype):
        raise BadValue(coded("GE1008", "a partition cannot be a list"), node, "Read it as a string, and split it.")
    if dtype not in PATH_TYPES and not is_decimal(dtype) and not is_temporal(dtype):
        raise BadValue(coded("GE1008", f"a partition cannot be {type_name(dtype)}"), node, "Read it as a string.")
    return dtype


def read_parameter_type(node: Node) -> DataType:
    """Read the type of a parameter: a single value, or a list, struct or map of such values."""
    dtype = read_type(node)
    for part in type_parts(dtype):
        if part in (BINARY, UUID, TIME, TIMESTAMP_NS) or is_binary(part):
            hint = "Give a string, and convert it in the expression."
            raise BadValue(coded("GE1018", f"a parameter cannot be {type_name(part)}"), node, hint)
    return dtype


ONE_OR_MORE: JsonSchema = {"type": ["string", "array"], "items": {"type": "string"}}
SQL: JsonSchema = {"type": ["string", "number", "boolean", "null"]}
TYPE_NAMES: JsonSchema = {"$ref": "#/definitions/type"}


def map_schema(values: JsonSchema) -> JsonSchema:
    """Return the JSON Schema of a map that is not empty."""
    return {"type": "object", "minProperties": 1, "additionalProperties": values}


NAME = Field("a name", read_name, str, schema={"type": "string", "minLength": 1})
STRINGS = Field("a string or a list of strings", read_strings, _one_or_list, constant=True, schema=ONE_OR_MORE)
CODE = Field("C++ code", read_code, str, schema={"type": ["string", "number", "boolean"]})
NAMES = Field("a name or a list of names", read_names, _one_or_list, schema=ONE_OR_MORE)
EXPRESSION = Field("an SQL expression", read_formula, write_formula, _placeholder, schema=SQL)
EXPRESSIONS = Field(
    "a map of columns to expressions",
    read_mapping(read_formula),
    lambda v: _plain(v, write_formula),
    lambda v: _plain(v, _placeholder),
    schema=map_schema(SQL),
)
SELECTION = Field(
    "a list of columns, or a map of columns to expressions",
    read_selection,
    write_selection,
    lambda v: _plain(v, _placeholder),
    schema={"type": ["string", "array", "object"], "items": {"type": "string"}, "additionalProperties": SQL},
)
RENAMES: Field[Mapping[str, str]] = Field(
    "a map of old names to new ones",
    read_mapping(read_name),
    lambda v: _plain(v, str),
    schema=map_schema({"type": "string"}),
)
PARAMETER_TYPE = Field("a type", read_parameter_type, type_name, schema=TYPE_NAMES)
TYPES: Field[Mapping[str, DataType]] = Field(
    "a map of columns to types", read_mapping(read_type), lambda v: _plain(v, type_name), schema=map_schema(TYPE_NAMES)
)


class InferredSchema(Mapping[str, DataType]):
    """Stands for columns whose types are to be inferred from the files: it has no entry."""

    def __getitem__(self, name: str) -> DataType:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InferredSchema)

    def __hash__(self) -> int:
        return hash(InferredSchema)


INFER = "infer"
SCHEMA: Field[Mapping[str, DataType]] = Field(
    "a map of columns to types, or infer",
    lambda node: InferredSchema() if node.value == INFER else TYPES.read(node),
    lambda schema: INFER if isinstance(schema, InferredSchema) else TYPES.write(schema),
    schema={"anyOf": [{"enum": [INFER]}, TYPES.schema]},
)
SOME_NAMES = some(NAMES)
PARTITIONS = Field(
    "a map of columns to types",
    read_mapping(read_partition_type),
    lambda v: _plain(v, type_name),
    schema=map_schema(TYPE_NAMES),
)
ORDER = Field("a column or a list of columns, each with asc or desc", read_order, _one_or_list, schema=ONE_OR_MORE)
SOME_ORDER = some(ORDER)
COUNT = Field("a whole number", read_count, constant=True, schema={"type": "integer", "minimum": 0})
INTEGER = Field("a whole number", read_integer, constant=True, schema={"type": "integer"})
FRACTION = Field(
    "a fraction from 0 to 1", read_fraction, constant=True, schema={"type": "number", "minimum": 0, "maximum": 1}
)
BOOLEAN = Field(
    "true or false", lambda node: bool(_scalar(node, bool, "true or false")), constant=True, schema={"type": "boolean"}
)
EXTRA_COLUMNS = choice("error", "ignore", "add")
MISSING_COLUMNS = choice_or_null("error", "null")
