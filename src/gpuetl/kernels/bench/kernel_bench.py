"""One kernel at several sizes: by its twin on the CPU, alone on the device, and with its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.registry import ORACLE, load_backend
from gpuetl.kernels.bench.device import DeviceLimits
from gpuetl.kernels.bench.kernel_clock import ClockedMachine, Seconds, clocked, timed
from gpuetl.kernels.bench.kernel_work import KernelWork, work_of
from gpuetl.kernels.bench.pipeline_part import PipelinePart, part_around, sampled_rows
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project
from gpuetl.plan.nodes.project import passing
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.triton_kernel import TritonKernel

SIZES = (10_000, 1_000_000, 10_000_000)
"""Rows that the part of the pipeline gets."""
BUDGET_S = 2.0
"""Of each measurement: then it is repeated no more."""


@dataclass(frozen=True)
class SizeTimes:
    """The times for one size; None where it did not fit the memory, or would have taken too long.

    Parameters
    ----------
    source_rows, rows, rows_out
        What the part of the pipeline gets, what the kernel gets of that, and what the kernel gives.
    kernel
        The launches of the kernel alone, on the device.
    step
        The step, on rows that are on the device: sorting and nulls too.
    with_copies
        The step, with its inputs copied to the device and its outputs back.
    twin
        The step by its twin, on the CPU.
    pipeline, pipeline_on_cpu
        The kernel with its neighbours, on rows that are on the device, and the same on the CPU.
    """

    source_rows: int
    rows: int
    rows_out: int
    kernel: Seconds | None = None
    step: Seconds | None = None
    with_copies: Seconds | None = None
    twin: Seconds | None = None
    pipeline: Seconds | None = None
    pipeline_on_cpu: Seconds | None = None


@dataclass(frozen=True)
class KernelBench:
    """One kernel's times, and what limits them; `kind` is cuda or triton."""

    stage: str
    step: int
    kernel: str
    file: str
    device: DeviceLimits
    work: KernelWork
    float_type: str
    peak_per_s: float | None
    neighbours: str
    one_row: SizeTimes
    sizes: tuple[SizeTimes, ...]
    kind: str = "cuda"

    def bytes_per_s(self, size: SizeTimes) -> float | None:
        """Return the rate at which the declared columns are read and written in the least time of the kernel."""
        return self.work.bytes(size.rows, size.rows_out) / size.kernel.least if size.kernel else None

    def flops_per_s(self, size: SizeTimes) -> float | None:
        """Return the rate of arithmetic in the least time of the kernel."""
        flops = self.work.flops_per_row
        return flops * size.rows / size.kernel.least if size.kernel and flops else None

    def bandwidth_share(self, size: SizeTimes) -> float | None:
        """Return the rate's part of what the device's memory was measured to carry."""
        return share(self.bytes_per_s(size), self.device.memory_bytes_per_s)

    def peak_share(self, size: SizeTimes) -> float | None:
        """Return the arithmetic's part of the device's nominal peak."""
        return share(self.flops_per_s(size), self.peak_per_s)

    def pays_from(self, times: Callable[[SizeTimes], Seconds | None]) -> int | None:
        """Return the rows of the smallest size at which these times are less than the twin's."""
        return next(
            (s.rows for s in self.sizes if s.twin and (own := times(s)) and own.least < s.twin.least), None
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "kind": self.kind, "stage": self.stage, "step": self.step, "kernel": self.kernel, "file": self.file,
            "read_bytes_per_row": self.work.read_bytes, "written_bytes_per_row": self.work.written_bytes,
            "flops_per_row": self.work.flops_per_row, "flops_by": self.work.flops_by, "float_type": self.float_type,
            "peak_flops_per_s": self.peak_per_s, "neighbours": self.neighbours,
            "one_row": self.size_as_json(self.one_row), "sizes": [self.size_as_json(size) for size in self.sizes],
            "pays_from_rows": self.pays_from(lambda size: size.step),
            "pays_with_copies_from_rows": self.pays_from(lambda size: size.with_copies),
        }  # fmt: skip

    def size_as_json(self, size: SizeTimes) -> dict[str, Any]:
        """Return the times for one size as plain data."""
        plain = {name: value.as_json() if isinstance(value, Seconds) else value for name, value in vars(size).items()}
        rates = {
            "bytes_per_s": self.bytes_per_s(size), "bandwidth_share": self.bandwidth_share(size),
            "flops_per_s": self.flops_per_s(size), "peak_share": self.peak_share(size),
        }  # fmt: skip
        return {**plain, **rates}


def share(rate: float | None, limit: float | None) -> float | None:
    """Return a rate's part of a limit, where both are known."""
    return rate / limit if rate is not None and limit else None


def bench_kernel(
    plan: Plan, kernel: Node, machine: Machine, device: DeviceLimits, sizes: Iterable[int], budget_s: float = BUDGET_S,
    cpu_budget_s: float | None = None,
) -> KernelBench:  # fmt: skip
    """Time a kernel of a plan on the pipeline's own rows, which are repeated up to each size.

    `budget_s` is how long a measurement is repeated.  The CPU is left out of a size for which it would take longer than
    `cpu_budget_s`, by default as long.

    Raises
    ------
    RunFailed
        Where no row reaches the kernel.
    EvaluationError
        Where the kernel fails.
    """
    part = part_around(plan, kernel)
    own, clock = clocked(machine)
    runner = PartRunner(part, sampled_rows(plan, part), CudfBackend(own), clock, budget_s, cpu_budget_s)
    operation, work = part.kernel, work_of(part.kernel)
    types = [*(operation.source.schema[name] for name in operation.reads), *operation.outputs.values()]
    types += [value.dtype for value in operation.expressions]
    float_type, peak = device.arithmetic_per_s(types)
    contract = operation.contract
    file = contract.cuda if isinstance(contract, KernelContract) else contract.reference
    one_row = runner.on_device(runner.frame_of(1))
    return KernelBench(
        kernel.origin.name, kernel.origin.step, contract.entry, str(file), device, work, float_type, peak, part.text,
        one_row, tuple(runner.times(sizes)), "triton" if isinstance(contract, TritonKernel) else "cuda",
    )  # fmt: skip


def alone_of(operation: Any) -> Any:
    """Return a kernel's step on the columns that it needs, without those that pass by."""
    source = operation.inputs[0]
    (needed,) = operation.needs(frozenset(operation.outputs))
    columns = passing(source.schema.select([name for name in source.schema if name in needed]))
    return operation.with_inputs([Project(source=source, columns=columns, origin=operation.origin)])


class PartRunner:
    """Runs a part of a pipeline on rows that are repeated up to a size."""

    def __init__(
        self, part: PipelinePart, rows: pa.Table, backend: CudfBackend, clock: ClockedMachine, budget_s: float,
        cpu_budget_s: float | None = None,
    ) -> None:  # fmt: skip
        self.part, self.backend, self.clock, self.budget_s = part, backend, clock, budget_s
        self.cpu_budget_s = budget_s if cpu_budget_s is None else cpu_budget_s
        self.oracle, self.rows, self.cpu_is_warm = load_backend(ORACLE), rows, False
        self.sample = backend.from_arrow(rows)

    def frame_of(self, rows: int) -> Any:
        """Return so many rows on the device."""
        numbers = np.arange(rows, dtype=np.int64) % self.rows.num_rows
        return self.backend.take(self.sample, self.rows.column_names, numbers)

    def times(self, sizes: Iterable[int]) -> Iterator[SizeTimes]:
        """Time each size; the CPU is left out of those for which it would take too long."""
        cpu_s_per_row = 0.0
        for rows in sizes:
            try:
                frame = self.frame_of(rows)
                found = self.on_device(frame)
            except MemoryError:
                yield SizeTimes(rows, 0, 0)
                continue
            if cpu_s_per_row * rows <= self.cpu_budget_s:
                found = self.on_host(frame, found)
                took = [seconds.all[0] for seconds in (found.twin, found.pipeline_on_cpu) if seconds]
                cpu_s_per_row = max([cpu_s_per_row, *(seconds / max(rows, 1) for seconds in took)])
            yield found

    def on_device(self, frame: Any) -> SizeTimes:
        """Time the kernel, its step and its part of the pipeline on rows that are on the device."""
        before, operation = self.part.chain[: self.part.place], self.part.kernel
        backend, rows = self.backend, frame.rows
        given = self.through(before, frame)
        rows_out = backend.run(operation, given).rows
        kernel = self.kernel_times(given)
        step = timed(lambda: backend.run(operation, given), self.budget_s, warm=True)
        alone = alone_of(operation)
        host = backend.to_arrow(given.select(tuple(alone.inputs[0].schema)))
        copies = timed(lambda: self.copied(alone, host), self.budget_s, warm=True)
        whole = timed(lambda: self.through(self.part.chain, frame), self.budget_s)
        return SizeTimes(rows, given.rows, rows_out, kernel, step, copies, None, whole)

    def kernel_times(self, given: Any) -> Seconds | None:
        """Measure the launches of the kernel on the device."""
        found = list[float | None]()

        def measured() -> None:
            with self.clock.counting():
                self.backend.run(self.part.kernel, given)
            found.append(self.clock.device_seconds())

        timed(measured, self.budget_s, warm=True)
        times = [seconds for seconds in (found[1:] or found) if seconds is not None]
        return Seconds(tuple(times)) if times else None

    def copied(self, alone: Any, host: pa.Table) -> None:
        """Copy the kernel's inputs to the device, run its step, and copy its outputs back."""
        result = self.backend.run(alone, self.backend.from_arrow(host))
        self.backend.to_arrow(result.select(tuple(alone.outputs)))

    def through(self, chain: Iterable[Node], frame: Any) -> Any:
        """Run operations one after another."""
        for operation in chain:
            frame = self.backend.run(operation, frame)
        return frame

    def on_host(self, frame: Any, found: SizeTimes) -> SizeTimes:
        """Time the same on the CPU, by the twin."""
        before, operation, oracle = self.part.chain[: self.part.place], self.part.kernel, self.oracle
        rows = self.backend.to_arrow(frame)

        def through(chain: Iterable[Node]) -> Any:
            result = rows
            for node in chain:
                result = oracle.run(node, result)
            return result

        given = through(before)
        warm = self.cpu_is_warm
        twin = timed(lambda: oracle.run(operation, given), self.budget_s, warm)
        whole = timed(lambda: through(self.part.chain), self.budget_s, warm)
        self.cpu_is_warm = True
        return SizeTimes(
            found.source_rows, found.rows, found.rows_out, found.kernel, found.step, found.with_copies, twin,
            found.pipeline, whole,
        )  # fmt: skip
