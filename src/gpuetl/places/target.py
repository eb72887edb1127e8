"""Where a sink writes: its path and mode, and marks in the names of appended files."""

from __future__ import annotations

import hashlib
from typing import Literal

from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin

Mode = Literal["error", "overwrite", "append", "replace_partitions", "upsert"]
OnEmpty = Literal["write", "keep", "error"]


@dataclass(frozen=True)
class Target:
    """A sink's file, or its folder.

    A path that ends in the format's suffix is one file; any other is a folder of parts, below `name=value` folders
    where it is partitioned.

    `on_empty` says what becomes of the target where the sink gets no rows.  `run_key` names the parameters that tell
    runs apart in mode `append`.  `mark` is a digest in the names of appended files: runs whose rows must not be there
    twice have the same one.  `options` are those that the format declares for its sinks.  `on` are the columns by which
    mode `upsert` finds the rows that it replaces.  The state of a pipeline is a target of another `kind`.
    """

    name: str
    format: str
    path: FilePath
    partition_by: tuple[str, ...] = ()
    mode: Mode = "error"
    on_empty: OnEmpty = "write"
    run_key: tuple[str, ...] = ()
    mark: str = ""
    keep_foreign: bool = False
    file_suffix: str = ""
    options: FormatOptions = NO_OPTIONS
    on: tuple[str, ...] = ()
    kind: Literal["sink", "state", "checkpoint"] = "sink"

    @property
    def origin(self) -> Origin:
        """What messages call the target."""
        return Origin(self.kind, self.name)

    @property
    def replaces_all(self) -> bool:
        """Whether the commit replaces all that is at the target."""
        return self.mode == "overwrite" or (self.mode == "upsert" and not self.partition_by)

    @property
    def replaces_partitions(self) -> bool:
        """Whether the commit replaces whole folders of partitions, and leaves others."""
        return self.mode == "replace_partitions" or (self.mode == "upsert" and bool(self.partition_by))

    @property
    def suffix(self) -> str:
        """How names of the sink's files end: `file_suffix`, by default the format's name after a dot."""
        return self.file_suffix or f".{self.format}"

    @property
    def is_file(self) -> bool:
        """Whether the target is one file."""
        return self.path.name.endswith(self.suffix) and self.path.name != self.suffix and not self.partition_by


# Marks in the names of appended files: which run wrote them, so that a second one can replace or notice them.
#
# `part-<mark>-<run id>-00000.parquet`: other tools see plain files.


MARK_DIGITS = 12


def mark_of(*parts: str) -> str:
    """Return a digest of texts that fits a file's name."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:MARK_DIGITS]


def part_prefix(target: Target, run_id: str) -> str:
    """Return how the names of a run's files begin."""
    return f"part-{target.mark}-{run_id}" if target.mark else f"part-{run_id}"
