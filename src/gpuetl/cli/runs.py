"""`gpuetl runs`: the runs of pipelines, by the manifests in their state folders."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from gpuetl.cli.arguments import Params, add_pipeline, pipeline_file
from gpuetl.cli.json_output import document, print_document
from gpuetl.errors import InvalidPipeline, RunFailed, listing, system_reason
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import coded, redacted
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.cli.tables import Table
    from gpuetl.places.paths import FilePath
    from gpuetl.report.manifests import RunFile
    from gpuetl.report.run_history import Comparison, RunSummary
    from gpuetl.state.files import StateFiles

LAST = 20
LEFT_OUT = frozenset(("node_modules", "__pycache__"))
"""Folders in which no pipelines are looked for, besides hidden ones."""
STATE = ".gpuetl"
WIDTH = 100


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = runs.__doc__ or ""
    command = commands.add_parser("runs", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=runs)
    command.add_argument(
        "file", metavar="FILE", nargs="?", type=pipeline_file,
        help="the pipeline's YAML file; by default all pipelines below the working folder that have a folder .gpuetl",
    )  # fmt: skip
    command.add_argument("run", metavar="RUN", nargs="?", help="show this run: its id, the end of its id, or 'last'")
    command.add_argument("--compare", nargs=2, metavar=("A", "B"), help="compare two runs")
    command.add_argument("--failed", action="store_true", help="only runs that did not end well")
    command.add_argument("--last", metavar="N", type=count_above_0, default=LAST, help=f"the newest N runs ({LAST})")
    command.add_argument("--json", action="store_true", help="print JSON only; of one run its manifest")
    add_pipeline(command)


def count_above_0(text: str) -> int:
    """Read a number of runs."""
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


@dataclass(frozen=True)
class History:
    """The state folder of a pipeline; `name` is how the list is headed."""

    name: str
    files: StateFiles


def runs(
    file: FilePath | None = None,
    run: str | None = None,
    compare: Sequence[str] | None = None,
    failed: bool = False,
    last: int = LAST,
    json: bool = False,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
) -> None:
    """List the runs of a pipeline, compare each with earlier ones, or show one.

    Every gpuetl run leaves a manifest in the pipeline's state folder, also one that fails.  A run whose process was
    killed is lost.

    Raises
    ------
    InvalidPipeline
        For a run that is not there.
    """
    if compare and run:
        message = coded("GE3004", "RUN and --compare cannot be given together")
        raise InvalidPipeline.because(message, "gpuetl runs FILE --compare A B compares two runs.")
    if file is None:
        if compare:
            raise InvalidPipeline.because(coded("GE3004", "--compare needs FILE"), "Name the pipeline's file.")
        show_lists(list(histories_below(Path())), last, failed, json)
        return
    history = history_of(file, dict(params), root, profile)
    if compare:
        before, after = (found(history, one) for one in compare)
        show_comparison(before, after, json)
    elif run:
        show_run(found(history, run), json)
    else:
        show_lists([history], last, failed, json)


# Where runs are.


def history_of(file: FilePath, params: Mapping[str, str], root: FilePath | None, profile: str | None) -> History:
    """Return the state folder of a pipeline; of a file that is no pipeline now the default one.

    Raises
    ------
    InvalidPipeline
        For a file that is not there, and a pipeline that can have no state.
    """
    from gpuetl.pipeline import load
    from gpuetl.spec.definition import PipelineDefinition
    from gpuetl.state.files import state_files

    try:
        definition: PipelineDefinition = load(file, root, profile=profile)
    except InvalidPipeline as error:
        if isinstance(file, Path) and not file.is_file():
            raise
        print(f"note: {error}\nnote: these are the runs in the default state folder", file=sys.stderr)
        definition = PipelineDefinition(file.name.partition(".")[0], root=file.parent)
    path = definition.state_folder(params)
    if path is None:
        message = coded("GE3023", f"{file} has no state folder")
        raise InvalidPipeline.because(message, "Name one in the file: state: PATH.")
    return History(str(definition.spec.name), state_files(path))


def histories_below(folder: Path) -> Iterator[History]:
    """Yield the state folders below a folder, in the order of their paths."""
    from gpuetl.report.manifests import FOLDER
    from gpuetl.state.files import state_files

    for path, names, _ in os.walk(folder):
        if STATE in names:
            for state in sorted(Path(path, STATE).iterdir()):
                if (state / FOLDER).is_dir():
                    yield History(str(Path(path, state.name)), state_files(state))
        names[:] = sorted(name for name in names if name not in LEFT_OUT and not name.startswith("."))


def read(history: History, last: int | None) -> list[RunFile]:
    """Read the last runs.

    Raises
    ------
    RunFailed
        Where the state folder cannot be read.
    """
    from gpuetl.places.file_state import DatasetError
    from gpuetl.report.manifests import read_runs

    try:
        return read_runs(history.files, last)
    except (OSError, DatasetError) as error:
        why = system_reason(error) or str(error)
        raise RunFailed(coded("GE3023", f"cannot read the runs in {history.files.path}: {why}")) from None


def found(history: History, name: str) -> Mapping[str, Any]:
    """Return the manifest of a run by its id, the end of its id, or `last`.

    Raises
    ------
    InvalidPipeline
        For a run that is not there, or has no manifest, and for the end of several ids.
    """
    from gpuetl.report.manifests import newest_id, read_run, run_ids

    at = f"in {redacted(str(history.files.path))}"
    ended, begun = run_ids(history.files)
    ids = [one for one in (*ended, *begun) if one == name] or [one for one in (*ended, *begun) if one.endswith(name)]
    if name == "last":
        ids = [newest_id(history.files, ended)] if ended else []
    if len(ids) != 1:
        what = f"{len(ids)} runs have ids that end in '{name}'" if ids else f"there is no run '{name}' {at}"
        newest = listing(sorted(ended, reverse=True)[:5]) or "none"
        raise InvalidPipeline.because(coded("GE3022", what), f"The newest runs: {newest}.")
    run = read_run(history.files, ids[0])
    if run.manifest is None:
        why = "its manifest is damaged" if run.status == "unreadable" else f"it has no manifest: it is {run.status}"
        raise InvalidPipeline.because(coded("GE3022", f"run {ids[0]} cannot be shown: {why}"), f"Its file is {at}.")
    return run.manifest


# Lists.


def show_lists(histories: Sequence[History], last: int, failed: bool, json: bool) -> None:
    """Print the runs of each pipeline."""
    from gpuetl.report.run_history import EARLIER_RUNS, RULE, summaries

    lists: list[tuple[History, list[RunSummary]]] = []
    for history in histories:
        listed = summaries(read(history, None if failed else last + EARLIER_RUNS))
        lists.append((history, [one for one in listed if not failed or one.status != "done"][:last]))
    if json:
        pipelines = [
            {"name": one.name, "state": redacted(str(one.files.path)), "runs": [run.to_dict() for run in listed]}
            for one, listed in lists
        ]
        print_document(document(ExitCode.DONE, pipelines=pipelines, rule=RULE))
        return
    if not lists:
        print("no runs: no folder below this one has a folder .gpuetl")
    from gpuetl.cli.console import Console

    out = Console()
    for history, listed in lists:
        counted = f"{len(listed)} {'failed ' * failed}run{'s' * (len(listed) != 1)}"
        out.print(f"{history.name}: {counted} in {redacted(str(history.files.path))}", soft_wrap=True)
        if listed:
            out.print(run_table(listed))
        for run in listed:
            for outlier in run.outliers:
                out.print(f"! {run.run_id}: {outlier}")
    if any(run.outliers for _, listed in lists for run in listed):
        out.print(fill(RULE, WIDTH))


SHORT = {"failed its expectations": "expectations"}
DROPPED = ("read", "engine", "code")
"""Columns that are left out, the first one first, where a line would be longer than 100 characters."""


def run_table(listed: Sequence[RunSummary], width: int = WIDTH) -> Table:
    """Return a line for each run, at most `width` characters long; an outlier has a mark."""
    from gpuetl.cli.tables import new_table
    from gpuetl.units import count, duration, size

    columns: dict[str, list[str]] = {
        "start": [start_text(one.started) for one in listed],
        "run": [one.run_id.rpartition("-")[2] for one in listed],
        "status": [SHORT.get(one.status, one.status) for one in listed],
        "code": [one.code for one in listed],
        "engine": [one.engine for one in listed],
        "time": [marked(one, "time", None if one.seconds is None else duration(one.seconds)) for one in listed],
        "rows in": [marked(one, "rows in", count(one.rows_in)) for one in listed],
        "rows out": [marked(one, "rows out", count(one.rows_out)) for one in listed],
        "read": ["" if one.input_bytes is None else size(one.input_bytes) for one in listed],
    }
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    for name in DROPPED:
        if sum(max(map(len, (title, *cells))) + 3 for title, cells in columns.items()) - 1 <= width:
            break
        columns.pop(name, None)
    right = ("time", "rows in", "rows out", "read")
    table = new_table(*((name, "right" if name in right else "left") for name in columns))
    styles = {"done": None, "running": None, "interrupted": "yellow"}
    for one, *cells in zip(listed, *columns.values(), strict=True):
        table.add_row(*cells, style=styles.get(one.status, "red") or ("yellow" if one.outliers else None))
    return table


def start_text(started: float) -> str:
    """Return the local time of a start."""
    return f"{datetime.fromtimestamp(started):%Y-%m-%d %H:%M:%S}" if started else ""


def marked(run: RunSummary, what: str, text: str | None) -> str:
    """Return a number, with a mark where it is an outlier."""
    return f"{text or ''}{' !' * any(one.what == what for one in run.outliers)}"


# One run.


def show_run(manifest: Mapping[str, Any], json: bool) -> None:
    """Print a run: its facts, rows and seconds, and how it ended."""
    if json:
        print_document(manifest)
        return
    from gpuetl.cli.console import Console
    from gpuetl.cli.tables import new_table
    from gpuetl.units import count, duration

    out = Console()
    for name, value in facts_of(manifest):
        out.print(f"{name + ':':12}{value}", soft_wrap=True)
    if manifest["stages"]:
        table = new_table(("", "left"), ("name", "left"), ("rows out", "right"), ("time", "right"))
        for one in manifest["stages"]:
            table.add_row(one["kind"], one["name"], count(one["rows_out"]), duration(one["seconds"]))
        out.print(table)
        steps = new_table(("stage", "left"), ("step", "left"), ("rows in", "right"), ("rows out", "right"))
        for one in manifest["stages"]:
            for step in one["steps"]:
                name = f"{step['step']} {step['verb']}"
                steps.add_row(one["name"], name, count(step["rows_in"]), count(step["rows_out"]))
        if steps.rows:
            out.print(steps)
    for line in outcome_lines(manifest):
        out.print(line, soft_wrap=True)
    if manifest["error"]:
        out.print(f"error: {manifest['error']}", style="red", soft_wrap=True)


def outcome_lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each sink, each rule that was broken, each warning and each note."""
    from gpuetl.cli.render import sink_line
    from gpuetl.executors.committing import SinkReport

    for sink in manifest["sinks"]:
        yield sink_line(SinkReport(**sink))
    for check in manifest["checks"]:
        if check["verdict"] != "passed":
            yield f"{check['verdict']}: stage '{check['stage']}', rule '{check['rule']}': {check['what']}"
    for kind in ("warnings", "notes"):
        yield from (f"{kind[:-1]}: {text}" for text in manifest[kind])


def facts_of(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is known of a run as a whole."""
    from gpuetl.units import duration, size

    host = manifest["environment"] or {}
    yield "run", manifest["run_id"]
    yield "pipeline", manifest["pipeline"] + (f", profile {manifest['profile']}" if manifest["profile"] else "")
    yield "status", f"{manifest['status']}, exit code {manifest['exit_code']}"
    yield "start", f"{manifest['started_at']}, took {duration(manifest['duration_s'])}"
    yield "engine", manifest["engine"] + (f" ({manifest['reason']})" if manifest["reason"] else "")
    yield "host", ", ".join(filter(None, (host.get("host", ""), *host.get("gpus", ()))))
    yield "versions", ", ".join(f"{name} {version}" for name, version in host.get("versions", {}).items())
    if manifest["params"]:
        yield "parameters", ", ".join(f"{name}={value}" for name, value in manifest["params"].items())
    if manifest["options"]:
        yield "options", ", ".join(f"{name}={value}" for name, value in manifest["options"].items())
    for one in manifest["inputs"]:
        files = "" if one["files"] is None else f", {counted_files(one['files'])}, {size(one['bytes'] or 0)}"
        yield f"input {one['name']}", f"{one['path'] or one['format']}{files}"
    if manifest["path"]:
        yield "report", manifest["path"]


def counted_files(files: int) -> str:
    """Return a number of files."""
    return f"{files:,} file{'s' * (files != 1)}"


# Two runs.


def show_comparison(before: Mapping[str, Any], after: Mapping[str, Any], json: bool) -> None:
    """Print what differs between two runs."""
    from gpuetl.report.run_history import comparison

    compared = comparison(before, after)
    if json:
        print_document(document(ExitCode.DONE, **compared.to_dict()))
        return
    from gpuetl.cli.console import Console

    out = Console()
    for table in comparison_tables(compared):
        out.print(table)
    print("\n".join(compared.pipeline_diff) or "the pipeline's text is the same")


def comparison_tables(compared: Comparison) -> Iterator[str | Table]:
    """Yield headings and tables; nothing where all is equal."""
    from gpuetl.cli.tables import cut, new_table
    from gpuetl.units import duration

    names = [one.rpartition("-")[2] for one in (compared.before, compared.after)]
    yield f"A: {compared.before}\nB: {compared.after}"
    for head in ("facts", "params", "versions", "inputs"):
        if differing := getattr(compared, head):
            table = new_table(({"params": "parameter"}.get(head, head), "left"), *((name, "left") for name in names))
            for one in differing:
                table.add_row(cut(one.what, 24), cut(one.before, 32) or "–", cut(one.after, 32) or "–")
            yield table
    for head, numbers, shown in (("rows out", compared.rows, rows_text), ("time", compared.seconds, duration)):
        table = new_table((head, "left"), ("", "left"), (names[0], "right"), (names[1], "right"), ("change", "right"))
        for one in numbers:
            cells = ("–" if value is None else shown(value) for value in (one.before, one.after))
            table.add_row(one.stage, one.step, *cells, change_text(one.before, one.after))
        if numbers:
            yield table


def rows_text(rows: float) -> str:
    """Return a number of rows."""
    return f"{round(rows):,}"


def change_text(before: float | None, after: float | None) -> str:
    """Return a change in percent; nothing where there is none, or nothing to compare with."""
    if before is None or after is None or before == after:
        return ""
    return f"{after / before - 1:+.1%}".replace("%", " %") if before else "new"
