"""Texts with marks in the places of values: the forms of `json_join` and `order_join`."""

from __future__ import annotations

import re

VALUE, TEXT = "\x01", "\x02"
"""A value that the function writes in its own way, and a text that is put as it is."""
_MARKS = re.compile(f"([{VALUE}{TEXT}])")


def pieces_of(form: str) -> list[str]:
    """Return texts and marks by turns: a text, which may be empty, is the first and the last."""
    return _MARKS.split(form)
