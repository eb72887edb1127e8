"""What becomes of the staging folders of dead runs: commits are finished or undone."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from gpuetl.places.local.commit.journal import JOURNAL, Journal, absolute, decide, decision_in, record, undo_all
from gpuetl.places.local.commit.locks import LEASE, Holder, holder_of, locked
from gpuetl.places.local.commit.manifest import entries_below
from gpuetl.places.local.commit.moves import STAGING, Put, Unclear, inode_of, rename_to_free, staging_folder, sync_all
from gpuetl.places.local.folders import remove_folder
from gpuetl.records import dataclass

# Files that others wrote to a folder in the moment in which it was replaced: they go to the new folder.


def bring_back_late_files(journal: Journal) -> None:
    """Move files that gpuetl does not know from replaced folders to those that replaced them.

    A commit looks for files of others before it decides.  One that comes later is only found here, before what was
    replaced is removed.

    Raises
    ------
    OSError
        Where a file cannot be moved; what was replaced must stay.
    """
    for step in journal.steps:
        if isinstance(step, Put) and (old := replaced_folder(step)):
            for name in late_files(journal, old, step.target):
                place = step.target / name
                if not os.path.lexists(place):  # one that was kept is there, too
                    place.parent.mkdir(parents=True, exist_ok=True)
                    rename_to_free(old / name, place)


def replaced_folder(step: Put) -> Path | None:
    """Return where the folder is that a step has replaced; None where it replaced none, or was undone."""
    for path in (step.new, step.kept):
        inode = inode_of(path)
        if inode not in (None, step.inode) and stat.S_ISDIR(os.lstat(path).st_mode):
            return path
    return None


def late_files(journal: Journal, old: Path, target: Path) -> Iterator[Path]:
    """Yield the files in the folder that `target` had before, and that gpuetl did not write; relative to it."""
    for entry in entries_below(old):
        if not entry.is_folder and target / entry.name not in journal.replaced:
            yield entry.name


# What becomes of the staging folders of dead runs: commits are finished or undone, and the folders are removed.


Ending = Literal["finished", "undone", "removed"]


def stagings_beside(path: Path) -> list[Path]:
    """Return the staging folders of all runs that write or wrote to a path."""
    return [
        folder
        for folder in stagings_in(path.parent)
        if staging_folder(path, folder.name.rpartition(".")[2]).name == folder.name
    ]


def stagings_below(folder: Path) -> list[Path]:
    """Return all staging folders in a folder and in those below it."""
    places = [Path(place) for place, _, _ in os.walk(folder) if not STAGING.fullmatch(Path(place).name)]
    return [found for place in places for found in stagings_in(place)]


def stagings_in(folder: Path) -> Iterator[Path]:
    """Yield the staging folders in a folder."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name[:1] == ".")
    except OSError:
        return
    for name in names:
        if STAGING.fullmatch(name) and (folder / name).is_dir() and not (folder / name).is_symlink():
            yield folder / name


@dataclass(frozen=True)
class Recovered:
    """What became of a dead run's staging folders.

    `ending` says whether its commit was finished or undone; `removed` if there was none.
    """

    run_id: str
    ending: Ending
    stagings: tuple[Path, ...]
    targets: tuple[Path, ...]
    size: int


@dataclass(frozen=True)
class Left:
    """A staging folder that was left alone, and why."""

    staging: Path
    holder: Holder
    unfinished: bool

    @property
    def why(self) -> str:
        """Say why it is left alone."""
        lease = self.holder.lease
        if self.holder.status == "live":
            return f"process {lease.pid if lease else '?'} is writing there"
        if self.holder.status == "elsewhere" and lease:
            return f"it belongs to process {lease.pid} of host {lease.host}, which may be alive"
        return "it has no lease that can be read: another user's run or an older version of gpuetl made it"


def sort_out(stagings: Iterable[Path], hosts: Sequence[str] = ()) -> Iterator[Recovered | Left]:
    """Recover and remove what dead runs left in staging folders; yield what was done with each run.

    Runs of the `hosts` are taken for dead, too.

    Raises
    ------
    Unclear
        Where it cannot be told what a run did; nothing more is changed.
    OSError
        Where the system refuses a change.
    """
    for staging in stagings:
        holder = holder_of(staging)
        if holder.status == "dead" or _is_given_up(holder, hosts):
            if outcome := recover(staging, hosts):
                yield outcome
        elif staging.exists():
            yield Left(staging, holder, is_unfinished(staging))


def _is_given_up(holder: Holder, hosts: Sequence[str]) -> bool:
    return holder.status == "elsewhere" and holder.lease is not None and holder.lease.host in hosts


def is_unfinished(staging: Path) -> bool:
    """Tell whether the commit that a staging folder takes part in was decided, and is not done.

    Where that cannot be told, it counts as unfinished.
    """
    try:
        journal = Journal.read(staging)
    except Unclear:
        return True
    if journal is None:
        return False
    decision = decision_in(journal.deciding)
    if decision is None:  # missing, or gone just now with the journal, which goes first
        return (staging / JOURNAL).exists()
    return decision in ("forward", "back")


def unfinished_beside(path: Path) -> list[Left]:
    """Return the staging folders beside a sink whose commits were decided, and are not done."""
    return [Left(folder, holder_of(folder), True) for folder in stagings_beside(path) if is_unfinished(folder)]


def recover(staging: Path, hosts: Sequence[str] = ()) -> Recovered | Left | None:
    """Finish or undo the commit of a dead run, in all of its sinks, and remove its staging folders.

    They are left alone where one of them may belong to a run that is alive.  Returns None where another process
    recovered the run meanwhile.
    """
    journal = Journal.read(staging)
    stagings = journal.stagings if journal else (staging,)
    with locked({folder.parent for folder in stagings}):
        if not staging.exists():
            return None
        for folder in stagings:
            holder = holder_of(folder)
            if folder.exists() and holder.status != "dead" and not _is_given_up(holder, hosts):
                return Left(folder, holder, is_unfinished(staging))
        lease = holder_of(staging).lease
        size = sum(map(bytes_below, stagings))
        ending = settle(staging)
        made = [(folder, h.lease.made) for folder in stagings if (h := holder_of(folder)).lease]
        for folder in reversed(stagings):
            remove_staging(folder)
        for folder, count in made:
            remove_empty(folder, count)
    targets = tuple(dict.fromkeys(target_of(folder) for folder in stagings))
    return Recovered(lease.run_id if lease else staging.name.rpartition(".")[2], ending, stagings, targets, size)


def settle(staging: Path) -> Ending:
    """Make the moves that a dead run decided and did not make, or undo those that it began to undo.

    Raises
    ------
    Unclear
        Where the record or a journal is missing, or a move cannot be told apart from a change of others.
    """
    journal = Journal.read(staging)
    if journal is None:
        return "removed"
    decision = decision_in(journal.deciding)
    if decision is None:
        raise Unclear(
            f"{staging} is part of a commit that {journal.deciding} decides, and no record is there.  Put the folder "
            f"back, or remove {staging} if {target_of(staging)} is as it should be"
        )
    if decision in ("undecided", "done"):
        return "removed"
    journals = [_needed(folder, journal.stagings) for folder in journal.stagings]
    if decision == "back":
        if stuck := undo_all(journals):
            raise Unclear("; ".join(stuck))
    else:
        for one in journals:
            one.apply()
    sync_all(folder for one in journals for folder in one.changed_folders)
    decide(journal.deciding, "done", durable=True)
    return "undone" if decision == "back" else "finished"


def _needed(staging: Path, stagings: tuple[Path, ...]) -> Journal:
    journal = Journal.read(staging)
    if journal is None:
        raise Unclear(f"the journal in {staging} is missing")
    if [*map(absolute, journal.stagings)] != [*map(absolute, stagings)]:
        raise Unclear(f"the journals in {staging} and {stagings[0]} are not of one commit")
    return journal


def remove_staging(staging: Path) -> None:
    """Remove a staging folder whose commit is done or was never decided.

    The journal, the record and the lease go last, in this order.

    Raises
    ------
    OSError
        Where something stays.  Then the lease stays too: without it, no later run could remove the rest.
    """
    if not staging.is_dir():
        return
    if journal := Journal.read(staging):
        bring_back_late_files(journal)
    last = (JOURNAL, *(record(staging, name).name for name in ("undecided", "forward", "back", "done")), LEASE)
    for path in list(staging.iterdir()):
        if path.name not in last:
            remove_any(path)
    for name in last:
        if name == LEASE and (left := [path for path in staging.iterdir() if path.name != LEASE]):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(left[0]))
        (staging / name).unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        staging.rmdir()


def remove_any(path: Path) -> None:
    """Remove a file, or a folder with what is in it; a link goes, and not what it points to."""
    if stat.S_ISDIR(os.lstat(path).st_mode):
        remove_folder(path)
    else:
        path.unlink(missing_ok=True)


def remove_empty(staging: Path, count: int) -> None:
    """Remove so many folders above a staging folder, as far as they are empty."""
    for folder in list(staging.parents)[:count]:
        try:
            folder.rmdir()
        except OSError:
            return


def bytes_below(folder: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(os.lstat(Path(place, name)).st_size for place, _, names in os.walk(folder) for name in names)


def target_of(staging: Path) -> Path:
    """Return the path of the sink that a staging folder is for."""
    lease = holder_of(staging).lease
    found = STAGING.fullmatch(staging.name)
    return staging.parent / (lease.target if lease else found["name"] if found else staging.name)
