"""A Python function over frames at several sizes of a partition: its calls alone, as a step, with its neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.registry import ORACLE, load_backend
from gpuetl.kernels.bench.kernel_clock import Seconds, timed
from gpuetl.kernels.bench.pipeline_part import PipelinePart, part_around, sampled_rows
from gpuetl.plan.node import Node
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.user_kernels.python_function import FrameKind, PythonFunction

LONGEST = 10
"""Budgets: a size for which the step would take longer is left out."""


@dataclass(frozen=True)
class FunctionTimes:
    """The times for one size; None where it did not fit the memory, or would have taken too long.

    Parameters
    ----------
    source_rows, rows
        What the part of the pipeline gets, and what the step gets of that: one partition.
    calls
        How often the function is called: once, or once for each group.
    read_bytes, written_bytes
        Of the columns that the function gets and gives, as Arrow has them in memory.
    function
        The calls alone.
    step
        The step: also the frames made and converted, the order of rows, nulls and checks.
    pipeline
        The step with its neighbours.
    elsewhere
        The step on the other kind of engine: of a function over cuDF frames its reference on the CPU, of others the
        step in a run on the GPU, with copies to the host and back.
    """

    source_rows: int
    rows: int = 0
    calls: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    function: Seconds | None = None
    step: Seconds | None = None
    pipeline: Seconds | None = None
    elsewhere: Seconds | None = None

    @property
    def rows_per_s(self) -> float | None:
        """The rows that the step computes a second."""
        return self.rows / self.step.least if self.step else None

    def as_json(self) -> dict[str, Any]:
        """Return the times as plain data."""
        plain = {name: value.as_json() if isinstance(value, Seconds) else value for name, value in vars(self).items()}
        return {**plain, "rows_per_s": self.rows_per_s}


@dataclass(frozen=True)
class FunctionBench:
    """One function's times; `device` is the GPU on which it runs, nothing for the CPU."""

    stage: str
    step: int
    kernel: str
    file: str
    frame: FrameKind
    device: str
    grouped: bool
    neighbours: str
    one_row: FunctionTimes
    sizes: tuple[FunctionTimes, ...]

    @property
    def pays_from(self) -> int | None:
        """The rows of the smallest size at which a function on the GPU is faster than its reference on the CPU."""
        return next((s.rows for s in self.sizes if s.step and s.elsewhere and s.step.least < s.elsewhere.least), None)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        sizes = {"one_row": self.one_row.as_json(), "sizes": [size.as_json() for size in self.sizes]}
        pays = {"pays_from_rows": self.pays_from} if self.device else {}
        return {"kind": "python", **vars(self), **sizes, **pays}


@dataclass(frozen=True)
class TimedFunction(PythonFunction):
    """A function whose calls are timed; `wait` ends when what they began on a device is done."""

    spans: list[float] = field(default_factory=list, repr=False, compare=False)
    wait: Callable[[], None] = field(kw_only=True, repr=False, compare=False)

    def load(self) -> Callable[..., Any]:
        """Return the function with a clock around it."""
        function = super().load()

        def called(*frames: Any, **arguments: Any) -> Any:
            self.wait()
            start = time.perf_counter()
            result = function(*frames, **arguments)
            self.wait()
            self.spans.append(time.perf_counter() - start)
            return result

        return called


def bench_function(
    plan: Plan, kernel: Node, machine: Machine | None, device: str, sizes: Iterable[int], budget_s: float
) -> FunctionBench:
    """Time a Python function of a plan on the pipeline's own rows, which are repeated up to each size.

    Functions over cuDF frames need a `machine`; of others it is where `elsewhere` runs.

    Raises
    ------
    RunFailed
        Where no row reaches the function.
    EvaluationError
        Where the function fails.
    """
    part = part_around(plan, kernel)
    operation, rows = part.kernel, sampled_rows(plan, part)
    runner = FunctionRunner(part, rows, machine, budget_s)
    contract, origin = operation.contract, kernel.origin
    return FunctionBench(
        origin.name, origin.step, contract.entry, str(contract.reference), contract.frame,
        device if operation.on_device else "", operation.grouped, part.text,
        runner.times_of(runner.sample.slice(0, 1)), tuple(runner.times(sizes)),
    )  # fmt: skip


class FunctionRunner:
    """Runs a part of a pipeline around a function on rows that are repeated up to a size."""

    def __init__(self, part: PipelinePart, rows: pa.Table, machine: Machine | None, budget_s: float) -> None:
        self.part, self.sample, self.budget_s = part, rows, budget_s
        host: Any = load_backend(ORACLE)
        gpu: Any = None if machine is None else CudfBackend(machine)
        self.backend, self.other = (gpu, host) if part.kernel.on_device else (host, gpu)
        wait = machine.release if machine is not None and part.kernel.on_device else no_wait
        self.function = timed_function(part.kernel.contract, wait)
        self.watched = replace(part.kernel, contract=self.function)

    def times(self, sizes: Iterable[int]) -> Iterator[FunctionTimes]:
        """Time each size, except for those that would take too long."""
        s_per_row = 0.0
        for rows in sizes:
            if s_per_row * rows > LONGEST * self.budget_s:
                yield FunctionTimes(rows)
                continue
            try:
                found = self.times_of(self.sample.take(np.arange(rows, dtype=np.int64) % self.sample.num_rows))
            except MemoryError:
                yield FunctionTimes(rows)
                continue
            s_per_row = found.step.least / rows if found.step else 0.0
            yield found

    def times_of(self, rows: pa.Table) -> FunctionTimes:
        """Time the function, its step and its part of the pipeline on rows as one partition."""
        backend, operation = self.backend, self.part.kernel
        frame = backend.from_arrow(rows)
        given = through(backend, self.part.chain[: self.part.place], frame)
        host = backend.to_arrow(given)
        outputs = backend.to_arrow(backend.run(operation, given)).select([*operation.outputs])
        function, step, calls = self.step_times(given)
        whole = timed(lambda: through(backend, self.part.chain, frame), self.budget_s, warm=True)
        elsewhere = None if self.other is None else self.times_elsewhere(host)
        read_bytes = host.select([*operation.reads]).nbytes
        return FunctionTimes(
            rows.num_rows, host.num_rows, calls, read_bytes, outputs.nbytes, function, step, whole, elsewhere
        )  # fmt: skip

    def step_times(self, given: Any) -> tuple[Seconds | None, Seconds, int]:
        """Time the calls and, in the same runs, the step; return also how many calls there are: none without rows."""
        found, spans = list[tuple[float, ...]](), self.function.spans

        def measured() -> None:
            spans.clear()
            self.backend.run(self.watched, given)
            found.append(tuple(spans))

        step = timed(measured, self.budget_s, warm=True)
        of_calls = [sum(each) for each in found[-len(step.all) :]]
        return (Seconds(tuple(of_calls)) if spans else None), step, len(spans)

    def times_elsewhere(self, host: pa.Table) -> Seconds:
        """Time the step on the other kind of engine."""
        given = self.other.from_arrow(host)
        return timed(lambda: self.other.run(self.part.kernel, given), self.budget_s)


def no_wait() -> None:
    """Return at once: a call on the CPU is done when it returns."""


def timed_function(function: PythonFunction, wait: Callable[[], None]) -> TimedFunction:
    """Return a function with a clock."""
    return TimedFunction(**{each.name: getattr(function, each.name) for each in fields(function)}, wait=wait)


def through(backend: Any, chain: Iterable[Node], frame: Any) -> Any:
    """Run operations one after another."""
    for operation in chain:
        frame = backend.run(operation, frame)
    return frame
