"""What went wrong in an operation, worded for the user: the step, the row's values, and the row of a file.

Nothing here runs before an operation has failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.interface import Backend, Frame
from gpuetl.engines.no_result import written_values
from gpuetl.engines.registry import ORACLE, load_backend
from gpuetl.errors import EvaluationError, Problem, RunFailed, StepError, StoreFailure, system_reason
from gpuetl.formats.dataset import Dataset
from gpuetl.io.data_file import RowGroup
from gpuetl.lost_device import fault_message, is_fault, lose_device, suspects
from gpuetl.messages import coded
from gpuetl.physical.nodes import Concat, Map, Physical, Scan, first_read
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Project, Read
from gpuetl.telemetry.origin import FILTER, Origin
from gpuetl.uncaught import unexpected

MOST_ROWS = 50_000_000
"""Of a partition, beyond which filters are not computed again to find a row of its file."""
PREDICATE_COLUMN = ":kept"
"""A column that no user can name."""


def step_failed(origin: Origin, error: Exception) -> StepError:
    """Return the error that names the step in which another one came up; one that names a step already stays."""
    if isinstance(error, EvaluationError):
        failed = RunFailed.at(origin, error.what, error.hint, error.output)
        failed.output = FILTER if origin.kind == "source" else failed.output  # the only expression that it has
        return failed
    if isinstance(error, DatasetError):
        return RunFailed.at(origin, str(error), error.hint)
    if isinstance(error, StepError):
        found = error.problem or Problem(error.args[0])
        return error if found.within else error.with_problem(replace(found, within=str(origin)), origin)
    if reason := system_reason(error):
        hint = "" if isinstance(error, StoreFailure) else "Check the disk and the folder's permissions, then run again."
        name = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        return RunFailed.at(origin, coded("GE2011", f"{name}{reason}"), hint)
    if is_fault(error):
        lose_device()
        message = fault_message(suspects() or "a kernel", error)
        return RunFailed.at(origin, message, "Check your kernels with `gpuetl kernel check`, then run again.")
    return RunFailed.at(origin, *unexpected(error))


def row_values(backend: Backend, error: EvaluationError, frames: Sequence[Frame]) -> str:
    """Return the values of the failing row that explain an error, such as `a = 1, b = null`; nothing where none do."""
    if error.row is None or not error.reads:
        return ""
    row = backend.to_arrow(backend.take(frames[0], error.reads, np.array([error.row])))
    return written_values({name: row.column(name)[0] for name in row.column_names})


def row_in_source(node: Physical, index: int, row: int) -> str:
    """Name the row of a source from which row `row` of the first input of a node comes, in partition `index`.

    The text is empty where the row came through an exchange, or an operation that mixes rows.
    """
    if not isinstance(node, Map):
        return ""
    steps: list[Node] = []
    below, at = first_read(node, index)
    while isinstance(below, Map | Concat):
        if isinstance(below, Map):
            if not isinstance(below.operation, Project | Filter):
                return ""
            steps.append(below.operation)
        below, at = first_read(below, at)
    if not isinstance(below, Scan) or not below.parts[at]:
        return ""
    number = row_before(steps[::-1], below.read, below.parts[at], row)
    return "" if number is None else named_row(below.read.dataset, below.parts[at], number)


def row_before(steps: Sequence[Node], read: Read, part: Sequence[RowGroup], row: int) -> int | None:
    """Return the row of a partition of a source that becomes row `row` after some filters and projections."""
    last = max((place for place, step in enumerate(steps) if isinstance(step, Filter)), default=-1)
    if last < 0:
        return row
    if sum(max(group.rows, 0) for group in part) > MOST_ROWS:
        return None
    backend = load_backend(ORACLE)
    frame = backend.read(read, part)
    numbers = pa.array(np.arange(backend.rows(frame)))
    for step in steps[: last + 1]:
        if isinstance(step, Filter):
            numbers = numbers.filter(rows_kept(backend, step, frame))
        frame = backend.run(step, frame)
    return int(numbers[row].as_py()) if row < len(numbers) else None


def rows_kept(backend: Backend, step: Filter, frame: Frame) -> Any:
    """Return for each row whether a filter keeps it; null is not."""
    table = backend.to_arrow(
        backend.run(Project(source=step.source, columns={PREDICATE_COLUMN: step.predicate}), frame)
    )
    return table.column(PREDICATE_COLUMN).combine_chunks()


def named_row(dataset: Dataset, part: Sequence[RowGroup], row: int) -> str:
    """Name a row of a partition by its file and its number there, from 1."""
    for group, start, count in extents(part):
        if count < 0 or row < start + count:
            return dataset.file_format.row_name(dataset, group, row - start + 1)
    return ""


def extents(part: Sequence[RowGroup]) -> Iterator[tuple[RowGroup, int, int]]:
    """Yield the row groups of a partition, with the row at which each begins and how many it has, -1 if unknown."""
    start = 0
    for group in part:
        yield group, start, group.rows
        if group.rows < 0:
            return
        start += group.rows
