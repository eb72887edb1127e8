"""Where and how a sink writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from gpuetl.io.dataset import Format
from gpuetl.records import dataclass

Mode = Literal["error", "overwrite", "append", "replace_partitions"]
OnEmpty = Literal["write", "keep", "error"]


@dataclass(frozen=True)
class Target:
    """A sink's file, or its folder.

    A path that ends in the format's suffix is one file; any other is a folder of parts, below `name=value` folders
    where it is partitioned.

    `on_empty` says what becomes of the target where the sink gets no rows.  `run_key` names the parameters that tell
    runs apart in mode `append`.  `mark` is a digest in the names of appended files: equal for runs whose rows must not
    be there twice (`io/marks.py`).
    """

    name: str
    format: Format
    path: Path
    partition_by: tuple[str, ...] = ()
    mode: Mode = "error"
    on_empty: OnEmpty = "write"
    run_key: tuple[str, ...] = ()
    mark: str = ""
    keep_foreign: bool = False

    @property
    def place(self) -> Path:
        """The path, or what it points to where it is a symbolic link: the link stays."""
        return Path(os.path.realpath(self.path)) if self.path.is_symlink() else self.path

    @property
    def is_file(self) -> bool:
        """Whether the target is one file."""
        return self.path.suffix == f".{self.format}" and not self.partition_by
