"""`gpuetl verify`: a pipeline on an engine against the oracle, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpuetl.cli import collect_garbage
from gpuetl.cli.arguments import (
    Params,
    add_cluster,
    add_command,
    add_kernel_timeout,
    add_options,
    cluster_options,
    run_options,
)
from gpuetl.cli.json_output import document, print_document
from gpuetl.exit_codes import ExitCode

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.places.paths import FilePath


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, verify)
    command.add_argument("--engine", default="auto", help="the engine to verify; by default the one that run takes")
    command.add_argument(
        "--stage", dest="stages", metavar="STAGE", action="append", help="compare this stage only; may be repeated"
    )
    command.add_argument(
        "--sample", metavar="ROWS", type=int,
        help="sample about this many rows of the largest source, by key, so that groups stay whole",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="print the report as JSON only")
    add_options(command)
    add_kernel_timeout(command)
    add_cluster(command)


def verify(
    file: FilePath,
    params: Params = (),
    engine: str = "auto",
    root: FilePath | None = None,
    profile: str | None = None,
    stages: Sequence[str] | None = None,
    sample: int | None = None,
    json: bool = False,
    skip: Sequence[str] = (),
    partition_rows: int | None = None,
    kernel_timeout: float | None = None,
    **cluster: Any,
) -> None:
    """Compare an engine's stages with the pandas engine's.  Writes no sink; exits with 3 if they differ."""
    from json import loads

    from gpuetl.cli.render import Screen
    from gpuetl.cli.render_verify import show_report
    from gpuetl.pipeline import load

    pipeline, screen = load(file, root, profile=profile), Screen(quiet=json)
    options = run_options(skip, partition_rows, kernel_timeout_s=kernel_timeout, cluster=cluster_options(cluster))
    collect_garbage()
    with screen.progress() as progress:
        report = pipeline.verify(
            dict(params), engine=engine, stages=stages, sample=sample, options=options, progress=progress
        )
    if json:
        print_document(document(ExitCode.DONE if report.same else ExitCode.DIFFERENT, **loads(report.to_json())))
    else:
        show_report(report, screen.out)
    if not report.same:
        raise SystemExit(ExitCode.DIFFERENT)
