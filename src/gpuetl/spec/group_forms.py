"""The forms of group keys: names of columns, and expressions that have a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpuetl.expressions.syntax import Name
from gpuetl.messages import coded
from gpuetl.spec.document import Node
from gpuetl.spec.fields import Field
from gpuetl.spec.forms import (
    SQL,
    has_lost_digits,
    map_schema,
    read_formula,
    read_mapping,
    read_name,
    read_names,
    write_formula,
)
from gpuetl.spec.synonyms import word_suggestion
from gpuetl.spec.values import BadValue, BadValues, Formula, Text, UntypedConstant, node_of

GroupKeys = Mapping[str, Formula]
"""The expressions of keys by their names; a key that is a column is its own name."""


def plain_keys(names: Iterable[str]) -> dict[str, Formula]:
    """Return keys that are columns."""
    return {name: Formula(Name(str(name)), node_of(name)) for name in names}


def is_plain(name: str, formula: Formula) -> bool:
    """Return whether a key is a column of the same name."""
    return formula.syntax == Name(str(name))


def read_keys_of_groups(node: Node) -> dict[str, Formula]:
    """Read a name, a map of names to expressions, or a list of both."""
    keys: dict[str, Formula] = {}
    errors: list[BadValue] = []
    for part in node.value if isinstance(node.value, tuple) else (node,):
        try:
            read = read_mapping(read_formula)(part) if isinstance(part.value, dict) else _column(read_name(part))
        except BadValue as error:
            errors += error.each
            continue
        for name, formula in read.items():
            if name in keys:
                errors.append(BadValue(coded("GE1008", f"'{name}' is named twice"), node_of(name)))
            keys[name] = formula
    if errors:
        raise BadValues(errors)
    return keys


def _column(name: Text) -> dict[str, Formula]:
    return plain_keys([name])


def write_keys_of_groups(keys: GroupKeys) -> Any:
    """Write one column as a name, and several keys as a list with a map for each expression."""
    written = [str(k) if is_plain(k, f) else {str(k): write_formula(f)} for k, f in keys.items()]
    return written[0] if len(written) == 1 else written


def _placeholder(keys: GroupKeys) -> Any:
    return [str(k) if is_plain(k, f) else {str(k): 0} for k, f in keys.items()]


KEYS: Field[GroupKeys] = Field(
    "a name, or a list of names and of maps of names to expressions",
    read_keys_of_groups,
    write_keys_of_groups,
    _placeholder,
    schema={
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, map_schema(SQL)]}},
            map_schema(SQL),
        ]
    },
)


GroupSets = str | tuple[tuple[str, ...], ...] | None
"""`rollup`, `cube`, or the sets."""


def read_group_sets(node: Node) -> GroupSets:
    """Read `rollup`, `cube`, or a list of sets, each of which is a list of names, or one name."""
    if isinstance(node.value, str):
        if node.value not in KINDS_OF_SETS:
            message = coded("GE1008", f"takes rollup, cube, or a list of lists of keys, got '{node.value}'")
            raise BadValue(message, node, word_suggestion(node.value, KINDS_OF_SETS))
        return node.value
    if not isinstance(node.value, tuple) or not node.value:
        found = "an empty list" if node.value == () else node.kind
        raise BadValue(coded("GE1008", f"takes rollup, cube, or a list of lists of keys, got {found}"), node)
    return tuple(map(read_names, node.value))


KINDS_OF_SETS = ("rollup", "cube")
GROUP_SETS: Field[GroupSets] = Field(
    "rollup, cube, or a list of lists of keys",
    read_group_sets,
    lambda sets: sets if sets is None or isinstance(sets, str) else [list(map(str, one)) for one in sets],
    schema={
        "anyOf": [
            {"enum": list(KINDS_OF_SETS)},
            {"type": "array", "minItems": 1, "items": {"type": ["string", "array"], "items": {"type": "string"}}},
        ]
    },
)


# What a pivot computes, and the values that it makes columns of.


def read_pivoted(node: Node) -> dict[str, Formula]:
    """Read one expression, which has no name, or a map of names to expressions."""
    return read_mapping(read_formula)(node) if isinstance(node.value, dict) else {"": read_formula(node)}


def read_pivot_values(node: Node) -> tuple[UntypedConstant, ...]:
    """Read a list of constants, or one; digits that a float has lost stay as text."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    if not nodes:
        raise BadValue(coded("GE1824", "takes at least one value"), node)
    for item in nodes:
        if item.value is None or isinstance(item.value, dict | tuple):
            hint = "Replace nulls in a fill_null step before." if item.value is None else ""
            raise BadValue(coded("GE1824", f"takes values, got {item.kind}"), item, hint)
    return tuple(UntypedConstant(one.written if has_lost_digits(one) else one.value, one) for one in nodes)


PIVOTED: Field[Mapping[str, Formula]] = Field(
    "an aggregate, or a map of names to aggregates",
    read_pivoted,
    lambda values: _pivoted(values, write_formula),
    lambda values: _pivoted(values, lambda formula: 0),
    schema={"anyOf": [SQL, map_schema(SQL)]},
)
PIVOT_VALUES = Field(
    "a list of values",
    read_pivot_values,
    lambda values: [given.value for given in values],
    constant=True,
    schema={"type": ["string", "number", "boolean", "array"]},
)


def _pivoted(values: Mapping[str, Formula], write: Callable[[Formula], Any]) -> Any:
    return write(values[""]) if values.keys() == {""} else {str(name): write(value) for name, value in values.items()}
