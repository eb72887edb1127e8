"""Choices: faster ways of an engine.  A run may skip each by name, like an optimizer pass.

An engine declares the names of its choices (`engines/capabilities.py`).  A run says which ones it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SKIPPED: ContextVar[frozenset[str]] = ContextVar("skipped choices", default=frozenset())


@contextmanager
def skipping(names: Iterable[str]) -> Iterator[None]:
    """Leave the choices of these names out of what runs in the block; names of other things change nothing."""
    token = _SKIPPED.set(frozenset(names))
    try:
        yield
    finally:
        _SKIPPED.reset(token)


def is_skipped(name: str) -> bool:
    """Tell whether the run leaves a choice out."""
    return name in _SKIPPED.get()
