"""Values of a parameter of which `make test` runs the first few; `make test-all` runs all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


def after(count: int, values: Iterable[Any], reason: str) -> list[ParameterSet]:
    """Return the values as parameters, those after the first `count` marked `full`; a tuple is several parameters."""
    marks = [pytest.mark.full(reason=reason)]
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks * (place >= count))
        for place, value in enumerate(values)
    ]
