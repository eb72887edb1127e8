"""What `make test` runs a part of, and `make test-all` all of: values of parameters, cases that a test draws."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


T = TypeVar("T")
_GIVEN = {"full": False}


def begin(full: bool) -> None:
    """Say whether --full was given, before tests are collected."""
    _GIVEN["full"] = full


def is_full() -> bool:
    """Return whether --full was given."""
    return _GIVEN["full"]


def in_full(every: T, otherwise: T) -> T:
    """Return how many cases a test draws with --full, and otherwise."""
    return every if is_full() else otherwise


def after(count: int, values: Iterable[Any], reason: str) -> list[ParameterSet]:
    """Return the values as parameters, those after the first `count` marked `full`; a tuple is several parameters."""
    marks = [pytest.mark.full(reason=reason)]
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks * (place >= count))
        for place, value in enumerate(values)
    ]
