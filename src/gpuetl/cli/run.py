"""`gpuetl run`: run a pipeline, show progress, then what was done."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from errno import EACCES
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl import messages
from gpuetl.cli import collect_garbage
from gpuetl.cli.arguments import (
    Params,
    add_cluster,
    add_command,
    add_kernel_timeout,
    add_memory,
    add_options,
    cluster_options,
    run_options,
)
from gpuetl.cli.output import OUTPUT
from gpuetl.errors import ContractBroken, GpuetlError, RunFailed, system_reason
from gpuetl.messages import coded
from gpuetl.signals import noted
from gpuetl.uncaught import unexpected

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.cli.render import Screen
    from gpuetl.places.paths import FilePath
    from gpuetl.report.run_report import RunReport


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, run)
    command.add_argument(
        "--engine", default="auto", help="auto, cudf, pandas, dask or dask-cuda; auto takes cudf where it can run"
    )
    command.add_argument(
        "--report", metavar="FILE", type=report_path, help="write the report to this file: .json, or .html to read it"
    )
    add_options(command)
    add_memory(command)
    text = "where to put data that does not fit in memory; ignored on clusters; default: the temporary folder"
    command.add_argument("--spill-folder", metavar="FOLDER", help=text)
    add_kernel_timeout(command)
    text = "find CUDA kernels that write outside of their outputs, and name them"
    command.add_argument("--sanitize", action="store_true", help=text)
    add_cluster(command)
    command.add_argument(
        "--measure-memory", action="store_true", help="measure the memory that the run and each stage use"
    )
    command.add_argument(
        "--trace", metavar="FILE", type=report_path, help="write a timeline to this file; open it in ui.perfetto.dev"
    )
    command.add_argument("--steps", action="store_true", help="show the rows in and out of every step")
    text = "compute the last stages and show their first rows; write no sink"
    command.add_argument("--no-write", dest="write", action="store_false", help=text)
    text = "do not wait until files are on disk: faster, but a power failure may lose sinks"
    command.add_argument("--no-sync", dest="sync", action="store_false", help=text)
    command.add_argument("-q", "--quiet", action="store_true", help="print only errors")


def run(
    file: FilePath,
    params: Params = (),
    engine: str = "auto",
    root: FilePath | None = None,
    profile: str | None = None,
    report: Path | None = None,
    skip: Sequence[str] = (),
    partition_rows: int | None = None,
    memory: int | None = None,
    spill_folder: str | None = None,
    kernel_timeout: float | None = None,
    sanitize: bool = False,
    measure_memory: bool = False,
    trace: Path | None = None,
    steps: bool = False,
    write: bool = True,
    sync: bool = True,
    quiet: bool = False,
    **cluster: Any,
) -> None:
    """Run a pipeline and write its sinks, all of them or none."""
    from gpuetl.engines import starting
    from gpuetl.engines.registry import begin, choose_engine, warms_up_for

    early = not (profile or os.environ.get("GPUETL_PROFILE")) and (not isinstance(file, Path) or file.is_file())
    begun = begin(engine) if early else None  # a profile may name another engine
    from gpuetl.cli.render import Screen  # while a GPU's engine is started, as all that follows
    from gpuetl.pipeline import load

    pipeline = load(file, root, profile=profile)
    screen, engine = Screen(quiet), pipeline.engine_for(engine)
    options = run_options(
        skip, partition_rows, memory=memory, profile=measure_memory, trace=trace,
        spill_folder=spill_folder, kernel_timeout_s=kernel_timeout, sanitize=sanitize, sync=sync,
        cluster=cluster_options(cluster),
    )  # fmt: skip
    choice = choose_engine(engine, begun)
    options = options.with_profile(pipeline.spec.profile, choice.name)
    options.cluster.check_engine(choice.name)
    screen.engine(choice)
    if begun and not warms_up_for(getattr(source, "format", "") for source in pipeline.spec.sources.values()):
        begun.last = starting.Phase.POOL
    starting.wait(starting.Phase.LIBRARIES)  # they hold the interpreter; then the GPU works next to the imports below
    from gpuetl.run.pipeline_run import RunRequest, run_pipeline

    collect_garbage()
    try:
        with screen.progress() as progress:
            keep = () if write and pipeline.spec.sinks else None  # without a sink, the last stages are the result
            wanted = RunRequest(keep, write, unused=write)
            done = run_pipeline(pipeline, dict(params), choice, wanted, options, progress).report
    except ContractBroken as error:
        OUTPUT.is_result = False
        show(screen, error.report, report, steps)
        raise
    except GpuetlError as error:
        OUTPUT.is_result = False
        if error.report and report:  # replace the report of an earlier run that succeeded
            write_report(partial(error.report.write, report), report)
        raise
    OUTPUT.is_result = not done.sinks
    with noted(lambda: "all sinks are written" if write else "no sink has changed"):
        show(screen, done, report, steps)


def show(screen: Screen, done: RunReport | None, path: Path | None, steps: bool) -> None:
    """Print a run's report, and write it where the user wants it.

    The run is over: whatever goes wrong here is a warning, and the exit code stays that of the run.
    """
    if done is None:
        return
    try:
        screen.report(done, steps)
    except Exception as error:
        warn_of_report("cannot show the report", "\n".join(unexpected(error)))
    if path is not None:
        write_report(partial(done.write, path), path)


def write_report(write: Callable[[], None], path: Path) -> None:
    """Write a report to a file; a file that cannot be written is a warning."""
    try:
        write()
    except OSError as error:
        warn_of_report(f"cannot write the report to {path}", system_reason(error))
    except Exception as error:
        warn_of_report(f"cannot write the report to {path}", "\n".join(unexpected(error)))


def warn_of_report(what: str, why: str) -> None:
    """Say on stderr that a report is lost; where a command has no other result, it fails.

    Raises
    ------
    RunFailed
        Where no sink was written.
    """
    message = coded("GE3011", f"{what}: {why}")
    if OUTPUT.is_result:
        raise RunFailed(message)
    print(messages.with_code(f"warning: {message}", message), file=sys.stderr)


def report_path(text: str) -> Path:
    """Return where to write a report; refuse one that cannot be written, before the run."""
    path = Path(text)
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"folder {path.parent} does not exist")
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder; name a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{path} cannot be written: {os.strerror(EACCES)}")
    return path
