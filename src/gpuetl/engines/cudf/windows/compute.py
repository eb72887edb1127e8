"""The outputs of all calls, each once: passes in both directions, then frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from gpuetl.engines.cudf.columns.arrays import choose, filled, joined, scan, scatter
from gpuetl.engines.cudf.columns.validity import valid_rows
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.frames import frame_source, run_frames
from gpuetl.engines.cudf.windows.outputs import Written
from gpuetl.engines.cudf.windows.pass_kernels import pass_sources, run_pass
from gpuetl.engines.cudf.windows.passes import Known, Pass, reads_of
from gpuetl.engines.cudf.windows.rows import WindowRows
from gpuetl.engines.cudf.windows.steps import Framed, Output, PresentRows, RowNumbers, Scan, Step
from gpuetl.records import dataclass

OUTPUTS_PER_KERNEL = 8
"""More would take more registers than threads have, and more parameters than a kernel."""
BEYOND = 2**31 - 1
Item = TypeVar("Item")


@dataclass(frozen=True)
class Results:
    """What was written, and the first fault of each step, 0 where there is none."""

    columns: Mapping[Output, Vector]
    faults: Mapping[Step, int]

    @classmethod
    def of(cls, kernels: Sequence[Written], rows: WindowRows) -> Results:
        """Ask the device once what it has to tell of all kernels."""
        columns: dict[Output, Vector] = {}
        faults: dict[Step, int] = {}
        if not kernels:
            return cls(columns, faults)
        told = iter(joined([written.state for written in kernels], rows.machine).tolist())
        for written in kernels:
            own_faults, own_columns = written.completed(list(islice(told, len(written.state))))
            faults.update(own_faults)
            columns.update(own_columns)
        return cls(columns, faults)


def compute_outputs(outputs: Iterable[Output], rows: WindowRows) -> Results:
    """Compute outputs, and what their steps read."""
    work = Work.of(outputs)
    kernels = [run_pass(Pass(some, True, {}, rows)) for some in work.backward]
    made = {output: column.data for written in kernels for output, column in written.columns.items()}
    known: Known = {scan: [made[RowNumbers(scan)]] for scan in work.scans_read}
    known = {**known, **{each: present_rows(each, rows) for each in work.present}}
    kernels += [run_pass(Pass(some, False, known, rows)) for some in work.forward]
    made = {output: column.data for written in kernels for output, column in written.columns.items()}
    kernels += [run_frames(some, made[start], rows) for start, some in work.frames]
    return Results.of(kernels, rows)


def output_programs(outputs: Iterable[Output], rows: WindowRows) -> list[str]:
    """List the programs of `compute_outputs`; of the rows it takes the kinds of columns alone."""
    work = Work.of(outputs)
    known: Known = {**{scan: [] for scan in work.scans_read}, **{each: [] for each in work.present}}
    passes = [Pass(some, True, {}, rows) for some in work.backward]
    passes += [Pass(some, False, known, rows) for some in work.forward]
    texts = [text for each in passes for text in pass_sources(each)]
    return texts + [frame_source(some, rows) for _, some in work.frames]


@dataclass(frozen=True)
class Work:
    """Which kernels write which outputs, in the order in which they run.

    `backward` passes come first.  `forward` passes may read what backward scans give (`scans_read`).  They may also
    read the rows that are `present`.  `frames` are outputs of equal frames, with the step that gives their first rows.
    """

    backward: Sequence[Sequence[Output]]
    forward: Sequence[Sequence[Output]]
    frames: Sequence[tuple[RowNumbers, Sequence[Output]]]
    scans_read: Sequence[Scan]
    present: Sequence[PresentRows]

    @classmethod
    def of(cls, outputs: Iterable[Output]) -> Work:
        """Divide outputs, and what their steps read, among kernels."""
        wanted = dict.fromkeys(outputs)
        starts = {output: RowNumbers(output.step.start) for output in wanted if isinstance(output.step, Framed)}
        passes = dict.fromkeys([*(output for output in wanted if output not in starts), *starts.values()])
        forward = [output for output in passes if not runs_backward(output.step)]
        read = dict.fromkeys(each for output in forward for each in reads_of(output.step))
        scans = [each for each in read if isinstance(each, Scan) and each.backward]
        own = [output for output in passes if runs_backward(output.step)]
        backward = dict.fromkeys([*own, *map(RowNumbers, scans)])
        frames = [
            (start, some)
            for start in dict.fromkeys(starts.values())
            for some in pieces([output for output in starts if starts[output] == start])
        ]
        present = [each for each in read if isinstance(each, PresentRows)]
        return cls(list(pieces(list(backward))), list(pieces(forward)), frames, scans, present)


def runs_backward(step: Step) -> bool:
    """Whether a step is computed from the last row on."""
    return not isinstance(step, Framed) and step.backward


def pieces(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield as many at a time as a kernel takes."""
    for place in range(0, len(items), OUTPUTS_PER_KERNEL):
        yield items[place : place + OUTPUTS_PER_KERNEL]


def present_rows(step: PresentRows, rows: WindowRows) -> list[Any]:
    """Return the arguments that stand for the rows that have a value: how many are before each, and their numbers.

    Behind them is a number beyond all rows, so that nobody has to ask the device how many they are.
    """
    machine, column = rows.machine, rows.columns[step.column]
    before = scan(valid_rows(column, machine), machine, "int32", before=True)
    present = filled(rows.rows + 1, BEYOND, "int32", machine)
    scatter(present, choose(column.valid, before, -1, machine), machine)
    return [before, present, rows.rows]
