"""A frame as the Parquet files of a folder, which are written at the same time, and encoded a few together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock

from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.sinks.footer import MAGIC, footer
from gpuetl.engines.cudf.sinks.parquet import written
from gpuetl.engines.cudf.sinks.row_groups import DEFAULT, Groups, Layout, Rows, between
from gpuetl.io.staging import MOST_PARTS
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema

LEAST_PART_ROWS = 1 << 22
"""The rows that make a file of a folder worth it."""
ENCODED_TOGETHER = 4
"""Files of no more than a batch's rows: of more, the first would be begun later, and measures take more memory."""


class Whole:
    """The frame that some files are parts of: it is looked at once, and its rows are encoded as files ask for them.

    What is encoded is held until all of its files are written: one may be tried again.  Threads may ask for all files
    at the same time, so that as much device memory is needed as all rows are encoded to, and what `Rows.encoded` needs.
    """

    def __init__(self, frame: Frame, schema: Schema, machine: Machine, layout: Layout, file_rows: int) -> None:
        self.frame, self.schema, self.machine, self.layout, self.file_rows = frame, schema, machine, layout, file_rows
        self.files = -(-frame.rows // file_rows)
        self.looking = Lock()
        self.encoding = [Lock() for _ in range(self.files)]
        self.encoded: dict[int, list[Groups]] = {}
        self.done = Counter[int]()

    @cached_property
    def rows(self) -> Rows:
        """How the rows are encoded."""
        return Rows.of(self.frame, self.schema, self.layout, self.machine, self.file_rows)

    @property
    def together(self) -> int:
        """How many files are encoded together: a dictionary that is found is of all of them, and in each row group."""
        return 1 if self.rows.few else ENCODED_TOGETHER

    def groups(self, number: int) -> Groups:
        """Return the row groups of a file; the first of those that are encoded together has all of them encoded."""
        with self.looking:
            rows = self.rows
        batch, place = divmod(number, self.together)
        with self.encoding[batch]:
            if batch not in self.encoded:
                size = self.together * self.file_rows
                self.encoded[batch] = rows.encoded(batch * size, size, self.file_rows)
            return self.encoded[batch][place]

    def let_go(self, number: int) -> None:
        """Take note that a file is written."""
        batch = number // self.together
        with self.encoding[batch]:
            self.done[batch] += 1
            if self.done[batch] == min(self.together, self.files - batch * self.together):
                del self.encoded[batch]


@dataclass(frozen=True, eq=False)
class Part:
    """One of the files."""

    whole: Whole
    number: int

    @property
    def rows(self) -> int:
        """How many rows go into it."""
        return min(self.whole.file_rows, self.whole.frame.rows - self.number * self.whole.file_rows)


def parts_of(frame: Frame, schema: Schema, machine: Machine, layout: Layout = DEFAULT) -> Sequence[Part | Frame]:
    """Return what goes into each file of a folder, all of it on the memory of the frame."""
    rows = max(LEAST_PART_ROWS, -(-frame.rows // (MOST_PARTS * layout.group_rows)) * layout.group_rows)
    if frame.rows <= rows:
        return [frame]
    if rows > layout.batch_rows:
        return [between(frame, start, rows) for start in range(0, frame.rows, rows)]
    whole = Whole(frame, schema, machine, layout, rows)
    return [Part(whole, number) for number in range(whole.files)]


def write_part(part: Part, path: Path) -> None:
    """Write one of the files, whole when this returns.

    Raises
    ------
    OSError
        Where it cannot be written; a part of it may stay.
    pyarrow.ArrowInvalid
        Where so few texts as a page must have are larger than one can be.
    """
    groups, whole = part.whole.groups(part.number), part.whole
    with whole.machine.written_file(path, alone=False) as file:
        file.write(0, MAGIC)
        file.write(written(file, groups), footer(whole.rows.schema, part.rows, groups.places))
    whole.let_go(part.number)
