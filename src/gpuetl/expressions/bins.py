"""`cut(x, breaks, labels)` as the CASE that it stands for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.syntax import Apply, Constant, Syntax
from gpuetl.messages import coded

NAMES = ("x", "breaks", "labels", "left_closed")
SIGNATURE = "Write cut(x, [0, 10], ['low', 'middle', 'high']), or cut(x, [0, 10])."
MOST_BREAKS = 1000
"""Each is a branch."""


def cut_as_case(call: Apply) -> Apply:
    """Return the CASE that gives each value the label of its bin.

    Raises
    ------
    InvalidExpression
        Where the breaks are no ascending list of constants, or the labels are not one more.
    """
    given = dict(zip(NAMES, call.args, strict=False))
    for name, value in call.keywords:
        if name in given or name not in NAMES:
            raise InvalidExpression(coded("GE1104", f"cut has no open argument '{name}'"), call.span, SIGNATURE)
        given[name] = value
    if len(call.args) > len(NAMES) or not {"x", "breaks"} <= given.keys():
        raise InvalidExpression(coded("GE1104", f"cut got {len(given)} arguments"), call.span, SIGNATURE)
    closed = given.get("left_closed", Constant(False))
    if not (isinstance(closed, Constant) and isinstance(closed.value, bool)):
        raise InvalidExpression(coded("GE1852", "cut takes true or false as left_closed"), closed.span, SIGNATURE)
    breaks, labels = listed("breaks", given["breaks"]), given.get("labels")
    check_breaks(breaks, given["breaks"])
    bins = default_labels(breaks, closed.value) if labels is None else listed("labels", labels)
    if len(bins) != len(breaks) + 1:
        message = f"cut has {len(breaks)} breaks, which make {len(breaks) + 1} bins, and {len(bins)} labels"
        hint = "Values below the first break and above the last one have bins, too: leave out breaks at the ends."
        raise InvalidExpression(coded("GE1852", message), (labels or call).span, hint)
    x, compare = given["x"], "less" if closed.value else "less_equal"
    branches = [part for at, label in zip(breaks, bins, strict=False) for part in (Apply(compare, (x, at)), label)]
    return Apply("case", (*branches, Apply("not", (Apply("is_null", (x,)),)), bins[-1]), span=call.span)


def listed(name: str, syntax: Syntax) -> list[Constant]:
    """Return the constants of a list."""
    parts = syntax.args if isinstance(syntax, Apply) and syntax.function == "list_value" else ()
    found = [part for part in parts if isinstance(part, Constant) and part.value is not None]
    if not found or len(found) < len(parts):
        message = coded("GE1852", f"cut takes a list of constants as {name}")
        raise InvalidExpression(message, syntax.span, SIGNATURE)
    return found


def check_breaks(breaks: list[Constant], syntax: Syntax) -> None:
    """Refuse breaks that do not ascend; those of different types are told of where they meet x."""
    for one, other in pairwise(breaks):
        try:
            ascends = one.value < other.value  # type: ignore[operator]
        except TypeError:
            return
        if not ascends:
            message = f"breaks of cut ascend, and {shown(other.value)} comes after {shown(one.value)}"
            raise InvalidExpression(coded("GE1852", message), other.span or syntax.span, "Put them in order.")
    if len(breaks) > MOST_BREAKS:
        message = coded("GE1852", f"cut takes {MOST_BREAKS:,} breaks at most, got {len(breaks):,}")
        raise InvalidExpression(message, syntax.span, "Join a table of bounds with a condition.")


def default_labels(breaks: list[Constant], left_closed: bool) -> list[Constant]:
    """Return the bins as intervals, as Polars writes them: `(0, 10]`, or `[0, 10)` if they are closed on the left."""
    ends = ["-inf", *(shown(one.value) for one in breaks), "inf"]
    opening, closing = ("[", ")") if left_closed else ("(", "]")
    return [Constant(f"{opening}{low}, {high}{closing}") for low, high in pairwise(ends)]


def shown(value: Any) -> str:
    """Return a break as text."""
    return str(value)
