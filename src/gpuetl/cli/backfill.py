"""`gpuetl backfill`: run a pipeline for each value of a parameter that has no successful run yet."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl.cli.arguments import add_command, leave, name_and_value
from gpuetl.cli.run import add_run_arguments
from gpuetl.records import dataclass
from gpuetl.signals import noted
from gpuetl.units import duration

if TYPE_CHECKING:
    from gpuetl.backfill.processes import EndedRun, Processes
    from gpuetl.backfill.record import BackfillRecord
    from gpuetl.cli.arguments import Commands
    from gpuetl.pipeline import Pipeline
    from gpuetl.places.paths import FilePath
    from gpuetl.plan.plan import Plan

OWN_VALUES = ("--from", "--to", "--step", "--parallel")
PARTS = ("select", "until", "limit", "write_to")
"""Options of `run` that leave rows, or sinks, out."""
OWN_FLAGS = ("--keep-going", "--again", "--dry-run")
SHOWN_LINES = 12
"""Of the output of a run that failed."""
MOST_ROWS = 60
"""Values that the table at the end has; of more, those that are not done."""


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, backfill, pair=name_or_pair)
    group = command.add_argument_group(
        "values", "Give the parameter as --param NAME, and others as --param NAME=VALUE."
    )
    group.add_argument("--from", dest="first", metavar="VALUE", required=True, help="the first value")
    group.add_argument("--to", dest="last", metavar="VALUE", required=True, help="the last value")
    text = "from one value to the next: 1d, 2 weeks, 6h, 1 month, or a number for integers; default: 1d or 1"
    group.add_argument("--step", metavar="STEP", help=text)
    group.add_argument(
        "--parallel", metavar="COUNT", type=count_above_0, default=1, help="how many values run at once; default: 1"
    )
    group.add_argument("--keep-going", action="store_true", help="go on with other values after one that failed")
    group.add_argument("--again", action="store_true", help="run values that have a successful run, too")
    group.add_argument("--dry-run", action="store_true", help="list the values that would run, and leave")
    add_run_arguments(command)
    command.set_defaults(words=())


def name_or_pair(text: str) -> tuple[str, str | None]:
    """Split a name=value pair; a name alone is that of the parameter to fill."""
    return name_and_value(text) if "=" in text else (text, None)


def count_above_0(text: str) -> int:
    """Read a number of processes."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def backfill(
    file: FilePath,
    first: str,
    last: str,
    params: Sequence[tuple[str, Any]] = (),
    root: FilePath | None = None,
    profile: str | None = None,
    step: str | None = None,
    parallel: int = 1,
    keep_going: bool = False,
    again: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
    report: Path | None = None,
    trace: Path | None = None,
    write: bool = True,
    words: Sequence[str] = (),
    **options: object,
) -> None:
    """Run a pipeline once for each value of a parameter, in order, and skip values that have a successful run.

    It takes the options of `gpuetl run`.  The same command goes on after a failure or an interrupt.
    """
    from gpuetl.backfill.processes import Processes
    from gpuetl.backfill.safety import refuse_losses
    from gpuetl.backfill.values import text_of, values_of
    from gpuetl.pipeline import load

    refuse_options(report, trace, write, options)
    pipeline = load(file, root, profile=profile)
    name, others = parameter_of(pipeline, params)
    texts = [text_of(one) for one in values_of(name, pipeline.spec.parameters[name].dtype, first, last, step)]

    def planned(text: str) -> Plan:
        return pipeline.plan({**others, name: text}, run_id=text, files=False)

    warnings = refuse_losses(name, texts, planned, parallel)
    record = record_of(pipeline, planned(texts[0]), name, others, profile)
    done = set[str]() if again else record.done() & set(texts)
    left = [text for text in texts if text not in done]
    if dry_run:
        for text in texts:
            print(f"{name}={text}  {'has a successful run' if text in done else 'would run'}")
        print(f"{len(left):,} of {len(texts):,} values would run")
        return
    shown = (lambda line: None) if quiet else print_now
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if done:
        shown(f"{len(done):,} of {len(texts):,} values have a successful run (--again runs them, too)")
    progress = Progress(name, len(texts), len(done), shown)
    run_values(left, Processes(child_command(name, words), parallel), record, progress, keep_going)
    if progress.done < progress.total:
        leave("", 1)


def run_values(
    values: Sequence[str], processes: Processes, record: BackfillRecord, progress: Progress, keep_going: bool
) -> None:
    """Run values, record those that are done, and print a table at the end, also of what an interrupt leaves."""

    def note(ended: EndedRun) -> None:
        if ended.outcome == "done":
            record.add(ended.value, ended.seconds)
        progress.add(ended)

    rest = "the same command goes on with the rest"
    with noted(lambda: f"{progress.done:,} of {progress.total:,} values are done; {rest}"):
        try:
            with closing(processes.run(values, lambda one: keep_going or one.outcome == "done")) as runs:
                for ended in runs:
                    note(ended)
        finally:
            for ended in processes.stopped:
                note(ended)
            progress.summarize(values)


def refuse_options(report: Path | None, trace: Path | None, write: bool, others: Mapping[str, object]) -> None:
    """Refuse options of `run` that do not fit several runs."""
    from gpuetl.backfill.values import wrong

    if report is not None and not report.is_dir():
        raise wrong(f"--report {report} is one file, and each run writes a report", "Name a folder.")
    if trace is not None:
        raise wrong(
            f"--trace {trace} is one file, and each run writes a trace", "Trace one run: gpuetl run --trace FILE."
        )
    if not write:
        raise wrong("--no-write writes no sink, so no value would be done", "Leave it out, or use --dry-run.")
    for name in PARTS:
        if others.get(name):
            option = f"--{name.replace('_', '-')}"
            raise wrong(f"{option} runs a part of the pipeline, so no value would be done", "Try it with gpuetl run.")


def parameter_of(pipeline: Pipeline, params: Sequence[tuple[str, Any]]) -> tuple[str, dict[str, Any]]:
    """Return the parameter that gets the values, and the values of others.

    Raises
    ------
    InvalidPipeline
        Where none or several are named, or the pipeline does not have it.
    """
    from gpuetl.backfill.values import wrong
    from gpuetl.errors import InvalidPipeline, have_hint
    from gpuetl.messages import coded

    names = [name for name, value in params if value is None]
    others = {name: value for name, value in params if value is not None}
    known = pipeline.spec.parameters
    if len(names) != 1:
        given = f"{len(names)} parameters have no value: {', '.join(names)}" if names else "no parameter is named"
        raise wrong(
            f"{given}, and a backfill fills one", "Write --param NAME for it, and --param NAME=VALUE for others."
        )
    name = names[0]
    if name not in known:
        message = coded("GE1021", f"unknown parameter '{name}'")
        raise InvalidPipeline.because(message, have_hint(name, known, noun="Parameters"))
    return name, {other: value for other, value in others.items() if other != name}


def record_of(
    pipeline: Pipeline, plan: Plan, name: str, others: Mapping[str, Any], profile: str | None
) -> BackfillRecord:
    """Return the record of a parameter, for the values that others have.

    Raises
    ------
    InvalidPipeline
        For a pipeline that has no place for its state.
    """
    from gpuetl.backfill.record import BackfillRecord
    from gpuetl.backfill.values import wrong
    from gpuetl.spec.parameters import bind_parameters

    if plan.state is None:
        raise wrong(
            "a pipeline file of an HTTP server has no folder next to it for its state", "Name one: state: FOLDER."
        )
    bound = bind_parameters(pipeline.spec.parameters, others, need_all=False)
    texts = {other: repr(getattr(value, "value", None)) for other, value in bound.items() if other != name}
    return BackfillRecord.of(pipeline, plan, plan.state, name, {**texts, "--profile": profile or ""})


def child_command(name: str, words: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the command that runs one value: the words of this one without those that only a backfill takes."""
    kept = run_words(words)
    return lambda value: [sys.executable, "-m", "gpuetl", "run", *kept, "--param", f"{name}={value}"]


def run_words(words: Sequence[str]) -> list[str]:
    """Return the words that `gpuetl run` takes, too."""
    kept = list[str]()
    rest = iter(words)
    for word in rest:
        option, _, value = word.partition("=")
        if option in OWN_VALUES:
            if not value and "=" not in word:
                next(rest, None)
        elif word in OWN_FLAGS or (option == "--param" and value and "=" not in value):
            continue
        elif word in ("-p", "--param"):
            pair = next(rest, "")
            kept += [word, pair] if "=" in pair else []
        elif not (word.startswith("-p") and not word.startswith("--") and "=" not in word):
            kept.append(word)
    return kept


@dataclass
class Progress:
    """What has been done: prints a line for each run, and a table at the end."""

    name: str
    total: int
    done: int
    shown: Callable[[str], None]
    ended: list[EndedRun] = field(default_factory=list)
    start: float = field(default_factory=time.perf_counter)

    def add(self, one: EndedRun) -> None:
        """Print the line of a run; of one that failed, the end of what it has printed goes to stderr."""
        self.ended.append(one)
        self.done += one.outcome == "done"
        failed = sum(other.outcome == "failed" for other in self.ended)
        left = self.total - self.done - failed
        mean = (time.perf_counter() - self.start) / len(self.ended)
        remaining = f", {left:,} left, about {duration(mean * left)}" if left else ""
        of = f"[{self.done:,} of {self.total:,} done{f', {failed:,} failed' if failed else ''}{remaining}]"
        self.shown(f"{self.name}={one.value} {one.outcome} in {duration(one.seconds)}  {of}")
        lines = one.output.strip().splitlines()
        if one.outcome == "failed":
            for line in lines[-SHOWN_LINES:]:
                print(f"  {line}", file=sys.stderr, flush=True)
            return
        for line in lines:
            if line.startswith("warning: "):
                print(f"  {line}", file=sys.stderr, flush=True)

    def summarize(self, planned: Sequence[str]) -> None:
        """Print the table of all values that were to run, or of those that are not done where they are many."""
        from gpuetl.cli.render import Screen
        from gpuetl.cli.tables import new_table

        outcomes = {one.value: one for one in self.ended}
        rows = [value for value in planned if len(planned) <= MOST_ROWS or not is_done(outcomes.get(value))]
        table = new_table((self.name, "left"), ("outcome", "left"), ("time", "right"))
        for value in rows[:MOST_ROWS]:
            one = outcomes.get(value)
            table.add_row(value, one.outcome if one else "not run", duration(one.seconds) if one else "")
        screen = Screen(quiet=False)
        if rows and self.shown is print_now:
            screen.out.print(table)
        more = f" ({len(rows) - MOST_ROWS:,} more values are not listed)" if len(rows) > MOST_ROWS else ""
        failed = sum(one.outcome == "failed" for one in self.ended)
        left = self.total - self.done - failed
        advice = "" if self.done == self.total else ".  The same command runs those that are not done"
        self.shown(f"{self.done:,} of {self.total:,} values done, {failed:,} failed, {left:,} left{more}{advice}")


def is_done(one: EndedRun | None) -> bool:
    """Tell whether a value has a successful run."""
    return one is not None and one.outcome == "done"


def print_now(line: str) -> None:
    """Print a line, also into a pipe, when it is there."""
    print(line, flush=True)
