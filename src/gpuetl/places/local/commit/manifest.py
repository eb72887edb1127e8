"""The files of a sink's folder that gpuetl wrote, and the modes and owners that they get."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from gpuetl.places.paths import LISTS, is_hidden
from gpuetl.records import dataclass

# The files of a sink's folder that gpuetl wrote, so that a later run removes these only.
#
# `<sink>/.gpuetl/<run id>.json` lists all files that gpuetl wrote and that are there after that run, with their sizes.
# The commit of the run adds its list first and removes the lists before it last.  In the middle of a commit there are
# several, and all of them hold.  A list names those that it replaces: while one of them is there, the commit has not
# ended.
#
# An entry whose file is gone does no harm, and the next list lacks it.  A file whose size differs was changed by
# someone
# else, and counts as foreign.


VERSION = 1
NAME_OF_EARLIER_VERSIONS = re.compile(r"part-([0-9a-f]{12}-)?\d{8}T\d{6}-[0-9a-f]{8}-\d{5,}\.(parquet|csv)")


class Entry(NamedTuple):
    """What is below a folder: its path there, and what the system says of it."""

    name: Path
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder; a link is none."""
        return stat.S_ISDIR(self.status.st_mode)


def entries_below(folder: Path, base: Path = Path()) -> Iterator[Entry]:
    """Yield all that is below a folder, hidden or not; a folder comes before what is in it.  Links are not followed."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        found = Entry(base / entry.name, entry.stat(follow_symlinks=False))
        yield found
        if found.is_folder:
            yield from entries_below(Path(entry.path), found.name)


@dataclass(frozen=True)
class Manifest:
    """The files that gpuetl wrote to a folder, by their paths below it, with their sizes; and the lists that say so.

    Without a list in the folder, as earlier versions left it, the names that gpuetl gives to files decide.
    """

    files: Mapping[str, int]
    lists: tuple[Path, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return the lists of all runs together.

        A commit adds its list before it removes the others.  One that does so while we read shows in the names: then
        we read again.
        """
        names = list_names(folder)
        while True:
            found = {path: one.files for path in names if (one := FileList.read(path)) is not None}
            if (now := list_names(folder)) == names:
                return cls({name: size for files in found.values() for name, size in files.items()}, tuple(found))
            names = now

    @property
    def listed(self) -> bool:
        """Whether the folder has a list."""
        return bool(self.lists)

    def has(self, entry: Entry) -> bool:
        """Tell whether gpuetl wrote a file, given by its path below the sink's folder."""
        if not stat.S_ISREG(entry.status.st_mode):
            return False
        if entry.name.parts[0] == LISTS:
            return len(entry.name.parts) == 2 and entry.name.suffix == ".json"
        if self.listed:
            return self.files.get(str(entry.name)) == entry.status.st_size
        return is_part_of_earlier_versions(entry.name)

    def files_in(self, folder: Path) -> dict[str, int]:
        """Return the files that are still in the folder, also those that others changed, with their listed sizes."""
        if self.listed:
            return {name: size for name, size in self.files.items() if os.path.lexists(f"{folder}/{name}")}
        entries = (entry for entry in entries_below(folder) if entry.name.parts[0] != LISTS)
        return {str(entry.name): entry.status.st_size for entry in entries if self.has(entry)}


class FileList(NamedTuple):
    """One list: the files that it names, with their sizes, and the names of the lists that it replaces."""

    files: dict[str, int]
    replaces: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> FileList | None:
        """Return what a list holds; None for a file that is not a list of ours: what it names counts as foreign."""
        if not path.is_file():  # a pipe would be waited for
            return None
        try:
            found = json.loads(path.read_text())
            files = {str(name): int(size) for name, size in found["files"].items()}
            return cls(files, frozenset(map(str, found.get("replaces", ()))))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def list_names(folder: Path) -> list[Path]:
    """Return the paths of a folder's lists, in the order of their runs."""
    return sorted((folder / LISTS).glob("*.json"))


def is_part_of_earlier_versions(name: Path) -> bool:
    """Tell whether a file has a name that gpuetl gives."""
    return bool(NAME_OF_EARLIER_VERSIONS.fullmatch(name.name)) and not is_hidden(name.parts)


def foreign(manifest: Manifest, entries: Iterable[Entry]) -> list[Path]:
    """Return what gpuetl did not write, in the order of the paths; folders do not count."""
    return [entry.name for entry in entries if not entry.is_folder and not manifest.has(entry)]


def listing(run_id: str, files: Mapping[str, int], replaces: Iterable[Path] = ()) -> str:
    """Return the text of a run's list, which takes the place of others."""
    names = sorted(path.name for path in replaces)
    return json.dumps({"gpuetl": VERSION, "run": run_id, "files": dict(files), "replaces": names})


def file_of(folder: Path, run_id: str) -> Path:
    """Return the path of a run's list in a folder."""
    return folder / LISTS / f"{run_id}.json"


def first_list_of(folder: Path, run_id: str) -> Path:
    """Return the path of the list that a run gives to a folder without one, for the time of its commit."""
    return folder / LISTS / f"{run_id}.before.json"


# Modes and owners: what replaces a file or folder gets those that it had.


def keep_ownership(status: os.stat_result, path: Path) -> None:
    """Give a new file or folder the mode of an old one, and its owner and group as far as the system lets us."""
    new = os.lstat(path)
    for owner in ({"uid": status.st_uid, "gid": -1}, {"uid": -1, "gid": status.st_gid}):
        if (owner["uid"] not in (-1, new.st_uid)) or (owner["gid"] not in (-1, new.st_gid)):
            with suppress(PermissionError):
                os.chown(path, owner["uid"], owner["gid"])
    if stat.S_IMODE(new.st_mode) != stat.S_IMODE(status.st_mode):
        path.chmod(stat.S_IMODE(status.st_mode))


def keep_ownership_below(old: Path, replaced: Iterable[Entry], new: Path) -> None:
    """Give a new folder, and the folders in it, the modes of those that they replace, and files a mode of their own.

    New files replace all old ones together.  They get the permissions that every one of these had, so nobody may read a
    new file who could not read the old ones.
    """
    entries = list(replaced)
    keep_ownership(os.lstat(old), new)
    for entry in entries:
        if entry.is_folder and (new / entry.name).is_dir():
            keep_ownership(entry.status, new / entry.name)
    modes = [stat.S_IMODE(entry.status.st_mode) for entry in entries if stat.S_ISREG(entry.status.st_mode)]
    if not modes:
        return
    mode, first = reduce(lambda one, other: one & other, modes), next(e for e in entries if not e.is_folder)
    status = os.stat_result((stat.S_IFREG | mode, *first.status[1:10]))
    for place, _, names in os.walk(new):
        for name in names:
            keep_ownership(status, Path(place, name))
