"""`gpuetl run`: run a pipeline, show progress, then what was done."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated

import typer

from gpuetl.cli.arguments import File, Params, PartitionRows, Root, Skip, exit_codes, parse_params, run_options
from gpuetl.signals import noted

Engine = Annotated[str, typer.Option(help="auto, pandas (this version has no other yet).")]
Report = Annotated[
    Path | None, typer.Option(help="Write the report there: .json, or .html for people.", show_default=False)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def run(
    file: File,
    param: Params = [],
    engine: Engine = "auto",
    root: Root = None,
    report: Report = None,
    skip: Skip = [],
    partition_rows: PartitionRows = None,
    quiet: Quiet = False,
) -> None:
    """Run a pipeline and write its sinks, all of them or none."""
    with exit_codes():
        from gpuetl.backends.engines import choose_engine
        from gpuetl.cli.render import Screen
        from gpuetl.pipeline import load

        check_report(report)
        pipeline = load(file, root)
        screen = Screen(quiet)
        options = run_options(skip, partition_rows)
        screen.engine(choose_engine(engine))
        gc.enable()
        with screen.progress() as progress:
            keep = () if pipeline.spec.sinks else None  # without a sink, the last stages are the result
            done = pipeline.run(parse_params(param), engine=engine, keep=keep, options=options, progress=progress)
        with noted(lambda: "all sinks are written"):
            screen.report(done.report)
            if report is not None:
                done.report.write(report)


def check_report(path: Path | None) -> None:
    """Refuse a report that cannot be written, before the run; raise `typer.BadParameter`."""
    if path is not None and not path.parent.is_dir():
        raise typer.BadParameter(f"--report: there is no folder {path.parent}")
    if path is not None and path.is_dir():
        raise typer.BadParameter(f"--report: {path} is a folder; name a file")
