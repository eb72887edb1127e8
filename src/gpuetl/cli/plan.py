"""`gpuetl plan`: what a run would do, from footers alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command, add_memory, add_options, run_options, show_warnings
from gpuetl.messages import redacted

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.places.paths import FilePath


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, plan)
    command.add_argument(
        "--rung", metavar="PASS", help="stop before this optimizer pass, or at the 'end', and show the logical plan"
    )
    command.add_argument(
        "--engine", default="auto", help="the engine that would run; with --memory also one that cannot run here"
    )
    add_options(command)
    add_memory(command)


def plan(
    file: FilePath,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    rung: str | None = None,
    skip: Sequence[str] = (),
    partition_rows: int | None = None,
    engine: str = "auto",
    memory: int | None = None,
) -> None:
    """Show what a run would do: filters pushed, columns and row groups read, rows expected, exchanges, memory."""
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.optimize import check_rung, optimize
    from gpuetl.pipeline import load
    from gpuetl.plan.plan import explain_plan
    from gpuetl.run.planning import explained

    options = run_options(skip, partition_rows, memory=memory)
    with scan_progress():
        pipeline = load(file, root, profile=profile)
        bound = pipeline.plan(dict(params))
    show_warnings(bound)
    wanted = bound.with_results()
    with wanted.pointing(), scan_progress():
        if wanted.incremental:
            from gpuetl.run.incremental.sources import next_run

            wanted = next_run(wanted, pipeline.root)
        if rung is not None:
            text = explain_plan(optimize(wanted, options.skip_passes, check_rung(rung)).plan)
        else:
            text = explained(wanted, pipeline.options_for(options, engine), pipeline.engine_for(engine))
    for selection in wanted.selections.values():
        print(redacted(f"next run, {selection.note}"))
    print(redacted(text))
