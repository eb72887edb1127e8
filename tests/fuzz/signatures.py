"""What every function takes and gives: its typing rule, asked about every combination of types."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import compress, groupby, product
from operator import itemgetter
from typing import Any

from fuzz.data import TYPES
from fuzz.scalar_constants import SCALAR_CONSTANTS
from gpuetl.expressions.functions import FUNCTIONS, Function, Kind, TypeMismatch
from gpuetl.expressions.functions.function import Argument
from gpuetl.expressions.ir import ABSENT, Column
from gpuetl.expressions.numbers import constant_literal
from gpuetl.expressions.syntax import ASSOCIATIVE, Constant, Syntax
from gpuetl.types.data_types import BOOL, DURATION, FLOAT64, INT64, STRING, TIMESTAMP, DataType, can_be_key
from gpuetl.types.nested_types import is_list, is_map

CONSTANTS: dict[str, tuple[Any, ...]] = {
    **SCALAR_CONSTANTS,
    "digits": (1, 0, 2, -1),
    "start": (1, 2, 0, -1, 4, -3),
    "length": (2, 0, 1, 5),
    "count": (1, 0, 2, 9, -1, -3),
    "old": ("a", "ab", "", "😀", "."),
    "new": ("", "x", "añ"),
    "fill": (" ", "0", "ñ"),
    "prefix": ("a", "", "ab", "😀"),
    "suffix": ("b", "", "x", "\u0301"),
    "part": ("a", "", "b%", "ñ"),
    "pattern": ("a%", "%b", "_", "%", "", "a_%", "%ñ_"),
    "offset": (1, 0, 2, 5),
    "frame": (2, 1, 3, timedelta(hours=1), timedelta(0), timedelta(days=400)),
    "rows": ((-2, 2), (None, 0), (1, 3), (-1, None), (-3, -1)),
    "range": ((timedelta(hours=-1), timedelta(hours=1)), (timedelta(0), timedelta(days=400)), (-2, 3)),
    "centered": (True, False),
    "min_periods": (2, 1),
    "method": ("min", "max", "average", "dense", "ordinal"),
    "nulls": ("carry", "keep"),
    "half_life": (1.0, 2, timedelta(hours=1)),
    "span": (2, 1, 5.5),
    "alpha": (0.5, 1, 0.1),
    "com": (1, 0, 2.5),
    "adjust": (True, False),
    "bias": (True, False),
    "ignore_nulls": (True, False),
    "n": (2, 1, 3, 100),
    "k": (2, 1, 100),
    "gap": (timedelta(hours=1), timedelta(0), timedelta(days=1)),
    "q": (0.5, 0.0, 1.0, 0.25),
}
"""Constants for parameters of these names; a function of its own can have others, as `function.parameter`."""
ANY_CONSTANT: tuple[Any, ...] = (1, "a", 0.5, timedelta(hours=1), "day", 0, 2, "UTC", True)
"""For parameters that CONSTANTS does not name: those that the rule takes."""


def written(value: Any) -> Syntax:
    """Return a constant as it is written; a lambda is written already."""
    return value if isinstance(value, Syntax) else Constant(value)


@dataclass(frozen=True, eq=False)
class Signature:
    """One way to call a function: the parameters given, their types, None where a constant stands, and the result's."""

    function: Function
    slots: tuple[Argument, ...]
    takes: tuple[DataType | None, ...]
    gives: DataType


def constants(function: Function, slot: Argument) -> tuple[Any, ...]:
    """Return the constants to try for a parameter."""
    return CONSTANTS.get(f"{function.name}.{slot.name}") or CONSTANTS.get(slot.name) or ANY_CONSTANT


@cache
def signatures(kind: Kind, name: str) -> tuple[Signature, ...]:
    """Return the ways to call a function with the types of TYPES.

    Types of columns that a call without options refuses, one with options refuses, too: trying all takes minutes.
    """
    function = FUNCTIONS[kind, name]
    found: list[Signature] = []
    accepted: dict[tuple[Argument, ...], set[tuple[DataType | None, ...]]] = {}
    for slots, combinations in groupby(_combinations(function), key=itemgetter(0)):
        receivers = tuple(slot for slot in slots if slot.is_receiver)
        known, new = accepted.get(receivers), list[Signature]()
        for _, types in combinations:
            if known is None or columns_of(slots, types) in known:
                signature = _signature(function, slots, types)
                new += [signature] if signature else []
        found += new
        if known is None and new:
            accepted[receivers] = {columns_of(slots, one.takes) for one in new}
    return tuple(found)


def columns_of(slots: tuple[Argument, ...], types: tuple[DataType | None, ...]) -> tuple[DataType | None, ...]:
    """Return the types of the parameters that always are columns."""
    return tuple(dtype for slot, dtype in zip(slots, types, strict=True) if slot.is_receiver)


def _combinations(function: Function) -> Iterator[tuple[tuple[Argument, ...], tuple[DataType | None, ...]]]:
    """Yield parameters with types: any two types where two vary, one type or truth values where more do, or a nested one and numbers."""
    types = [dtype for dtype in TYPES.values() if function.nested or can_be_key(dtype)]
    for slots in _shapes(function):
        yield from _with_columns(slots)
        varying = [slot for slot in slots if slot.is_receiver]
        if len(varying) <= 2:
            choices: Any = product(types, repeat=len(varying))
        else:
            equal = [(dtype,) * len(varying) for dtype in types]
            by_turns = [
                tuple(BOOL if i % 2 == 0 and i < len(varying) - 1 else t for i in range(len(varying))) for t in types
            ]
            nested = [
                (t, *[INT64] * (len(varying) - 1))
                for t in types
                if not can_be_key(t) or (t == STRING and len(varying) == 3)
            ]
            entries = [(t, t.key_type, t.item_type) for t in types if is_map(t) and len(varying) == 3]
            choices = dict.fromkeys(equal + by_turns + nested + entries)
        for choice in choices:
            chosen = iter(choice)
            yield slots, tuple(next(chosen) if slot.is_receiver else None for slot in slots)


BESIDE = {STRING: (STRING, INT64), FLOAT64: (INT64,), INT64: (INT64,), TIMESTAMP: (DURATION, TIMESTAMP)}
"""Types of columns that stand in the place of what most often is a constant, by the type of the first argument."""


def _with_columns(slots: tuple[Argument, ...]) -> Iterator[tuple[tuple[Argument, ...], tuple[DataType | None, ...]]]:
    """Yield parameters of which those that most often are constants are columns of strings or numbers, some or all."""
    usual = [slot for slot in slots if slot.usual_constant]
    for receiver, types in BESIDE.items() if usual else ():
        for choice in product((*types, None), repeat=len(usual)):
            if any(choice):
                chosen = dict(zip(usual, choice, strict=True))
                yield slots, tuple(receiver if slot.is_receiver else chosen.get(slot) for slot in slots)


def _shapes(function: Function) -> Iterator[tuple[Argument, ...]]:
    """Yield the parameters that a call may have: with and without those that may be left out."""
    slots = function.arguments
    needed = sum(not slot.optional for slot in slots)
    if slots and slots[-1].repeats:
        connects = function.name in ASSOCIATIVE  # AND and OR stand between two; a chain of them is made by reading
        for count in (2,) if connects else range(needed, needed + 3):
            yield (*slots, *[slots[-1]] * 3)[:count]
        return
    optional = slots[needed:]
    for given in product((False, True), repeat=len(optional)):
        first = given.index(False) if False in given else len(given)
        shape = {slot.name for slot in compress(optional, given)}
        if "rows" in {slot.name for slot in optional} and len(shape & {"frame", "rows", "range"}) != 1:
            continue  # a frame is written in one way
        if "alpha" in {slot.name for slot in optional} and len(shape & {"half_life", "span", "alpha", "com"}) != 1:
            continue  # and so is a weight
        if function.kind != "scalar" or not any(given[first:]):  # those of scalars cannot be left out before others
            yield (*slots[:needed], *compress(optional, given))


def _signature(function: Function, slots: tuple[Argument, ...], types: tuple[DataType | None, ...]) -> Signature | None:
    if any(slot.name == "function" for slot in slots):  # of an element, which is a boolean or the element
        element = types[0].value_type if types[0] and is_list(types[0]) else BOOL
        given = [Column("x", types[0]), Column("x", BOOL if function.name == "list_filter" else element)]
        return Signature(function, slots, types, function.rule(given)[1]) if types[0] and is_list(types[0]) else None
    tried = [
        [Column("x", dtype)] if dtype else [constant_literal(v) for v in constants(function, slot)[:9]]
        for slot, dtype in zip(slots, types, strict=True)
    ]
    for args in product(*_in_places(function, slots, tried)):
        try:
            return Signature(function, slots, types, function.rule(args)[1])
        except TypeMismatch:
            continue
    return None


def _in_places(function: Function, slots: tuple[Argument, ...], tried: list[Any]) -> list[Any]:
    """Return what to try for each parameter up to the last one given; nothing for those left out."""
    if slots == function.arguments[: len(slots)] or slots[-1].repeats:
        return tried
    given = dict(zip(slots, tried, strict=True))
    return [given.get(slot, [ABSENT]) for slot in function.arguments[: function.arguments.index(slots[-1]) + 1]]


@cache
def giving(kind: Kind, gives: DataType, names: tuple[str, ...]) -> tuple[Signature, ...]:
    """Return the ways to call the functions of these names that give a type."""
    return tuple(s for name in names for s in signatures(kind, name) if s.gives == gives)
