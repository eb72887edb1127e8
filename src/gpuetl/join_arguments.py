"""The keys of a join as `Table.join` takes them: names, pairs of names, or expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from gpuetl.column_arguments import order_texts
from gpuetl.errors import InvalidPipeline
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.syntax import Apply, Name
from gpuetl.messages import coded
from gpuetl.spec.fields import read_plain
from gpuetl.spec.steps.asof import AsofKeys
from gpuetl.spec.steps.join import PAIRS
from gpuetl.spec.steps.join_keys import KeyText
from gpuetl.spec.values import Formula, as_names

JoinKeys: TypeAlias = str | Expression | Iterable[str | Expression]
"""A column, an expression, or several of them."""


def join_pairs(
    on: JoinKeys | Mapping[str, str] | None, left_on: JoinKeys | None, right_on: JoinKeys | None
) -> Mapping[str, str] | None:
    """Return the pairs of keys, from `on` or from those that are given for each side; None without keys."""
    if left_on is not None or right_on is not None:
        return pairs_of_sides(on, left_on, right_on)
    if on is None or isinstance(on, Mapping):
        return None if on is None else read_plain(PAIRS, on, "join: on")
    keys = each(on)
    if not any(isinstance(key, Expression) for key in keys):
        return read_plain(PAIRS, keys, "join: on")
    pairs: dict[str, str] = {}
    for key in keys:
        more = pair_of(key) if isinstance(key, Expression) else read_plain(PAIRS, key, "join: on")
        pairs.update(more)
    return pairs


def each(keys: JoinKeys) -> tuple[str | Expression, ...]:
    """Return one key, or several, as a tuple."""
    return (keys,) if isinstance(keys, Expression) else as_names(keys)  # type: ignore[arg-type]


def pair_of(key: Expression) -> dict[str, str]:
    """Return the keys of an equality; a column is a key of both sides."""
    if isinstance(key.syntax, Name):
        return {key.syntax.name: key.syntax.name}
    if not isinstance(key.syntax, Apply) or key.syntax.function != "equal":
        message = coded("GE1201", "a key is a column, or an equality of a left and a right expression")
        raise InvalidPipeline.because(message, "Other conditions are for condition=.", "join: on")
    left, right = (KeyText.of(Formula(part)) for part in key.syntax.args)
    return {left: right}


def pairs_of_sides(
    on: JoinKeys | Mapping[str, str] | None, left_on: JoinKeys | None, right_on: JoinKeys | None
) -> dict[str, str]:
    """Return the keys of a join that are given for each side."""
    left, right = (() if side is None else each(side) for side in (left_on, right_on))
    if on is not None or not left or len(left) != len(right):
        message = coded("GE1201", f"left_on has {len(left)} and right_on {len(right)} columns, on is {on!r}")
        raise InvalidPipeline.because(message, "Give on, or as many columns in left_on as in right_on.", "join")
    pairs: dict[str, str] = {}
    for pair in zip(left, right, strict=True):
        ours, theirs = map(key_text, pair) if any(isinstance(key, Expression) for key in pair) else map(str, pair)
        if ours in pairs:
            message = coded("GE1201", "a column is named twice in left_on")
            raise InvalidPipeline.because(message, "Name each key once.", "join")
        pairs[ours] = theirs
    return pairs


def asof_keys(asof: str | Expression | AsofKeys) -> str | dict[str, object]:
    """Return the key `asof` as it is written in YAML."""
    if not isinstance(asof, Mapping):
        return order_texts(asof)[0]
    keys = dict(asof)
    for name in ("on", "left", "right"):
        if isinstance(key := keys.get(name), Expression):
            keys[name] = order_texts(key)[0]
    if "order_by" in keys:
        keys["order_by"] = order_texts(asof["order_by"])
    return keys


def key_text(key: str | Expression) -> KeyText:
    """Return a key of one side as an expression."""
    return KeyText.of(Formula(key.syntax if isinstance(key, Expression) else Name(str(key))))
