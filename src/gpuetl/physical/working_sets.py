"""What operations work with beside their inputs and output: one table an engine, by which memory is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpuetl.expressions.functions.collecting import OF_DISTINCT
from gpuetl.formats.format import Encoding
from gpuetl.formats.registry import format_named
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import (
    Aggregate,
    AsofJoin,
    ConditionJoin,
    Distinct,
    Explode,
    Filter,
    Grouped,
    GroupWindow,
    InsertRows,
    Join,
    Kernel,
    KernelReduction,
    KernelTable,
    Limit,
    NewRows,
    Project,
    PythonKernel,
    ScalarJoin,
    Sort,
    Union,
    Vocabularies,
    Vocabulary,
    VocabularyLookups,
    VocabularyPart,
    Window,
)
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING


class Work(NamedTuple):
    """Bytes a row that an operation works with, beside its inputs: `before` its output is there, and `beside` it.

    A row is one of all inputs together, or of the output where that has more.  `copies` is how often the bytes of the
    inputs are there once more, such as chunks put into one array.
    """

    before: float
    beside: float
    copies: float = 0.0


SORTING = 40
"""To sort: two words of keys (16), libcudf's copy of one, its row numbers, and room for both again (8 + 4 + 12)."""
MARKING = 2
"""Rows that are in order: marks of where groups and values begin."""

WORK: dict[type[Node], Work] = {
    Filter: Work(1, 5),  # the mask; the numbers of the rows that stay (4)
    NewRows: Work(1, 5),
    Project: Work(0, 0),
    Limit: Work(0, 0),
    Union: Work(0, 0),
    Sort: Work(SORTING, 6),  # the order (4), marks
    Distinct: Work(SORTING, 10),  # the order, marks, where groups begin (4)
    Window: Work(SORTING, 24),  # the order, marks, frames' begins (4) and blocks (4 to 8), rows that have a value (8)
    GroupWindow: Work(SORTING, 28),  # the order, where groups begin (8), a state a group, each row's group (4)
    Kernel: Work(0, 24),  # of rows with nulls: which are whole (8), their numbers (8), where their results go (8)
    KernelReduction: Work(SORTING, 24),
    KernelTable: Work(SORTING, 64, 1.0),  # the order, slots of outputs, where they are (4) and whose (4), counts
    PythonKernel: Work(0, 24, 1.0),
    Aggregate: Work(SORTING, 24),  # the order, where groups begin (8), a state a group
    Join: Work(24, 16),  # slots (4) and a table by hash (8 to 16) of the right, matches (4); pairs (8), matches (4)
    AsofJoin: Work(
        64, 16
    ),  # as Join, then sorting the right; bounds of slots (8 to 32), times in order (8), matches (4)
    Vocabulary: Work(64, 24),  # a table by hash, of 16 bytes for each of 2 to 4 slots a row
    Vocabularies: Work(64, 24),  # small tables of all columns take no more than the largest one of one column
    VocabularyPart: Work(0, 0),
    VocabularyLookups: Work(0, 64),  # a table by hash of the values of all
    InsertRows: Work(16, 24),  # rows that each gives and their sums; rows, own rows and places of the output
    Explode: Work(16, 32),  # lengths and their sums; rows, places and elements of the output (8 each)
}
"""What the cudf engine works with, as its handlers are written."""
HOST_WORK: dict[type[Node], Work] = {
    Filter: Work(0, 2),
    NewRows: Work(0, 2),
    Project: Work(0, 16),
    Limit: Work(0, 0),
    Union: Work(0, 0),
    Sort: Work(0, 48, 0.5),  # words, places and both sorted (8 each), flags; columns in one array each, two at a time
    Distinct: Work(0, 58),  # a sort a key column, and one of their numbers
    Window: Work(0, 90),
    GroupWindow: Work(0, 60),
    Kernel: Work(0, 64, 1.0),
    KernelReduction: Work(0, 110, 1.0),
    KernelTable: Work(0, 110, 1.0),
    PythonKernel: Work(0, 64, 2.0),  # the inputs as a frame, and what the function makes: as much again
    Aggregate: Work(0, 52),
    Join: Work(0, 34),
    AsofJoin: Work(0, 120),
    Vocabulary: Work(0, 90),
    Vocabularies: Work(0, 90),
    VocabularyPart: Work(0, 0),
    VocabularyLookups: Work(0, 64),
    InsertRows: Work(0, 48, 0.3),
    Explode: Work(0, 38, 0.3),
}
"""What the pandas engine works with: by how much the resident set grew, in the operations of
tests/benchmarks/memory_limits.py over partitions of one and of five million rows, plus a tenth or so."""
HOST_UNIQUE_JOIN = Work(0, 12)
"""To join where `validate` says that right keys do not repeat: each left row has one place at most."""
SCALAR_JOIN = Work(0, 8)
"""To repeat a value: row numbers."""
SLOWER_THAN_WRITING = (Sort, Distinct, Window, Aggregate, KernelReduction, Join, AsofJoin)
"""On the host, so that seldom more than one table is in flight to a writer."""
VALUES_SORTED = {
    "median", "quantile", "mode", "count_distinct", "approx_count_distinct", "approx_quantile", "quantile_disc", "mad",
    "histogram", "entropy", "values_by_frequency",
    "array_agg", "array_agg_distinct",
    "string_agg", "string_agg_distinct", *OF_DISTINCT,
}  # fmt: skip
"""Aggregates that sort values, also of a single group."""
FRAMES_SORTED = {"rolling_median", "rolling_quantile", "rolling_count_distinct"}
"""Rolling functions that put values in order."""
TEXT_READING = 8
"""A row of texts that are read: its slot among the distinct ones and its number in the dictionary."""


@dataclass(frozen=True)
class WorkingSets:
    """What an engine works with.

    Parameters
    ----------
    operations
        Of each operation.
    split
        To cut a partition into pieces for an exchange; `copies` are the rows in the order of their targets, and the
        pieces.
    encoding
        To write; None where Arrow writes, and each format has its own.
    file_copies
        To read: how often the bytes of a file are there.
    read_copies
        To read: how often the rows are there beside themselves.
    merge_copies
        To put the pieces of an exchange together: how often they are there beside themselves.
    waits_for_writers
        Whether a run with a limit waits until tables are written when memory is short.
    text_key
        Bytes a row for each key that is a string: its hash, its number, and the distinct ones.
    unique_join
        Of a join whose right keys do not repeat, where that is less.
    sorted_frames
        Bytes a row for windows that put the values of frames in order.
    fixed_bytes
        What a run takes whatever its rows are: threads, code, and what allocators keep.
    """

    operations: Mapping[type[Node], Work]
    split: Work
    encoding: Encoding | None
    file_copies: float
    read_copies: float = 0.0
    merge_copies: float = 1.0
    waits_for_writers: bool = False
    text_key: float = 0.0
    unique_join: Work | None = None
    sorted_frames: int = 0
    fixed_bytes: int = 0

    def encoded(self, format_name: str) -> Encoding:
        """Return what writing a format takes."""
        return self.encoding or format_named(format_name).encoding

    def of(self, operation: Node) -> Work:
        """Return what an operation works with; rows that are in order, or of one group, are not sorted."""
        work = next(self.operations[base] for base in type(operation).__mro__ if base in self.operations)
        if isinstance(operation, Aggregate) and not operation.by:
            sorts = any(call.function.name in VALUES_SORTED for call in operation.calls.values())
            return work if sorts else Work(0, 0)
        if isinstance(operation, ScalarJoin):
            return SCALAR_JOIN
        if isinstance(operation, Window) and any(c.function.name in FRAMES_SORTED for c in operation.calls.values()):
            work = work._replace(beside=work.beside + self.sorted_frames)
        if isinstance(operation, ConditionJoin):  # and marks, ordered values and their rows, and where runs begin
            work = work._replace(before=work.before + 12, beside=work.beside + 24)
        elif self.unique_join and isinstance(operation, Join) and operation.unique[1]:
            work = self.unique_join
        if self.text_key:
            return work._replace(beside=work.beside + self.text_key * text_keys(operation))
        if getattr(operation, "presorted", False):
            return work._replace(before=MARKING)
        return work._replace(before=SORTING) if isinstance(operation, Kernel) and operation.grouped else work


def text_keys(operation: Node) -> int:
    """Return how many of the keys by which rows are ordered or meet are strings."""
    if isinstance(operation, Join | AsofJoin):
        keys: tuple[str, ...] = operation.left_on
    elif isinstance(operation, Sort):
        keys = tuple(key.column for key in operation.by)
    elif isinstance(operation, Grouped):
        keys = (*operation.by, *(key.column for key in operation.order_by))
    else:
        keys = operation.keys
    return sum(operation.inputs[0].schema[name] == STRING for name in set(keys)) if operation.inputs else 0


SPLIT = Work(SORTING, 22, 2)
"""Of a hash exchange: hashes (8), targets (8 + 2) and the order (4)."""
FILE_COPIES = 3
"""To read: the bytes of a file as they are there, and decompressed; they are seldom halved."""
DEVICE = WorkingSets(WORK, SPLIT, Encoding(1.0), FILE_COPIES, sorted_frames=32)
"""The order (4), keys and split ones (8), counts (4), and 31 levels of bits (8); what sorting takes is free by then."""

HOST = WorkingSets(
    HOST_WORK,
    Work(0, 50, 1.3),
    encoding=None,
    file_copies=0.25,
    read_copies=0.6,
    merge_copies=0,
    waits_for_writers=True,
    text_key=24,
    unique_join=HOST_UNIQUE_JOIN,
    sorted_frames=110,
    fixed_bytes=20 << 20,
)
