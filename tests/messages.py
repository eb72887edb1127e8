"""Messages of errors, without what depends on the test that makes them."""

import re

PLACE = re.compile(r"(?m)^\S+\.py:\d+: (.*)\n    .*(\n|\Z)")
"""What an error of a pipeline built in Python begins with, and the line that it shows."""


def without_place(text: str) -> str:
    """Return a message of a pipeline built in Python without the lines of the test that it points at."""
    return PLACE.sub(r"\1\2", text)


SOURCE_LINES = re.compile(r"(?m)^    .*\n")
"""The line of the user's file that an error shows, and the caret below it."""
CODE = re.compile(r"  \[GE\d+\]")
"""The code of an error, which a process of its own prints."""


def without_source(text: str) -> str:
    """Return a message without the lines of the user's file that it points at."""
    return SOURCE_LINES.sub("", text)


def without_codes(text: str) -> str:
    """Return what a process printed without the codes of errors."""
    return CODE.sub("", text)
