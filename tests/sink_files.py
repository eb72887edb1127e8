"""What runs leave in a folder: the files of sinks, and what should not be there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuetl.places.local.commit import moves

OF_EARLIER_VERSION = "part-20260101T000000-00000000-00000.parquet"
"""The name of a file that a gpuetl without lists wrote: it may be replaced."""


def is_manifest(path: Path) -> bool:
    return ".gpuetl" in path.parts


def sink_files(folder: Path) -> list[str]:
    """Return all files below a folder but the lists of gpuetl, relative to it."""
    found = (path for path in folder.rglob("*") if path.is_file() and not is_manifest(path))
    return sorted(str(path.relative_to(folder)) for path in found)


def leftovers(folder: Path) -> list[Path]:
    """Return what is hidden below a folder but the lists of gpuetl, which stay."""
    return [path for path in folder.rglob(".*") if not is_manifest(path)]


def refuse_moves(monkeypatch: pytest.MonkeyPatch, refused: Callable[[Path, Path], bool]) -> None:
    """Let the disk refuse the moves of which `refused` is true, given from where and to where."""
    for name in ("exchange", "rename_to_free"):
        move = getattr(moves, name)

        def refusing(old: Path, new: Path, move: Callable[[Path, Path], None] = move) -> None:
            if refused(old, new):
                raise OSError(5, "Input/output error")
            move(old, new)

        monkeypatch.setattr(moves, name, refusing)
