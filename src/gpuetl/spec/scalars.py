"""`${params.x}`, `${env.X:-default}` and `${run.id}` in paths: resolved after parsing, in paths only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date, datetime

from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded

_REFERENCE = re.compile(r"\$\{([^}]*)\}")


class UnresolvedScalar(Exception):
    """A reference that names nothing; worded for the user."""


class UnboundScalar(Exception):
    """A reference to a parameter that has no value yet."""


def resolve_scalars(text: str, parameters: Mapping[str, Expr], run_id: str) -> str:
    """Replace the references in a path.

    Raises
    ------
    UnresolvedScalar
        For an unknown reference, or an environment variable that is not set and has no default.
    UnboundScalar
        For a required parameter without a value.
    """
    return _REFERENCE.sub(lambda match: _value(match[1].strip(), parameters, run_id), text)


def _value(reference: str, parameters: Mapping[str, Expr], run_id: str) -> str:
    scope, _, name = reference.partition(".")
    if scope == "params" and name in parameters:
        return _parameter(parameters[name])
    if scope == "env" and name:
        variable, has_default, default = name.partition(":-")
        value = os.environ.get(variable, default if has_default else None)
        if value is None:
            what = f"the environment variable {variable} is not set"
            message = f"{what}, and has no default as in ${{env.{variable}:-data}}"
            raise UnresolvedScalar(coded("GE1019", message))
        return value
    if reference == "run.id":
        return run_id
    allowed = "a path takes ${params.NAME}, ${env.NAME:-default} and ${run.id}"
    raise UnresolvedScalar(coded("GE1019", f"unknown reference '${{{reference}}}': {allowed}"))


def _parameter(value: Expr) -> str:
    if not isinstance(value, Literal):
        raise UnboundScalar
    if isinstance(value.value, datetime):
        return value.value.isoformat().replace(":", "-")
    return value.value.isoformat() if isinstance(value.value, date) else str(value.value)
