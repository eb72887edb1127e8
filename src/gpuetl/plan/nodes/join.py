"""Join: rows of two inputs with equal keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from gpuetl.plan.node import Locality, Node
from gpuetl.plan.schema import Schema

How = Literal["inner", "left"]
Validate = Literal["one_to_one", "many_to_one", "one_to_many", "many_to_many"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Join(Node):
    """Join on pairs of columns of one type each.

    The output has the left columns, then the right ones without the keys; no name stands in both.  Null keys match
    nothing unless `nulls_equal`; NaN equals NaN, and -0.0 equals 0.0.  Row order is not promised.
    """

    left: Node
    right: Node
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    how: How = "inner"
    validate: Validate = "many_to_many"
    nulls_equal: bool = False
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the left columns, then the right payload."""
        left, right = schemas
        payload = {name: dtype for name, dtype in right.items() if name not in self.right_on}
        return Schema({**left, **payload}, left.open or right.open)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return each side's wanted columns and keys."""
        left, right = (frozenset(node.schema) for node in self.inputs)
        return (wanted & left) | frozenset(self.left_on), (wanted & right - left) | frozenset(self.right_on)

    @property
    def keys(self) -> tuple[str, ...]:
        """The left keys, which the output keeps."""
        return self.left_on

    def describe(self) -> str:
        """Return the kind, the keys and what is checked."""
        on = ", ".join(a if a == b else f"{a} = {b}" for a, b in zip(self.left_on, self.right_on, strict=True))
        checked = f", {self.validate}" if self.validate != "many_to_many" else ""
        return f"Join {self.how} on {on}{checked}{', nulls equal' if self.nulls_equal else ''}"
