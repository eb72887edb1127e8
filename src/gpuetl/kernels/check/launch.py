"""One launch of a kernel on generated inputs, between guard bands."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.codegen.user_kernels import GUARD, PATTERN, damage, unwritten
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.kernel import call, run_generated
from gpuetl.engines.cudf.relational.kernel_reduction import reduced
from gpuetl.engines.pandas.columns.column import Masked, from_masked, to_masked
from gpuetl.kernels.check.cases import Case
from gpuetl.plan.nodes import Kernel, KernelReduction
from gpuetl.records import dataclass
from gpuetl.user_kernels.kernel_code import KernelCode

# Arrays between guard bands: values before and after them that a kernel must leave as they are.


class Guarded:
    """Values in device memory, or room for them; `inside` is what a kernel gets."""

    def __init__(self, name: str, values: NDArray[Any], machine: Any) -> None:
        self.name, self.machine, self.values = name, machine, values
        whole = unwritten(len(values) + 2 * GUARD, values.dtype)
        whole[GUARD : GUARD + len(values)] = values
        self.whole = machine.arrays.asarray(whole)
        self.inside = self.whole[GUARD : GUARD + len(values)]

    def result(self) -> NDArray[Any]:
        """Return what stands between the bands now."""
        result: NDArray[Any] = self.machine.host(self.inside)
        return result

    def damage(self) -> str:
        """Say which guard values have changed; nothing where none has."""
        whole = self.machine.host(self.whole)
        return damage(self.name, whole[:GUARD], whole[len(whole) - GUARD :])

    def is_changed(self) -> bool:
        """Tell whether an input has been written to."""
        return self.result().tobytes() != self.values.tobytes()


def never_written(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values have the pattern still."""
    words = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)
    same: NDArray[np.bool_] = (words == PATTERN).all(axis=1)
    return same


# One launch of a kernel on generated inputs: its outputs, and what it did that it must not.


@dataclass(frozen=True, eq=False)
class Launched:
    """A launch's outputs, the rows of each that were never written, and writes elsewhere, in words."""

    outputs: dict[str, Masked]
    missing: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    stray: tuple[str, ...] = ()


def launch(operation: Kernel | KernelReduction, case: Case, machine: Machine) -> Launched:
    """Run a kernel as the engine does; raise `EvaluationError` where it does not compile or cannot be launched."""
    if isinstance(operation, Kernel) and not isinstance(operation.contract, KernelCode):
        return launch_guarded(operation, case, machine)
    schema = operation.source.schema
    inputs = {name: from_arrow(from_masked(column, schema[name]), machine) for name, column in case.inputs.items()}
    outputs = generated(operation, inputs, case, machine)
    return Launched({name: to_masked(to_arrow(vector, machine)) for name, vector in outputs.items()})


def generated(
    operation: Kernel | KernelReduction, inputs: dict[str, Vector], case: Case, machine: Machine
) -> dict[str, Vector]:
    """Run what is generated: its loops and stores are the engine's own, so there is nothing to guard."""
    if isinstance(operation, KernelReduction):
        assert case.starts is not None
        starts = machine.arrays.asarray(np.append(case.starts, case.rows))
        return reduced(operation, inputs, Groups(Frame(inputs, case.rows), None, starts, machine))
    assert isinstance(operation.contract, KernelCode)
    marks = None
    if case.starts is not None:
        found = np.zeros(case.rows, np.uint8)
        found[case.starts] = 1
        marks = machine.arrays.asarray(found)
    return run_generated(operation, operation.contract, inputs, marks, case.rows, machine)


def launch_guarded(operation: Kernel, case: Case, machine: Machine) -> Launched:
    """Launch a file's kernel with guard bands around all arrays, and outputs full of what it must write over."""
    masks = operation.nulls == "masks"
    read, written = [], {}
    for name, column in case.inputs.items():
        read.append(Guarded(f"input '{name}'", stored(column.values), machine))
        if masks:
            read.append(Guarded(f"the validity words of '{name}'", words(column.valid), machine))
    for name, dtype in operation.outputs.items():
        written[name] = Guarded(f"output '{name}'", unwritten(case.rows, np.dtype(storage_type(dtype))), machine)
        if masks:
            empty = words(np.zeros(case.rows, bool))
            written[f"{name}_valid"] = Guarded(f"the validity words of '{name}'", empty, machine)
    offsets = None
    if case.starts is not None:
        offsets = Guarded("offsets", np.append(case.starts, case.rows).astype(np.int32), machine)
        read.append(offsets)
    arrays = [guarded.inside for guarded in (*read, *written.values()) if guarded is not offsets]
    call(operation, arrays, None if offsets is None else offsets.inside, case.rows, machine)
    return Launched(*results(operation, written, case.rows, masks), strays(read, [*read, *written.values()]))


def results(
    operation: Kernel, written: dict[str, Guarded], rows: int, masks: bool
) -> tuple[dict[str, Masked], dict[str, Any]]:
    """Return the outputs, and where they have not been written."""
    outputs, missing = {}, {}
    for name, dtype in operation.outputs.items():
        values = written[name].result()
        missing[name] = never_written(values)
        valid = np.ones(rows, bool)
        if masks:
            bits = np.ascontiguousarray(written[f"{name}_valid"].result()).view(np.uint8)
            valid = np.unpackbits(bits, bitorder="little")[:rows].astype(bool)
        if dtype == "bool":
            values = np.where(missing[name], 0, values) != 0
        outputs[name] = Masked(np.ascontiguousarray(values), valid)
    return outputs, missing


def strays(read: list[Guarded], everything: list[Guarded]) -> tuple[str, ...]:
    """Say what a kernel wrote where it must not."""
    changed = [f"it changed {guarded.name}" for guarded in read if guarded.is_changed()]
    beyond = [f"it wrote outside of its rows: {damage}" for guarded in everything if (damage := guarded.damage())]
    return (*changed, *beyond)


def stored(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as they lie in memory: booleans are bytes."""
    return values.view(np.uint8) if values.dtype.kind == "b" else values


def words(valid: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return validity words, padded to 64 bytes."""
    padded = np.zeros(-(-max(len(valid), 1) // 512) * 512, bool)
    padded[: len(valid)] = valid
    return np.packbits(padded, bitorder="little").view(np.uint32)
