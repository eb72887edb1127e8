"""`asof` of a join: rows that go together because one is the nearest before or after the other.

- join: {with: quotes, on: symbol, asof: ts}
- join: {with: quotes, on: symbol, how: left, asof: {left: ts, right: quoted_at, tolerance: 5 seconds}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple, TypedDict, cast

import pyarrow as pa

from gpuetl.errors import Problems
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.ir import Expr
from gpuetl.expressions.operands import OrderBy
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes.asof_join import AsofHow, Direction
from gpuetl.records import dataclass
from gpuetl.spec.distances import read_distance, write_distance
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field, key, keys_of, read_keys, write_keys
from gpuetl.spec.forms import BOOLEAN, NAME, ORDER, choice, read_name
from gpuetl.spec.steps.order import order_of
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import BadValue, BadValues, KeyPlace, Order, node_of
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import DATE, UNKNOWN, DataType, common_type, is_floating, is_integer, type_name
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal
from gpuetl.types.schema import Schema

Tolerance = timedelta | int | Decimal
DIRECTIONS = ("backward", "forward", "nearest")
KINDS_OF_ASOF = ("inner", "left")
MOST_DISTANCE: int = 2 * 10**MAX_DIGITS
"""Two decimals of 38 digits are no further apart."""


class AsofKeys(TypedDict, total=False):
    """`asof` of a join, in Python."""

    on: str | Expression
    left: str | Expression
    right: str | Expression
    direction: Direction
    tolerance: timedelta | int | float | Decimal | str
    strict: bool
    order_by: OrderBy


# How the key is read and written.


def read_tolerance(node: TextNode) -> Tolerance:
    """Read an interval, such as `5 seconds` or `interval '5 seconds'`, or a number, with all of its digits."""
    hint = "Write 5 seconds for times, 1 day for dates, or a number for numbers."
    found = read_distance(node, hint, months=False)
    assert not isinstance(found, CalendarInterval)
    if (found.total_seconds() if isinstance(found, timedelta) else found) < 0:
        raise BadValue(coded("GE1008", "must not be negative"), node, "The tolerance is a distance: 0 or more.")
    return found


TOLERANCE: Field[Tolerance | None] = Field(
    "an interval or a number", read_tolerance, write_distance, schema={"type": ["string", "number"]}  # type: ignore[arg-type]
)  # fmt: skip


@dataclass(frozen=True)
class AsofSpec:
    """Which right row is the nearest one to a left row."""

    left: str = key(NAME, doc="the column or expression of the left side that is compared: a time, a date or a number")
    right: str = key(NAME, doc="the column or expression of the right side")
    direction: Direction = key(
        choice(*DIRECTIONS), "backward", doc="take the last right row before, the first one after, or the nearest"
    )
    tolerance: Tolerance | None = key(TOLERANCE, None, doc="the largest distance of a match, such as `5 seconds`")
    strict: bool = key(BOOLEAN, False, doc="equal values do not match")
    order_by: tuple[Order, ...] = key(ORDER, (), doc="the order of right rows whose keys and times are equal")


def read_asof(node: TextNode) -> AsofSpec:
    """Read a column that both sides have, or a map; `on` in the map is such a column."""
    if not isinstance(node.value, dict):
        name = read_name(node)
        return AsofSpec(name, name)
    if "on" in node.value:
        for other in ("left", "right"):
            if other in node.value:
                message = coded("GE1802", f"{other} does not go together with on")
                raise BadValue(message, KeyPlace(node.keys[other]), "Write on, or left and right.")
        values, keys = dict(node.value), dict(node.keys)
        values["left"] = values["right"] = values.pop("on")
        keys["left"] = keys["right"] = keys.pop("on")
        node = TextNode(values, node.document, node.line, node.column, node.width, keys=keys)
    problems = Problems()
    found = read_keys(AsofSpec, node, problems, "")
    if found is None:
        wrong = ((one.message, KeyPlace(one.place) if one.place else node, one.hint) for one in problems.found)
        raise BadValues([BadValue(*one) for one in dict.fromkeys(wrong)])
    return found


def write_asof(spec: AsofSpec) -> Any:
    """Write the column where nothing else is given, else the map."""
    keys = write_keys(spec)
    if spec.left == spec.right:
        name = keys.pop("left")
        del keys["right"]
        return {"on": name, **keys} if keys else name
    return keys


def asof_schema() -> dict[str, Any]:
    """Return the JSON Schema of the key."""

    def shown(metadata: Mapping[str, Any]) -> dict[str, Any]:
        doc = metadata["doc"]
        return {"description": f"{doc[0].upper()}{doc[1:]}.", **(metadata["form"].schema or {})}

    on = {"description": "The column that is compared, if both sides have it.", **(NAME.schema or {})}
    properties = {"on": on, **{name: shown(field.metadata) for name, field in keys_of(AsofSpec).items()}}
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"anyOf": [dict(NAME.schema or {}), closed]}


ASOF: Field[AsofSpec | None] = Field(
    "a column of both sides, or a map of left, right, direction, tolerance, strict and order_by",
    read_asof,
    write_asof,  # type: ignore[arg-type]
    schema=asof_schema(),
)


# How the step is bound.


class AsofColumns(NamedTuple):
    """The columns that an as-of join compares and orders rows by, of which some hold the values of expressions.

    `left` and `right` are None where the key is wrong.
    """

    left: str | None
    right: str | None
    order_by: tuple[SortKey, ...]
    left_computed: Mapping[str, Expr]
    right_computed: Mapping[str, Expr]

    @property
    def computed(self) -> frozenset[str]:
        """The columns that hold the values of expressions."""
        return frozenset((*self.left_computed, *self.right_computed))


def asof_columns(context: Context, asof: AsofSpec, left: Schema, right: Schema, of: str) -> AsofColumns:
    """Return the columns of an as-of join of two sides; the right one is called `of`."""
    ours, left_computed = order_of(context, [key_of(asof.left)], left, taken=right)
    taken = {*left, *left_computed}
    theirs, right_computed = order_of(context, [key_of(asof.right)], right, of, taken)
    order, more = order_of(context, asof.order_by, right, taken=taken | right_computed.keys(), nested=True)
    left_asof, right_asof = (keys[0].column if keys else None for keys in (ours, theirs))
    return AsofColumns(left_asof, right_asof, order, left_computed, {**right_computed, **more})


def key_of(name: str) -> Order:
    """Return a column, or an expression, as a key of an order."""
    return Order(str(name), node=node_of(name))


@dataclass(frozen=True)
class AsofSides:
    """The sides of an as-of join, with the names that their columns have there.

    `renamed` are the names of right columns that got a suffix, by the names that they had.
    """

    left: Node
    right: Node
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    renamed: Mapping[str, str]


def check_kind(context: Context, asof: AsofSpec, how: str, validate: str) -> bool:
    """Tell of kinds and checks that an as-of join does not have; return whether it has these."""
    fine = how in KINDS_OF_ASOF
    if not fine:
        message = coded("GE1800", f"an as-of join is inner or left, not {how}")
        hint = "Choose how: left, and filter its rows: those without a match have null in the right columns."
        context.problem(message, hint, asof.left)
    if validate in ("one_to_one", "one_to_many"):
        message = coded("GE1800", f"an as-of join cannot be {validate}: several left rows may have one nearest row")
        context.problem(
            message, "Choose validate: many_to_one, which checks the right side, or leave it out.", asof.left
        )
        fine = False
    return fine


def asof_join(
    context: Context, asof: AsofSpec, columns: AsofColumns, sides: AsofSides, how: str, validate: str, nulls_equal: bool
) -> Node | None:
    """Return the node; None, with the problems reported, where a column is wrong."""
    if columns.left is None or columns.right is None:
        return None
    left_asof, right_asof = columns.left, sides.renamed.get(columns.right, columns.right)
    left_schema, right_schema = sides.left.schema, sides.right.schema
    if left_asof not in left_schema or right_asof not in right_schema:
        return None
    left_type, right_type = left_schema[left_asof], right_schema[right_asof]
    if not check_types(context, asof, left_type, right_type):
        return None
    tolerance = None
    if asof.tolerance is not None and UNKNOWN not in (left_type, right_type):
        dtype = common_type(left_type, right_type)
        assert dtype is not None
        tolerance = stored_tolerance(asof.tolerance, dtype)
        if tolerance is None:
            report_tolerance(context, asof, left_type)
            return None
    order = tuple(replace(one, column=sides.renamed.get(one.column, one.column)) for one in columns.order_by)
    return nodes.AsofJoin(
        left=sides.left, right=sides.right, left_on=sides.left_on, right_on=sides.right_on,
        left_asof=left_asof, right_asof=right_asof, how=cast("AsofHow", how), direction=asof.direction,
        strict=asof.strict, tolerance=tolerance, order_by=order,
        unique_right=validate == "many_to_one", nulls_equal=nulls_equal, origin=context.origin,
    )  # fmt: skip


def check_types(context: Context, asof: AsofSpec, left: DataType, right: DataType) -> bool:
    """Tell of columns that are not compared by distance, or not with each other; return whether they are."""
    for name, dtype in ((asof.left, left), (asof.right, right)):
        if dtype != UNKNOWN and not has_distance(dtype):
            message = coded("GE1801", f"asof: '{name}' is {type_name(dtype)}")
            context.problem(message, "Take a column of timestamps, dates, times, durations or numbers.", name)
            return False
    if not can_meet(left, right):
        types = f"asof: cannot compare '{asof.left}' ({type_name(left)}) with '{asof.right}' ({type_name(right)})"
        context.problem(coded("GE1801", types), "Cast one of them first.", asof.left)
        return False
    return True


def has_distance(dtype: DataType) -> bool:
    """Return whether values of a type have an order and a distance."""
    return bool(is_integer(dtype) or is_floating(dtype) or is_decimal(dtype) or pa.types.is_temporal(dtype))


def can_meet(left: DataType, right: DataType) -> bool:
    """Return whether two types are compared: one type, integers or floats of two widths, decimals of one scale."""
    if left == right or UNKNOWN in (left, right):
        return True
    decimals = is_decimal(left) and is_decimal(right) and left.scale == right.scale
    numbers = (is_integer(left) and is_integer(right)) or (is_floating(left) and is_floating(right))
    return bool(decimals or numbers) and common_type(left, right) is not None


def stored_tolerance(tolerance: Tolerance, dtype: DataType) -> int | float | None:
    """Return a tolerance as a distance of two values as they are stored; None where it does not suit their type.

    Values with fewer digits than the tolerance have no distance between the two, so that it is rounded down.
    """
    if pa.types.is_temporal(dtype):
        if not isinstance(tolerance, timedelta) or (dtype == DATE and tolerance % timedelta(days=1)):
            return None
        if dtype == DATE:
            return tolerance // timedelta(days=1)
        return tolerance // timedelta(microseconds=1) * (1000 if str(dtype.unit) == "ns" else 1)
    if isinstance(tolerance, timedelta):
        return None
    if is_floating(dtype):
        return float(tolerance)
    if tolerance >= 10**MAX_DIGITS:
        return MOST_DISTANCE
    units: int = 10 ** (dtype.scale if is_decimal(dtype) else 0)
    return min(floor(Fraction(tolerance) * units), MOST_DISTANCE)


def report_tolerance(context: Context, asof: AsofSpec, dtype: DataType) -> None:
    """Say what the tolerance must be for a type."""
    days = " of whole days" if dtype == DATE else ""
    kind = f"an interval{days}, such as {'1 day' if dtype == DATE else '5 seconds'}"
    wanted = kind if pa.types.is_temporal(dtype) else "a number"
    shown = write_distance(asof.tolerance) if asof.tolerance is not None else ""
    message = coded("GE1802", f"asof: tolerance {shown} does not suit '{asof.left}', which is {type_name(dtype)}")
    context.problem(message, f"Write {wanted}.", asof.left)
