"""Where and how a sink writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gpuetl.io.dataset import Format

Mode = Literal["error", "overwrite", "append", "replace_partitions"]


@dataclass(frozen=True)
class Target:
    """A sink's file, or its folder.

    A path that ends in the format's suffix is one file; any other is a folder of parts, below `name=value` folders
    where it is partitioned.
    """

    name: str
    format: Format
    path: Path
    partition_by: tuple[str, ...] = ()
    mode: Mode = "error"

    @property
    def is_file(self) -> bool:
        """Whether the target is one file."""
        return self.path.suffix == f".{self.format}" and not self.partition_by
