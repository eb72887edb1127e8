"""What gpuetl asks of a kind of store to publish sinks: stage their files, commit all sinks of a run, recover.

A run writes each file of a sink to a local path, `StagedSink.path_of`, and hands it over with `keep`.  Readers of the
target see none of it until `Publisher.commit`.  Local folders rename staged files (`places/local/commit`); object
stores copy staged objects and decide with one object (`places/objects/commit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from gpuetl.errors import RunFailed
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.places.target import Target
from gpuetl.records import dataclass


class WrittenFile(NamedTuple):
    """A file of a sink: its name below the sink's folder, its bytes, and the seconds that writing it took.

    `checksum` is that of a checkpoint's file.
    """

    name: str
    size: int
    seconds: float
    checksum: str = ""


class FilesRead(NamedTuple):
    """The files at a target that a run has read, and that its commit replaces: mode `upsert`.

    `versions` has what tells each file apart from a later one, by its name below the target.  `folders` are the
    partitions that the commit replaces.  Only in them must no file have changed, where `in_folders_only`.
    """

    versions: Mapping[str, str]
    folders: frozenset[str] = frozenset()
    in_folders_only: bool = False

    def relevant(self, versions: Mapping[str, str]) -> dict[str, str]:
        """Return those versions that must not have changed."""
        if not self.in_folders_only:
            return dict(versions)
        return {name: version for name, version in versions.items() if folder_of(name) in self.folders}

    def changed(self, now: Mapping[str, str]) -> list[str]:
        """Return the names of files that are new, gone or other ones than those that were read."""
        before, after = self.relevant(self.versions), self.relevant(now)
        return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

    def check(self, now: Mapping[str, str], staged: Iterable[str], failed: Callable[[str], RunFailed]) -> None:
        """Refuse to replace what the run has not read.

        Raises
        ------
        RunFailed
            Where another run has changed the target since this one read it, with its files.
        """
        if names := self.changed(now):
            shown = ", ".join(names[:SHOWN_FILES]) + ", …" * (len(names) > SHOWN_FILES)
            what = f"another run has changed the target since this run read it: {shown}"
            raise failed(coded("GE1567", f"{what}.  No sink has changed.  Run again"))
        unread = sorted({folder_of(name) for name in staged} - self.folders) if self.folders else []
        if unread := [one for one in unread if any(folder_of(name) == one for name in now)]:
            raise failed(
                coded("GE1567", f"the run has not read {unread[0]}, and would replace it.  No sink has changed")
            )


SHOWN_FILES = 3


def folder_of(name: str) -> str:
    """Return the folder of a file, both below the target; empty for one right below it."""
    return name.rpartition("/")[0]


class RecoveryRemarks(NamedTuple):
    """What was done about dead runs: `warnings` where sinks have changed, else `notes`."""

    warnings: list[str]
    notes: list[str]


@dataclass(frozen=True)
class RunIdentity:
    """The run that writes: its id, its pipeline's name, and whether files are synced to disk before the commit."""

    run_id: str
    pipeline: str = ""
    sync: bool = True


class StagedSink(Protocol):
    """What a run writes to one target, hidden from the target's readers until the commit.

    Attributes
    ----------
    target, run
        Where the files go, and the run that writes them.
    files
        The files to commit, in the order of their rows.
    unchanged
        Whether the commit leaves the target as it is.
    foreign_kept
        Files that gpuetl did not write and that stay in a folder which is replaced, relative to the target.
    files_read
        In mode `upsert`, what the commit replaces; None in other modes.
    before_change
        Called by `prepare`, and again by the commit while no other run changes the target.  They may raise `RunFailed`:
        then no sink changes.
    """

    target: Target
    run: RunIdentity
    files: list[WrittenFile]
    unchanged: bool
    foreign_kept: list[Path]
    files_read: FilesRead | None
    before_change: list[Callable[[], None]]

    def prepare(self) -> None:
        """Refuse a target that the sink must not replace, and make room for the run's files.

        Raises
        ------
        SinkExists
            In mode `error`, where the target exists.
        RunFailed
            Where the target is not of the sink's kind, holds files of others, or cannot be written.
        """

    def check_target(self) -> None:
        """Refuse a target that the sink must not replace: see `prepare`."""

    def exists(self) -> bool:
        """Tell whether there is a file, or a folder, at the target."""

    @property
    def name_bytes(self) -> int:
        """The most bytes that the store takes in the name of a folder."""

    @property
    def file_name(self) -> str:
        """The name of the target's last part: of the file, where the target is one."""

    def path_of(self, name: str) -> Path:
        """Return the local path to write a file to; its folder is there."""

    def staged_path(self, name: str) -> FilePath:
        """Return where a file is that `keep` has taken over."""

    def keep(self, name: str) -> int:
        """Take a file over that was written to its path, durably; return its bytes.  Threads may call it.

        Raises
        ------
        OSError
            Where the store does not take it.
        """

    def earlier_files(self) -> Sequence[FilePath]:
        """Return the files at the target with its mark, which equal runs appended, in the order of their paths."""

    def current_versions(self) -> dict[str, str]:
        """Return the files of gpuetl at the target, by their names below it; a single file has the target's own name.

        The text of each is another one where the file has changed.

        Raises
        ------
        RunFailed
            Where readers of the target would read files of others, too.
        OSError
            Where the target cannot be looked at.
        """

    def staying_files(self) -> Iterator[FilePath]:
        """Yield the files at the target that the commit will not replace."""

    def close(self, keep: bool = False) -> bool:
        """Remove what is staged; return whether nothing is left.

        With `keep`, or where a commit has not ended, it stays for the next run.
        """

    # On a cluster, workers stage files and the driver commits them.

    def share(self) -> None:
        """Make room for the files that workers stage; the driver calls it after `prepare`."""

    def attempt(self, name: str) -> StagedSink:
        """Return where a worker stages the files of one attempt at a task."""

    def take(self, attempt: str, staged: str, name: str) -> None:
        """Take over a file that an attempt staged, under a new name.

        Raises
        ------
        OSError
            Where the driver does not see it.
        """

    def remove_attempts(self) -> None:
        """Remove what attempts staged and the driver did not take."""


class Publisher(Protocol):
    """How sinks in a kind of store change.

    Attributes
    ----------
    commits_last
        Whether its sinks change after those in other kinds of store, because its commit hardly ever fails.
    """

    commits_last: bool

    def stage(self, target: Target, run: RunIdentity) -> StagedSink:
        """Return the staged files of a sink, before `prepare`."""

    def commit(self, sinks: Sequence[StagedSink], committed: Callable[[], None]) -> None:
        """Put all staged files in place, of all sinks or of none; call `committed` when the last one is there.

        Raises
        ------
        SinkExists, RunFailed
            Where a sink cannot change: every sink is as it was before, or the message says where its files are.
        """

    def finish_dead_runs(
        self, path: FilePath, failed: Callable[[str], RunFailed], hosts: Sequence[str] = ()
    ) -> RecoveryRemarks:
        """Recover what dead runs left beside a sink's path; runs of the `hosts` count as dead, too.

        `failed` makes the error of a message.

        Raises
        ------
        RunFailed
            Where a commit has not ended and cannot be recovered here.
        """

    def unfinished_commit(self, path: FilePath) -> str | None:
        """Name a commit of a dead run that has changed only some of the files of a source's path; None without one."""
