"""The files that a source's path names: one file, those of a glob, or those of a folder at any depth."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path


def find_files(path: Path, suffix: str) -> list[Path]:
    """Return the files in the order of their paths; of a folder, those with the suffix.

    Hidden files, and those of hidden folders, are left out below the part of the path that is no glob, not above it.
    """
    plain = plain_part(path)
    base = plain if plain.is_dir() else plain.parent
    found: Iterable[Path]
    if path.is_dir():
        found = path.rglob(f"*{suffix}")
    elif plain != path:
        found = (Path(name) for name in glob.glob(str(path), recursive=True))
    else:
        found = [path]
    return sorted(file for file in found if file.is_file() and not is_hidden(file.relative_to(base)))


def plain_part(path: Path) -> Path:
    """Return the part of the path that is no glob; all of it where it exists as it stands."""
    if path.exists():
        return path
    parts = path.parts
    return Path(*parts[: next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))])


def is_hidden(path: Path) -> bool:
    """Tell whether a part of a relative path begins with a dot or an underscore."""
    return any(part.startswith((".", "_")) for part in path.parts)
