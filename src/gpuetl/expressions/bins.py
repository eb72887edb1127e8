"""`cut(x, breaks, labels)` and `qcut(x, quantiles, labels)` as the CASE that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Syntax
from gpuetl.messages import coded
from gpuetl.types.data_types import STRING

NAMES = ("x", "breaks", "labels", "left_closed")
SIGNATURE = "Write cut(x, [0, 10], ['low', 'middle', 'high']), or cut(x, [0, 10])."
MOST_BREAKS = 1000
"""Each is a branch."""
QUANTILE_NAMES = ("x", "quantiles", "labels", "left_closed")
QUANTILE_SIGNATURE = "Write qcut(x, 4), or qcut(x, [0.5, 0.9], ['low', 'middle', 'high'])."
MOST_QUANTILES = 100
"""Each is an aggregate of the group."""


def cut_as_case(call: Apply) -> Apply:
    """Return the CASE that gives each value the label of its bin.

    Raises
    ------
    InvalidExpression
        Where the breaks are no ascending list of constants, or the labels are not one more.
    """
    given = arguments_of(call, NAMES, SIGNATURE)
    breaks, labels = listed("breaks", given["breaks"]), given.get("labels")
    check_breaks(breaks, given["breaks"])
    left_closed = closed_on_left(call, given, SIGNATURE)
    bins = default_labels(breaks, left_closed) if labels is None else listed("labels", labels)
    check_count(call, bins, breaks, labels)
    return case_of(call, given["x"], breaks, bins, left_closed)


def qcut_as_case(call: Apply) -> Apply:
    """Return the CASE that gives each value the label of its bin between quantiles of the group.

    Raises
    ------
    InvalidExpression
        Where there is no number of bins and no ascending list of shares, or the labels are not one more.
    """
    given = arguments_of(call, QUANTILE_NAMES, QUANTILE_SIGNATURE)
    x, labels, left_closed = given["x"], given.get("labels"), closed_on_left(call, given, QUANTILE_SIGNATURE)
    shares = shares_of(call, given["quantiles"])
    breaks = [Apply("quantile", (x, share), span=call.span) for share in shares]
    bins = bins_between(breaks, left_closed) if labels is None else listed("labels", labels, call.function)
    check_count(call, bins, breaks, labels)
    return case_of(call, x, breaks, bins, left_closed)


def arguments_of(call: Apply, names: Sequence[str], signature: str) -> dict[str, Syntax]:
    """Return arguments by name; the first two must be there."""
    given = dict(zip(names, call.args, strict=False))
    for name, value in call.keywords:
        if name in given or name not in names:
            message = coded("GE1104", f"{call.function} has no open argument '{name}'")
            raise InvalidExpression(message, call.span, signature)
        given[name] = value
    if len(call.args) > len(names) or not {*names[:2]} <= given.keys():
        message = coded("GE1104", f"{call.function} got {len(given)} arguments")
        raise InvalidExpression(message, call.span, signature)
    return given


def closed_on_left(call: Apply, given: Mapping[str, Syntax], signature: str) -> bool:
    """Return whether a break belongs to the bin above it."""
    closed = given.get("left_closed", Constant(False))
    if not (isinstance(closed, Constant) and isinstance(closed.value, bool)):
        message = coded("GE1852", f"{call.function} takes true or false as left_closed")
        raise InvalidExpression(message, closed.span, signature)
    return closed.value


def check_count(call: Apply, bins: Sequence[Syntax], breaks: Sequence[Syntax], labels: Syntax | None) -> None:
    """Refuse labels that are not one more than the breaks."""
    if len(bins) != len(breaks) + 1:
        message = f"{call.function} has {len(breaks)} breaks, which make {len(breaks) + 1} bins, and {len(bins)} labels"
        hint = "Values below the first break and above the last one have bins, too: leave out breaks at the ends."
        raise InvalidExpression(coded("GE1852", message), (labels or call).span, hint)


def case_of(call: Apply, x: Syntax, breaks: Sequence[Syntax], bins: Sequence[Syntax], left_closed: bool) -> Apply:
    """Return the CASE of bins in order; NaN is in the last one."""
    compare = "less" if left_closed else "less_equal"
    branches = [part for at, label in zip(breaks, bins, strict=False) for part in (Apply(compare, (x, at)), label)]
    return Apply("case", (*branches, Apply("not", (Apply("is_null", (x,)),)), bins[-1]), span=call.span)


def shares_of(call: Apply, quantiles: Syntax) -> list[Constant]:
    """Return the shares of values below each break: of so many bins of equal counts, or those of a list."""
    if isinstance(quantiles, Constant) and type(quantiles.value) is int:
        if not 2 <= quantiles.value <= MOST_QUANTILES:
            message = f"{call.function} takes 2 to {MOST_QUANTILES} bins, got {quantiles.value}"
            raise InvalidExpression(coded("GE1852", message), quantiles.span or call.span, QUANTILE_SIGNATURE)
        return [Constant(place / quantiles.value) for place in range(1, quantiles.value)]
    if not (isinstance(quantiles, Apply) and quantiles.function == "list_value"):
        message = coded("GE1852", f"{call.function} takes a number of bins, or a list of shares, as quantiles")
        raise InvalidExpression(message, quantiles.span or call.span, QUANTILE_SIGNATURE)
    shares = listed("quantiles", quantiles, call.function)
    for share in shares:
        if (
            isinstance(share.value, bool)
            or not isinstance(share.value, int | float | Decimal)
            or not 0 <= share.value <= 1
        ):
            message = coded("GE1852", f"{call.function} takes shares from 0 to 1, got {shown(share.value)}")
            raise InvalidExpression(message, share.span or quantiles.span, QUANTILE_SIGNATURE)
    check_breaks(shares, quantiles, call.function)
    if len(shares) >= MOST_QUANTILES:
        message = coded("GE1852", f"{call.function} makes {MOST_QUANTILES} bins at most, got {len(shares) + 1}")
        raise InvalidExpression(message, quantiles.span, QUANTILE_SIGNATURE)
    return shares


def bins_between(breaks: Sequence[Syntax], left_closed: bool) -> list[Syntax]:
    """Return the texts of intervals between breaks that are not known yet, as `default_labels`."""
    ends = [Constant("-inf"), *(CastTo(one, STRING) for one in breaks), Constant("inf")]
    opening, closing = (Constant("["), Constant(")")) if left_closed else (Constant("("), Constant("]"))
    return [Apply("concat", (opening, low, Constant(", "), high, closing)) for low, high in pairwise(ends)]


def listed(name: str, syntax: Syntax, function: str = "cut") -> list[Constant]:
    """Return the constants of a list."""
    parts = syntax.args if isinstance(syntax, Apply) and syntax.function == "list_value" else ()
    found = [part for part in parts if isinstance(part, Constant) and part.value is not None]
    if not found or len(found) < len(parts):
        message = coded("GE1852", f"{function} takes a list of constants as {name}")
        raise InvalidExpression(message, syntax.span, QUANTILE_SIGNATURE if function == "qcut" else SIGNATURE)
    return found


def check_breaks(breaks: list[Constant], syntax: Syntax, function: str = "cut") -> None:
    """Refuse breaks that do not ascend; those of different types are told of where they meet x."""
    for one, other in pairwise(breaks):
        try:
            ascends = one.value < other.value
        except TypeError:
            return
        if not ascends:
            message = f"breaks of {function} ascend, and {shown(other.value)} comes after {shown(one.value)}"
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
