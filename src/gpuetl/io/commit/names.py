"""The names of staging folders, which say for which sink and of which run they are."""

from __future__ import annotations

import re
from pathlib import Path

from gpuetl.io.paths import MAX_NAME_BYTES

RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
STAGING = re.compile(rf"\.(?P<name>.*)\.(?P<run>{RUN.pattern})", re.DOTALL)


def staging_folder(path: Path, run_id: str) -> Path:
    """Return the folder beside a sink's path in which a run writes, hidden from readers of the sink."""
    name = path.name.encode(errors="surrogateescape")[: MAX_NAME_BYTES - len(run_id) - 2].decode(errors="ignore")
    return path.parent / f".{name}.{run_id}"
