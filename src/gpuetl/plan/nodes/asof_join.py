"""As-of join: each left row with the right row of equal keys that is nearest in an order, before or after it."""

from __future__ import annotations

from typing import ClassVar, Literal

from gpuetl.plan.node import Locality, Node, SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, common_type
from gpuetl.types.schema import Schema

AsofHow = Literal["inner", "left"]
Direction = Literal["backward", "forward", "nearest"]


@dataclass(frozen=True, eq=False, kw_only=True)
class AsofJoin(Node):
    """Pair each left row with one right row of equal keys: the nearest one by the columns `left_asof`, `right_asof`.

    `backward` looks at right rows that are not after the left row, `forward` at those that are not before it, and
    `nearest` at both.  `strict` excludes equal values.  `tolerance` is the largest distance, in the integers that hold
    values of the common type: microseconds, days, units of a decimal's last digit; a float for floats.

    Null and NaN in these columns match nothing.  Infinities match as other values do; two equal ones have the distance
    0.  Right rows that tie stand in the order of `order_by`, and in the input's.  Backward takes the last row of a tie,
    forward the first.  Nearest takes the last of all rows at the least distance.  Keys compare as those of `Join`.

    The output has the left columns, then the right ones without the keys, and without the order's column where it has
    the left one's name.  Row order is not promised.
    """

    left: Node
    right: Node
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    left_asof: str
    right_asof: str
    how: AsofHow = "inner"
    direction: Direction = "backward"
    strict: bool = False
    tolerance: int | float | None = None
    order_by: tuple[SortKey, ...] = ()
    unique_right: bool = False
    nulls_equal: bool = False
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the left columns, then the right payload."""
        left, right = schemas
        matched = {*self.right_on, *({self.right_asof} & {self.left_asof})}
        payload = {name: dtype for name, dtype in right.items() if name not in matched}
        return Schema({**left, **payload}, left.open or right.open)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return each side's wanted columns, its keys and its order."""
        left, right = (frozenset(node.schema) for node in self.inputs)
        order = {self.right_asof, *(key.column for key in self.order_by)}
        ours = (wanted & left) | {*self.left_on, self.left_asof}
        return ours, (wanted & right - left) | order | frozenset(self.right_on)

    @property
    def keys(self) -> tuple[str, ...]:
        """The left keys, which the output keeps."""
        return self.left_on

    @property
    def payload(self) -> tuple[str, ...]:
        """The columns that come from the right side."""
        return tuple(name for name in self.schema if name not in self.left.schema)

    @property
    def order_type(self) -> DataType:
        """The type in which the columns of the order meet."""
        dtype = common_type(self.left.schema[self.left_asof], self.right.schema[self.right_asof])
        assert dtype is not None
        return dtype

    @property
    def right_order(self) -> tuple[SortKey, ...]:
        """The order in which right rows of equal keys stand."""
        return SortKey(self.right_asof), *self.order_by

    def describe(self) -> str:
        """Return the kind, the keys, the order and its options."""
        pairs = [*zip(self.left_on, self.right_on, strict=True), (self.left_asof, self.right_asof)]
        *on, order = (a if a == b else f"{a} = {b}" for a, b in pairs)
        parts = [
            f"As-of join {self.how}{' on ' * bool(on)}{', '.join(on)}",
            f"{self.direction}{' strict' * self.strict} by {order}",
            "" if self.tolerance is None else f"tolerance {self.tolerance}",
            f"ties by {', '.join(map(str, self.order_by))}" if self.order_by else "",
            "many_to_one" if self.unique_right else "",
            "nulls equal" if self.nulls_equal else "",
        ]
        return ", ".join(filter(None, parts))
