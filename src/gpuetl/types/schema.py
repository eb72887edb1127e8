"""The columns of a relation: names, in order, and their types.  Known before any row is read."""

from __future__ import annotations

from collections.abc import Container, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import count
from typing import Any

import pyarrow as pa

from gpuetl.types.data_types import DataType, type_name


def free_name(stem: str, *used_names: Container[str]) -> str:
    """Return the stem with the first number after it that makes a name which none of `used_names` has."""
    for number in count():
        name = f"{stem}{number}"
        if not any(name in names for names in used_names):
            return name
    raise AssertionError


class Schema(Mapping[str, DataType]):
    """An immutable, ordered mapping of column names to types.

    An `open` schema stands behind a step that is wrong: it may have any further column, so that one mistake is
    told once and not by every step that follows.
    """

    __slots__ = ("_columns", "open")

    def __init__(
        self, columns: Mapping[str, DataType] | Iterable[tuple[str, DataType]] = (), open: bool = False
    ) -> None:
        self._columns = dict(columns)
        self.open = open

    def __getitem__(self, name: str) -> DataType:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def keys(self) -> KeysView[str]:
        """Return the names; this and the next two save what the same of `Mapping` takes, many times a run."""
        return self._columns.keys()

    def values(self) -> ValuesView[DataType]:
        """Return the types."""
        return self._columns.values()

    def items(self) -> ItemsView[str, DataType]:
        """Return names with types."""
        return self._columns.items()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{name}: {type_name(dtype)}' for name, dtype in self.items())})"

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._columns)

    def select(self, names: Iterable[str]) -> Schema:
        """Keep the named columns, in the order given."""
        columns = self._columns
        return Schema({name: columns[name] for name in names if name in columns}, self.open)

    def updated(self, columns: Mapping[str, DataType]) -> Schema:
        """Replace columns in place, and append those that are new."""
        return Schema({**self._columns, **columns}, self.open)

    def to_arrow(self) -> pa.Schema:
        """Return the Arrow schema; every field is nullable."""
        return pa.schema(list(self.items()))

    @classmethod
    def of_arrow(cls, schema: Any) -> Schema:
        """Return the schema of an Arrow schema."""
        return cls((field.name, field.type) for field in schema)
