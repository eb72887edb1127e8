"""Sinks on a cluster, as the driver sees them: it takes the files that workers wrote (`writing.py`), and commits."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpuetl.executors.dask.writing import Written
from gpuetl.io.folders import remove_folder
from gpuetl.io.staging import SinkWriter, WrittenFile
from gpuetl.messages import coded
from gpuetl.records import dataclass


@dataclass
class SharedSinkWriter(SinkWriter):
    """The driver's side of a sink that workers write: takes their files, and commits them."""

    @property
    def attempts(self) -> Path:
        """The folder of workers' folders."""
        return self.staging / "attempts"

    def prepare(self) -> None:
        """Make the folder of attempts, too."""
        super().prepare()
        self.attempts.mkdir()

    def take(self, partitions: Sequence[Written]) -> None:
        """Move the files of all partitions, in order, to where a commit finds them; remove what else is there.

        Raises
        ------
        RunFailed
            Where a file is not to be seen here.
        """
        for written in partitions:
            self.rows += written.rows
            for file in written.files:
                self.take_file(self.attempts / written.attempt, file)
        self.remove_attempts()

    def remove_attempts(self) -> None:
        """Remove the folder of attempts, under another name: a task that still runs finds none to write to."""
        left = self.staging / "left"
        with suppress(OSError):
            self.attempts.rename(left)
        remove_folder(left)

    def take_file(self, attempt: Path, file: WrittenFile) -> None:
        """Move one file from the folder of an attempt; its name is numbered anew."""
        name, path = Path(file.name).with_name(self.file_name()), attempt / file.name
        self.make_folder((self.new / name).parent)
        try:
            path.rename(self.new / name)
        except OSError as error:
            raise self.failed(coded("GE1508", f"cannot move {path}, which a worker wrote: {error.strerror}")) from error
        self.files.append(file._replace(name=str(name)))

    def close(self, keep: bool = False) -> bool:
        """Remove what workers left, too."""
        self.remove_attempts()
        return super().close(keep)
