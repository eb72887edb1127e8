"""Arguments that commands share, and how errors leave the program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from gpuetl.errors import GpuetlError
from gpuetl.signals import Stopped, stopping

if TYPE_CHECKING:
    from gpuetl.options import RunOptions

File: TypeAlias = Annotated[Path, typer.Argument(help="The pipeline's YAML file.", show_default=False)]
Params: TypeAlias = Annotated[
    list[str],
    typer.Option("--param", "-p", help="A parameter's value, as name=value; may be repeated.", show_default=False),
]
Root: TypeAlias = Annotated[
    Path | None, typer.Option(help="Where relative paths start; by default the file's folder.", show_default=False)
]
PartitionRows: TypeAlias = Annotated[
    int | None, typer.Option(help="At most so many rows of a source in a partition.", show_default=False)
]
Skip: TypeAlias = Annotated[
    list[str], typer.Option(help="Leave out an optimizer pass; may be repeated.", show_default=False)
]


def parse_params(texts: list[str]) -> dict[str, str]:
    """Split name=value pairs; raise `typer.BadParameter` for anything else."""
    pairs = [text.partition("=") for text in texts]
    for text, (name, sign, _) in zip(texts, pairs, strict=True):
        if not (name and sign):
            raise typer.BadParameter(f"'{text}' is not name=value")
    return {name: value for name, _, value in pairs}


def run_options(skip: list[str], partition_rows: int | None) -> RunOptions:
    """Return the options that the command line gives; the others keep their defaults."""
    from gpuetl.options import RunOptions

    given = {} if partition_rows is None else {"partition_rows": partition_rows}
    return RunOptions.of(skip, **given)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn errors that gpuetl raises on purpose, and signals, into one message on stderr and their exit code."""
    try:
        with stopping():
            yield
    except GpuetlError as error:
        typer.echo(f"error: {error}" if error.exit_code == 1 else str(error), err=True)
        raise typer.Exit(error.exit_code) from None
    except Stopped as stop:
        typer.echo(f"interrupted ({stop}): {getattr(stop, '__notes__', ['no sink has changed'])[0]}", err=True)
        raise typer.Exit(stop.exit_code) from None
