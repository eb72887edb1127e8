"""Kernels that make rows against their twins, on rows of the pipeline: generated ones could ask for any number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.pandas.columns.column import Masked, from_masked, to_masked
from gpuetl.engines.registry import ORACLE, load_backend
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check.cases import TRIALS, ExpectedOutput, judged, neighbours
from gpuetl.kernels.check.kernel_check import LAUNCHES
from gpuetl.kernels.check.outcome import KernelCheck, Mismatch
from gpuetl.options import RunOptions
from gpuetl.plan import nodes
from gpuetl.plan.nodes import KernelTable
from gpuetl.plan.plan import Plan
from gpuetl.user_kernels.kernel_options import KernelOptions, current_options, kernel_options
from gpuetl.verify.tolerance import Tolerance
from gpuetl.verify.verification import answers

MOST_ROWS = 100_000


def check_table_kernel(
    operation: KernelTable, machine: Machine, sizes: Iterable[int], tolerance: Tolerance
) -> KernelCheck:
    """Compare what a kernel and its twin make of the first rows of the pipeline, which are repeated up to each size.

    Guard values stand around the outputs, and two launches are compared.  Where the twin makes more rows than declared,
    the kernel has to say the same.
    """
    rows = first_rows(operation)
    mismatches, done, compared, unsteady = list[Mismatch](), 0, 0, 0
    if not rows.num_rows:
        mismatches.append(Mismatch("no rows", "no row of the pipeline reaches the kernel, so nothing was compared"))
    for size in sorted({min(size, MOST_ROWS) for size in sizes}) if rows.num_rows else ():
        case = rows.take(pa.array(np.arange(size, dtype=np.int64) % rows.num_rows))
        found, counted, left_out = compared_rows(operation, case, machine, tolerance)
        done, compared, unsteady = done + 1, compared + counted, unsteady + left_out
        mismatches += [Mismatch(f"{size:,} rows of the pipeline", what) for what in found]
        if found:
            break
    contract, origin = operation.contract, operation.origin
    return KernelCheck(
        origin.name, origin.step, contract.entry, str(contract.cuda), done, compared, unsteady, tuple(mismatches)
    )  # fmt: skip


def first_rows(operation: KernelTable) -> pa.Table:
    """Return the first rows that the kernel gets, computed by the oracle."""
    limited = nodes.Limit(source=operation.source, count=MOST_ROWS, origin=operation.source.origin)
    plan = Plan("check", {}, {}, {}, kept={"rows": limited})
    return answers(plan, ORACLE, RunOptions(optimize=False), None).rows["rows"]


def compared_rows(
    operation: KernelTable, case: pa.Table, machine: Machine, tolerance: Tolerance
) -> tuple[list[str], int, int]:
    """Return what differs, in words, how many values were compared, and on how many rounding says nothing."""
    backend, oracle = CudfBackend(machine), load_backend(ORACLE)
    try:
        expected, refused = oracle.run(operation, case), ""
    except EvaluationError as error:
        expected, refused = None, str(error)
    results = list[pa.Table]()
    with kernel_options(KernelOptions(current_options().timeout_s, sanitize=True)):
        for _ in range(LAUNCHES):
            try:
                results.append(backend.to_arrow(backend.run(operation, backend.from_arrow(case))))
            except (EvaluationError, RuntimeError) as error:
                same = bool(refused) and str(error) == refused
                return [] if same else [f"it failed: {error}"], 0, 0
    if expected is None:
        return [f"the twin fails, and the kernel does not: {refused}"], 0, 0
    outputs = expected_columns(operation, case, expected, tolerance)
    found = [text for result in results for text in differences(outputs, expected, result)]
    unsteady = sum(int(column.unsteady.sum()) for column in outputs.values())
    return found[:1], expected.num_rows * expected.num_columns - unsteady, unsteady


def expected_columns(
    operation: KernelTable, case: pa.Table, expected: pa.Table, tolerance: Tolerance
) -> Mapping[str, ExpectedOutput]:
    """Return the twin's columns, and how far they move when floats of the inputs are moved to a neighbour."""
    oracle, random, moved = load_backend(ORACLE), np.random.default_rng(case.num_rows), list[pa.Table]()
    inputs = {name: to_masked(case.column(name)) for name in operation.reads}
    floats = any(column.values.dtype.kind == "f" for column in inputs.values())
    for _ in range(TRIALS * floats):
        table = case
        for name, column in neighbours(inputs, random).items():
            place = table.column_names.index(name)
            table = table.set_column(place, name, from_masked(column, case.column(name).type))
        try:
            moved.append(oracle.run(operation, table))
        except EvaluationError:  # more rows than declared, by rounding alone
            continue
    same = [table for table in moved if table.num_rows == expected.num_rows]
    return {
        name: judged(to_masked(expected.column(name)), [to_masked(table.column(name)) for table in same], tolerance)
        for name in operation.outputs
    }


def differences(outputs: Mapping[str, ExpectedOutput], expected: pa.Table, result: pa.Table) -> Iterator[str]:
    """Yield what differs between the twin's rows and the kernel's."""
    if result.num_rows != expected.num_rows:
        yield f"it made {result.num_rows:,} rows, its twin {expected.num_rows:,}"
        return
    for name in expected.column_names:
        if name not in outputs:
            if not result.column(name).equals(expected.column(name)):
                yield f"column '{name}' is repeated otherwise: the rows belong to others"
            continue
        got: Masked = to_masked(result.column(name))
        wrong = np.flatnonzero(outputs[name].wrong(got))
        if len(wrong):
            row = int(wrong[0])
            values = result.column(name)[row].as_py(), expected.column(name)[row].as_py()
            text = f"row {row}: got {values[0]}, expected {values[1]}"
            yield f"output '{name}': {len(wrong):,} of {expected.num_rows:,} differ; {text}"
