"""The base of all logical nodes: what a stage of a pipeline does, as data.  No engine code."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from operator import is_
from typing import Any, ClassVar, Self

from gpuetl.expressions.ir import Expr
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.types.schema import Schema

"""What an error calls the output of a source's filter, which no column of a user's can be."""


class Locality(enum.Enum):
    """Which other rows a row of the output needs, and so how rows may be split among partitions."""

    ROW = "no other row"
    KEY = "all rows of equal keys"
    TABLE = "every row"


@dataclass(frozen=True)
class SortKey:
    """One column of an order; NaN is the greatest value, nulls come last unless `nulls_first`."""

    column: str
    descending: bool = False
    nulls_first: bool = False

    def __str__(self) -> str:
        return self.column + " desc" * self.descending + " nulls first" * self.nulls_first


KEY_PART = ":part "
"""Stands in the name of a column that is computed of a key that is a list, struct or map, after the key's name."""


def written_key(column: str) -> str:
    """Return the name by which the user knows a key."""
    return column.partition(KEY_PART)[0]


def written_keys(columns: Iterable[str]) -> list[str]:
    """Return the names by which the user knows keys, each once."""
    return list(dict.fromkeys(map(written_key, columns)))


def shown_order(keys: Iterable[SortKey]) -> str:
    """Return the columns and expressions of an order as the user knows them, a call's own by its column."""
    names = written_keys(key.column for key in keys)
    made = ((name, MADE_KEY.fullmatch(name)) for name in names)
    shown = (name if found is None else found[1] or f"ORDER BY of {found[2]}" for name, found in made)
    return ", ".join(dict.fromkeys(shown))


MADE_KEY = re.compile(r"(.+):key[0-9]+|(.+):argument[0-9]+", re.DOTALL)
"""Names of columns that hold an expression of an order: after its text, or after the column of the call."""


def written_values(columns: Iterable[str], values: Iterable[str]) -> str:
    """Return keys with their values; of one that is compared by its parts, the name alone."""
    pairs = zip(columns, values, strict=True)
    shown = (written_key(column) if KEY_PART in column else f"{column} = {value}" for column, value in pairs)
    return ", ".join(dict.fromkeys(shown))


REFUSED = ":refused"
"""Stands in the name of a column of texts, each of which says why its row is refused; a cast to a number raises it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """One operation of the plan.

    Compared by identity: plans are shared graphs, and comparing those by structure is exponential.  A field that
    is a node is an input.  Subclasses say their output schema, what they need of each input, and their locality.
    """

    origin: Origin = field(default=Origin("plan", ""))
    locality: ClassVar[Locality] = Locality.ROW

    def __post_init__(self) -> None:
        # at once, while the inputs know theirs: asked for later, a chain of a thousand nodes would recurse
        _ = self.schema, self.ordering

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that this one reads."""
        return tuple(getattr(self, name) for name in self.input_names)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The fields that have them."""
        return tuple(name for name in self.__dataclass_fields__ if isinstance(getattr(self, name), Node))

    def with_inputs(self, inputs: Sequence[Node]) -> Self:
        """Return this operation on other inputs; itself where they are the same."""
        if len(inputs) == len(self.inputs) and all(map(is_, inputs, self.inputs)):
            return self
        changed: dict[str, Any] = dict(zip(self.input_names, inputs, strict=True))
        return replace(self, **changed)

    @cached_property
    def schema(self) -> Schema:
        """The columns of the output."""
        return self.output_schema(*(node.schema for node in self.inputs))

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the columns of the output for inputs of `schemas`."""
        raise NotImplementedError

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the columns that each input must have so that the columns `wanted` of the output can be made."""
        raise NotImplementedError

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Return this operation without unused outputs; itself if it makes none of its own."""
        return self

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """The columns of the first input that are read, and those of the output that are written.

        The others are passed on as they are.  What further inputs have is read.
        """
        return self.inputs[0].schema if self.inputs else (), self.schema

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose equal values must meet in one partition, where the locality is KEY."""
        return ()

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order in which the rows leave; empty where none is promised."""
        return ()

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The expressions that the operation evaluates."""
        return ()

    def describe(self) -> str:
        """Return one line for explained plans: the operation and its arguments."""
        return type(self).__name__


@dataclass(frozen=True, eq=False, kw_only=True)
class SingleInput(Node):
    """A node with one input, `source`."""

    source: Node
