"""The join step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, cast

from gpuetl.errors import have_hint, listing
from gpuetl.expressions.coercion import coerce
from gpuetl.expressions.ir import Column, Expr
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.plan.nodes.condition_join import exchanged
from gpuetl.plan.nodes.join import MIRRORED, How, Validate
from gpuetl.records import dataclass
from gpuetl.spec.fields import Field, key
from gpuetl.spec.forms import BOOLEAN, EXPRESSION, NAME, choice, some
from gpuetl.spec.steps.asof import ASOF, AsofSides, AsofSpec, asof_columns, asof_join, check_kind
from gpuetl.spec.steps.join_condition import Sides, join_condition, with_names
from gpuetl.spec.steps.join_keys import KeyText, meeting_type, read_pairs, with_computed_keys, write_pairs
from gpuetl.spec.steps.order import with_computed, without_computed
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.values import Formula
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import DataType, type_name
from gpuetl.types.schema import Schema

KINDS = ("inner", "left", "right", "full", "semi", "anti", "cross")
KEYLESS = "how: cross pairs every row with every row"


PAIRS = some(
    Field(
        "a column, a list of columns, a map of left columns to right ones, or equalities such as `lower(name) = code`",
        read_pairs,
        write_pairs,
        schema={
            "type": ["string", "array", "object"],
            "items": {"type": ["string", "object"]},
            "additionalProperties": {"type": "string"},
        },
    )
)


class KeyPair(NamedTuple):
    """A left key, its right one, and the type in which they meet."""

    left: str
    right: str
    dtype: DataType


@dataclass(frozen=True)
class Join(Step):
    """Join with another stage or source: `join: {with: users, on: user_id, how: left, validate: many_to_one}`.

    A left row that matches several right rows is repeated for each of them. `validate: many_to_one` makes that an
    error. Without it, the report notes a left join that gives more rows than it gets. A null key matches nothing,
    unless `nulls_equal: true`.

    The result has the left columns, then the right columns without their keys. `on: {left_name: right_name}` joins
    keys of different names, and `on: lower(name) = code`, or `on: [{left: lower(name), right: code}]`, joins by
    expressions: the first over the left columns, the second over the right ones. Columns that such keys read stay in
    the result, on both sides. A key that is a column stays once, with the left name: `how: right` gives it the right
    value, and `how: full` the one that there is. `how` says which rows the result has:

    - `inner`: pairs of rows with equal keys
    - `left`, `right`, `full`: also rows of the left side, of the right side, or of both, that have no match
    - `semi`, `anti`: left rows that have a match, or have none; no column is added
    - `cross`: every pair of rows, without `on`

    `condition` says what else must hold of a pair, with or without keys: `join: {with: prices, on: item, condition:
    l.day >= r.begins and l.day < r.ends}`. `l.` and `r.` are the left and the right side. You can leave them out for a
    name that only one side has. A row without such a pair has no match. Without keys, a comparison of a left with a
    right number, date, timestamp or duration finds the pairs in sorted rows. Other conditions are computed for every
    pair. Each partition of the left side meets the whole right side then, so put the smaller input on the right:
    `gpuetl plan` says how much memory that takes.

    `asof: ts` takes for each left row one right row: the last one that is not after it. See
    [as-of joins](#as-of-joins).
    """

    verb: ClassVar[str] = "join"
    with_: str = key(NAME, name="with", doc="the stage or source on the right")
    on: Mapping[str, str] | None = key(PAIRS, None, doc="the key columns, or left columns with their right ones")
    how: str = key(choice(*KINDS), "inner", doc="which rows of either side stay")
    validate: str = key(
        choice("one_to_one", "many_to_one", "one_to_many", "many_to_many"),
        "many_to_many",
        doc="what to check of the keys: `many_to_one` means that the right side has each key once",
    )
    suffix: str = key(NAME, "", doc="what is added to right columns whose names the left side has, too")
    nulls_equal: bool = key(BOOLEAN, False, doc="null keys match each other")
    asof: AsofSpec | None = key(
        ASOF, None, doc="match the nearest right row by these columns, and not each of equal keys"
    )
    condition: Formula | None = key(
        EXPRESSION, None, doc="what else must hold of a pair of rows: an SQL condition with `l.name` and `r.name`"
    )

    @property
    def reads(self) -> tuple[str, ...]:
        """The right side."""
        return (self.with_,)

    def build(self, context: Context, source: Node) -> Node:
        """Join on the keys; the right side's columns that the left has too get the suffix."""
        right = context.relation(self.with_)
        if self.asof is None:
            self.check_validate(context)
        if not self.check_on(context):
            return Unknown(source=source, columns={})
        if not any(isinstance(key, KeyText) for key in self.on or ()):
            return self.build_by_name(context, source, right)
        keyed = with_computed_keys(context, self.on or {}, source, right)
        joined = replace(self, on=keyed.on).build_by_name(context, keyed.left, keyed.right)
        kept = joined.schema.select(name for name in joined.schema if name not in keyed.added)
        return nodes.Project(source=joined, columns=nodes.passing(kept), origin=context.origin)

    def build_by_name(self, context: Context, source: Node, right: Node) -> Node:
        """Join on keys that are columns."""
        if self.asof is not None:
            return self.build_asof(context, source, right, self.asof)
        pairs = self.key_pairs(context, source, right)
        names = {name: name for name in right.schema}  # of the right columns, and what they are called in the plan
        if self.how not in ("semi", "anti"):
            names = self.new_names(source, right)
            right = self.renamed(context, source, right)
        if self.how in ("right", "full"):
            keys = {pair.right: pair.left if self.how == "right" else pair.right for pair in pairs}
            source = with_keys(source, {pair.left: (pair.left, pair.dtype) for pair in pairs}, context.origin)
            right = with_keys(right, {pair.right: (keys[pair.right], pair.dtype) for pair in pairs}, context.origin)
            names = {name: keys.get(name, new) for name, new in names.items()}
        condition = self.typed_condition(context, source, right, names) if self.condition else None
        if self.how == "right":
            return self.mirrored(context, source, right, pairs, condition)
        return self.joined(
            condition, left=source, right=right, left_on=tuple(pair.left for pair in pairs),
            right_on=tuple(pair.right for pair in pairs), how=cast("How", self.how),
            validate=cast("Validate", self.validate), nulls_equal=self.nulls_equal, origin=context.origin,
        )  # fmt: skip

    def joined(self, condition: Expr | None, **parts: Any) -> Node:
        """Return the join of two sides, with its condition if it has one."""
        return nodes.Join(**parts) if condition is None else nodes.ConditionJoin(condition=condition, **parts)

    def typed_condition(self, context: Context, left: Node, right: Node, names: Mapping[str, str]) -> Expr:
        """Return the condition over the columns that the sides have in the plan."""
        assert self.condition is not None
        types = {name: right.schema[new] for name, new in names.items() if new in right.schema}
        shared = frozenset(a for a, b in (self.on or {}).items() if a == b)
        sides = Sides(left.schema, Schema(types, right.schema.open), self.suffix, shared)
        condition = join_condition(context, self.condition, sides)
        return with_names(condition, {name: Column(names[name], dtype) for name, dtype in types.items()})

    def build_asof(self, context: Context, source: Node, right: Node, asof: AsofSpec) -> Node:
        """Join with the nearest right row; the right column that is compared stays if it has a name of its own."""
        fine = check_kind(context, asof, self.how, self.validate)
        pairs = self.key_pairs(context, source, right)
        columns = asof_columns(context, asof, source.schema, right.schema, of=str(self.with_))
        source = with_computed(context, source, columns.left_computed)
        right = with_computed(context, right, columns.right_computed)
        matched = {columns.right} if columns.right and columns.right == columns.left else set()
        renamed = self.renamed(context, source, right, matched)
        suffixed = {old: new for old, new in self.suffixed(source, right, matched).items() if new in renamed.schema}
        sides = AsofSides(
            source, renamed, tuple(pair.left for pair in pairs), tuple(pair.right for pair in pairs), suffixed
        )
        joined = asof_join(context, asof, columns, sides, self.how, self.validate, self.nulls_equal) if fine else None
        return without_computed(context, joined, columns.computed) if joined else Unknown(source=source, columns={})

    def mirrored(
        self, context: Context, source: Node, right: Node, pairs: Sequence[KeyPair], condition: Expr | None
    ) -> Node:
        """Return a right join: a left one with its sides exchanged, then its columns in the order of a join's.

        The right side's keys have the left ones' names, which none of its other columns has, and both sides' keys
        their common type: an integer does not have the hash of the decimal that equals it.
        """
        on = tuple(pair.left for pair in pairs)
        more = {} if condition is None else {"mirrored": True}
        joined = self.joined(
            condition and exchanged(condition), left=right, right=source, left_on=on, right_on=on, how="left",
            validate=cast("Validate", MIRRORED.get(self.validate, self.validate)), nulls_equal=self.nulls_equal,
            mirrored_on=tuple(pair.right for pair in pairs), origin=context.origin, **more,
        )  # fmt: skip
        keys = frozenset(on)
        names = [*source.schema, *(name for name in right.schema if name not in keys)]
        return nodes.Project(source=joined, columns=nodes.passing(joined.schema.select(names)), origin=context.origin)

    def check_on(self, context: Context) -> bool:
        """Return whether there are keys or a condition, or neither for a cross join; report what is wrong."""
        if self.asof is not None:
            if self.condition is not None:
                message = coded("GE1201", "an as-of join takes no condition")
                context.problem(message, "Filter the rows in a step after it.", self.condition)
            return self.condition is None
        if self.how == "cross" and self.condition is not None:
            message = coded("GE1201", f"{KEYLESS}, and takes no condition")
            context.problem(message, "Choose how: inner.", self.condition)
            return False
        if self.how == "cross" or (self.on is None and self.condition is None):
            if (self.on is None) != (self.how == "cross"):
                self.explain_on(context)
                return False
        elif self.on is None and (self.nulls_equal or self.validate != "many_to_many"):
            what = "validate" if self.validate != "many_to_many" else "nulls_equal"
            message = coded("GE1201", f"a join without keys has nothing for {what}")
            context.problem(message, "Leave it out, or name keys with on.", self.with_)
        return True

    def explain_on(self, context: Context) -> None:
        """Tell of keys that are missing, or given to a join that has none."""
        if self.on is None:
            hint = f"It takes {PAIRS.what}.  Only how: cross, or a condition, goes without."
            context.problem(coded("GE1201", "the key 'on' is missing"), hint, self.with_)
        else:
            context.problem(
                coded("GE1201", f"{KEYLESS}, and takes no 'on'"),
                "Leave it out, or choose how: inner.",
                next(iter(self.on)),
            )

    def check_validate(self, context: Context) -> None:
        """Tell of checks and comparisons of keys that mean nothing to this kind of join."""
        if self.how in ("semi", "anti", "cross") and self.validate != "many_to_many":
            why = KEYLESS if self.how == "cross" else f"how: {self.how} gives a left row at most once, whatever repeats"
            context.problem(coded("GE1202", f"{why}: there is nothing to validate"), "Leave validate out.", self.with_)
        if self.how == "cross" and self.nulls_equal:
            context.problem(
                coded("GE1201", f"{KEYLESS}: there are no keys for nulls_equal"), "Leave it out.", self.with_
            )

    def key_pairs(self, context: Context, left: Node, right: Node) -> list[KeyPair]:
        """Return the keys that both sides have; each pair must have one type, or be integers of any width."""
        on = self.on or {}
        left_on, right_on = map(frozenset, self.known_keys(context, left.schema, right.schema))
        pairs = []
        for a, b in on.items():
            if a in left_on and b in right_on:
                dtype = meeting_type(left.schema[a], right.schema[b])
                if dtype is None:
                    types = type_name(left.schema[a]), type_name(right.schema[b])
                    message = coded("GE1201", f"cannot join '{a}' ({types[0]}) with '{b}' ({types[1]})")
                    context.problem(message, "Cast one of them first.", a)
                pairs.append(KeyPair(str(a), str(b), dtype or left.schema[a]))
        return pairs

    def known_keys(self, context: Context, left: Schema, right: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the keys that are columns, of the left side and of the right; one that neither has is told once."""
        on = self.on or {}
        for name in (n for n, other in on.items() if n == other and not (left.open or right.open)):
            if name not in left and name not in right:
                hint = have_hint(name, left.keys() & right.keys(), noun="Columns of both sides")
                context.problem(coded("GE1003", f"unknown column '{name}'"), hint, name)
        unknown = {n for n, other in on.items() if n == other and n not in left and n not in right}
        left_on = context.keys((name for name in on if name not in unknown), left, nested=True)
        keys = (name for name in on.values() if name not in unknown)
        return left_on, context.keys(keys, right, of=str(self.with_), nested=True)

    def new_names(self, left: Node, right: Node) -> dict[str, str]:
        """Return the right columns, and what they are called in the result."""
        return {**{name: name for name in right.schema}, **self.suffixed(left, right, ())}

    def suffixed(self, left: Node, right: Node, matched: Collection[str]) -> dict[str, str]:
        """Return the right columns that the left side has too, but for the keys and `matched`, with their new names."""
        keys = {*(self.on or {}).values(), *matched}
        return {name: name + self.suffix for name in right.schema if name not in keys and name in left.schema}

    def renamed(self, context: Context, left: Node, right: Node, matched: Collection[str] = ()) -> Node:
        """Return the right side with its columns renamed that the left side has too; `matched` stay, as keys do."""
        keys = frozenset([*(self.on or {}).values(), *matched])
        if any(name not in right.schema for name in keys):  # the key may be one of those
            left_columns = left.schema.keys()
            kept = right.schema.select(name for name in right.schema if name not in left_columns)
            return nodes.Project(source=right, columns=nodes.passing(kept), origin=context.origin)
        both = self.suffixed(left, right, matched)
        if not both:
            return right
        if not self.suffix:
            message = coded("GE1023", f"both sides have {listing([*both])}")
            context.problem(message, f"Set suffix: _{self.with_}, or drop or rename them in one side.", self.with_)
            return nodes.Project(
                source=right, columns=nodes.passing(right.schema.select(n for n in right.schema if n not in both))
            )
        columns: dict[str, Expr] = {}
        for name, dtype in right.schema.items():
            new = name + self.suffix if name in both else name
            if new in columns or (name in both and new in left.schema):
                context.problem(
                    coded("GE1023", f"the suffix gives two columns the name '{new}'"),
                    "Choose another suffix.",
                    self.suffix,
                )
            columns[new] = Column(name, dtype)
        return nodes.Project(source=right, columns=columns, origin=context.origin)


def with_keys(side: Node, keys: Mapping[str, tuple[str, DataType]], origin: Origin) -> Node:
    """Return a side whose keys have other names and wider types; itself where they have them already."""
    if all(name == new and side.schema[name] == dtype for name, (new, dtype) in keys.items()):
        return side
    columns: dict[str, Expr] = {}
    for name, dtype in side.schema.items():
        new, wanted = keys.get(name, (name, dtype))
        columns[new] = coerce(Column(name, dtype), wanted)
    return nodes.Project(source=side, columns=columns, origin=origin)
