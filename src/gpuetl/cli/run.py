"""`gpuetl run`: run a pipeline, show progress, then what was done."""

from __future__ import annotations

import gc
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl.cli.arguments import (
    Params,
    add_cluster,
    add_command,
    add_fallback,
    add_memory,
    add_options,
    cluster_options,
    run_options,
)
from gpuetl.errors import ContractBroken
from gpuetl.signals import noted

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.cli.render import Screen
    from gpuetl.report.report import RunReport


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, run)
    command.add_argument(
        "--engine", default="auto", help="auto, cudf, pandas, dask or dask-cuda; auto takes cudf where it can run"
    )
    command.add_argument(
        "--report", metavar="FILE", type=report_path, help="write the report there: .json, or .html for people"
    )
    add_options(command)
    add_memory(command)
    add_fallback(command)
    text = "where frames go for which memory is short, but on a cluster; by default where temporary files are"
    command.add_argument("--spill-folder", metavar="FOLDER", help=text)
    add_cluster(command)
    command.add_argument("--profile", action="store_true", help="measure the memory that the run and each stage take")
    command.add_argument(
        "--trace", metavar="FILE", type=report_path, help="write a timeline there, which ui.perfetto.dev opens"
    )
    command.add_argument("--steps", action="store_true", help="show the rows in and out of every step")
    text = "compute the last stages and show their first rows; write no sink"
    command.add_argument("--no-write", dest="write", action="store_false", help=text)
    command.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def run(
    file: Path,
    params: Params = (),
    engine: str = "auto",
    root: Path | None = None,
    report: Path | None = None,
    skip: Sequence[str] = (),
    partition_rows: int | None = None,
    memory: int | None = None,
    fallback: bool = False,
    spill_folder: str | None = None,
    profile: bool = False,
    trace: Path | None = None,
    steps: bool = False,
    write: bool = True,
    quiet: bool = False,
    **cluster: Any,
) -> None:
    """Run a pipeline and write its sinks, all of them or none."""
    from gpuetl.backends.engines import choose_engine
    from gpuetl.cli.render import Screen
    from gpuetl.pipeline import load

    pipeline = load(file, root)
    screen = Screen(quiet)
    options = run_options(
        skip, partition_rows, memory=memory, fallback=fallback, profile=profile, trace=trace,
        spill_folder=spill_folder, cluster=cluster_options(cluster),
    )  # fmt: skip
    choice = choose_engine(engine)
    options.cluster.check_engine(choice.name)
    screen.engine(choice)
    from gpuetl.run import Wanted, run_pipeline  # while a GPU's context is opened

    gc.enable()
    try:
        with screen.progress() as progress:
            keep = () if write and pipeline.spec.sinks else None  # without a sink, the last stages are the result
            wanted = Wanted(keep, write, unused=write)
            done = run_pipeline(pipeline, dict(params), choice, wanted, options, progress).report
    except ContractBroken as error:
        show(screen, error.report, report, steps)
        raise
    with noted(lambda: "all sinks are written" if write else "no sink has changed"):
        show(screen, done, report, steps)


def show(screen: Screen, done: RunReport | None, path: Path | None, steps: bool) -> None:
    """Print a run's report, and write it where the user wants it."""
    if done is not None:
        screen.report(done, steps)
        if path is not None:
            done.write(path)


def report_path(text: str) -> Path:
    """Return where to write a report; refuse one that cannot be written, before the run."""
    path = Path(text)
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent}")
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder; name a file")
    return path
