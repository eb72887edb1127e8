"""What dask and the libraries below it log: gpuetl has its own words for what goes wrong with a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

FAMILIES = ("distributed", "tornado", "asyncio", "bokeh")
_LOCK = Lock()
_LEVELS: list[dict[logging.Logger, int]] = []
"""An entry for each block that lasts, in any thread; the first one has the levels from before all of them."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep dask, tornado and asyncio from logging while the block lasts; blocks of several threads may overlap."""
    with _LOCK:
        _LEVELS.append({} if _LEVELS else {log: log.level for log in loggers()})
        silence()
    try:
        yield
    finally:
        with _LOCK:
            levels = _LEVELS.pop(0)
            if _LEVELS:
                _LEVELS[0] = levels
            for log, level in levels.items() if not _LEVELS else ():
                log.setLevel(level)


def silence() -> None:
    """Keep dask, tornado and asyncio from logging from now on."""
    for log in loggers():
        log.setLevel(logging.CRITICAL + 1)


def loggers() -> list[logging.Logger]:
    """Return the loggers of the families, and those below them that have a level of their own."""
    below = [
        log
        for name, log in logging.root.manager.loggerDict.items()
        if isinstance(log, logging.Logger) and log.level and name.partition(".")[0] in FAMILIES
    ]
    return list({id(log): log for log in (*map(logging.getLogger, FAMILIES), *below)}.values())
