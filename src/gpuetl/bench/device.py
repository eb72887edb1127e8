"""What the device's memory can carry, by plain passes over it and by the engine's own kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import run_operation
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows import window  # noqa: F401  it registers its handler
from gpuetl.expressions.build import col
from gpuetl.pipeline import Pipeline
from gpuetl.plan.nodes import Window
from gpuetl.telemetry.hardware_limits import Ceiling, best_seconds

DEVICE_BYTES = 1 << 30
SHARE = 16
"""An array takes no more than this part of the memory."""
CALLS = 10
"""How many calls are waited for at once: waiting takes as long as a pass over some megabytes."""
GROUP_ROWS = 100


def memory_ceilings(machine: Machine, size: int = DEVICE_BYTES) -> Iterator[Ceiling]:
    """Measure passes over arrays of `size` bytes, or of less where the memory is small."""
    arrays, rows = machine.arrays, min(size, machine.memory // SHARE) // 8
    x, y, z = (arrays.ones(rows, "float64") for _ in range(3))

    def measured(way: str, columns: int, work: Callable[[], object]) -> Ceiling:
        return Ceiling("device memory", way, columns * 8 * rows, device_seconds(machine, work))

    yield measured("copy", 2, lambda: arrays.copyto(y, x))
    yield measured("vector add", 3, lambda: arrays.add(x, y, out=z))
    yield measured("reduction", 1, x.sum)
    module = machine.closed("stencil")
    yield measured("stencil", 2, lambda: machine.launch(module, "stencil", rows, [rows, x, y]))
    cumulative, frame = running_sum(), in_groups(x, machine)
    yield measured("segmented scan", 4, lambda: run_operation(cumulative, machine, frame))


def device_seconds(machine: Machine, work: Callable[[], object]) -> float:
    """Return the seconds of a call, on the device."""

    def calls() -> None:
        with machine.stage("bench"):
            for _ in range(CALLS):
                work()

    return best_seconds(calls) / CALLS


def running_sum() -> Window:
    """Return a window step over rows that are in order: it reads two keys and a value, and writes one."""
    types = {"key": pa.int64(), "place": pa.int64(), "value": pa.float64()}
    pipeline = Pipeline("bench")
    rows = pipeline.from_frame("rows", pa.schema(types).empty_table())
    rows.window(by="key", order_by="place", total=col("value").cum_sum()).stage("result")
    node: Any = pipeline.plan().stages["result"]
    while not isinstance(node, Window):
        (node,) = node.inputs
    return replace(node, presorted=True)


def in_groups(values: Any, machine: Machine) -> Frame:
    """Return the frame that `running_sum` takes."""
    rows = len(values)
    place = machine.arrays.arange(rows, dtype="int64")
    columns = {"key": (pa.int64(), place // GROUP_ROWS), "place": (pa.int64(), place), "value": (pa.float64(), values)}
    return Frame({name: Vector(dtype, rows, data) for name, (dtype, data) in columns.items()}, rows)
