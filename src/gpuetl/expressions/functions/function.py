"""What one entry of the function table is, and the typing rules that entries share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias
from typing import Literal as Choice

import pyarrow as pa

from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.messages import code_of, coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import (
    BOOL,
    FLOAT64,
    NULL,
    STRING,
    DataType,
    common_type,
    is_exact,
    is_number,
    is_temporal,
    type_name,
)  # fmt: skip

Kind = Choice["scalar", "aggregate", "window"]
Typing: TypeAlias = tuple[Sequence[DataType], DataType]
"""The types to which the arguments are cast, and the type of the result."""
Rule: TypeAlias = Callable[[Sequence[Expr]], Typing]
Accepts: TypeAlias = Callable[[DataType], bool]


class TypeMismatch(Exception):
    """Arguments that a function does not take; worded for the user, without the place, and what to write instead.

    A text without a code is one of types: GE1103.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message if code_of(message) else coded("GE1103", message))


def code_of_types(*types: DataType) -> str:
    """Return the code of types that do not fit each other: too many digits, naive beside zoned, or any others."""
    zoned = {bool(getattr(dtype, "tz", None)) for dtype in types if is_temporal(dtype)}
    return "GE1116" if all(map(is_exact, types)) else "GE1111" if len(zoned) == 2 else "GE1103"


@dataclass(frozen=True)
class Argument:
    """One parameter of a function.

    It is written `name`, `name?` (may be left out), `name*` (repeats), `name!` (a constant), or `name~` (most often a
    constant: in Python a string is one, and no method stands for its value).
    """

    name: str
    optional: bool
    repeats: bool
    constant: bool
    usual_constant: bool = False

    @classmethod
    def parse(cls, text: str) -> Argument:
        """Read the notation above; marks combine, as in `offset?!`."""
        return cls(text.rstrip("?*!~"), "?" in text or "*" in text, "*" in text, "!" in text, "~" in text)

    @property
    def is_receiver(self) -> bool:
        """Whether a method's own expression can stand for it."""
        return not (self.constant or self.usual_constant)


@dataclass(frozen=True, eq=False)
class Function:
    """One function: its name, its parameters, the rule of its types, and an example whose result tests check.

    `nested` marks the few that take values of any type, or lists, structs or maps.  `nulls` is `propagate` (null in any argument gives null) or `own` (the doc says).  `can_fail` marks functions
    that raise for some values: the optimizer does not move them to rows that would not have reached them.  `fails` says
    it of functions that raise only for some arguments, such as counts that are no constants.

    `rewrite` puts a call in the form that engines have handlers for.
    `definition` is an expression over the parameters that stands for the function: no engine has a handler for it.  A function with
    an `expansion` is computed as what that makes of its call.
    """

    name: str
    parameters: str
    rule: Rule
    doc: str
    example: str
    result: object
    kind: Kind = "scalar"
    nulls: Choice["propagate", "own"] = "propagate"
    can_fail: bool = False
    nested: bool = False
    expansion: Callable[[Call], Expr] | None = None
    definition: str = ""
    rewrite: Callable[[Call], Expr] | None = None
    fails: Callable[[Sequence[Expr]], bool] | None = None

    def fails_for(self, args: Sequence[Expr]) -> bool:
        """Return whether a call with these arguments raises for some values."""
        return self.can_fail or (self.fails is not None and self.fails(args))

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The parsed parameters."""
        return tuple(Argument.parse(word) for word in self.parameters.split())

    @cached_property
    def takes_constants(self) -> bool:
        """Whether an argument must be a constant."""
        return any(argument.constant for argument in self.arguments)

    def __repr__(self) -> str:
        return f"Function({self.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the name to another process: it has the same table."""
        return table_entry, (self.kind, self.name)


ENTRIES: dict[tuple[Kind, str], Function] = {}
"""The table of functions by kind and name, also those that users cannot call.  The package fills it."""


def table_entry(kind: Kind, name: str) -> Function:
    """Return the function of that kind and name, also where users cannot call it."""
    return ENTRIES[kind, name]


def scalar_call(name: str, args: tuple[Expr, ...], dtype: DataType) -> Call:
    """Return a call of a scalar function of the table, by which others are computed."""
    return Call(ENTRIES["scalar", name], args, dtype)


def fixed(*takes: DataType, returns: DataType) -> Rule:
    """Arguments that must have, or widen to, exactly these types."""

    def rule(args: Sequence[Expr]) -> Typing:
        for arg, dtype in zip(args, takes, strict=False):
            if common_type(arg.dtype, dtype) != dtype:
                code = "GE1117" if dtype == BOOL else "GE1103"
                raise TypeMismatch(coded(code, f"takes {type_name(dtype)}, got {type_name(arg.dtype)}"))
        return takes[: len(args)], returns

    return rule


def check_between(arg: Expr, description: str, least: int, greatest: int) -> None:
    """Refuse a constant that is not within limits."""
    if isinstance(arg, Literal) and arg.value is not None and not least <= arg.value <= greatest:
        raise TypeMismatch(coded("GE1106", f"takes a {description} from {least:,} to {greatest:,}, got {arg.value:,}"))


def beyond(place: int, least: int, greatest: int) -> Callable[[Sequence[Expr]], bool]:
    """Return whether the number at a place is none, or no constant within limits: what `fails` asks."""

    def fails(args: Sequence[Expr]) -> bool:
        arg = args[place]
        return not isinstance(arg, Literal) or (arg.value is not None and not least <= arg.value <= greatest)

    return fails


def takes_one(accepts: Accepts, description: str, returns: DataType | None = None) -> Rule:
    """One argument of a family of types, kept as it is; the result is of `returns`, or of the same type."""

    def rule(args: Sequence[Expr]) -> Typing:
        dtype = args[0].dtype
        if dtype != NULL and not accepts(dtype):
            raise TypeMismatch(f"takes {description}, got {type_name(dtype)}")
        rest = [arg.dtype for arg in args[1:]]
        return [dtype, *rest], returns or dtype

    return rule


def anything(returns: DataType | None = None) -> Rule:
    """An argument of any type, kept; further arguments are kept as well."""
    return takes_one(lambda dtype: True, "any type", returns)


def floats(args: Sequence[Expr]) -> Typing:
    """Numbers, computed in float64; float32 stays float32 where all arguments are."""
    for arg in args:
        if arg.dtype != NULL and not is_number(arg.dtype):
            raise TypeMismatch(f"takes numbers, got {type_name(arg.dtype)}")
    dtype = pa.float32() if all(arg.dtype == pa.float32() for arg in args) else FLOAT64
    return [dtype] * len(args), dtype


def is_string(dtype: DataType) -> bool:
    """Return whether `dtype` is the string type."""
    return bool(dtype == STRING)
