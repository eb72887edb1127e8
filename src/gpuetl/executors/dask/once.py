"""What workers were asked to make ready, which they need not be asked again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import WeakKeyDictionary

_ASKED: WeakKeyDictionary[Any, set[Hashable]] = WeakKeyDictionary()


def is_first_time(client: Any, what: Hashable, workers: frozenset[str]) -> bool:
    """Tell whether a client asks these workers for something for the first time; asking takes milliseconds of a run."""
    asked = _ASKED.setdefault(client, set())
    if (what, workers) in asked:
        return False
    asked.add((what, workers))
    return True


def forget() -> None:
    """Take everything for not asked yet."""
    _ASKED.clear()
