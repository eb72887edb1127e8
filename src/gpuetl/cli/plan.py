"""`gpuetl plan`: what a run would do, from footers alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command, add_memory, add_options, run_options, show_warnings
from gpuetl.cli.json_output import document, print_document
from gpuetl.cli.partial_run import add_parts, selection_of
from gpuetl.exit_codes import ExitCode
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
    command.add_argument("--json", action="store_true", help="print the plan as JSON only")
    add_options(command)
    add_memory(command)
    add_parts(command, runs=False)


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
    json: bool = False,
    resume: bool = False,
    select: Sequence[str] = (),
    until: str = "",
    limit: int | None = None,
    write_to: FilePath | None = None,
) -> None:
    """Show what a run would do: filters pushed, columns and row groups read, rows expected, exchanges, memory."""
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.optimize import check_rung, optimize
    from gpuetl.physical.explain_physical import explain_physical, memory_lines
    from gpuetl.physical.plan_data import fitted_data, logical_data
    from gpuetl.pipeline import load
    from gpuetl.plan.plan import explain_plan
    from gpuetl.run.planned_run import as_it_would_run, chosen_part
    from gpuetl.run.planning import plan_to_show

    options = run_options(skip, partition_rows, memory=memory)
    with scan_progress():
        pipeline = load(file, root, profile=profile)
        bound = pipeline.plan(dict(params))
    if not json:
        show_warnings(bound)
    chosen = chosen_part(bound, pipeline.spec, selection_of(select, until, limit, write_to))
    with chosen.pointing(), scan_progress():
        wanted, notes = as_it_would_run(chosen, bound, pipeline.spec, pipeline.root, resume and limit is None)
        if rung is not None:
            logical, engine = optimize(wanted, options.skip_passes, check_rung(rung)).plan, ""
            text, data = explain_plan(logical), partial(logical_data, logical)
        else:
            fit, engine = plan_to_show(wanted, pipeline.options_for(options, engine), pipeline.engine_for(engine))
            text, data = "\n".join([explain_physical(fit.plan), *memory_lines(fit)]), partial(fitted_data, fit)
        found = data() if json else {}
    next_run_lines = [*map(redacted, notes)]
    if not json:
        print("\n".join([*next_run_lines, redacted(text)]))
        return
    print_document(
        document(
            ExitCode.DONE, file=str(file), pipeline=str(bound.name), engine=engine, rung=rung,
            fingerprint=bound.fingerprint, **found, notes=[*next_run_lines, *map(redacted, bound.notes)],
            warnings=[warning.to_dict() for warning in (*bound.warnings, *bound.unused)],
        )
    )  # fmt: skip
