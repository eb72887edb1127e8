"""A table of the engine that waits in a file."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gpuetl.io.spill_space import SpillSpace
from gpuetl.records import dataclass
from gpuetl.telemetry.hardware_limits import Link


@dataclass(frozen=True, eq=False)
class SpilledTable:
    """Arrow's stream format, mapped: what comes back is read from the file where it is used."""

    stream: pa.Buffer

    @property
    def spill_traffic(self) -> Mapping[Link, int]:
        """The bytes written."""
        return {"host to file": self.stream.size}

    @property
    def restore_traffic(self) -> Mapping[Link, int]:
        """The bytes read."""
        return {"file to host": self.stream.size}

    def restored(self) -> pa.Table:
        """Return the table, whose columns are in the mapping."""
        with pa.ipc.open_stream(self.stream) as reader:
            return reader.read_all()


def spilled(table: pa.Table, space: SpillSpace) -> SpilledTable:
    """Write a table to a file; raise `OSError` where that cannot be written, or its disk is full."""
    with space.file() as file:
        with pa.ipc.new_stream(pa.PythonFile(file, "w"), table.schema) as writer:
            writer.write_table(table)
        file.flush()
        with pa.memory_map(f"/proc/self/fd/{file.fileno()}") as mapped:  # Python's would keep a descriptor open
            return SpilledTable(mapped.read_buffer())
