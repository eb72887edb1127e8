"""The journal of a sink, which lists what its commit changes, and the record that decides for all sinks of a run.

Each staging folder holds the journal of its sink.  The first sink's folder also holds the record: an empty file whose
name is the state of the commit.  A rename changes the state: it is atomic and needs no space on the disk.

| state | what holds | what recovery does |
|---|---|---|
| `undecided` | no target has changed | removes the staging folders |
| `forward` | some targets may have changed | makes the moves that are missing |
| `back` | some targets may be changed still | undoes the moves that were made |
| `done` | all targets are as they should be | removes the staging folders |
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from gpuetl.places.local.commit.moves import RUN, Put, Remove, Step, Unclear, staging_folder, sync, write_atomically
from gpuetl.records import dataclass
from gpuetl.sandbox import current_sandbox

Decision = Literal["undecided", "forward", "back", "done"]
JOURNAL = "journal.json"
VERSION = 1


def record(staging: Path, decision: Decision) -> Path:
    """Return the path of the record in a state."""
    return staging / f"commit.{decision}"


def decision_in(staging: Path) -> Decision | None:
    """Return the state of the commit that a staging folder decides; None where it has no record."""
    return next((name for name in get_args(Decision) if record(staging, name).exists()), None)


def begin(staging: Path, durable: bool) -> None:
    """Make the record; nothing is decided yet."""
    record(staging, "undecided").touch()
    if durable:
        sync(staging)


def decide(staging: Path, decision: Decision, durable: bool) -> None:
    """Change the state of the commit."""
    before = decision_in(staging)
    if before is None:
        raise FileNotFoundError(2, "the record of the commit is missing", str(staging))
    record(staging, before).rename(record(staging, decision))
    if durable:
        sync(staging)


@dataclass(frozen=True)
class Journal:
    """What the commit of one sink changes.

    Parameters
    ----------
    staging
        The sink's staging folder.
    stagings
        Those of all sinks of the run; the first one decides.
    folders
        Folders at the target that are made before the steps, the outermost first.
    steps
        The changes in their order.
    replaced
        The files of gpuetl in folders that are replaced, below the folder that holds `staging`.  Others that are there
        in the end came too late to be seen.
    """

    staging: Path
    stagings: tuple[Path, ...]
    folders: tuple[Path, ...] = ()
    steps: tuple[Step, ...] = ()
    replaced: frozenset[Path] = frozenset()

    @property
    def deciding(self) -> Path:
        """The staging folder with the record."""
        return self.stagings[0]

    def apply(self) -> None:
        """Make all changes that are not made yet.

        Raises
        ------
        Unclear
            Where a change cannot be told apart from one of someone else; checked before the first one is made.
        OSError
            Where the system refuses one.
        """
        for step in self.steps:
            if step.state == "unclear":
                step.apply()
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
        for step in self.steps:
            step.apply()

    def undo(self) -> list[str]:
        """Undo all changes that were made, the last one first; return what could not be undone, worded."""
        stuck: list[str] = []
        for step in reversed(self.steps):
            try:
                step.undo()
            except Unclear as error:
                stuck.append(str(error))
            except OSError as error:
                stuck.append(f"{step.target}: {error.strerror}")
        for folder in reversed(self.folders):
            try:
                folder.rmdir()
            except OSError:  # missing, or others have put something there
                continue
        return stuck

    @property
    def changed_folders(self) -> list[Path]:
        """The folders whose names the steps change, which are synced."""
        paths = [*self.folders, *(step.target for step in self.steps)]
        below = [step.new for step in self.steps if isinstance(step, Put)] + [step.kept for step in self.steps]
        return [path for path in dict.fromkeys(path.parent for path in (*paths, *below)) if path.is_dir()]

    def write(self, durable: bool) -> None:
        """Write the journal to the staging folder.  Paths are relative, so that folders may be moved together."""
        base = self.staging.parent
        text = {
            "gpuetl": VERSION,
            "stagings": [os.path.relpath(path, base) for path in self.stagings],
            "folders": [os.path.relpath(path, base) for path in self.folders],
            "steps": [
                {
                    **({"new": os.path.relpath(step.new, base)} if isinstance(step, Put) else {}),
                    "target": os.path.relpath(step.target, base),
                    "inode": step.inode,
                    "kept": os.path.relpath(step.kept, base),
                }
                for step in self.steps
            ],
            "replaced": sorted(str(path.relative_to(base)) for path in self.replaced),
        }
        write_atomically(self.staging / JOURNAL, json.dumps(text, indent=1), durable)
        if durable:
            sync(self.staging)

    @classmethod
    def read(cls, staging: Path) -> Journal | None:
        """Return the journal of a staging folder; None where there is none.

        Raises
        ------
        Unclear
            For a journal that cannot be read, or that no run has written.
        """
        try:
            text = json.loads((staging / JOURNAL).read_text(encoding="utf-8"))
            if text["gpuetl"] != VERSION:
                raise Unclear(f"{staging / JOURNAL} is of another version of gpuetl")
            journal = cls(
                staging,
                tuple(_joined(staging.parent, name) for name in text["stagings"]),
                tuple(_joined(staging.parent, name) for name in text["folders"]),
                tuple(_step(staging.parent, step) for step in text["steps"]),
                frozenset(staging.parent / name for name in text["replaced"]),
            )
            check(journal)
            return journal
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unclear(f"{staging / JOURNAL} cannot be read") from error


def check(journal: Journal) -> None:
    """Refuse a journal that no run has written: somebody may have put it there to move files of other people.

    A run changes its sinks alone, moves what lies in its own staging folders, and gives all of them its name.

    Raises
    ------
    Unclear
        With the path that does not belong to the commit.
    """
    staging, (_, name, run) = journal.staging, names_of(journal.staging)
    strange = [path for path in journal.stagings if names_of(path)[2] != run]
    strange += [] if absolute(staging) in map(absolute, journal.stagings) else [staging]
    staged = [step.new for step in journal.steps if isinstance(step, Put)] + [step.kept for step in journal.steps]
    strange += [path for path in staged if not is_below(path, staging)]
    targets = [*journal.folders, *(step.target for step in journal.steps)]
    strange += [path for path in targets if sink_name(path, staging.parent, run) != name]
    if sandbox := current_sandbox():
        strange += [path for path in (*journal.stagings, *targets) if not sandbox.holds(path.parent)]
    if strange:
        raise Unclear(
            f"{staging / JOURNAL} names {strange[0]}, which is no part of this commit: no run of gpuetl wrote it.  "
            "Look who put it there, and remove the folder"
        )


def names_of(staging: Path) -> tuple[Path, str, str]:
    """Return the folder of a staging folder, the name of its sink, which may be cut, and its run."""
    name, _, run = staging.name.rpartition(".")
    return staging.parent, name, run if RUN.fullmatch(run) else ""


def sink_name(path: Path, folder: Path, run: str) -> str:
    """Return how a staging folder is called, without its run, that is for a sink with this path; empty elsewhere."""
    path, folder = absolute(path), absolute(folder)
    if not path.is_relative_to(folder) or path == folder:
        return ""
    return staging_folder(folder / path.relative_to(folder).parts[0], run).name.rpartition(".")[0]


def absolute(path: Path) -> Path:
    """Return a path from the root, without `..`."""
    return Path(os.path.abspath(path))  # noqa: PTH100  links stay


def is_below(path: Path, staging: Path) -> bool:
    """Tell whether a path lies in a staging folder, and no link leads out of it."""
    inside = absolute(staging) in absolute(path).parents
    return inside and Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(staging))


def _joined(base: Path, name: str) -> Path:
    return Path(os.path.normpath(base / name))


def _step(base: Path, step: dict[str, Any]) -> Step:
    target, kept, inode = _joined(base, step["target"]), _joined(base, step["kept"]), int(step["inode"])
    return Put(_joined(base, step["new"]), target, inode, kept) if "new" in step else Remove(target, inode, kept)


def undo_all(journals: Sequence[Journal]) -> list[str]:
    """Undo the changes of all sinks, the last sink first; return what could not be undone."""
    return [stuck for journal in reversed(journals) for stuck in journal.undo()]
