"""Values of environment variables in paths, which messages and reports show as `${env.NAME}`.

A path such as `s${env.TOKEN}/x` may hold a secret.  The value is needed to open files, and nowhere else: so each text
for people or for files of reports goes through `redacted`.
"""

from __future__ import annotations

import re
from pathlib import Path

LEAST_CHARACTERS = 8
"""Shorter values are hidden only as a part of their path: elsewhere they would match by chance."""

BOUNDARY = r"(?![\w.-])"
_references: dict[str, str] = {}


def remember_value(value: str, reference: str) -> None:
    """Show a variable's value as a reference from now on, if it is long enough."""
    if len(value) >= LEAST_CHARACTERS:
        for written in {value, repr(value)[1:-1], str(Path(value))}:  # as libraries and the system write a path
            _references[re.escape(written)] = reference


def remember_path(path: str, rest: str, text: str) -> None:
    """Show the beginning of a path, up to the end of a variable's value, as it is written in the pipeline.

    `rest` is what follows in the path.
    """
    if len(path) > 1:
        _references[re.escape(path) + ("" if rest and not rest.startswith("/") else BOUNDARY)] = text


def redacted(text: str) -> str:
    """Return a text without the values of environment variables that stand in paths."""
    for pattern in sorted(_references, key=len, reverse=True):
        reference = _references[pattern]
        text = re.sub(pattern, lambda _, reference=reference: reference, text)  # type: ignore[misc]
    return text
