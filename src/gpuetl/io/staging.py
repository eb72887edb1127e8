"""A sink's files are written to a hidden folder beside its target; nothing at the target changes before the commit."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from gpuetl.errors import GpuetlError, RunFailed, SinkExists, first_line, system_reason
from gpuetl.io.sink_target import (
    ImpossibleName,
    ImpossiblePartition,
    Target,
    check_folder,
    marked_files,
    part_prefix,
    split_by_value,
)
from gpuetl.lost_device import is_lost
from gpuetl.messages import coded
from gpuetl.places.local.commit.locks import Lease, LockedTooLong, boot_id, hold, locked
from gpuetl.places.local.commit.manifest import Entry, Manifest, entries_below, foreign
from gpuetl.places.local.commit.moves import Unclear, staging_folder, sync
from gpuetl.places.local.commit.recovery import remove_staging
from gpuetl.places.local.folders import MAX_NAME_BYTES, make_folders
from gpuetl.records import dataclass
from gpuetl.signals import held_signals
from gpuetl.telemetry.origin import Origin

TABLES_IN_FLIGHT = 2
SHOWN = 3
MOST_PARTS = 16
"""The most files that one table or frame becomes in a folder.  Threads write them at the same time.

The system lets one thread at a time write to a file.  This many files keep all threads busy, and the last one to be
written is short.
"""


def one_file(table: Any) -> Sequence[Any]:
    """Put a table into one file."""
    return [table]


@dataclass(frozen=True)
class FileWriter:
    """How tables, or frames of an engine, become files.

    `write` writes one file.  `parts` cuts a table into the files of a folder, which are written at the same time.
    `split` cuts it by the values of partition columns, which are in the names of folders.  With `takes_arrow`, all of
    them take Arrow tables, otherwise the engine's own frames.
    """

    write: Callable[[Any, Path], None]
    parts: Callable[[Any], Sequence[Any]] = one_file
    split: Callable[[Any, tuple[str, ...]], Sequence[tuple[str, Any]]] = split_by_value
    takes_arrow: bool = False


class WrittenFile(NamedTuple):
    """A file of a sink: its name below the sink's folder, its bytes, and the seconds that writing it took."""

    name: str
    size: int
    seconds: float


@dataclass
class SinkWriter:
    """Writes the files of one sink to a staging folder next to the target; `close` removes that folder.

    The staging folder has a folder `new` for what the run writes, a folder `old` for what the commit sets aside, and
    the run's lease.  Only the user may open it.  Files in a folder are named after the run, so that files of two runs
    never have the same name; in mode `append` the name has the target's mark, too.

    The `threads` write at most `TABLES_IN_FLIGHT` tables while the run goes on.  They sync each file unless `sync` is
    False.  After `finish`, `files` has all of them in the order of their rows.

    `made` are the folders above the staging folder that `prepare` made.  A commit that is `decided` and not done keeps
    the staging folder.  `kept` are files that gpuetl did not write and that stay in a folder that is replaced, relative
    to the target.
    """

    target: Target
    run_id: str
    writer: FileWriter
    threads: Executor
    sync: bool = True
    pipeline: str = ""
    rows: int = 0
    parts: int = 0
    files: list[WrittenFile] = field(default_factory=list)
    made: list[Path] = field(default_factory=list)
    in_flight: list[list[Future[WrittenFile]]] = field(default_factory=list)
    lease: int | None = None
    decided: bool = False
    kept: list[Path] = field(default_factory=list)

    @property
    def origin(self) -> Origin:
        """The sink."""
        return Origin("sink", self.target.name)

    @property
    def file_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size for file in self.files)

    @property
    def seconds(self) -> float:
        """Those of all files: threads write several at a time."""
        return sum(file.seconds for file in self.files)

    @cached_property
    def path(self) -> Path:
        """The target, or what it points to where it is a symbolic link: the link stays."""
        return self.target.place

    @property
    def leaves_target(self) -> bool:
        """Whether the target stays as it is, because the sink got no rows.

        A folder of partitions that is not there yet is made, so that a later run can read it.
        """
        no_partition = self.target.mode == "replace_partitions" and self.path.exists()
        return not self.rows and (self.target.on_empty == "keep" or no_partition)

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
            self.run_id, self.path.name, self.pipeline, socket.gethostname(), boot_id(), os.getpid(),
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
        if self.target.mode == "overwrite" and path.is_dir():
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
        files = marked_files(self.target, self.path) if self.target.run_key else []
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
        if self.target.mode == "error" and self.path.exists():
            raise SinkExists.refused(self.origin, str(self.path))

    def write(self, table: Any, rows: int) -> None:
        """Begin to write one partition of `rows` rows; partition columns go into the folders' names.

        `table` is an Arrow table or a frame, whichever `writer` takes.

        Raises
        ------
        RunFailed
            Where this table, or one before, cannot be written.
        """
        self.finish(TABLES_IN_FLIGHT - 1)
        pieces = self.named_pieces(table)
        self.rows += rows
        self.in_flight.append([self.threads.submit(self.write_piece, *piece) for piece in pieces])

    def finish(self, in_flight: int = 0) -> None:
        """Wait until no more than `in_flight` tables are being written; raise `RunFailed` where one cannot be."""
        while len(self.in_flight) > in_flight:
            self.files += [future.result() for future in self.in_flight.pop(0)]

    def settle(self) -> None:
        """Wait until nothing is being written, and so no table held; any thread may.  `finish` raises what failed."""
        wait([future for futures in list(self.in_flight) for future in futures])

    def named_pieces(self, table: Any) -> list[tuple[Path, Any]]:
        """Return the files that a table becomes, relative to the folder."""
        pieces: list[tuple[Path, Any]] = []
        try:
            for folder, rows in self.pieces(table):
                check_folder(folder, self.name_bytes)
                pieces.append((Path(folder) / self.file_name(), rows))
        except (ImpossibleName, ImpossiblePartition) as error:
            raise self.failed(error.args[0]) from None
        return pieces

    @cached_property
    def name_bytes(self) -> int:
        """The most bytes that the file system takes in the name of a folder."""
        try:
            return os.pathconf(self.staging, "PC_NAME_MAX")
        except OSError:
            return MAX_NAME_BYTES

    def file_name(self) -> str:
        """Return the name of the next file."""
        self.parts += 1
        part = f"{part_prefix(self.target, self.run_id)}-{self.parts - 1:05}{self.target.suffix}"
        return self.path.name if self.target.is_file else part

    def write_piece(self, name: Path, rows: Any) -> WrittenFile:
        """Write one file."""
        start, path = time.perf_counter(), self.new / name
        try:
            self.make_folder(path.parent)
            self.writer.write(rows, path)
            if self.sync:
                sync(path)
        except GpuetlError:
            raise
        except Exception as error:  # of the system, of a library: the sink is named, and nothing has changed
            raise self.failed(
                coded("GE1508", f"cannot write {path.name}: {system_reason(error) or first_line(error)}")
            ) from error
        return WrittenFile(str(name), path.stat().st_size, time.perf_counter() - start)

    def make_folder(self, folder: Path) -> None:
        """Make a folder for files, below `new`."""
        folder.mkdir(parents=True, exist_ok=True)

    def pieces(self, table: Any) -> list[tuple[str, Any]]:
        """Return the folder and the rows of each value of the partition columns."""
        if self.target.partition_by:
            return list(self.writer.split(table, self.target.partition_by))
        return [("", part) for part in ([table] if self.target.is_file else self.writer.parts(table))]

    def failed(self, why: str) -> RunFailed:
        """Word a failure of this sink."""
        return RunFailed.at(self.origin, why)

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


def close_writers(writers: Sequence[SinkWriter], threads: Executor) -> None:
    """End the threads, and close all writers whatever signal comes meanwhile.

    One that comes before signals are held breaks off the first attempt: it is raised after the second.
    """
    try:
        _close_all(writers, threads)
    except BaseException:
        _close_all(writers, threads)
        raise


def _close_all(writers: Sequence[SinkWriter], threads: Executor) -> None:
    with held_signals():
        threads.shutdown(wait=not is_lost(), cancel_futures=True)
        gone = True
        for writer in reversed(writers):  # folders that an earlier one made may hold a later one's
            # the first one's folder says that the commit is done, which others that stay need
            gone = writer.close(keep=writer is writers[0] and not gone) and gone
