"""What an engine can do, as it is known before the engine is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from gpuetl.choices import is_skipped
from gpuetl.records import dataclass

Device = Literal["GPU", "CPU"]


@dataclass(frozen=True)
class Capabilities:
    """What planning, executors and options ask of an engine.  The defaults are those of an engine on the CPU.

    Parameters
    ----------
    device
        Where its frames are: what operations take of that memory is planned by it.  With "GPU", tasks of one worker
        read, compute and write side by side.
    partition_rows
        Rows of a source's partition, at most, if the user does not say.
    choices
        The names of its choices, which `--skip` takes, with a sentence for each.  If "compile_ahead" is one of them,
        the engine compiles the programs of a plan while the run begins, on a cluster on all workers.
    whole_file_share
        The engine finds the records of a text file by itself if the file is no larger than this share of its memory.
        Planning then does not read the file.
    spills_to
        Where frames go first if memory is short.  Host memory is so near to a GPU that an exchange may wait there.
    """

    device: Device = "CPU"
    partition_rows: int = 1 << 24
    choices: Mapping[str, str] = field(default_factory=dict)
    whole_file_share: float = 0.0
    spills_to: Literal["host memory", "files"] = "files"

    def takes(self, choice: str) -> bool:
        """Tell whether the engine has a choice that this run does not leave out."""
        return choice in self.choices and not is_skipped(choice)
