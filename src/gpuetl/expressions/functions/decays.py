"""Means, variances and sums in which earlier rows weigh less: their arguments, and how they come from what engines have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from math import inf
from typing import Any

from gpuetl.expressions.functions.aggregates import in_float64
from gpuetl.expressions.functions.frames import is_given, without_last_absent
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed, table_entry
from gpuetl.expressions.ir import ABSENT, Call, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, DURATION, FLOAT64, INT64, is_floating, is_integer, is_number, type_name

WEIGHTS = ("half_life", "span", "alpha", "com")
LIMITS: dict[str, tuple[str, Callable[[float], bool]]] = {
    "span": ("a span of 1 row or more", lambda value: 1 <= value < inf),
    "alpha": ("an alpha above 0, at most 1", lambda value: 0 < value <= 1),
    "com": ("a com of 0 or more", lambda value: 0 <= value < inf),
}
"""What the weights by rows may be."""


def decay_type(args: Sequence[Expr]) -> Typing:
    """A number, and a half-life: an interval, or seconds where order_by is a timestamp, else rows."""
    half_life = args[1].dtype
    if half_life != DURATION and not is_number(half_life):
        raise TypeMismatch(f"takes a number or an interval as half_life, got {type_name(half_life)}")
    if isinstance(args[1], Literal) and not _is_positive(args[1].value):
        raise TypeMismatch(coded("GE1106", f"takes a half_life above zero, got {args[1].value}"))
    in_float64(args[:1])
    return [FLOAT64, DURATION if half_life == DURATION else FLOAT64], FLOAT64


def weighted_type(args: Sequence[Expr], names: Sequence[str]) -> Typing:
    """A number, and exactly one of the weights."""
    given = {name: arg for name, arg in zip(names, args[1:], strict=False) if arg != ABSENT}
    if len(given) != 1:
        *others, last = names
        text = f"takes one of {', '.join(others)} and {last}, got {' and '.join(given) or 'none'}"
        raise TypeMismatch(coded("GE1104", text))
    types = [FLOAT64] * len(args)
    ((name, arg),) = given.items()
    if name == "half_life":
        types[:2] = decay_type(args)[0]
        return types, FLOAT64
    if not (is_integer(arg.dtype) or is_floating(arg.dtype)):
        raise TypeMismatch(f"takes a number as {name}, got {type_name(arg.dtype)}")
    text, is_within = LIMITS[name]
    if isinstance(arg, Literal) and not is_within(arg.value):
        raise TypeMismatch(coded("GE1106", f"takes {text}, got {arg.value}"))
    in_float64(args[:1])
    return types, FLOAT64


def decayed_type(args: Sequence[Expr]) -> Typing:
    """A number, and one of half_life, span and alpha."""
    return weighted_type(args, WEIGHTS[:3])


def ewm_type(args: Sequence[Expr]) -> Typing:
    """A number, exactly one weight, two booleans and a number of values from 1."""
    adjust, ignore_nulls, least = [*args[5:], *[ABSENT] * 3][:3]
    types = list(weighted_type(args[:5], WEIGHTS)[0])
    fixed(BOOL, BOOL, returns=BOOL)(args[5:7])
    if is_given(least) and (not is_integer(least.dtype) or (isinstance(least, Literal) and least.value < 1)):
        got = least.value if isinstance(least, Literal) else type_name(least.dtype)
        raise TypeMismatch(coded("GE1106", f"takes a number of values from 1 as min_periods, got {got}"))
    counts_nulls = isinstance(ignore_nulls, Literal) and ignore_nulls.value is False
    if counts_nulls and (not is_given(adjust) or (isinstance(adjust, Literal) and not adjust.value)):
        raise TypeMismatch(
            coded("GE1106", "takes ignore_nulls => false with adjust => true"),
            "Add adjust => true, or leave ignore_nulls out.",
        )
    return [*types, BOOL, BOOL, INT64][: len(args)], FLOAT64


def ewm_moment_type(args: Sequence[Expr]) -> Typing:
    """What a mean takes, and a boolean."""
    fixed(BOOL, returns=BOOL)(args[8:])
    return [*ewm_type(args[:8])[0], BOOL][: len(args)], FLOAT64


EWM_MOMENT = Function(
    "ewm_moment",
    "x weight pairs squares part! half_life?! span?! alpha?! adjust?! ignore_nulls?! bias?!",
    fixed(returns=FLOAT64),
    "As ewm_var, or what it is calculated from; where `weight` is not null, a row stands for earlier ones.",
    "",
    None,
    kind="window",
    nulls="own",
)
"""Not for users: a decaying variance over rows of which some are window state.

`part` is `variance`, `deviation`, or one of the four that a row of state has: `mean`, as its x, `weight`, `pairs` and
`squares`.
"""
INTERNAL = {"ewm_moment": EWM_MOMENT}


def _is_positive(value: Any) -> bool:
    return value > timedelta(0) if isinstance(value, timedelta) else 0 < value < inf


def plain_mean(call: Call) -> Expr:
    """Return a decaying mean by what engines have: a mean that is not adjusted, or two sums, with half_life, span or alpha."""
    x, half_life, span, alpha, com, adjust, ignore_nulls, least = [*call.args, *[ABSENT] * 7][:8]
    options = (com, adjust, ignore_nulls, least)
    if not any(map(is_given, options)):
        return call
    if not all(isinstance(option, Literal) for option in options):  # a parameter that has no value yet
        return call
    alpha = _alpha_of(alpha, com)
    weights = without_last_absent((half_life, span, alpha))
    result: Expr = Call(call.function, (x, *weights), FLOAT64)
    null = Call(table_entry("scalar", "is_null"), (x,), BOOL)
    known = Call(table_entry("scalar", "not"), (null,), BOOL)
    if isinstance(adjust, Literal) and adjust.value:
        counts_nulls = isinstance(ignore_nulls, Literal) and ignore_nulls.value is False
        nothing = (Literal(0.0, FLOAT64),) if counts_nulls else ()
        parts = [
            Call(table_entry("window", "decayed_sum"), (_case(known, value, *nothing), *weights), FLOAT64)
            for value in (x, Literal(1.0, FLOAT64))
        ]
        result = _case(known, Call(table_entry("scalar", "divide"), tuple(parts), FLOAT64))
    return _with_enough(result, x, least)


def plain_moment(call: Call) -> Expr:
    """Return a decaying variance or deviation without com and min_periods."""
    x, half_life, span, alpha, com, adjust, ignore_nulls, least, bias = [*call.args, *[ABSENT] * 8][:9]
    if not all(isinstance(option, Literal) for option in (com, least)):  # a parameter that has no value yet
        return call
    weights = half_life, span, _alpha_of(alpha, com)
    options = without_last_absent((*weights, ABSENT, adjust, ignore_nulls, ABSENT, bias))
    return _with_enough(replace(call, args=(x, *options)), x, least)


def _alpha_of(alpha: Expr, com: Expr) -> Expr:
    """Return alpha, also where it is given as `com`."""
    return Literal(1 / (1 + com.value), FLOAT64) if isinstance(com, Literal) and com.value is not None else alpha


def _with_enough(result: Expr, x: Expr, least: Expr) -> Expr:
    """Return a result, null before x has had so many values."""
    if not isinstance(least, Literal) or least.value is None:
        return result
    count = Call(table_entry("window", "cum_count"), (x,), INT64)
    enough = Call(table_entry("scalar", "greater_equal"), (count, Literal(least.value, INT64)), BOOL)
    return _case(enough, result)


def _case(condition: Expr, value: Expr, *otherwise: Expr) -> Expr:
    return Call(table_entry("scalar", "case"), (condition, value, *otherwise), value.dtype)
