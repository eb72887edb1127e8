"""Join: rows of two inputs with equal keys, or each of one with each of the other."""

from __future__ import annotations

from typing import ClassVar, Literal

from gpuetl.plan.node import Locality, Node
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema

How = Literal["inner", "left", "full", "semi", "anti", "cross"]
Validate = Literal["one_to_one", "many_to_one", "one_to_many", "many_to_many"]
MIRRORED: dict[str, Validate] = {"one_to_many": "many_to_one", "many_to_one": "one_to_many"}
UNIQUE: dict[Validate, tuple[bool, bool]] = {
    "one_to_one": (True, True), "many_to_one": (False, True),
    "one_to_many": (True, False), "many_to_many": (False, False),
}  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class Join(Node):
    """Join on pairs of columns of one type each; integers of any width meet.

    The output has the left columns, then the right ones without the keys; no name stands in both.  A semi or anti join
    keeps the left rows with or without a match, each once, and has the left columns alone.  The keys of a full join
    have equal types; a row of the right side alone has its keys in the columns of the left ones.  A cross join has no
    keys.  Null keys match nothing unless `nulls_equal`; NaN equals NaN, -0.0 equals 0.0.  Row order is not promised.

    A right join is a left one with its sides exchanged, below a projection that puts its columns in order.
    `mirrored_on` has what the user calls the keys of this node's left side then, the right side of the user.
    """

    left: Node
    right: Node
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    how: How = "inner"
    validate: Validate = "many_to_many"
    nulls_equal: bool = False
    mirrored_on: tuple[str, ...] = ()
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the left columns, then the right payload."""
        left, right = schemas
        if self.how in ("semi", "anti"):
            return Schema(left, left.open or right.open)
        keys = frozenset(self.right_on)
        payload = {name: dtype for name, dtype in right.items() if name not in keys}
        return Schema({**left, **payload}, left.open or right.open)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return each side's wanted columns and keys."""
        left, right = (frozenset(node.schema) for node in self.inputs)
        return (wanted & left) | frozenset(self.left_on), (wanted & right - left) | frozenset(self.right_on)

    @property
    def keys(self) -> tuple[str, ...]:
        """The left keys, which the output keeps."""
        return self.left_on

    @property
    def payload(self) -> tuple[str, ...]:
        """The columns that come from the right side."""
        return tuple(name for name in self.schema if name not in self.left.schema)

    @property
    def unique(self) -> tuple[bool, bool]:
        """Whether the keys of the left and of the right side are checked not to repeat."""
        return UNIQUE[self.validate]

    @property
    def is_mirrored(self) -> bool:
        """Whether this node's left side is the user's right one."""
        return bool(self.mirrored_on)

    @property
    def written_sides(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What the user calls this node's left and right side, and their keys."""
        if self.is_mirrored:
            return ("right", self.mirrored_on), ("left", self.right_on)
        return ("left", self.left_on), ("right", self.right_on)

    @property
    def written_validate(self) -> str:
        """The check as the user wrote it."""
        return MIRRORED.get(self.validate, self.validate) if self.is_mirrored else self.validate

    def describe(self) -> str:
        """Return the kind, the keys and what is checked, as the user wrote them."""
        sides = dict(self.written_sides)
        pairs = zip(sides["left"], sides["right"], strict=True)
        on = ", ".join(a if a == b else f"{a} = {b}" for a, b in pairs)
        how = "right" if self.is_mirrored else self.how
        checked = f", {self.written_validate}" if self.validate != "many_to_many" else ""
        return f"Join {how}{on and f' on {on}'}{checked}{', nulls equal' if self.nulls_equal else ''}"
