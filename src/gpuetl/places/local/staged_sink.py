"""A sink's files in a hidden folder beside its target; nothing at the target changes before the commit."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from pathlib import Path

from gpuetl.errors import RunFailed, SinkExists
from gpuetl.messages import coded
from gpuetl.places.local.commit.locks import Lease, LockedTooLong, boot_id, hold, locked
from gpuetl.places.local.commit.manifest import Entry, Manifest, entries_below, foreign
from gpuetl.places.local.commit.moves import Unclear, staging_folder, sync
from gpuetl.places.local.commit.recovery import remove_staging
from gpuetl.places.local.folders import MAX_NAME_BYTES, make_folders, remove_folder
from gpuetl.places.paths import LISTS, is_hidden
from gpuetl.places.publishing import FilesRead, RunIdentity, WrittenFile
from gpuetl.places.target import Target
from gpuetl.records import dataclass
from gpuetl.signals import held_signals

SHOWN = 3


@dataclass
class LocalStagedSink:
    """The files of one sink in a staging folder next to the target: see `StagedSink`.

    The staging folder has a folder `new` for what the run writes, a folder `old` for what the commit sets aside, and
    the run's lease.  Only the user may open it.

    `made` are the folders above the staging folder that `prepare` made.  A commit that is `decided` and has not ended
    keeps the staging folder.
    """

    target: Target
    run: RunIdentity
    files: list[WrittenFile] = field(default_factory=list)
    unchanged: bool = False
    before_change: list[Callable[[], None]] = field(default_factory=list)
    foreign_kept: list[Path] = field(default_factory=list)
    files_read: FilesRead | None = None
    made: list[Path] = field(default_factory=list)
    lease: int | None = None
    decided: bool = False

    @property
    def run_id(self) -> str:
        """The id of the run that writes."""
        return self.run.run_id

    @property
    def sync(self) -> bool:
        """Whether files are brought to disk."""
        return self.run.sync

    @cached_property
    def path(self) -> Path:
        """The target, or what it points to where it is a symbolic link: the link stays."""
        return place_of(self.target)

    @property
    def file_name(self) -> str:
        """The name of the target's last part, behind a link that of what it points to."""
        return self.path.name

    def exists(self) -> bool:
        """Tell whether something is at the target."""
        return self.path.exists()

    @property
    def staging(self) -> Path:
        """The folder beside the target, hidden from readers of the target."""
        return staging_folder(self.path, self.run_id)

    @property
    def new(self) -> Path:
        """The folder of what the run writes."""
        return self.staging / "new"

    @property
    def old(self) -> Path:
        """The folder of what the commit sets aside."""
        return self.staging / "old"

    def prepare(self) -> None:
        """Refuse a target that the sink must not replace, and make the folders.

        Raises
        ------
        SinkExists
            In mode `error`, where the target exists.
        RunFailed
            Where the target is not of the sink's kind, holds files of others, or cannot be written.
        """
        try:
            self.check_target()
            with held_signals() as held:  # a folder that is made and not noted would stay
                self.made += make_folders(self.staging.parent)
                with locked([self.staging.parent], held.deliver):  # others look at leases, and find one in each folder
                    self.stage()
        except LockedTooLong as error:
            why = f"another run has been changing {error.folder} for minutes.  Run again"
            raise self.failed(coded("GE1512", why)) from None
        except OSError as error:
            raise self.failed(coded("GE1508", f"cannot write beside {self.target.path}: {error.strerror}")) from None

    def stage(self) -> None:
        """Make the staging folder, which holds the run's lease."""
        self.staging.mkdir(mode=0o700)
        lease = Lease(
            self.run_id, self.path.name, self.run.pipeline, socket.gethostname(), boot_id(), os.getpid(),
            time.strftime("%Y-%m-%dT%H:%M:%S%z"), len(self.made),
        )  # fmt: skip
        self.lease = hold(self.staging, lease)
        self.new.mkdir()
        self.old.mkdir()

    def check_target(self) -> None:
        """Refuse a target that the sink must not replace: see `prepare`."""
        path = self.path
        self.check_mode()
        if path.exists() and path.is_dir() == self.target.is_file:
            kinds = ("a folder", "a file") if self.target.is_file else ("a file", "a folder")
            raise self.failed(coded("GE1508", f"{path} is {kinds[0]}, and the sink writes {kinds[1]}"))
        if self.target.replaces_all and path.is_dir():
            self.refuse_foreign(path, Manifest.read(path))
        if self.target.run_key and path.is_dir():
            self.files_of_run_key(Manifest.read(path))

    def refuse_foreign(self, folder: Path, known: Manifest) -> None:
        """Refuse to replace a folder of the target that holds files of others; with `keep_foreign`, they are kept."""
        entries = entries_below(folder, folder.relative_to(self.path))
        others = [] if self.target.keep_foreign else foreign(known, entries)
        if others:
            them = "it" if len(others) == 1 else "them"
            advice = f"Set keep_foreign: true to keep {them}, or give the sink a folder of its own"
            raise self.failed(coded("GE1511", f"{self.holds_foreign(others)}.  {advice}"))

    def files_of_run_key(self, known: Manifest) -> list[Path]:
        """Return the files at the target that earlier runs of the run key appended; none without a run key.

        Raises
        ------
        RunFailed
            Where one of them was changed by others: a run removes only what gpuetl wrote.
        """
        files = self.earlier_files() if self.target.run_key else []
        entries = [Entry(file.relative_to(self.path), os.lstat(file)) for file in files]
        if others := foreign(known, entries):
            it, them = ("it has", "it") if len(others) == 1 else ("they have", "them")
            advice = f"The run would replace {them}, since {it} its run_key.  Rename {them}, or move {them} away"
            raise self.failed(coded("GE1511", f"{self.holds_foreign(others)}.  {advice}"))
        return files

    def holds_foreign(self, others: Sequence[Path]) -> str:
        """Word which files at the target are of others; the first few are named."""
        named = ", ".join(str(name) for name in others[:SHOWN])
        more = f" and {len(others) - SHOWN:,} more" if len(others) > SHOWN else ""
        count = f"{len(others):,} file{'s' * (len(others) > 1)}"
        return f"{self.target.path} holds {count} that gpuetl did not write, or that changed since: {named}{more}"

    def check_mode(self) -> None:
        """Refuse a target that exists, in mode `error`; the commit asks again, since others write too."""
        for check in self.before_change:
            check()
        if self.target.mode == "error" and self.path.exists():
            raise SinkExists.refused(self.target.origin, str(self.path))

    @cached_property
    def name_bytes(self) -> int:
        """The most bytes that the file system takes in the name of a folder."""
        try:
            return os.pathconf(self.staging, "PC_NAME_MAX")
        except OSError:
            return MAX_NAME_BYTES

    def path_of(self, name: str) -> Path:
        """Return the path of a file in the staging folder, and make its folder."""
        path = self.new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def staged_path(self, name: str) -> Path:
        """Return the path of a file that is written."""
        return self.new / name

    def keep(self, name: str) -> int:
        """Bring a file to disk, and return its bytes."""
        path = self.new / name
        if self.sync:
            sync(path)
        return path.stat().st_size

    def earlier_files(self) -> list[Path]:
        """Return the files with the target's mark that equal runs appended, in the order of their paths."""
        if not self.target.mark or not self.path.is_dir():
            return []
        return sorted(self._visible_files(f"part-{self.target.mark}-*{self.target.suffix}"))

    def current_versions(self) -> dict[str, str]:
        """Return the files of gpuetl at the target, with their sizes; of a single file, with its inode and time."""
        if self.target.is_file:
            try:
                found = self.path.stat()
            except FileNotFoundError:
                return {}
            return {self.path.name: f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"}
        if not self.path.is_dir():
            return {}
        known = Manifest.read(self.path)
        entries = [one for one in entries_below(self.path) if not one.is_folder and one.name.parts[0] != LISTS]
        others = foreign(known, (one for one in entries if self._is_read(one.name)))
        if others and not self.target.keep_foreign:
            why = f"{self.holds_foreign(others)}.  An upsert would not see their rows.  Move them away"
            raise self.failed(coded("GE1511", why))
        return {str(entry.name): str(entry.status.st_size) for entry in entries if known.has(entry)}

    def _is_read(self, name: Path) -> bool:
        return name.name.endswith(self.target.suffix) and not is_hidden(name.parts)

    def staying_files(self) -> Iterator[Path]:
        """Yield the files at the target that the commit will not replace."""
        replaces = self.target.replaces_partitions
        replaced_folders = {(self.path / file.name).parent for file in self.files if replaces}
        replaced_files = set(self.earlier_files() if self.target.run_key else ())
        if self.path.is_dir():
            for path in self._visible_files(f"*{self.target.suffix}"):
                if path not in replaced_files and path.parent not in replaced_folders:
                    yield path

    def _visible_files(self, pattern: str) -> Iterator[Path]:
        for path in self.path.rglob(pattern):
            if path.is_file() and not is_hidden(path.relative_to(self.path).parts):
                yield path

    def failed(self, why: str) -> RunFailed:
        """Word a failure of this sink."""
        return RunFailed.at(self.target.origin, why)

    def close(self, keep: bool = False) -> bool:
        """Remove the staging folder, and the folders made for it; return whether nothing is left.

        With `keep`, or where a commit is not done, the folder stays for the next run.
        """
        gone = not (self.decided or keep)
        if gone:
            try:
                remove_staging(self.staging)
            except (OSError, Unclear):  # what is left is found by the next run
                gone = False
            for folder in reversed(self.made):
                with suppress(OSError):  # in use: by the target, by another sink
                    folder.rmdir()
        if self.lease is not None:
            os.close(self.lease)
            self.lease = None
        return gone

    # On a cluster.

    @property
    def attempts(self) -> Path:
        """The folder of workers' folders, which all workers and the driver see."""
        return self.staging / "attempts"

    def share(self) -> None:
        """Make the folder of attempts."""
        self.attempts.mkdir()

    def attempt(self, name: str) -> LocalStagedSink:
        """Return the folder of one attempt."""
        return Attempt(self.target, self.run, folder=self.attempts / name)

    def take(self, attempt: str, staged: str, name: str) -> None:
        """Move a file from the folder of an attempt to where the commit finds it."""
        (self.attempts / attempt / staged).rename(self.path_of(name))

    def remove_attempts(self) -> None:
        """Remove the folder of attempts, under another name: a task that still runs finds none to write to."""
        left = self.staging / "left"
        with suppress(OSError):
            self.attempts.rename(left)
        remove_folder(left)


@dataclass
class Attempt(LocalStagedSink):
    """The files that a worker writes in one attempt at a task, in a folder of their own."""

    folder: Path = Path()

    @property
    def new(self) -> Path:
        """The folder of the attempt."""
        return self.folder

    def prepare(self) -> None:
        """Make the folder; raise `RunFailed` where the driver's is not there to be seen."""
        try:
            self.folder.mkdir()
        except OSError:
            where = f"the worker on {socket.gethostname()} does not see the folder {self.folder.parent}"
            raise self.failed(
                coded("GE1508", f"{where}, which the run made.  Workers write to a folder that all of them share")
            ) from None

    def close(self, keep: bool = False) -> bool:
        """Leave the files to the driver."""
        return True

    def path_of(self, name: str) -> Path:
        """Return the path of a file.  The attempt's own folder is not made: the run may have ended, and removed it."""
        path = self.folder / name
        for folder in reversed(path.parents):
            if folder.is_relative_to(self.folder) and folder != self.folder:
                folder.mkdir(exist_ok=True)
        return path


def place_of(target: Target) -> Path:
    """Return a local target's path, or what it points to where it is a symbolic link."""
    path = target.path
    assert isinstance(path, Path)
    return Path(os.path.realpath(path)) if path.is_symlink() else path
