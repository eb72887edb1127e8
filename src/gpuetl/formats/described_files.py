"""What the files of a source say of themselves, for formats whose files state columns and pieces: read once a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.errors import system_reason
from gpuetl.formats.format import Piece
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, language_type

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

DAMAGED = "Get the file again, write it anew, or take it out of the source's path."


@dataclass(frozen=True)
class FileDescription:
    """The columns of a file with their stored types, and the pieces in which it is read."""

    types: Mapping[str, DataType]
    pieces: Sequence[Piece]


class DescribedFiles(dict[FilePath, FileDescription]):
    """The descriptions of a source's files, as they were when they were first asked for."""


def described(dataset: Dataset, file: DataFile, describe: Callable[[OpenFile], FileDescription]) -> FileDescription:
    """Return the description of a file, which `describe` reads once.

    Raises
    ------
    DatasetError
        For a file that cannot be read, is not of the format, or names two columns alike.
    """
    known = dataset.metadata
    assert isinstance(known, DescribedFiles)
    if file.path not in known:
        known[file.path] = read_description(dataset.file_format.title, file, describe)
    return known[file.path]


def read_description(title: str, file: DataFile, describe: Callable[[OpenFile], FileDescription]) -> FileDescription:
    """Read the description of a file: see `described`."""
    try:
        with opened(file.path, file.state) as source:
            found = describe(source)
        for dtype in found.types.values():
            language_type(dtype)  # reads the names of nested fields, which may not be UTF-8
        return found
    except (pa.ArrowException, ValueError, EOFError) as error:
        if isinstance(error, DatasetError):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DatasetError(coded("GE1403", f"{file.path} is not a valid {title} file: {reason}"), DAMAGED) from None
    except OSError as error:
        raise DatasetError(coded("GE1403", f"cannot read {file.path}: {system_reason(error) or error}")) from None


def columns_once(path: FilePath, names: Sequence[str]) -> None:
    """Refuse columns of a file that have one name.

    Raises
    ------
    DatasetError
        With the name.
    """
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DatasetError(coded("GE1412", f"{path}: two columns are named '{twice}'"), "Rename one in the file.")
