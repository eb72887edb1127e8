"""The command `gpuetl`: one file a subcommand.  Nothing here imports an engine before a command needs it."""

from __future__ import annotations

import gc

import typer

from gpuetl.cli import plan, run, validate

app = typer.Typer(
    name="gpuetl",
    help="Declarative ETL pipelines on NVIDIA GPUs, with answers that can be checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (run.run, validate.validate, plan.plan):
    app.command()(command)


@app.callback(invoke_without_command=True)
def version(show: bool = typer.Option(False, "--version", help="Print the version and leave.")) -> None:
    """Declarative ETL pipelines on NVIDIA GPUs, with answers that can be checked."""
    if show:
        from gpuetl import __version__

        typer.echo(f"gpuetl {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line.

    The garbage collector would look through a hundred thousand objects of imported modules, again and again while
    they are made and once more at exit: a fifth of the time of a short command.
    """
    gc.disable()
    try:
        app()
    finally:
        gc.freeze()
