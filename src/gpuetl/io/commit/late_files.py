"""Files that others wrote to a folder in the moment in which it was replaced: they go to the new folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gpuetl.io.commit.journal import Journal
from gpuetl.io.commit.manifest import entries_below
from gpuetl.io.commit.moves import Put, inode_of
from gpuetl.io.commit.renames import rename_to_free


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
