"""`gpuetl test`: the tests that a pipeline's file holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl import messages
from gpuetl.cli import collect_garbage
from gpuetl.cli.arguments import (
    Params,
    add_cluster,
    add_command,
    add_options,
    cluster_options,
    run_options,
)
from gpuetl.cli.json_output import document, print_document
from gpuetl.cli.output import OUTPUT
from gpuetl.cli.run import output_path, warn_of_report
from gpuetl.errors import InvalidPipeline, system_reason
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import coded
from gpuetl.uncaught import unexpected

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.file_tests.run_tests import TestResult
    from gpuetl.options import RunOptions
    from gpuetl.pipeline import Pipeline
    from gpuetl.places.paths import FilePath


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, run_tests, "test")
    command.add_argument("--engine", default="auto", help="the engine to run on; by default the one that run takes")
    command.add_argument(
        "--test", dest="names", metavar="NAME", action="append",
        help="run this test only, or those that match, as in 'late *'; may be repeated",
    )  # fmt: skip
    command.add_argument("--junit", metavar="FILE", type=output_path, help="write the results there as JUnit XML")
    command.add_argument("--json", action="store_true", help="print the results as JSON only")
    group = command.add_argument_group("a test from real rows")
    group.add_argument(
        "--from-run",
        metavar="STAGE",
        help="print a test of the stage: a few rows of the sources, and what comes of them",
    )
    group.add_argument("--rows", metavar="COUNT", type=int, default=20, help="the most rows of the stage (20)")
    group.add_argument("--write", action="store_true", help="add the test to the file instead of printing it")
    add_options(command)
    add_cluster(command)


def run_tests(
    file: FilePath,
    params: Params = (),
    engine: str = "auto",
    root: FilePath | None = None,
    profile: str | None = None,
    names: Sequence[str] | None = None,
    junit: Path | None = None,
    from_run: str | None = None,
    rows: int = 20,
    write: bool = False,
    json: bool = False,
    skip: Sequence[str] = (),
    partition_rows: int | None = None,
    **cluster: Any,
) -> None:
    """Run the tests in a pipeline's file, on the rows that they give.  Writes no sink; exits with 5 if one fails."""
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.engines.registry import choose_engine
    from gpuetl.file_tests.run_tests import result_lines
    from gpuetl.pipeline import load

    target = file if isinstance(file, Path) else None
    if write and target is None:
        raise InvalidPipeline.because(
            coded("GE3004", f"--write cannot change {file}"), "Leave --write out, and copy the test that is printed."
        )
    if json and from_run is not None:
        raise InvalidPipeline.because(
            coded("GE3004", "--json and --from-run cannot be given together"), "A test from real rows is YAML."
        )
    pipeline = load(file, root, profile=profile)
    engine = pipeline.engine_for(engine)
    options = run_options(skip, partition_rows, cluster=cluster_options(cluster))
    collect_garbage()
    if from_run is not None:
        record_test(pipeline, from_run, rows, dict(params), engine, options, target if write else None)
        return
    if not pipeline.spec.tests:
        with scan_progress():
            pipeline.plan(dict(params), unbound=True)  # report problems of the pipeline first
        raise InvalidPipeline.because(
            coded("GE1606", f"no tests in {file}"), "docs/language.md shows one, under Tests."
        )
    choice = choose_engine(engine)
    say = silence if json else partial(print, flush=True)
    say(f"engine: {choice.name} ({choice.reason})")
    notes: dict[str, None] = {}

    def show(result: TestResult) -> None:
        say("\n".join(result_lines(result)))
        notes.update(dict.fromkeys(result.notes))

    with scan_progress():
        report = pipeline.test(dict(params), engine=engine, names=names, options=options, done=show)
    for note in notes:
        say(f"note: {note}")
    if json:
        print_document(document(ExitCode.DONE if report.passed else ExitCode.TEST_FAILED, **report.to_dict()))
    else:
        print(report.summary)
    if junit is not None:
        OUTPUT.is_result = report.passed
        write_results(partial(report.write_junit, junit), junit)
    if not report.passed:
        sys.stdout.flush()
        raise SystemExit(ExitCode.TEST_FAILED)


def write_results(write: Callable[[], None], path: Path) -> None:
    """Write results to a file; a file that cannot be written is a warning."""
    try:
        write()
    except Exception as error:
        why = system_reason(error) if isinstance(error, OSError) else "\n".join(unexpected(error))
        message = coded("GE3011", f"cannot write the report to {path}: {why}")
        warn_of_report(messages.with_code(message, message), is_wanted=True)


def silence(line: str) -> None:
    """Print nothing."""


def record_test(
    pipeline: Pipeline,
    stage: str,
    rows: int,
    params: Mapping[str, Any],
    engine: str,
    options: RunOptions,
    file: Path | None,
) -> None:
    """Make a test from real rows, and print it, or add it to a file."""
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.file_tests.record import recorded_test, text_of, write_into

    with scan_progress():
        recorded = recorded_test(pipeline, stage, rows, params, engine, options)
    if file is None:
        print(("" if pipeline.spec.tests else "tests:\n") + text_of(recorded), end="")
    else:
        write_into(file, recorded)
        print(f"{file}: added the test '{recorded.name}'")
