"""The types in which arguments meet: to be compared, mixed or calculated with; numbers of the text take part exactly."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gpuetl.expressions.functions.function import TypeMismatch, Typing, code_of_types
from gpuetl.expressions.ir import Call, Expr, Literal, branch_places
from gpuetl.expressions.numbers import adapts_to_single, has_type
from gpuetl.messages import coded, recoded
from gpuetl.types.common_types import common_nested
from gpuetl.types.data_types import (
    BOOL,
    FLOAT64,
    INT64,
    NULL,
    DataType,
    common_type,
    integer_fits,
    is_exact,
    is_floating,
    is_integer,
    type_name,
)
from gpuetl.types.decimal_types import constant_decimal, integer_decimal, is_decimal

SINGLE = pa.float32()


def types_beside(args: Sequence[Expr]) -> list[DataType]:
    """Return the arguments' types; beside a decimal, a number in the text is a decimal of just its digits.

    Not where a float's column or parameter is there as well: all of them meet in float64.
    """
    types = [arg.dtype for arg in args]
    if not any(map(is_decimal, types)) or any(map(_is_float, args)):
        return types
    return [_digits_of(arg) or arg.dtype for arg in args]


def exact_types(args: Sequence[Expr]) -> list[DataType]:
    """Return the types as `types_beside`; also beside integers alone, a number is a decimal, or an integer if whole."""
    types = types_beside(args)
    numbers = [arg for arg in args if is_floating(arg.dtype)]
    if not numbers or any(map(is_decimal, types)) or any(map(_is_float, args)) or not _have_types(numbers):
        return types
    if all(isinstance(arg, Literal) and _is_whole(arg) for arg in numbers):
        return [INT64 if is_floating(arg.dtype) else arg.dtype for arg in args]
    return [_digits_of(arg) or arg.dtype for arg in args]


def _is_float(arg: Expr) -> bool:
    """Return whether a value is a float, and no number of the text."""
    return is_floating(arg.dtype) and _numbers_in(arg) is None


def _numbers_in(arg: Expr) -> list[Literal] | None:
    """Return the numbers that an argument may be: one of the text, or what CASE and coalesce choose from floats."""
    if isinstance(arg, Literal):
        return [arg] if arg.number is not None else None
    if not isinstance(arg, Call) or arg.dtype != FLOAT64 or not (places := branch_places(arg)):
        return None
    found: list[Literal] = []
    for place in places:
        branch = arg.args[place]
        if not (isinstance(branch, Literal) and branch.value is None):
            if (numbers := _numbers_in(branch)) is None:
                return None
            found += numbers
    return found


def _have_types(args: Sequence[Expr]) -> bool:
    return all(has_type(number.number) for arg in args for number in _numbers_in(arg) or ())  # type: ignore[arg-type]


def _is_whole(arg: Literal) -> bool:
    assert arg.number is not None
    return arg.number == int(arg.number) and integer_fits(int(arg.number), INT64)


def _digits_of(arg: Expr) -> DataType | None:
    """Return the decimal that holds the numbers that an argument may be; None for other arguments."""
    meeting: DataType | None = None
    for number in _numbers_in(arg) or ():
        try:
            digits = constant_decimal(number.number)  # type: ignore[arg-type]
        except ValueError as error:
            raise TypeMismatch(recoded(f"takes decimals here: {error}", error)) from None
        meeting = digits if meeting is None else _meet_two(meeting, digits, "mix")
    return meeting


def meet(args: Sequence[Expr], verb: str) -> DataType:
    """Return the type in which all arguments meet; an integer constant takes a column's narrower type if it fits."""
    return _meeting(args, types_beside(args), verb)


def _meeting(args: Sequence[Expr], types: Sequence[DataType], verb: str) -> DataType:
    adapting = [_integer(arg, dtype) for arg, dtype in zip(args, types, strict=True)]
    fixed_types = [dtype for dtype, value in zip(types, adapting, strict=True) if value is None] or types
    meeting = fixed_types[0]
    for dtype in fixed_types[1:]:
        meeting = _meet_two(meeting, dtype, verb)
    for value, dtype in zip(adapting, types, strict=True):
        if value is None or not is_integer(meeting) or not integer_fits(value, meeting):
            meeting = _meet_two(meeting, dtype, verb)
    return meeting


def _integer(arg: Expr, dtype: DataType) -> int | None:
    """Return the value of an integer constant, which adapts."""
    if not isinstance(arg, Literal) or dtype != INT64 or arg.value is None:
        return None
    return int(arg.value if arg.number is None else arg.number)


def _meet_two(left: DataType, right: DataType, verb: str) -> DataType:
    meeting = common_nested(left, right)
    if meeting is None:
        raise TypeMismatch(coded(code_of_types(left, right), f"cannot {verb} {type_name(left)} and {type_name(right)}"))
    return meeting


def comparable(args: Sequence[Expr]) -> Sequence[DataType]:
    """Return the types in which arguments are compared: one for all, but decimals that no decimal holds keep theirs.

    Beside float32 columns alone, a number is the nearest float32.
    """
    if _adapt_to_single(args):
        return [SINGLE] * len(args)
    types = exact_types(args)
    if any(map(is_decimal, types)) and all(is_exact(dtype) or dtype == NULL for dtype in types):
        return _exact_comparable(types)
    meeting = _meeting(args, types, "compare")
    return [BOOL if meeting == NULL else meeting] * len(args)  # nulls alone compare in any type


def _exact_comparable(types: Sequence[DataType]) -> Sequence[DataType]:
    decimals = [integer_decimal(dtype) for dtype in types if dtype != NULL]
    meeting: DataType | None = decimals[0]
    for dtype in decimals[1:]:
        meeting = meeting and common_type(meeting, dtype)
    if meeting is not None:
        return [meeting] * len(types)
    return [decimals[0] if dtype == NULL else integer_decimal(dtype) for dtype in types]


def _adapt_to_single(args: Sequence[Expr]) -> bool:
    found = [_numbers_in(arg) for arg in args]
    others = [arg.dtype for arg, numbers in zip(args, found, strict=True) if numbers is None and arg.dtype != NULL]
    if not others or any(dtype != SINGLE for dtype in others):
        return False
    exact = (literal.number for numbers in found for literal in numbers or ())
    return all(number is not None and adapts_to_single(number) for number in exact)


def compared(args: Sequence[Expr]) -> Typing:
    """Arguments that can be compared; the result is a boolean."""
    return comparable(args), BOOL


def mixed(args: Sequence[Expr]) -> Typing:
    """Arguments that meet in one type, which is the result's."""
    dtype = meet(args, "mix")
    return [dtype] * len(args), dtype
