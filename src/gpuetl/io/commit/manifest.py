"""The files of a sink's folder that gpuetl wrote, so that a later run removes these only.

`<sink>/.gpuetl/<run id>.json` lists the files of one run, with their sizes.  Runs of several processes write no file in
common.  All lists together are gpuetl's files.  An entry whose file is gone does no harm; a file whose size differs was
changed by someone else, and counts as foreign.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gpuetl.io.paths import is_hidden

FOLDER = ".gpuetl"
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
    """The files that gpuetl wrote to a folder, by their paths below it, with their sizes.

    Without a list in the folder, as earlier versions left it, the names that gpuetl gives to files decide.
    """

    files: Mapping[str, int]
    listed: bool = True

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return the lists of all runs together."""
        files: dict[str, int] = {}
        listed = False
        for path in sorted((folder / FOLDER).glob("*.json")):
            if not path.is_file():  # a pipe would be waited for
                continue
            try:
                files |= {str(name): int(size) for name, size in json.loads(path.read_text())["files"].items()}
                listed = True
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue  # not a list of ours: what it lists counts as foreign, and is kept
        return cls(files, listed)

    def has(self, entry: Entry) -> bool:
        """Tell whether gpuetl wrote a file, given by its path below the sink's folder."""
        if not stat.S_ISREG(entry.status.st_mode):
            return False
        if entry.name.parts[0] == FOLDER:
            return len(entry.name.parts) == 2 and entry.name.suffix == ".json"
        if self.listed:
            return self.files.get(str(entry.name)) == entry.status.st_size
        return is_part_of_earlier_versions(entry.name)

    def names(self, name: Path) -> bool:
        """Tell whether gpuetl gave a file its name, whatever became of its bytes since."""
        listed = str(name) in self.files if self.listed else is_part_of_earlier_versions(name)
        return listed or (name.parts[0] == FOLDER and name.suffix == ".json")


def is_part_of_earlier_versions(name: Path) -> bool:
    """Tell whether a file has a name that gpuetl gives."""
    return bool(NAME_OF_EARLIER_VERSIONS.fullmatch(name.name)) and not is_hidden(name.parts)


def foreign(manifest: Manifest, entries: Iterable[Entry]) -> list[Path]:
    """Return what gpuetl did not write, in the order of the paths; folders do not count."""
    return [entry.name for entry in entries if not entry.is_folder and not manifest.has(entry)]


def foreign_files(sink: Path, folder: Path) -> list[Path]:
    """Return the files in a sink's folder, or in one below it, that gpuetl did not write, relative to the sink's."""
    return foreign(Manifest.read(sink), entries_below(folder, folder.relative_to(sink)))


def listing(run_id: str, files: Mapping[str, int]) -> str:
    """Return the text of a run's list."""
    return json.dumps({"gpuetl": VERSION, "run": run_id, "files": dict(files)}, indent=1)


def file_of(folder: Path, run_id: str) -> Path:
    """Return the path of a run's list in a folder."""
    return folder / FOLDER / f"{run_id}.json"
