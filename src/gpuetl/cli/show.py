"""`gpuetl show`: the columns and the first rows of a stage or source."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command, add_memory, run_options

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.places.paths import FilePath

ROWS = 10


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, show)
    command.add_argument(
        "stage", metavar="STAGE", help="a stage, a source, or what one rejects, such as clean.rejected"
    )
    command.add_argument(
        "--rows", metavar="COUNT", type=row_count, default=ROWS, help=f"how many rows to show ({ROWS})"
    )
    command.add_argument("--engine", default="auto", help="the engine to run on; by default the one that run takes")
    add_memory(command)


def row_count(text: str) -> int:
    """Read a number of rows."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"'{text}' is not a whole number from 0")
    return int(text)


def show(
    file: FilePath,
    stage: str,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    rows: int = ROWS,
    engine: str = "auto",
    memory: int | None = None,
) -> None:
    """Print the columns, their types and the first rows of a stage.

    Only what these rows need is computed.  No sink is written, and rules that would fail the run are not checked.
    Without a sort, which rows come first may differ from engine to engine.
    """
    from gpuetl.cli.render import Screen, head_table
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.pipeline import load
    from gpuetl.types.data_types import type_name

    pipeline = load(file, root, profile=profile)
    options = run_options((), None, memory=memory)
    with scan_progress():
        result = pipeline.table(stage).head(rows, params=dict(params), engine=engine, options=options)
    table = result.to_arrow()
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for note in result.notes:
        print(f"next run, {note}")
    width = max(map(len, table.column_names), default=0)
    for field in table.schema:
        print(f"{field.name:{width}}  {type_name(field.type)}")
    Screen(quiet=False).out.print(head_table(table))
