"""Writes the files of a sink while the run goes on; the store in which the target is keeps them until the commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from gpuetl.errors import GpuetlError, RunFailed, StoreFailure, first_line, system_reason
from gpuetl.io.partition_folders import ImpossibleName, ImpossiblePartition, check_folder, split_by_value
from gpuetl.lost_device import is_lost
from gpuetl.messages import coded
from gpuetl.places.publishing import RunIdentity, StagedSink, WrittenFile
from gpuetl.places.registry import publisher_of
from gpuetl.places.target import Target, part_prefix
from gpuetl.records import dataclass
from gpuetl.signals import held_signals
from gpuetl.telemetry.origin import Origin

TABLES_IN_FLIGHT = 2
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


@dataclass
class SinkWriter:
    """Writes the files of one sink, which `staged` keeps from the readers of the target.

    Files in a folder are named after the run, so that files of two runs never have the same name.  In mode `append` the
    name has the target's mark, too.

    The `threads` write at most `TABLES_IN_FLIGHT` tables while the run goes on.  After `finish`, `files` has all of
    them in the order of their rows.
    """

    target: Target
    run_id: str
    writer: FileWriter
    threads: Executor
    sync: bool = True
    pipeline: str = ""
    rows: int = 0
    parts: int = 0
    in_flight: list[list[Future[WrittenFile]]] = field(default_factory=list)

    @cached_property
    def staged(self) -> StagedSink:
        """The files of the sink, hidden from readers of the target until the commit."""
        return publisher_of(self.target.path).stage(self.target, RunIdentity(self.run_id, self.pipeline, self.sync))

    @property
    def files(self) -> list[WrittenFile]:
        """The files that are written, in the order of their rows."""
        return self.staged.files

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

    @property
    def leaves_target(self) -> bool:
        """Whether the target stays as it is, because the sink got no rows.

        A folder of partitions that is not there yet is made, so that a later run can read it.
        """
        if self.rows:
            return False
        no_partition = self.target.mode in ("replace_partitions", "upsert") and self.staged.exists()
        return self.target.on_empty == "keep" or no_partition

    def prepare(self) -> None:
        """Refuse a target that the sink must not replace, and make room for the files: see `StagedSink.prepare`."""
        self.staged.prepare()

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
            self.files.extend([future.result() for future in self.in_flight.pop(0)])

    def settle(self) -> None:
        """Wait until nothing is being written, and so no table held; any thread may.  `finish` raises what failed."""
        wait([future for futures in list(self.in_flight) for future in futures])

    def named_pieces(self, table: Any) -> list[tuple[str, Any]]:
        """Return the files that a table becomes, relative to the folder."""
        pieces: list[tuple[str, Any]] = []
        try:
            for folder, rows in self.pieces(table):
                check_folder(folder, self.staged.name_bytes)
                pieces.append((str(PurePosixPath(folder, self.file_name())), rows))
        except (ImpossibleName, ImpossiblePartition) as error:
            raise self.failed(error.args[0]) from None
        return pieces

    def file_name(self) -> str:
        """Return the name of the next file."""
        self.parts += 1
        part = f"{part_prefix(self.target, self.run_id)}-{self.parts - 1:05}{self.target.suffix}"
        return self.staged.file_name if self.target.is_file else part

    def write_piece(self, name: str, rows: Any) -> WrittenFile:
        """Write one file."""
        start = time.perf_counter()
        try:
            self.writer.write(rows, self.staged.path_of(name))
            size = self.staged.keep(name)
        except GpuetlError:
            raise
        except Exception as error:  # of the system, of a library: the sink is named, and nothing has changed
            file = self.target.path if isinstance(error, StoreFailure) else PurePosixPath(name).name
            raise self.failed(
                coded("GE1508", f"cannot write {file}: {system_reason(error) or first_line(error)}")
            ) from error
        return WrittenFile(name, size, time.perf_counter() - start)

    def pieces(self, table: Any) -> list[tuple[str, Any]]:
        """Return the folder and the rows of each value of the partition columns."""
        if self.target.partition_by:
            return list(self.writer.split(table, self.target.partition_by))
        return [("", part) for part in ([table] if self.target.is_file else self.writer.parts(table))]

    def failed(self, why: str) -> RunFailed:
        """Word a failure of this sink."""
        return RunFailed.at(self.origin, why)

    def close(self, keep: bool = False) -> bool:
        """Remove what is staged: see `StagedSink.close`."""
        return self.staged.close(keep)


Closable: TypeAlias = SinkWriter | StagedSink
"""What a run has staged, and removes at its end."""


def close_writers(writers: Sequence[Closable], threads: Executor) -> None:
    """End the threads, and close all writers whatever signal comes meanwhile.

    One that comes before signals are held breaks off the first attempt: it is raised after the second.
    """
    try:
        _close_all(writers, threads)
    except BaseException:
        _close_all(writers, threads)
        raise


def _close_all(writers: Sequence[SinkWriter | StagedSink], threads: Executor) -> None:
    with held_signals():
        threads.shutdown(wait=not is_lost(), cancel_futures=True)
        gone = True
        for writer in reversed(writers):  # folders that an earlier one made may hold a later one's
            # the first one's folder says that the commit is done, which others that stay need
            gone = writer.close(keep=writer is writers[0] and not gone) and gone
