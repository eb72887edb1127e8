"""Messages of errors, without what depends on the test that makes them."""

import re

PLACE = re.compile(r"(?m)^\S+\.py:\d+: (.*)\n    .*(\n|\Z)")
"""What an error of a pipeline built in Python begins with, and the line that it shows."""


def without_place(text):
    """Return a message of a pipeline built in Python without the lines of the test that it points at."""
    return PLACE.sub(r"\1\2", text)
