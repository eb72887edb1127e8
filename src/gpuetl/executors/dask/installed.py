"""What scheduler and workers must have as the driver has it.

Workers import this module before anything is known of them, so it imports next to nothing of gpuetl.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from gpuetl.errors import EngineUnavailable, RunFailed, first_line
from gpuetl.executors.dask.liveness import ask
from gpuetl.messages import coded
from gpuetl.tracebacks import PACKAGE
from gpuetl.version import __version__

# What is known of workers, or was asked of them, which takes milliseconds of a run and need not be done again.


_NOTED: WeakKeyDictionary[Any, set[Hashable]] = WeakKeyDictionary()


def is_noted(client: Any, topic: Hashable, workers: frozenset[str]) -> bool:
    """Tell whether something was noted for these workers of a client."""
    return (topic, workers) in _NOTED.get(client, ())


def note(client: Any, topic: Hashable, workers: frozenset[str]) -> None:
    """Note something for workers; others may come, for which it is not."""
    _NOTED.setdefault(client, set()).add((topic, workers))


def is_first_time(client: Any, topic: Hashable, workers: frozenset[str]) -> bool:
    """Tell whether something was not noted yet, and note it."""
    if is_noted(client, topic, workers):
        return False
    note(client, topic, workers)
    return True


def forget() -> None:
    """Take nothing for noted."""
    _NOTED.clear()


# What scheduler and workers must have as the driver has it: plans travel as Python objects, which they unpack.
#
# They import this module before anything is known of them, so it imports next to nothing of gpuetl.


def check_installed(client: Any, workers: frozenset[str]) -> None:
    """Compare what `installed` gives at the workers, or the error that it raises there, with what it gives here, once.

    Raises
    ------
    EngineUnavailable
        For a scheduler or a worker with another gpuetl or Python, or without gpuetl.
    """
    if is_noted(client, "installed", workers):
        return
    answers = ask(client, lambda: client.run(installed, on_error="return"))
    answers_by_name = {f"worker at {address}": there for address, there in answers.items()}
    try:
        answers_by_name["scheduler"] = ask(client, lambda: client.run_on_scheduler(installed))
    except RunFailed:
        raise
    except Exception as error:
        answers_by_name["scheduler"] = error
    for name, there in answers_by_name.items():
        if not isinstance(there, OSError):  # of a worker that has died since
            check_same(name, there)
    note(client, "installed", workers)


def check_same(name: str, other_versions: object) -> None:
    """Compare what `installed` gave elsewhere with what it gives here; raise `EngineUnavailable` for another."""
    if other_versions != installed():
        what = first_line(other_versions) if isinstance(other_versions, Exception) else f"it has {other_versions}"
        raise EngineUnavailable(
            coded(
                "GE3006",
                f"the {name} cannot take a plan from {installed()}: {what}.\n"
                "Plans travel as Python objects: install the same for the scheduler, its workers and here.",
            )
        )


@cache
def installed() -> str:
    """Return the versions of gpuetl and Python in this process, and a digest of gpuetl's text.

    A version in development has one number for many texts.
    """
    text = b"".join(path.read_bytes() for path in sorted(Path(PACKAGE).rglob("*.py")))
    python = ".".join(map(str, sys.version_info[:2]))
    return f"gpuetl {__version__} ({hashlib.sha256(text).hexdigest()[:8]}) on Python {python}"
