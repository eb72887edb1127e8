"""What the rules of `expect` take: constants, bounds, patterns, references and numbers of rows."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from gpuetl.format_options import JsonSchema
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field
from gpuetl.spec.forms import (
    COUNT,
    has_lost_digits,
    map_schema,
    read_mapping,
    read_name,
    read_strings,
)
from gpuetl.spec.values import BadValue, Text, UntypedConstant


def read_given(node: TextNode) -> UntypedConstant:
    """Read a constant, whose type is that of its column; digits that a float has lost stay as text."""
    value = node.value
    if isinstance(value, dict | tuple):
        raise BadValue(coded("GE1604", f"takes a constant, got {node.kind}"), node)
    return UntypedConstant(node.written if has_lost_digits(node) else value, node)


def read_givens(node: TextNode) -> tuple[UntypedConstant, ...]:
    """Read a list of constants; null is no value, and breaks no rule."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    if not nodes:
        raise BadValue(coded("GE1604", "takes at least one value"), node)
    for item in nodes:
        if item.value is None:
            raise BadValue(
                coded("GE1604", "takes values, and null is none"), item, "Null passes every rule but not_null."
            )
    return tuple(map(read_given, nodes))


def read_bounds(node: TextNode) -> tuple[UntypedConstant, UntypedConstant]:
    """Read the least and the greatest value, either of which may be null."""
    nodes = node.value if isinstance(node.value, tuple) else ()
    if len(nodes) != 2:
        raise BadValue(coded("GE1604", "takes [least, greatest], either of which may be null"), node)
    if nodes[0].value is None and nodes[1].value is None:
        raise BadValue(coded("GE1604", "takes at least one bound"), node)
    return read_given(nodes[0]), read_given(nodes[1])


def read_pattern(node: TextNode) -> Text:
    """Read a regular expression of the language."""
    from gpuetl.expressions.regex import InvalidPattern, parse_pattern  # few pipelines have any

    pattern = Text(read_strings(node)[0], node)
    try:
        parse_pattern(pattern)
    except InvalidPattern as error:
        raise BadValue(
            coded("GE1113", f"cannot read the regular expression '{pattern}': {error}"), node, error.hint
        ) from None
    return pattern


def read_reference(node: TextNode) -> Text:
    """Read a column of another stage or source, `stage.column`."""
    name = read_name(node)
    if not all(name.rpartition(".")[::2]):
        raise BadValue(coded("GE1604", f"takes stage.column or source.column, got '{name}'"), node)
    return name


@dataclass(frozen=True)
class Rows:
    """The least and the greatest number of rows, and the node that they were read from."""

    least: int | None = None
    most: int | None = None
    node: TextNode | None = field(default=None, compare=False, repr=False)


def read_rows(node: TextNode) -> Rows:
    """Read `{min: 1, max: 10}`, of which one may be left out or null."""
    if not isinstance(node.value, dict) or not node.value:
        raise BadValue(coded("GE1604", f"takes {{min: …, max: …}}, got {node.kind}"), node)
    for name in node.value:
        if name not in ("min", "max"):
            raise BadValue(coded("GE1604", f"takes min and max, got '{name}'"), node)
    given = {name: COUNT.read(item) for name, item in node.items() if item.value is not None}
    rows = Rows(given.get("min"), given.get("max"), node)
    if rows == Rows() or (rows.least is not None and rows.most is not None and rows.least > rows.most):
        raise BadValue(coded("GE1604", "takes min, max or both, and min is not greater than max"), node)
    return rows


def write_rows(rows: Rows) -> dict[str, int]:
    """Return the bounds that there are."""
    return {name: count for name, count in (("min", rows.least), ("max", rows.most)) if count is not None}


def _map(what: str, read: Any, write: Any, schema: JsonSchema, constant: bool = True) -> Field[Any]:
    """Return the form of a map from columns to what `read` reads: constants, or names."""
    return Field(
        f"a map of columns to {what}",
        read_mapping(read),
        lambda columns: {str(name): write(value) for name, value in columns.items()},
        constant=constant,
        schema=map_schema(schema),
    )


def _plain(values: tuple[UntypedConstant, ...]) -> list[Any]:
    return [given.value for given in values]


VALUES = _map("lists of values", read_givens, _plain, {})
BOUNDS = _map("[least, greatest]", read_bounds, _plain, {"type": ["array", "string"], "minItems": 2, "maxItems": 2})
PATTERNS = _map("regular expressions", read_pattern, str, {"type": "string"})
REFERENCES = _map("stage.column", read_reference, str, {"type": "string"}, constant=False)
ROW_COUNT: JsonSchema = {"anyOf": [{"type": ["integer", "null"], "minimum": 0}, {"$ref": "#/definitions/reference"}]}
ROWS = Field(
    "{min: …, max: …}",
    read_rows,
    write_rows,
    constant=True,
    schema={
        "type": "object",
        "minProperties": 1,
        "properties": {"min": ROW_COUNT, "max": ROW_COUNT},
        "additionalProperties": False,
    },
)
