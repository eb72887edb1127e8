"""The arguments of `run` and `plan` for a part of a pipeline, a trial on the first rows, and a run that resumes."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import memory_size
from gpuetl.cli.recover import written_path

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from gpuetl.places.paths import FilePath
    from gpuetl.run.selection import Selection


def add_parts(command: ArgumentParser, runs: bool = True) -> None:
    """Add the arguments, and those for what a command leaves that `runs` the pipeline."""
    group = command.add_argument_group("parts of a pipeline, and resuming")
    text = "read stages from their checkpoints where these are valid, and compute the rest"
    group.add_argument("--resume", action="store_true", help=text)
    if runs:
        text = "most room of all checkpoints of the pipeline, such as 20GB; the oldest go after a run; default: 50GB"
        group.add_argument("--checkpoint-limit", metavar="SIZE", type=memory_size, help=text)
    text = "write only the sinks of this stage; STAGE+ with all that reads it, +STAGE with all that it reads"
    group.add_argument("--select", metavar="STAGE", action="append", default=[], help=f"{text}; may be repeated")
    text = "compute up to this stage, and show its first rows; write no sink of a later stage"
    group.add_argument("--until", metavar="STAGE", default="", help=text)
    text = "a trial: read only the first rows of each source; no sink is written without --write-to"
    group.add_argument("--limit", metavar="ROWS", type=rows_from_1, help=text)
    text = "write the sinks to this folder, and not to their own paths"
    group.add_argument("--write-to", metavar="FOLDER", type=written_path, help=text)


def rows_from_1(text: str) -> int:
    """Read a number of rows."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"'{text}' is not a number of rows from 1")
    return int(text)


def selection_of(select: Sequence[str], until: str, limit: int | None, write_to: FilePath | None) -> Selection:
    """Return the part that the arguments choose."""
    from gpuetl.run.selection import Selection

    words = tuple(word for text in select for word in text.split(",") if word.strip())
    return Selection(words, until, limit, write_to)
