"""The join step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from gpuetl.expressions.decimals import is_decimal
from gpuetl.expressions.ir import Column, Expr
from gpuetl.expressions.types import is_integer, type_name
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.plan.nodes.join import How, Validate
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field, key
from gpuetl.spec.forms import BOOLEAN, NAME, choice, read_mapping, read_name, read_names, some
from gpuetl.spec.steps.step import Context, Step


def read_pairs(node: TextNode) -> dict[str, str]:
    """Read join keys: names that both sides have, or a map of left names to right ones."""
    if isinstance(node.value, dict):
        return dict(read_mapping(read_name)(node))
    return {name: name for name in read_names(node)}


def write_pairs(pairs: Mapping[str, str]) -> object:
    """Write names where both sides have them, else a map."""
    if all(left == right for left, right in pairs.items()):
        return str(next(iter(pairs))) if len(pairs) == 1 else [str(name) for name in pairs]
    return {str(left): str(right) for left, right in pairs.items()}


PAIRS = some(Field("a column, a list of columns, or a map of left columns to right ones", read_pairs, write_pairs))


@dataclass(frozen=True)
class Join(Step):
    """Join with another stage or source: `join: {with: users, on: user_id, how: left, validate: many_to_one}`."""

    verb: ClassVar[str] = "join"
    with_: str = key(NAME, name="with")
    on: Mapping[str, str] = key(PAIRS)
    how: str = key(choice("inner", "left"), "inner")
    validate: str = key(choice("one_to_one", "many_to_one", "one_to_many", "many_to_many"), "many_to_many")
    suffix: str = key(NAME, "")
    nulls_equal: bool = key(BOOLEAN, False)

    @property
    def reads(self) -> tuple[str, ...]:
        """The right side."""
        return (self.with_,)

    def build(self, context: Context, source: Node) -> Node:
        """Join on the keys; the right side's columns that the left has too get the suffix."""
        right = context.relation(self.with_)
        left_on = context.keys(self.on, source.schema)
        right_on = context.keys(self.on.values(), right.schema)
        if len(left_on) == len(right_on) == len(self.on) and not (source.schema.open or right.schema.open):
            self.check_types(context, source, right)
        right = self.renamed(context, source, right)
        return nodes.Join(
            left=source, right=right, left_on=left_on, right_on=right_on,
            how=cast("How", self.how), validate=cast("Validate", self.validate), nulls_equal=self.nulls_equal,
            origin=context.origin,
        )  # fmt: skip

    def check_types(self, context: Context, left: Node, right: Node) -> None:
        """Keys must have one type; integers of any width compare, and decimals of one scale."""
        for left_name, right_name in self.on.items():
            a, b = left.schema[left_name], right.schema[right_name]
            same_units = is_decimal(a) and is_decimal(b) and a.scale == b.scale
            if a != b and not same_units and not (is_integer(a) and is_integer(b)):
                message = f"cannot join '{left_name}' ({type_name(a)}) with '{right_name}' ({type_name(b)})"
                context.problem(message, "Cast one of them first.", left_name)

    def renamed(self, context: Context, left: Node, right: Node) -> Node:
        """Return the right side with its columns renamed that the left side has too."""
        payload = [name for name in right.schema if name not in self.on.values()]
        both = [name for name in payload if name in left.schema]
        if not both:
            return right
        if not self.suffix:
            message = f"both sides have {', '.join(both)}"
            context.problem(message, f"Set suffix: _{self.with_}, or drop or rename them in one side.", self.with_)
            return nodes.Project(
                source=right, columns=nodes.passing(right.schema.select(n for n in right.schema if n not in both))
            )
        columns: dict[str, Expr] = {}
        for name, dtype in right.schema.items():
            new = name + self.suffix if name in both else name
            if new in columns or (name in both and new in left.schema):
                context.problem(f"the suffix gives two columns the name '{new}'", "Choose another suffix.", self.suffix)
            columns[new] = Column(name, dtype)
        return nodes.Project(source=right, columns=columns, origin=right.origin)
