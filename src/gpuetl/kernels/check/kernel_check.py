"""Each kernel of a plan against its twin, case by case, and what differed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.pandas.columns.column import Masked
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check.cases import SIZES, Case, ExpectedOutput, Operation, cases, expected_outputs
from gpuetl.kernels.check.launch import Launched, launch
from gpuetl.kernels.check.outcome import KernelCheck, Mismatch, Row
from gpuetl.kernels.check.python_check import check_function
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Kernel, KernelReduction, PythonKernel
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.verify.tolerance import ROUNDING, Tolerance

SHOWN_ROWS = 3
LAUNCHES = 2
"""Of the same inputs: threads that race differ from one to the next, more often than not."""


def kernels_of(roots: Iterable[Node]) -> list[Operation]:
    """Return the kernels of a plan, in its order."""
    return [node for node in walk_graph(*roots) if isinstance(node, Kernel | KernelReduction)]


def needs_gpu(operation: Operation) -> bool:
    """Return whether a GPU is needed to check a kernel."""
    return not isinstance(operation, PythonKernel) or operation.on_device


def check_kernel(
    operation: Operation, machine: Machine | None, sizes: Iterable[int] = SIZES, tolerance: Tolerance = ROUNDING
) -> KernelCheck:
    """Compare a kernel with its twin; call a Python function over frames again and again.

    Floats may differ by the tolerance, and by what moving the inputs by a few units in their last place explains; all
    other values are exact.  The first mismatch of each size is reported; other cases of that size are skipped.
    """
    if isinstance(operation, PythonKernel):
        return check_function(operation, machine, tolerance=tolerance)
    assert machine is not None
    mismatches: list[Mismatch] = []
    done = compared = unsteady = failed = 0
    for case in generated_cases(operation, sizes):
        if mismatches and failed == case.rows:
            continue
        try:
            expected = expected_outputs(operation, case, tolerance)
            found = list(compare(operation, case, expected, machine)) if case.rows else []
        except (EvaluationError, RuntimeError) as error:  # RuntimeError: a launch that the device refused or ended
            mismatches.append(Mismatch(str(case), f"it failed: {error}"))
            break
        done += 1
        compared += sum(int((~e.unsteady).sum()) for e in expected.values())
        unsteady += sum(int(e.unsteady.sum()) for e in expected.values())
        mismatches += found
        failed = case.rows if found else failed
    contract, origin = operation.contract, operation.origin
    file = contract.cuda if isinstance(contract, KernelContract) else contract.reference
    return KernelCheck(
        origin.name, origin.step, contract.entry, str(file), done, compared, unsteady, tuple(mismatches)
    )  # fmt: skip


def generated_cases(operation: Operation, sizes: Iterable[int]) -> Iterator[Case]:
    """Return the inputs that suit a kernel: nulls only where it would see them."""
    types = {name: operation.source.schema[name] for name in operation.reads}
    grouped = isinstance(operation, KernelReduction) or operation.grouped
    sees_nulls = operation.nulls == "masks" or not isinstance(operation.contract, KernelContract)
    combined = isinstance(operation, KernelReduction) or operation.kind == "scan"
    return cases(types, grouped, sees_nulls and operation.nulls != "forbid", sizes, combined)


def compare(
    operation: Operation, case: Case, expected: Mapping[str, ExpectedOutput], machine: Machine
) -> Iterator[Mismatch]:
    """Yield what differs in the launches of one case."""
    launches = [launch(operation, case, machine) for _ in range(LAUNCHES)]
    yield from (Mismatch(str(case), message) for message in dict.fromkeys(t for done in launches for t in done.stray))
    for name, own in expected.items():
        for done in launches:
            wrong = own.wrong(done.outputs[name])
            if wrong.any():
                what = message(name, wrong, done, repeats(name, launches))
                yield Mismatch(str(case), what, first_rows(case, wrong, done.outputs[name], own.column))
                break


def message(name: str, wrong: NDArray[np.bool_], done: Launched, same: bool) -> str:
    """Say how many rows differ, and what that looks like."""
    parts = [f"output '{name}': {int(wrong.sum()):,} of {len(wrong):,} differ"]
    if name in done.missing and (missing := wrong & done.missing[name]).any():
        parts.append(f"{int(missing.sum()):,} were never written, the first is row {int(missing.argmax())}")
    if not same:
        parts.append("two launches on the same inputs differ: threads race")
    return "; ".join(parts)


def repeats(name: str, launches: list[Launched]) -> bool:
    """Tell whether all launches gave the same bits."""
    first, *others = (done.outputs[name] for done in launches)
    bits = first.values.tobytes(), first.valid.tobytes()
    return all((other.values.tobytes(), other.valid.tobytes()) == bits for other in others)


def first_rows(case: Case, wrong: NDArray[np.bool_], got: Masked, expected: Masked) -> tuple[Row, ...]:
    """Return the first rows that differ with their inputs; of a reduction, with those of the group's first row."""
    rows = np.flatnonzero(wrong)[:SHOWN_ROWS].tolist()
    grouped = case.starts is not None and len(wrong) == len(case.starts) != case.rows
    return tuple(
        Row(
            row,
            {name: shown(column, int(case.starts[row]) if grouped and case.starts is not None else row)
             for name, column in case.inputs.items()},
            shown(got, row),
            shown(expected, row),
        )
        for row in rows
    )  # fmt: skip


def shown(column: Masked, row: int) -> Any:
    """Return a value for people and for JSON: NaN and infinities are texts, null is None."""
    if not column.valid[row]:
        return None
    value = column.values[row].item()
    return value if not isinstance(value, float) or np.isfinite(value) else str(value)
