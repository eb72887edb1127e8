"""The error for metadata of a Parquet file that cannot be used."""

from __future__ import annotations

from gpuetl.messages import coded

DAMAGED = "Get the file again, write it anew, or take it out of the source's path."


class BadFooter(ValueError):
    """A footer that cannot be used: a coded message that follows a file's name, and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)


def malformed(what: str) -> BadFooter:
    """Word metadata that cannot be right."""
    return BadFooter(coded("GE1440", f"has metadata that contradicts itself: {what}"), DAMAGED)
