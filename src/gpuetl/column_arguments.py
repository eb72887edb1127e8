"""Columns as the methods of a table take them in Python: by name, as keywords, or as expressions that have a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from gpuetl.errors import InvalidExpression, InvalidPipeline
from gpuetl.expressions.expression import Expression, NamedExpression, as_syntax
from gpuetl.expressions.operands import IntoExpression, Names, OrderBy
from gpuetl.expressions.syntax import Name, Selected, parts, rebuilt
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.spec.fields import read_plain
from gpuetl.spec.forms import NAMES, ORDER, write_formula
from gpuetl.spec.group_forms import plain_keys
from gpuetl.spec.values import Formula, Order, Text, as_names
from gpuetl.types.schema import Schema

IntoColumn: TypeAlias = Expression | NamedExpression
"""A column `col("a")`, or an expression with a name, `(col("a") + 1).alias("b")`."""

IntoKeys: TypeAlias = Names | IntoColumn | Mapping[str, IntoExpression] | Iterable[str | IntoColumn]
"""Keys of groups: columns by name, and expressions that have a name."""


def formula(value: IntoExpression) -> Formula:
    """Return an expression of a step."""
    return Formula(as_syntax(value), string=value if isinstance(value, str) else None)


def formulas(columns: Mapping[str, IntoExpression]) -> dict[str, Formula]:
    """Return the expressions of a step by the names of their columns.

    Raises
    ------
    InvalidPipeline
        For a dict: columns are keywords, and not in a dict as in YAML.
    """
    for name, value in columns.items():
        if isinstance(value, Mapping):
            hint = f"Give each column as a keyword, or write **{{…}} instead of {name}={{…}}."
            raise InvalidPipeline.because(coded("GE3008", "takes an expression, got a dict"), hint, name)
    return {name: formula(value) for name, value in columns.items()}


def named_formulas(
    verb: str,
    schema: Callable[[], Schema],
    columns: Iterable[IntoColumn | Iterable[IntoColumn]],
    more: Mapping[str, IntoExpression],
) -> dict[str, Formula]:
    """Return the expressions that are given one by one, or in lists, and those that are given as keywords.

    A selector stands for columns of the `schema` of the table.

    Raises
    ------
    InvalidPipeline
        For an expression without a name, and a name that is given twice.
    """
    found: dict[str, Formula] = {}
    each = [one for column in flat(columns) for one in selected(column, schema)]
    for name, expression in (named(verb, column) for column in each):
        if name in found or name in more:
            raise InvalidPipeline.because(coded("GE1023", f"'{name}' is named twice"), "Rename one.", verb)
        found[name] = formula(expression)
    return found | formulas(more)


def named(verb: str, column: object) -> tuple[str, Expression]:
    """Return the name of a column that is given without a keyword, and its expression."""
    if isinstance(column, NamedExpression):
        return column.name, column.expression
    if isinstance(column, Expression):
        if isinstance(column.syntax, Name):
            return column.syntax.name, column
        text = shown_sql(column.syntax)
        message = coded("GE1212", f"the expression {text} has no name")
        raise InvalidPipeline.because(message, f"Write name={text}, or ({text}).alias('name').", verb)
    message = coded("GE3008", f"takes an expression, got {type(column).__name__} {column!r}")
    raise InvalidPipeline.because(message, "Write col('name').", verb)


def selected(column: Any, schema: Callable[[], Schema]) -> list[Any]:
    """Return a column, or where it has a selector an expression for each of the columns that this selects."""
    if not isinstance(column, Expression):
        return [column]
    selectors = {id(part): part for part in parts(column.syntax) if isinstance(part, Selected)}
    if not selectors:
        return [column]
    if len(selectors) > 1:
        texts = " and ".join(part.text for part in selectors.values())
        message = coded("GE1216", f"an expression has one selector, got {texts}")
        raise InvalidExpression(message, hint="Combine them with |, &, - or ~ first.")
    (selector,) = selectors.values()
    columns = schema()
    names = [name for name, dtype in columns.items() if selector.matches(name, dtype)]
    if not names:
        message = coded("GE1216", f"{selector.text} selects no column")
        raise InvalidExpression(message, hint=f"Columns: {', '.join(columns)}.")
    return [NamedExpression(name, _of_column(column, selector, name)) for name in names]


def _of_column(expression: Expression, selector: Selected, name: str) -> Expression:
    """Return an expression that has a column where it had a selector."""
    return Expression(rebuilt(expression.syntax, lambda part: Name(name) if part is selector else None))


def calls(verb: str, columns: Mapping[str, IntoExpression]) -> dict[str, Formula]:
    """Return what a group's rows are asked for: a text is nearly always a call that was meant as SQL."""
    return no_texts(verb, columns, lambda value: f"Write expr({value!r}), or lit({value!r}) for a constant.")


def no_texts(within: str, columns: Mapping[str, IntoExpression], hint: Callable[[str], str]) -> dict[str, Formula]:
    """Return expressions by name; refuse strings, which would be constants."""
    for name, value in columns.items():
        if isinstance(value, str):
            message = coded("GE3008", f"takes an expression, got the string {value!r}")
            raise InvalidPipeline.because(message, hint(value), f"{within}: {name}")
    return formulas(columns)


def flat(values: Iterable[Any]) -> list[Any]:
    """Return values that are given one by one, or several in a list."""
    return [one for value in values for one in as_names(value)]


def names_of(within: str, *names: Names) -> tuple[Text, ...]:
    """Return names of columns."""
    read: tuple[Text, ...] = read_plain(NAMES, flat(names), within)
    return read


def groups_of(within: str, *groups: OrderBy) -> tuple[Text, ...]:
    """Return what makes the groups of windows: names of columns, and expressions."""
    return names_of(within, order_texts(*groups))


def group_keys_of(within: str, *keys: IntoKeys) -> dict[str, Formula]:
    """Return the keys of groups: names, expressions that have one, and maps of names to expressions.

    Raises
    ------
    InvalidPipeline
        For an expression without a name, a name that is given twice, and a string in a map, which would be a constant.
    """
    found: dict[str, Formula] = {}
    for one in (part for key in keys for part in ([key] if isinstance(key, Mapping) else flat([key]))):
        if isinstance(one, Mapping):
            new = keys_by_name(within, one)
        elif isinstance(one, Expression | NamedExpression):
            name, expression = named(within, one)
            new = {name: formula(expression)}
        else:
            new = plain_keys(names_of(within, [one]))  # a list in a list is refused
        for name, key in new.items():
            if name in found:
                raise InvalidPipeline.because(coded("GE1008", f"'{name}' is named twice"), "", within)
            found[name] = key
    return found


def keys_by_name(within: str, keys: Mapping[str, IntoExpression]) -> dict[str, Formula]:
    """Return the keys in a map: a string there is nearly always a column, or was meant as SQL."""
    return no_texts(within, keys, lambda value: f"Write col({value!r}), or expr({value!r}) for SQL.")


def order_of(verb: str, *order: OrderBy) -> tuple[Order, ...]:
    """Return sort keys."""
    within = f"{verb}: {'by' if verb == 'sort' else 'order_by'}"
    read: tuple[Order, ...] = read_plain(ORDER, order_texts(*order), within)
    return read


def order_texts(*order: OrderBy) -> list[str]:
    """Return the keys of an order as they are written in YAML."""
    return [write_formula(Formula(one.syntax)) if isinstance(one, Expression) else one for one in flat(order)]
