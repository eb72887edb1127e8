"""What a transform of `fit` is: statistics of some rows, and how rows are changed by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gpuetl.expressions.build import col
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.syntax import Name
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field, key, write_keys
from gpuetl.spec.forms import read_mapping, read_name, read_names
from gpuetl.spec.group_forms import plain_keys
from gpuetl.spec.steps.aggregate import Aggregate
from gpuetl.spec.steps.columns import Drop, Select, WithColumns
from gpuetl.spec.steps.join import Join
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import Formula, Text
from gpuetl.types.data_types import UNKNOWN, is_number, type_name
from gpuetl.types.decimal_types import is_decimal

Statistics = Mapping[str, Node]
"""What a transform learns from rows: relations by name.  That of single numbers has one row."""

NUMBERS = "numbers"
"""The relation of single numbers."""


def read_outputs(node: TextNode) -> dict[Text, Text]:
    """Read columns that are replaced, or a map of new columns to those that they are computed from."""
    if isinstance(node.value, dict):
        return read_mapping(read_name)(node)  # type: ignore[return-value]
    return {name: name for name in read_names(node)}


def write_outputs(columns: Mapping[str, str]) -> Any:
    """Write names where columns are replaced, else a map."""
    if all(new == old for new, old in columns.items()):
        return [str(name) for name in columns]
    return {str(new): str(old) for new, old in columns.items()}


OUTPUTS: Field[Any] = Field(
    "a column, a list of columns, or a map of new columns to columns",
    read_outputs,
    write_outputs,
    schema={
        "type": ["string", "array", "object"],
        "items": {"type": "string"},
        "additionalProperties": {"type": "string"},
    },
)


class Transform:
    """One entry of `fit`: a frozen dataclass whose fields are its keys, as those of a step are.

    `verb` is its key in YAML, and `main` the key that a value fills which is no map of keys.
    """

    verb: ClassVar[str]
    main: ClassVar[str] = "columns"

    def statistics(self, context: Context, source: Node) -> dict[str, Node]:
        """Return the plan of what it learns from the rows of `source`; nothing where it learns nothing."""
        return {}

    def trained(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Return the rows that it was fitted on, transformed."""
        return self.applied(context, source, statistics)

    def applied(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Return other rows, transformed by what it has learned."""
        raise NotImplementedError

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        raise NotImplementedError

    def written(self) -> dict[str, Any]:
        """Return the entry as plain data."""
        keys = write_keys(self)
        alone = keys.get(self.main) if keys.keys() == {self.main} else None
        return {self.verb: keys if alone is None or isinstance(alone, dict) else alone}


@dataclass(frozen=True)
class ColumnsTransform(Transform):
    """A transform of one column after another, each into a column of its own."""

    columns: Mapping[str, str] = key(
        OUTPUTS, doc="columns to replace, or new columns with those they are computed from"
    )

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(dict.fromkeys(map(str, self.columns.values())))

    def known(self, context: Context, source: Node) -> dict[str, str]:
        """Return the outputs whose columns exist; problems for the others."""
        found = frozenset(context.known(dict.fromkeys(self.columns.values()), source.schema))
        return {str(new): str(old) for new, old in self.columns.items() if old in found}


@dataclass(frozen=True)
class NumberTransform(ColumnsTransform):
    """A transform of numeric columns, by numbers that are computed of each."""

    def known(self, context: Context, source: Node) -> dict[str, str]:
        """Return the outputs whose columns are numbers; problems for the others."""
        found = {}
        for new, old in super().known(context, source).items():
            dtype = source.schema[old]
            if dtype != UNKNOWN and not (is_number(dtype) or is_decimal(dtype)):
                message = coded("GE1880", f"{self.verb} takes numbers, and '{old}' is {type_name(dtype)}")
                context.problem(message, "Cast it in a step before.", self.at(old))
            else:
                found[new] = old
        return found

    def at(self, name: str) -> object:
        """Return where a column is named."""
        return next(old for old in self.columns.values() if old == name)

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Return the aggregates that it needs of a column, by short names."""
        raise NotImplementedError

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return the new value, of the column and the aggregates."""
        raise NotImplementedError

    def statistics(self, context: Context, source: Node) -> dict[str, Node]:
        """Compute the numbers of all columns in one row."""
        columns = {
            number_name(name, old): aggregate
            for old in dict.fromkeys(self.known(context, source).values())
            for name, aggregate in self.numbers_of(col(old)).items()
        }
        return {NUMBERS: aggregated(context, source, (), columns)} if columns else {}

    def applied(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Compute the new values beside the one row of numbers."""
        outputs = self.known(context, source)
        if not outputs:
            return source
        numbers = statistics.get(NUMBERS)
        if numbers is None:
            return computed(context, source, {new: self.value_of(col(old), {}) for new, old in outputs.items()})
        own = {name: f":{name}" for name in numbers.schema}
        beside = Join(Text(NUMBERS), None, "cross").build(
            reading(context, {NUMBERS: renamed(context, numbers, own)}), source
        )
        values = {
            new: self.value_of(col(old), {name: col(own[number_name(name, old)]) for name in self.numbers_of(col(old))})
            for new, old in outputs.items()
        }
        return dropped(context, computed(context, beside, values), own.values())


def number_name(name: str, column: str) -> str:
    """Return the name of a column's number in the relation of numbers."""
    return f"{column}.{name}"


def formula(value: Expression) -> Formula:
    """Return an expression as the keys of steps have it."""
    return Formula(value.syntax)


def formulas(columns: Mapping[str, Expression]) -> dict[str, Formula]:
    """Return expressions by column as the keys of steps have them."""
    return {name: formula(value) for name, value in columns.items()}


def reading(context: Context, relations: Mapping[str, Node]) -> Context:
    """Return the context of a step that reads relations which no stage has."""
    return replace(context, relation=relations.__getitem__)


def aggregated(context: Context, source: Node, by: Sequence[str], columns: Mapping[str, Expression]) -> Node:
    """Aggregate."""
    return Aggregate(formulas(columns), plain_keys(by)).build(context, source)


def computed(context: Context, source: Node, columns: Mapping[str, Expression]) -> Node:
    """Add or replace columns."""
    return WithColumns(formulas(columns)).build(context, source)


def selected(context: Context, source: Node, columns: Mapping[str, Expression]) -> Node:
    """Keep these columns alone."""
    return Select(formulas(columns)).build(context, source)


def renamed(context: Context, source: Node, names: Mapping[str, str]) -> Node:
    """Give columns new names, by their old ones, and keep no other."""
    return Select({new: Formula(Name(old)) for old, new in names.items()}).build(context, source)


def dropped(context: Context, source: Node, names: Iterable[str]) -> Node:
    """Leave columns out."""
    return Drop(tuple(names)).build(context, source)
