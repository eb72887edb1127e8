"""Libraries that an observer needs and gpuetl does not: an error says what to install."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gpuetl.errors import PackageMissing
from gpuetl.messages import coded

T = TypeVar("T")
LIMIT_S = 3.0
"""How long a run waits at its end for a receiver."""


def with_library(what: str, extra: str, load: Callable[[], T]) -> T:
    """Return what `load` imports.

    Raises
    ------
    PackageMissing
        Where it cannot be imported.
    """
    try:
        return load()
    except ImportError as error:
        what = f"{what} needs a library that is not installed: {error}"
        raise PackageMissing(coded("GE3031", f"{what}\nInstall it with: pip install 'gpuetl[{extra}]'")) from None
