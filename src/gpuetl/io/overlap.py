"""Whether a sink would replace, or be read as, files that are not its own; told from paths alone."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from gpuetl.io.dataset import Dataset
from gpuetl.io.paths import is_hidden, plain_part
from gpuetl.io.target import Target


def absolute(path: Path) -> Path:
    """Return the path from the root, without `.` and `..`; symbolic links stay as they are."""
    return Path(os.path.normpath(path.absolute()))


def conflicts(target: Target, others: Sequence[Target], sources: Sequence[Dataset], folder: Path) -> list[str]:
    """Word what writing a sink would change besides it: other sinks, sources, the pipeline's own folder."""
    found = [f"{how} sink '{other.name}'" for other in others if (how := overlap(target.path, other.path))]
    if absolute(folder).is_relative_to(absolute(target.path)):
        found.append("writes over the pipeline's own folder")
    for source in sources:
        if holds_source(target, source):
            found.append(f"writes over source '{source.name}'")
        elif feeds_source(target, source):
            found.append(f"writes into its own source '{source.name}'")
    return found


def overlap(path: Path, other: Path) -> str:
    """Word how a sink's path lies to another's; nothing where they are apart."""
    path, other = absolute(path), absolute(other)
    if path == other:
        return "writes the same path as"
    if path.is_relative_to(other):
        return "writes inside the path of"
    return "has a path that holds that of" if other.is_relative_to(path) else ""


def holds_source(target: Target, dataset: Dataset) -> bool:
    """Tell whether the target is the source's file or folder (of a glob: the part before it), or holds it."""
    return absolute(plain_part(dataset.path)).is_relative_to(absolute(target.path))


def feeds_source(target: Target, dataset: Dataset) -> bool:
    """Tell whether files that the sink writes may be files of the source."""
    path, plain = absolute(target.path), absolute(plain_part(dataset.path))
    if not path.is_relative_to(plain) or is_hidden(path.relative_to(plain).parts):
        return False
    below = path.relative_to(plain).parts
    rest = absolute(dataset.path).parts[len(plain.parts) :] or ("**", f"*.{dataset.format}")
    if target.is_file:
        return _matches(below, rest)
    ending = Path(rest[-1]).suffix
    other_files = ending not in ("", f".{target.format}") and not glob.has_magic(ending)
    return not other_files and _may_hold(below, rest)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path matches a glob, in which `**` is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[i:], pattern[1:]) for i in range(len(parts) + 1)) or len(pattern) == 1
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _may_hold(folder: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path below the folder may match a glob."""
    if not pattern:
        return False
    if not folder or pattern[0] == "**":
        return True
    return fnmatchcase(folder[0], pattern[0]) and _may_hold(folder[1:], pattern[1:])
