"""`gpuetl recover` and `gpuetl clean`: what runs that died left at a place."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.errors import RunFailed
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import coded, recoded
from gpuetl.places.paths import FilePath, StorePath
from gpuetl.units import size

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from gpuetl.cli.arguments import Commands
    from gpuetl.places.local.commit.recovery import Left, Recovered


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = recover.__doc__ or ""
    command = commands.add_parser("recover", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=recover)
    add_places(command)


def add_places(command: ArgumentParser) -> None:
    """Add the arguments that say where to look, and which runs are dead."""
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=written_path,
        help="a sink's path, or a folder of this machine to look in; stores take credentials from the environment",
    )
    command.add_argument(
        "--host", dest="hosts", metavar="NAME", action="append", default=[],
        help="take the runs of this host for dead, too; may be repeated",
    )  # fmt: skip


def written_path(text: str) -> FilePath:
    """Read a path; an empty one, as of a script's variable that is not set, is not the current folder."""
    if not text:
        raise ArgumentTypeError("a path is empty; write . for the current folder")
    from gpuetl.places.paths import ImpossiblePath
    from gpuetl.places.registry import path_of, scheme_problem

    if problem := scheme_problem(text, "write"):
        raise ArgumentTypeError(problem[0])
    try:
        path = path_of(text, Path())
    except ImpossiblePath as error:
        raise ArgumentTypeError(str(error)) from None
    return path if isinstance(path, StorePath) else Path(text)


def recover(paths: Sequence[FilePath], hosts: Sequence[str] = ()) -> None:
    """Finish or undo the commits of runs that died.  The next run to the same sinks does it by itself.

    Runs that died before their commit have changed no sink: gpuetl clean removes what they left.
    """
    from gpuetl.places.local.commit.recovery import Recovered, is_unfinished

    done: list[Recovered | Left] = []
    stores, folders = split_by_kind(paths)
    lines = recovered_in_stores(stores, hosts)
    for staging in stagings_at(folders):
        if is_unfinished(staging):
            done += [outcome for outcome in settled(staging, hosts) if outcome not in done]
    for outcome in done:
        print(recovered_line(outcome) if isinstance(outcome, Recovered) else left_line(outcome))
    for line in lines:
        print(line)
    if not done and not lines:
        print("no commit is unfinished" + dead_hint(folders))
    if any(not isinstance(outcome, Recovered) for outcome in done):
        raise SystemExit(ExitCode.FAILED)


def split_by_kind(paths: Sequence[FilePath]) -> tuple[list[StorePath], list[Path]]:
    """Return the paths of stores, and those of this machine."""
    return [path for path in paths if isinstance(path, StorePath)], [path for path in paths if isinstance(path, Path)]


def recovered_in_stores(paths: Sequence[StorePath], hosts: Sequence[str]) -> list[str]:
    """Finish or undo what dead runs did to sinks on object stores, and say what was done.

    Credentials and the endpoint come from the environment.

    Raises
    ------
    RunFailed
        Where the store refuses a request.
    """
    from gpuetl.places.file_state import DatasetError
    from gpuetl.places.registry import publisher_of

    try:
        found = [publisher_of(path).finish_dead_runs(path, RunFailed, hosts) for path in paths]
    except DatasetError as error:
        raise RunFailed(recoded(f"{error}.  {error.hint}", error)) from None
    return [line for remarks in found for line in (*remarks.warnings, *remarks.notes)]


def dead_hint(paths: Sequence[Path]) -> str:
    """Say what removes the folders of runs that died before their commit, where there are such folders."""
    from gpuetl.places.local.commit.locks import holder_of

    count = sum(holder_of(staging).status == "dead" for staging in stagings_at(paths))
    if not count:
        return ""
    folders = f"{count:,} folder{'s' * (count != 1)}"
    return f".  Dead runs left {folders}, which this removes: gpuetl clean {' '.join(map(str, paths))}"


def stagings_at(paths: Sequence[Path]) -> list[Path]:
    """Return the staging folders beside and below paths.

    Raises
    ------
    RunFailed
        For a path where nothing is, and no run has written to it.
    """
    from gpuetl.places.local.commit.recovery import stagings_below, stagings_beside

    found: list[Path] = []
    for given in paths:
        path = given.resolve() if given.is_symlink() else given.absolute()
        here = [*stagings_beside(path), *(stagings_below(path) if path.is_dir() else ())]
        if not here and not path.exists():
            raise RunFailed(coded("GE1516", f"{given} does not exist, and no run left anything next to it"))
        found += here
    return list(dict.fromkeys(found))


def settled(staging: Path, hosts: Sequence[str]) -> list[Recovered | Left]:
    """Recover and remove what a dead run left in a staging folder.

    Raises
    ------
    RunFailed
        Where that cannot be done.
    """
    from gpuetl.places.local.commit.moves import Unclear
    from gpuetl.places.local.commit.recovery import sort_out

    try:
        return list(sort_out([staging], hosts))
    except Unclear as error:
        raise RunFailed(coded("GE1513", f"{staging} is in an unclear state.  {error}")) from error
    except OSError as error:
        raise RunFailed(coded("GE1513", f"cannot recover {staging}: {error.strerror}")) from error


def recovered_line(outcome: Recovered) -> str:
    """Say what was done with a dead run."""
    targets = ", ".join(map(str, outcome.targets))
    if outcome.ending == "removed":
        return f"removed {size(outcome.size)} of run {outcome.run_id}, which died before its commit: {targets}"
    rows = "the rows of that run" if outcome.ending == "finished" else "what was there before"
    return (
        f"{outcome.ending} the commit of run {outcome.run_id}, and removed {size(outcome.size)}: {targets} has {rows}"
    )


def left_line(left: Left) -> str:
    """Say why a staging folder was left alone, and what removes it."""
    lease = left.holder.lease
    fix = f"  If it is dead: --host {lease.host}" if left.holder.status == "elsewhere" and lease else ""
    return f"left {left.staging}: {left.why}.{fix}"
