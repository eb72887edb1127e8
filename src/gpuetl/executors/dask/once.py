"""What is known of workers, or was asked of them, which takes milliseconds of a run and need not be done again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary

_NOTED: WeakKeyDictionary[Any, set[Hashable]] = WeakKeyDictionary()


def is_noted(client: Any, what: Hashable, workers: frozenset[str]) -> bool:
    """Tell whether something was noted for these workers of a client."""
    return (what, workers) in _NOTED.get(client, ())


def note(client: Any, what: Hashable, workers: frozenset[str]) -> None:
    """Note something for workers; others may come, for which it is not."""
    _NOTED.setdefault(client, set()).add((what, workers))


def is_first_time(client: Any, what: Hashable, workers: frozenset[str]) -> bool:
    """Tell whether something was not noted yet, and note it."""
    if is_noted(client, what, workers):
        return False
    note(client, what, workers)
    return True


def forget() -> None:
    """Take nothing for noted."""
    _NOTED.clear()
