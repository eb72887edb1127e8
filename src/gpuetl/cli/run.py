"""`gpuetl run`: run a pipeline, show progress, then what was done."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from errno import EACCES
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
from gpuetl.cli.json_output import print_document
from gpuetl.cli.output import OUTPUT
from gpuetl.cli.partial_run import add_parts, selection_of
from gpuetl.errors import ContractBroken, GpuetlError, RunFailed, system_reason
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.signals import noted
from gpuetl.uncaught import unexpected

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.cli.render import Screen
    from gpuetl.pipeline import Pipeline
    from gpuetl.places.paths import FilePath
    from gpuetl.report.run_report import RunReport

LOG_LEVELS = ("debug", "info", "warning", "error")


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    add_run_arguments(add_command(commands, run))


def add_run_arguments(command: ArgumentParser) -> None:
    """Add the arguments that say how to run a pipeline."""
    command.add_argument(
        "--engine", default="auto", help="auto, cudf, pandas, dask or dask-cuda; auto takes cudf where it can run"
    )
    text = (
        "where to write the report: a file, .html to read it or .json, or a folder; default: the folder of all reports"
    )
    command.add_argument("--report", metavar="PATH", type=report_path, help=text)
    command.add_argument("--no-report", dest="reports", action="store_false", help="write no report")
    text = "report nulls, distinct values, min, max and a histogram of each column of the sinks"
    command.add_argument("--column-stats", action="store_true", help=text)
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
        "--trace", metavar="FILE", type=output_path, help="write a timeline to this file; open it in ui.perfetto.dev"
    )
    command.add_argument("--steps", action="store_true", help="show the rows in and out of every step")
    text = "compute the last stages and show their first rows; write no sink"
    command.add_argument("--no-write", dest="write", action="store_false", help=text)
    text = "read all of incremental sources, as if no run had read them, and begin the state of the pipeline anew"
    command.add_argument("--full-refresh", action="store_true", help=text)
    text = "do not wait until files are on disk: faster, but a power failure may lose sinks"
    command.add_argument("--no-sync", dest="sync", action="store_false", help=text)
    add_parts(command)
    command.add_argument("-q", "--quiet", action="store_true", help="print only errors")
    text = "print the manifest of the run as JSON on stdout, and all else on stderr"
    command.add_argument("--json", action="store_true", help=text)
    add_observability(command)


def add_observability(command: ArgumentParser) -> None:
    """Add the arguments that say who else hears of the run."""
    group = command.add_argument_group("logs, traces, metrics and lineage")
    text = "write log records as JSON, one a line, to this file; without FILE to stderr, without a live view"
    group.add_argument("--log-json", metavar="FILE", nargs="?", const="-", type=log_file, help=text)
    text = "the least level of log records, which without --log-json are text on stderr; default: info"
    group.add_argument("--log-level", metavar="LEVEL", choices=LOG_LEVELS, help=f"{', '.join(LOG_LEVELS)}: {text}")
    text = "send a trace and metrics by OpenTelemetry; default: if OTEL_EXPORTER_OTLP_ENDPOINT is set"
    group.add_argument("--otel", action=BooleanOptionalAction, help=text)
    text = "send OpenLineage events; default: if OPENLINEAGE_URL is set or there is an openlineage.yml"
    group.add_argument("--openlineage", action=BooleanOptionalAction, help=text)
    text = "write metrics of the run to this file, in the text format of Prometheus"
    group.add_argument("--metrics", metavar="FILE", type=output_path, help=text)


def run(log_json: str | None = None, log_level: str | None = None, **given: Any) -> None:
    """Run a pipeline and write its sinks, all of them or none."""
    if log_json is None and log_level is None:
        run_file(**given)
        return
    from gpuetl.cli.log_output import log_output

    with log_output(log_json, log_level) as on_stderr:
        run_file(**given, live=not on_stderr)


def run_file(
    file: FilePath,
    params: Params = (),
    engine: str = "auto",
    root: FilePath | None = None,
    profile: str | None = None,
    report: Path | None = None,
    reports: bool = True,
    column_stats: bool = False,
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
    full_refresh: bool = False,
    sync: bool = True,
    quiet: bool = False,
    json: bool = False,
    resume: bool = False,
    checkpoint_limit: int | None = None,
    select: Sequence[str] = (),
    until: str = "",
    limit: int | None = None,
    write_to: FilePath | None = None,
    otel: bool | None = None,
    openlineage: bool | None = None,
    metrics: Path | None = None,
    live: bool = True,
    **cluster: Any,
) -> None:
    """Run a pipeline; `live` shows progress on stderr."""
    from gpuetl.engines import starting
    from gpuetl.engines.registry import begin, choose_engine, warms_up_for

    early = not (profile or os.environ.get("GPUETL_PROFILE")) and (not isinstance(file, Path) or file.is_file())
    begun = begin(engine) if early else None  # a profile may name another engine
    from gpuetl.cli.render import Screen  # while a GPU's engine is started, as all that follows
    from gpuetl.pipeline import load
    from gpuetl.spec.telemetry import Telemetry

    screen, asked = Screen(quiet), Asked(file, dict(params), engine, json)
    with leaving_refused(asked):
        asked.pipeline = pipeline = load(file, root, profile=profile)
        engine = pipeline.engine_for(engine)
        options = run_options(
            skip, partition_rows, memory=memory, profile=measure_memory, trace=trace,
            spill_folder=spill_folder, kernel_timeout_s=kernel_timeout, sanitize=sanitize, sync=sync,
            cluster=cluster_options(cluster), report=report or default_place(reports), column_stats=column_stats,
            checkpoint_limit=checkpoint_limit,
            telemetry=Telemetry(otel, openlineage, str(metrics or "")),
            full_refresh=full_refresh,
        )  # fmt: skip
        choice = choose_engine(engine, begun)
        options = options.with_profile(pipeline.spec.profile, choice.name)
        options.cluster.check_engine(choice.name)
        part = selection_of(select, until, limit, write_to)
    screen.engine(choice)
    if begun and not warms_up_for(getattr(source, "format", "") for source in pipeline.spec.sources.values()):
        begun.last = starting.Phase.POOL
    starting.wait(starting.Phase.LIBRARIES)  # they hold the interpreter; then the GPU works next to the imports below
    from gpuetl.run.pipeline_run import RunRequest, run_pipeline

    collect_garbage()
    try:
        with screen.progress(f"run of {pipeline.spec.name}", live) as progress:
            keep = () if write and pipeline.spec.sinks else None  # without a sink, the last stages are the result
            keep = None if part.is_partial else keep
            unused = write and not part.is_partial
            wanted = RunRequest(
                keep, write, unused, observed=True, part=part, resume=resume, has_manifest=True, has_alerts=True
            )
            done = run_pipeline(pipeline, dict(params), choice, wanted, options, progress).report
    except BaseException as error:
        OUTPUT.is_result = False
        failed = getattr(error, "report", None)
        if json and failed is not None:
            print_document(failed.to_dict())
        if isinstance(error, ContractBroken):
            show(screen, failed, report, steps)
        else:
            show_failed(screen, failed, options.report, getattr(error, "observer_warnings", ()))
        raise
    OUTPUT.is_result = json or not done.sinks
    if json:
        print_document(done.to_dict())
    with noted(lambda: "all sinks are written" if write else "no sink has changed"):
        show(screen, done, options.report, steps, report is not None)


@dataclass
class Asked:
    """What the command line asks for: the pipeline once its file is read, values of parameters, an engine."""

    file: FilePath
    params: Mapping[str, str]
    engine: str
    json: bool
    pipeline: Pipeline | None = None


@contextmanager
def leaving_refused(asked: Asked) -> Iterator[None]:
    """Leave the manifest of a run that is refused before it begins, if its file can be read."""
    try:
        yield
    except GpuetlError as error:
        from gpuetl.run.refused_run import leave_refused

        report = leave_refused(asked.file, asked.pipeline, asked.params, asked.engine, error)
        if report is not None:
            for warning in report.after_run:
                print(f"warning: {warning}", file=sys.stderr)
            if asked.json:
                print_document(report.to_dict())
        raise


def default_place(reports: bool) -> Path | None:
    """Return the folder of all reports; None for a run that writes none, or where the folder cannot be made."""
    from gpuetl.report.writing import prepared_folder, reports_folder

    try:
        return prepared_folder() if reports else None
    except OSError as error:
        message = coded("GE3011", f"cannot write reports to {reports_folder()}: {system_reason(error)}")
        text = messages.with_code(f"warning: {message}", message)
        print(
            f"{text}\nName a file with --report, a folder in GPUETL_REPORTS, or run with --no-report.", file=sys.stderr
        )
        return None


def show(
    screen: Screen, done: RunReport | None, place: Path | str | None, steps: bool, is_wanted: bool = False
) -> None:
    """Print a run's report; `place` is where it was to be written, and `is_wanted` whether the user has named that.

    The run is over: whatever goes wrong here is a warning, and the exit code stays that of the run.
    """
    if done is None:
        return
    lost = warn_of_lost_report(done, place, is_wanted)
    try:
        screen.report(replace(done, warnings=done.warnings[:-1]) if lost else done, steps)
    except Exception as error:
        message = coded("GE3011", "cannot show the report: " + "\n".join(unexpected(error)))
        warn_of_report(messages.with_code(message, message), is_wanted=True)


def show_failed(screen: Screen, failed: RunReport | None, place: Path | str | None, unsent: Sequence[str] = ()) -> None:
    """Say where the report of a run that failed is, and who could not be told; the error is printed after it."""
    if failed is None:
        return
    for warning in unsent:
        print(f"warning: {warning}", file=sys.stderr)
    warn_of_lost_report(failed, place, is_wanted=False)
    for warning in failed.after_run:
        print(f"warning: {warning}", file=sys.stderr)
    screen.resumable(failed)
    if failed.path:
        screen.report_path(failed)


def warn_of_lost_report(done: RunReport, place: Path | str | None, is_wanted: bool) -> bool:
    """Warn of a report that could not be written, which its last warning says; tell whether that is so."""
    if place is None or done.path:
        return False
    warn_of_report(done.warnings[-1], is_wanted)
    return True


def warn_of_report(message: str, is_wanted: bool) -> None:
    """Say on stderr that a report is lost, in a message with its code; where a command has no other result, it fails.

    Raises
    ------
    RunFailed
        Where no sink was written, and the user has asked for the report.
    """
    if OUTPUT.is_result and is_wanted:
        raise RunFailed(message)
    print(f"warning: {message}", file=sys.stderr)


def log_file(text: str) -> str:
    """Return where log records go; refuse a pipeline's file, which stands before the option."""
    if text == "-":
        return text
    if text.endswith((".yaml", ".yml")):
        raise ArgumentTypeError(f"{text} would be the log's file; name the pipeline before --log-json")
    return str(output_path(text))


def report_path(text: str) -> Path:
    """Return where to write a report, a file or a folder; refuse what cannot be written, before the run."""
    path = Path(text)
    return writable(path) if path.is_dir() else output_path(text)


def output_path(text: str) -> Path:
    """Return the file to write; refuse one that cannot be written, before the run."""
    path = Path(text)
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"folder {path.parent} does not exist")
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder; name a file")
    return writable(path)


def writable(path: Path) -> Path:
    """Return a path that may be written to."""
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{path} cannot be written: {os.strerror(EACCES)}")
    return path
