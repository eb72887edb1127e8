"""The rows of a checkpoint as a source: files in a stated order, in the types that the stage had."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from gpuetl.formats.dataset import Dataset
from gpuetl.io.data_file import DataFile
from gpuetl.places.file_state import FileState, deleted
from gpuetl.places.paths import FilePath
from gpuetl.places.registry import filesystem_of
from gpuetl.records import dataclass


@dataclass(frozen=True, eq=False)
class CheckpointRows(Dataset):
    """The files of a checkpoint, in the order of their rows, which is that of the stage."""

    paths: tuple[FilePath, ...] = field(kw_only=True)

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """The files, in the states in which they are now; each was compared with the manifest before."""
        return tuple(DataFile(path, {}, state_of(path)) for path in self.paths)


def state_of(path: FilePath) -> FileState:
    """Return the state of a file; raise `DatasetError` for one that another run has removed meanwhile."""
    try:
        return filesystem_of(path).info(path)
    except OSError as error:
        raise deleted(path) from error
