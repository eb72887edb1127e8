"""Sinks that a source reads while other runs commit to them: the source lists all files of a run, or none.

The lists of a sink say what a reader may take (`commit/manifest.py`).  A commit adds its list first, and removes the
list before it last.  A reader notes the names of the lists, walks through the folder, and looks at the lists again:

| lists | what the reader does |
|---|---|
| the same, or one more | it takes what it found, without the files that only a commit under way has listed |
| a commit under way takes files away, too | it waits until that commit has ended, and walks again |
| one is gone | a commit ended meanwhile: it waits for the next one to end, and walks again |

So readers take no lock while nothing is committed, and none while a run appends.  The wait is a shared lock on the
folder that holds the sink (`commit/locks.py`).  It ends when the process that commits ends, however it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import LISTS


class SinksRead:
    """The sinks in which a source lists files, each with the names of its lists before."""

    def __init__(self) -> None:
        self.lists: dict[str, frozenset[str]] = {}

    def note(self, folder: str) -> bool:
        """Note the lists of a folder before it is walked through; return False if they were noted before."""
        if folder in self.lists:
            return False
        self.lists[folder] = names_of_lists(folder)
        return True

    def note_sink_of(self, folder: str) -> None:
        """Note the lists of the sink that has a folder, which may be one of its partitions."""
        while "=" in os.path.basename(folder):
            folder = os.path.dirname(folder)
        self.note(folder)

    def is_stale(self) -> bool:
        """Tell whether a list that was noted is gone: a commit has ended since then."""
        return any(not before <= names_of_lists(folder) for folder, before in self.lists.items())

    def files_to_come(self) -> set[Path] | None:
        """Return the files that commits under way add; None if what was found may be a part of a run."""
        files: set[Path] = set()
        for folder in self.lists:
            added, is_whole = added_by_commits(folder)
            if not is_whole:
                return None
            files |= added
        return None if self.is_stale() else files

    @contextmanager
    def without_commits(self) -> Iterator[None]:
        """Keep commits out while the block runs.

        Raises
        ------
        DatasetError
            Where a commit has not ended after minutes.
        """
        from gpuetl.places.local.commit.locks import LockedTooLong, locked

        try:
            parents = {Path(os.path.realpath(folder)).parent for folder in self.lists}
            with locked((parent for parent in parents if os.access(parent, os.R_OK)), shared=True):
                yield
        except LockedTooLong as error:
            why = f"another run has been changing {error.folder} for minutes"
            raise DatasetError(coded("GE1512", why), "Run again when that run has ended.") from None


def added_by_commits(folder: str) -> tuple[set[Path], bool]:
    """Return the files that commits under way add to a sink, and whether all others are those from before."""
    added, is_whole = set[str](), True
    for new, before in commits_under_way(folder):
        added |= new - before
        is_whole = is_whole and before <= new
    return {Path(folder, name) for name in added}, is_whole


def is_changing(folder: str) -> bool:
    """Tell whether a commit to a sink has begun and not ended."""
    return any(True for _ in commits_under_way(folder))


def commits_under_way(folder: str) -> Iterator[tuple[set[str], set[str]]]:
    """Yield the files that a sink has after each commit under way, and those that it had before."""
    names = names_of_lists(folder)
    if len(names) < 2:
        return
    from gpuetl.places.local.commit.manifest import FileList

    lists = {name: found for name in names if (found := FileList.read(Path(folder, LISTS, name))) is not None}
    for found in lists.values():
        if before := [lists[name] for name in found.replaces & lists.keys()]:
            yield set(found.files), {name for one in before for name in one.files}


def names_of_lists(folder: str) -> frozenset[str]:
    """Return the names of a folder's lists; none where there is no folder of lists, or we may not look into it."""
    try:
        return frozenset(name for name in os.listdir(os.path.join(folder, LISTS)) if name.endswith(".json"))
    except OSError:
        return frozenset()
