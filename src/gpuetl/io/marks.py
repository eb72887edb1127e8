"""Marks in the names of appended files: which run wrote them, so that a second one can replace or notice them.

`part-<mark>-<run id>-00000.parquet`: other tools see plain files.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from gpuetl.io.paths import is_hidden
from gpuetl.io.target import Target

MARK_DIGITS = 12


def mark_of(*parts: str) -> str:
    """Return a digest of texts that fits a file's name."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:MARK_DIGITS]


def part_prefix(target: Target, run_id: str) -> str:
    """Return how the names of a run's files begin."""
    return f"part-{target.mark}-{run_id}" if target.mark else f"part-{run_id}"


def marked_files(target: Target, folder: Path) -> list[Path]:
    """Return the files below a folder that runs of the target's mark appended, in the order of their paths."""
    if not target.mark or not folder.is_dir():
        return []
    found = folder.rglob(f"part-{target.mark}-*.{target.format}")
    return sorted(path for path in found if path.is_file() and not is_hidden(path.relative_to(folder).parts))
