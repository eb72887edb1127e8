"""`gpuetl plan`: what a run would do, from footers alone."""

from __future__ import annotations

from typing import Annotated

import typer

from gpuetl.cli.arguments import File, Params, PartitionRows, Root, Skip, exit_codes, parse_params, run_options

Rung = Annotated[
    str | None,
    typer.Option(help="Stop before this optimizer pass, or at the end, and show the logical plan.", show_default=False),
]


def plan(
    file: File,
    param: Params = [],
    root: Root = None,
    rung: Rung = None,
    skip: Skip = [],
    partition_rows: PartitionRows = None,
) -> None:
    """Show what a run would do: filters pushed, columns and row groups read, rows and bytes expected, exchanges."""
    with exit_codes():
        from gpuetl.optimize import check_rung
        from gpuetl.pipeline import load
        from gpuetl.plan.explain import explain_plan

        options = run_options(skip, partition_rows)
        pipeline = load(file, root)
        if rung is not None:
            typer.echo(explain_plan(pipeline.optimized(parse_params(param), options, check_rung(rung)).plan))
        else:
            typer.echo(pipeline.explain(parse_params(param), options))
