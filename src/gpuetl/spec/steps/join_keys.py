"""Keys of a join: names of columns, or expressions over either side, which become columns for the join alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpuetl.expressions.coercion import coerce
from gpuetl.expressions.ir import Column, Expr
from gpuetl.expressions.syntax import Apply
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.forms import read_formula, read_mapping, read_name, read_names, write_formula
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import BadValue, Formula, Text
from gpuetl.types.data_types import UNKNOWN, DataType, can_compare, common_type, is_integer, type_name
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.schema import Schema

SIDES = ("left", "right")


class KeyText(Text):
    """The text of a key that is an expression."""

    formula: Formula
    __slots__ = ("formula",)

    @classmethod
    def of(cls, formula: Formula) -> KeyText:
        """Return the key of an expression."""
        text = cls(shown_sql(formula.syntax), formula.node)
        text.formula = formula
        return text


def read_pairs(node: TextNode) -> dict[str, str]:
    """Read join keys: names that both sides have, a map of left names to right ones, or pairs of expressions."""
    if isinstance(node.value, dict):
        pairs = read_mapping(read_name)(node)
        seen: set[str] = set()
        for right in pairs.values():
            if right in seen:
                raise BadValue(coded("GE1201", f"the right column '{right}' is named twice"), right.node)
            seen.add(right)
        return dict(pairs)
    items = node.value if isinstance(node.value, tuple) else (node,)
    if not any(map(is_expression, items)):
        return {name: name for name in read_names(node)}
    found: dict[str, str] = {}
    for item in items:
        left, right = read_pair(item) if is_expression(item) else (read_name(item),) * 2
        if left in found:
            raise BadValue(coded("GE1008", f"'{left}' is named twice"), item)
        found[left] = right
    return found


def is_expression(node: TextNode) -> bool:
    """Return whether a key is more than a name: `lower(name) = code`, or a map of left and right."""
    return isinstance(node.value, dict) or (isinstance(node.value, str) and "=" in node.value)


def read_pair(node: TextNode) -> tuple[KeyText, KeyText]:
    """Read `left = right`, or `{left: …, right: …}`."""
    if isinstance(node.value, dict):
        if node.value.keys() != set(SIDES):
            raise BadValue(coded("GE1201", "a pair of keys has a left and a right expression"), node,
                           "Write {left: lower(name), right: code}.")  # fmt: skip
        left, right = (KeyText.of(read_formula(node.value[side])) for side in SIDES)
        return left, right
    formula = read_formula(node)
    if not isinstance(formula.syntax, Apply) or formula.syntax.function != "equal":
        raise BadValue(coded("GE1201", "a key is a column, or an equality of a left and a right expression"), node,
                       "Write lower(name) = code.  Other conditions are for the key condition.")  # fmt: skip
    left, right = (KeyText.of(Formula(part, formula.node)) for part in formula.syntax.args)
    return left, right


def write_pairs(pairs: Mapping[str, str]) -> object:
    """Write names where both sides have them, a map of names, or pairs of expressions."""
    if any(isinstance(left, KeyText) for left in pairs):
        return [written_pair(left, right) for left, right in pairs.items()]
    if all(left == right for left, right in pairs.items()):
        return str(next(iter(pairs))) if len(pairs) == 1 else [str(name) for name in pairs]
    return {str(left): str(right) for left, right in pairs.items()}


def written_pair(left: str, right: str) -> object:
    """Write one pair of a list."""
    if isinstance(left, KeyText) and isinstance(right, KeyText):
        return {"left": write_formula(left.formula), "right": write_formula(right.formula)}
    return str(left)


class Keyed(NamedTuple):
    """Both sides with the columns of keys that are expressions, the names of all keys, and the new columns."""

    left: Node
    right: Node
    on: dict[str, str]
    added: frozenset[str]


def with_computed_keys(context: Context, on: Mapping[str, str], left: Node, right: Node) -> Keyed:
    """Compute keys that are expressions in columns of their own, named as their text."""
    sides = left, right
    columns: tuple[dict[str, Expr], dict[str, Expr]] = ({}, {})
    names: dict[str, str] = {}
    for pair in on.items():
        if not all(isinstance(key, KeyText) for key in pair):
            names[pair[0]] = pair[1]
            continue
        values = [side_value(context, key, side) for key, side in zip(pair, sides, strict=True)]
        values = meeting_values(context, pair, values)
        new = [free_key(str(key), side.schema, made) for key, side, made in zip(pair, sides, columns, strict=True)]
        for made, name, value in zip(columns, new, values, strict=True):
            made[name] = value
        names[new[0]] = new[1]
    first, second = (
        nodes.Project(source=side, columns={**nodes.passing(side.schema), **made}, origin=context.origin)
        for side, made in zip(sides, columns, strict=True)
    )
    return Keyed(first, second, names, frozenset(columns[0]))


def side_value(context: Context, key: str, side: Node) -> Expr:
    """Return the typed expression of a key over the columns of its side."""
    assert isinstance(key, KeyText)
    value = context.expression(key.formula, side.schema)
    if value.dtype != UNKNOWN and not can_compare(value.dtype):
        message = coded("GE1115", f"{key} is {type_name(value.dtype)}, which cannot be compared")
        context.problem(message, "Take a part of it.", key)
    return value


def meeting_values(context: Context, pair: tuple[str, str], values: list[Expr]) -> list[Expr]:
    """Return the values of a pair of keys in one type; report types that do not meet."""
    types = [value.dtype for value in values]
    if UNKNOWN in types:
        return [Column(str(key), UNKNOWN) for key in pair]
    dtype = meeting_type(*types)
    if dtype is None:
        message = f"cannot join {pair[0]} ({type_name(types[0])}) with {pair[1]} ({type_name(types[1])})"
        context.problem(coded("GE1201", message), "Cast one of them.", pair[0])
        return [Column(str(key), UNKNOWN) for key in pair]
    return [coerce(value, dtype) for value in values]


def free_key(text: str, schema: Schema, made: Mapping[str, Expr]) -> str:
    """Return a name for the column of a key that its side does not have."""
    name = text
    while name in schema or name in made:
        name += " "
    return name


def meeting_type(left: DataType, right: DataType) -> DataType | None:
    """Return the type in which two keys meet, or None: one type, integers of two widths, decimals of one scale."""
    if left == right or UNKNOWN in (left, right):
        return left
    same_units = is_decimal(left) and is_decimal(right) and left.scale == right.scale
    return common_type(left, right) if same_units or (is_integer(left) and is_integer(right)) else None
