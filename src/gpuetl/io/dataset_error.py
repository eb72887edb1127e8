"""The error of a source whose files are missing, have changed, or are not what the source says."""

from __future__ import annotations


class DatasetError(Exception):
    """A source whose files are missing or are not what it says; worded for the user, without the place."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)

    def __reduce__(self) -> tuple[type[DatasetError], tuple[str, str]]:
        """Keep the hint on the way from a worker."""
        return type(self), (self.args[0], self.hint)
