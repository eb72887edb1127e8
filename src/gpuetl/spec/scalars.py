"""`${params.x}`, `${env.X:-default}` and `${run.id}` in paths: resolved after parsing, in paths only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.secrets import remember_path, remember_value

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


def remember_paths(text: str, path: Path) -> None:
    """Show a path up to the end of its last environment variable as it is written: the value may be too short."""
    found = [match for match in _REFERENCE.finditer(text) if match[1].strip().startswith("env.")]
    if not found or found[-1][1].strip().removeprefix("env.").partition(":-")[0] not in os.environ:
        return
    rest, whole = text[found[-1].end() :], str(path)
    if not _REFERENCE.search(rest) and whole.endswith(rest):
        remember_path(whole[: len(whole) - len(rest)], rest, text[: found[-1].end()])


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
        if variable in os.environ:
            remember_value(value, f"${{env.{variable}}}")
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
