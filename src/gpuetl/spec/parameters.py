"""Parameters as typed constants, and `${…}` in paths."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Never

import pyarrow as pa

from gpuetl.errors import InvalidExpression, InvalidPipeline, Place, Problem, have_hint
from gpuetl.expressions.ir import Expr, Literal, Parameter
from gpuetl.messages import coded, remember_path, remember_value
from gpuetl.places.paths import FilePath
from gpuetl.spec.document import Node
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    STRING,
    DataType,
    integer_fits,
    is_floating,
    is_integer,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_nested

if TYPE_CHECKING:
    from gpuetl.spec.model import ParameterSpec


# Parameters: given values, or defaults, as typed constants.  Bound as values, never as text.


def bind_parameters(declared: Mapping[str, ParameterSpec], given: Mapping[str, Any], need_all: bool) -> dict[str, Expr]:
    """Return each parameter as a literal; a required one without a value stays unbound unless `need_all`.

    Raises
    ------
    InvalidPipeline
        For a name that is not declared, a value that is not of its type, or a missing one.
    """
    problems = [_unknown(name, declared, given[name]) for name in given if name not in declared]
    bound: dict[str, Expr] = {}
    for name, spec in declared.items():
        try:
            bound[name] = _bind(name, spec, given)
        except ValueError as error:
            problems.append(Problem(coded("GE1017", f"parameter '{name}': {error}"), place=_place(given.get(name))))
            continue
        if need_all and isinstance(bound[name], Parameter):
            message = coded("GE1016", f"parameter '{name}' ({type_name(spec.dtype)}) has no value")
            problems.append(Problem(message, f"Give it with -p {name}=VALUE."))
    if problems:
        raise InvalidPipeline(problems)
    return bound


def _unknown(name: str, declared: Mapping[str, ParameterSpec], value: object) -> Problem:
    message = coded("GE1021", f"unknown parameter '{name}'")
    return Problem(message, have_hint(name, declared, noun="Parameters"), _place(value))


def _place(value: object) -> Place | None:
    """Return where a value stands that comes from a file."""
    return value.place() if isinstance(value, Node) else None


def _bind(name: str, spec: ParameterSpec, given: Mapping[str, Any]) -> Expr:
    if isinstance(value := given.get(name), Node):  # of a file
        from gpuetl.spec.nested_values import parse_node

        return Literal(parse_node(value, spec.dtype), spec.dtype)
    if name in given:
        return Literal(parse_value(given[name], spec.dtype), spec.dtype)
    return Parameter(name, spec.dtype) if spec.required else Literal(spec.default, spec.dtype)


def parse_value(value: Any, dtype: DataType) -> Any:
    """Return `value`, which may be text from a command line, as a Python object of `dtype`; raise `ValueError`."""
    if value is None:
        return None
    if is_nested(dtype):
        from gpuetl.spec.nested_values import parse_nested

        return parse_nested(value, dtype)
    try:
        return _parsed(value, dtype)
    except (ValueError, TypeError, ArithmeticError, InvalidExpression):
        exact = f": write '{value}' as a string, or a Decimal" if isinstance(value, float) and is_decimal(dtype) else ""
        raise ValueError(f"'{value}' is not a valid {type_name(dtype)}{exact}") from None


def parse_written(value: Any, written: str, dtype: DataType) -> Any:
    """Return a YAML scalar as a Python object of `dtype`; raise `ValueError`.

    `written` are the characters of a number or boolean: decimals and texts are read from these, so that no digit is
    lost.
    """
    exact = bool(written) and value is not None and (is_decimal(dtype) or dtype == STRING)
    return parse_value(written if exact else value, dtype)


def _parsed(value: Any, dtype: DataType) -> Any:
    text = value if isinstance(value, str) else None
    if dtype == STRING:
        return str(value) if isinstance(value, str | int | float | date) else _refuse()
    if dtype == BOOL:
        return (
            {"true": True, "false": False}[str(value).lower()] if str(value).lower() in ("true", "false") else _refuse()
        )
    if is_integer(dtype):
        number = int(_digits(text)) if text is not None else value
        return number if type(number) is int and integer_fits(number, dtype) else _refuse()
    if is_floating(dtype):
        return _float(value) if not isinstance(value, bool) else _refuse()
    if dtype == DATE:
        return _timestamp(text, dtype) if text is not None else value if type(value) is date else _refuse()
    if pa.types.is_timestamp(dtype):
        return _timestamp(text, dtype) if text is not None else _zoned(_midnight(value), dtype)
    if is_decimal(dtype):
        exact = isinstance(value, str | int | Decimal) and not isinstance(value, bool)
        return pa.scalar(Decimal(value if text is None else _digits(text)), dtype).as_py() if exact else _refuse()
    if dtype == DURATION:
        return _interval(value)
    return _refuse()


def _timestamp(text: str, dtype: DataType) -> Any:
    from gpuetl.expressions.constants import timestamp_of

    return timestamp_of(text, dtype)


def _zoned(timestamp: datetime, dtype: DataType) -> datetime:
    return timestamp if bool(timestamp.tzinfo) == bool(dtype.tz) else _refuse()


def _midnight(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day) if isinstance(value, date) else _refuse()


_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)


def _digits(text: str) -> str:
    """Return the text of a number as CAST reads it: Python reads digits of any script, and underscores."""
    return text if _NUMBER.fullmatch(text) else _refuse()


def _float(value: Any) -> float:
    number = float(value if not isinstance(value, str) or _NOT_FINITE.fullmatch(value) else _digits(value))
    beyond = math.isinf(number) and isinstance(value, str) and "inf" not in value.lower()
    return _refuse() if beyond else number


def _interval(value: Any) -> Any:
    from gpuetl.expressions.interval_text import interval_of

    if not isinstance(value, str):
        return value if isinstance(value, timedelta) else _refuse()
    return interval_of(value)


def _refuse() -> Never:
    raise ValueError


# `${params.x}`, `${env.X:-default}` and `${run.id}` in paths: resolved after parsing, in paths only.


_REFERENCE = re.compile(r"\$\{([^}]*)\}")


class UnresolvedScalar(Exception):
    """A reference that names nothing; worded for the user."""


class UnboundScalar(Exception):
    """A reference to a parameter that has no value yet."""


def resolve_scalars(
    text: str, parameters: Mapping[str, Expr], run_id: str, environment: Mapping[str, str] = os.environ
) -> str:
    """Replace the references in a path.

    Raises
    ------
    UnresolvedScalar
        For an unknown reference, or an environment variable that is not set and has no default.
    UnboundScalar
        For a required parameter without a value.
    """
    return _REFERENCE.sub(lambda match: _value(match[1].strip(), parameters, run_id, environment), text)


def remember_paths(text: str, path: FilePath, environment: Mapping[str, str] = os.environ) -> None:
    """Show a path up to the end of its last environment variable as it is written: the value may be too short."""
    found = [match for match in _REFERENCE.finditer(text) if match[1].strip().startswith("env.")]
    if not found or found[-1][1].strip().removeprefix("env.").partition(":-")[0] not in environment:
        return
    rest, whole = text[found[-1].end() :], str(path)
    if not _REFERENCE.search(rest) and whole.endswith(rest):
        remember_path(whole[: len(whole) - len(rest)], rest, text[: found[-1].end()])


def _value(reference: str, parameters: Mapping[str, Expr], run_id: str, environment: Mapping[str, str]) -> str:
    scope, _, name = reference.partition(".")
    if scope == "params" and name in parameters:
        return _parameter(parameters[name])
    if scope == "env" and name:
        variable, has_default, default = name.partition(":-")
        value = environment.get(variable, default if has_default else None)
        if value is None:
            what = f"the environment variable {variable} is not set"
            message = f"{what}, and has no default as in ${{env.{variable}:-data}}"
            raise UnresolvedScalar(coded("GE1019", message))
        if variable in environment:
            remember_value(value, f"${{env.{variable}}}")
        return value
    if reference == "run.id":
        return run_id
    allowed = "a path takes ${params.NAME}, ${env.NAME:-default} and ${run.id}"
    raise UnresolvedScalar(coded("GE1019", f"unknown reference '${{{reference}}}': {allowed}"))


def _parameter(value: Expr) -> str:
    if is_nested(value.dtype):
        message = f"a path takes single values, and the parameter is {type_name(value.dtype)}"
        raise UnresolvedScalar(coded("GE1031", message))
    if not isinstance(value, Literal):
        raise UnboundScalar
    if isinstance(value.value, datetime):
        return value.value.isoformat().replace(":", "-")
    return value.value.isoformat() if isinstance(value.value, date) else str(value.value)
