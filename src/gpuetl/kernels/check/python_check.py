"""Python functions over frames, called with generated frames: what they give must not depend on how rows are split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational.python_kernel import run_python_kernel as run_on_device
from gpuetl.engines.pandas.columns.column import Masked, from_masked
from gpuetl.engines.pandas.relational.python_kernel import run_python_kernel
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check.cases import draw
from gpuetl.kernels.check.outcome import KernelCheck, Mismatch, Row
from gpuetl.plan.nodes import PythonKernel
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, DataType, is_binary
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list, is_map, is_struct
from gpuetl.verify.tolerance import ROUNDING, Tolerance, equal_values

FRAME_SIZES = (0, 1, 2, 33, 1000)
NUMBER = ":row"
"""A column with the number of each row, by which rows are found again."""
GROUPS = 4
SHOWN_ROWS = 3
TEXTS = ("", "a", "B", "0", " x ", "Straße", "null", "two\nlines")


@dataclass(frozen=True)
class PythonCheck(KernelCheck):
    """The outcome of a Python function."""

    agreement: ClassVar[str] = "the same in every call, order and split"
    difference: ClassVar[str] = "is not what its step declares"


def check_function(
    operation: PythonKernel, machine: Machine | None, sizes: Iterable[int] = FRAME_SIZES,
    tolerance: Tolerance = ROUNDING,
) -> PythonCheck:  # fmt: skip
    """Call a function with generated frames, twice, on parts of the rows, and with rows in another order.

    A function over cuDF frames is compared with its reference on a `machine`.
    """
    mismatches: list[Mismatch] = []
    done = compared = 0
    for name, rows in frames_of(operation, sizes):
        try:
            found = list(differences(operation, name, rows, machine, tolerance))
        except (EvaluationError, RuntimeError) as error:
            shown = getattr(error, "shown", "")
            mismatches.append(Mismatch(name, f"it failed: {error}{shown and f' ({shown})'}"))
            break
        done += 1
        compared += rows.num_rows * len(operation.outputs)
        mismatches += found
        if found:
            break
    contract, origin = operation.contract, operation.origin
    return PythonCheck(
        origin.name, origin.step, contract.entry, str(contract.reference), done, compared, 0, tuple(mismatches)
    )


def differences(
    operation: PythonKernel, name: str, rows: pa.Table, machine: Machine | None, tolerance: Tolerance
) -> Iterator[Mismatch]:
    """Yield what differs between calls that should give the same."""

    def outputs(part: pa.Table) -> pa.Table:
        return in_order(run_python_kernel(operation, part), operation)

    first = outputs(rows)
    others: dict[str, Callable[[], pa.Table]] = {"two calls with the same frame differ": lambda: outputs(rows)}
    if not operation.grouped:
        half = rows.num_rows // 2
        others["the result of a row depends on the other rows of its frame"] = lambda: pa.concat_tables(
            [outputs(rows.slice(0, half)), outputs(rows.slice(half))]
        )
    if not operation.order_by and rows.num_rows:
        reverse = pa.array(np.arange(rows.num_rows)[::-1])
        others["the result depends on the order of rows, and the step has no order_by"] = lambda: outputs(
            rows.take(reverse)
        )
    if machine is not None and operation.on_device:
        others["the result on the GPU differs from the reference"] = lambda: in_order(
            on_device(operation, rows, machine), operation
        )
    for what, compute in others.items():
        other = compute()
        wrong = [~equal_values(first[name], other[name], tolerance) for name in operation.outputs]
        places = np.flatnonzero(np.logical_or.reduce(wrong))
        if len(places):
            shown = tuple(shown_row(operation, rows, int(place), first, other) for place in places[:SHOWN_ROWS])
            yield Mismatch(name, what, shown)


def in_order(result: pa.Table, operation: PythonKernel) -> pa.Table:
    """Return the outputs, with the rows as they were generated."""
    order = pc.sort_indices(result[NUMBER])
    return result.select([NUMBER, *operation.outputs]).take(order)


def shown_row(operation: PythonKernel, rows: pa.Table, place: int, first: pa.Table, other: pa.Table) -> Row:
    """Return a row that differs."""
    inputs = {name: rows[name][place].as_py() for name in operation.reads}
    got, expected = ({name: str(table[name][place].as_py()) for name in operation.outputs} for table in (other, first))
    return Row(place, {name: str(value) for name, value in inputs.items()}, got, expected)


def on_device(operation: PythonKernel, rows: pa.Table, machine: Machine) -> pa.Table:
    """Run a function over cuDF frames."""
    frame = Frame({name: from_arrow(rows[name], machine) for name in rows.column_names}, rows.num_rows)
    return to_table(run_on_device(operation, machine, frame), machine)


# Generated frames: the function's inputs, the columns of groups and of the order.


def frames_of(operation: PythonKernel, sizes: Iterable[int]) -> Iterator[tuple[str, pa.Table]]:
    """Yield frames with their names, the same in every run."""
    nulls = ("no nulls", "nulls", "nothing but nulls") if operation.nulls != "forbid" else ("no nulls",)
    kinds = ("ordinary",) if operation.on_device else ("ordinary", "extreme")  # cuDF and pandas differ over NaN
    schema = operation.source.schema
    for rows in sizes:
        for values in kinds if rows else ("no",):
            for which in nulls if rows else nulls[:1]:
                random = np.random.default_rng([rows, values == "extreme", nulls.index(which)])
                share = {"no nulls": 0.0, "nulls": 0.25, "nothing but nulls": 1.0}[which]
                columns = {
                    name: drawn(schema[name], rows, values == "extreme", share, random) for name in operation.reads
                }
                for name in operation.by:
                    few = drawn(schema[name], GROUPS, False, 0.0, random)
                    columns[name] = few.take(pa.array(random.integers(0, GROUPS, rows)))
                for each in operation.order_by:
                    columns.setdefault(each.column, drawn(schema[each.column], rows, False, 0.0, random))
                columns[NUMBER] = pa.array(np.arange(rows))
                yield f"{rows:,} rows, {values} values, {which}", pa.table(columns)


def drawn(dtype: DataType, rows: int, extreme: bool, share: float, random: np.random.Generator) -> Any:
    """Return values of a type, of which a share is null."""
    valid: NDArray[np.bool_] = random.random(rows) >= share
    if is_list(dtype) or is_map(dtype):
        lengths = np.where(valid, random.integers(0, 3, rows), 0)
        offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
        mask = pa.array(~valid)
        if is_map(dtype):
            keys = drawn(dtype.key_type, int(lengths.sum()), False, 0.0, random)
            items = drawn(dtype.item_type, len(keys), extreme, 0.0, random)
            return pa.MapArray.from_arrays(offsets, keys, items)
        values = drawn(dtype.value_type, int(lengths.sum()), extreme, share if share < 1 else 0.0, random)
        return pa.ListArray.from_arrays(offsets, values, type=dtype, mask=mask if rows else None)
    if is_struct(dtype):
        fields = [drawn(field.type, rows, extreme, 0.0, random) for field in dtype]
        return pa.StructArray.from_arrays(fields, fields=list(dtype), mask=pa.array(~valid))
    if pa.types.is_null(dtype):
        return pa.nulls(rows)
    if dtype == STRING or is_binary(dtype):
        width = dtype.byte_width if pa.types.is_fixed_size_binary(dtype) else None
        texts = [TEXTS[place] for place in random.integers(0, len(TEXTS), rows)]
        made: list[Any] = texts if dtype == STRING else [text.encode() for text in texts]
        made = [each.ljust(width, b"\0")[:width] for each in made] if width else made
        return pa.array(made, dtype, mask=~valid)
    if is_decimal(dtype):
        most = 10 ** min(dtype.precision, 15) - 1
        numbers = [Decimal(int(n)).scaleb(-dtype.scale) for n in random.integers(-most, most, rows)]
        return pa.array(numbers, dtype, mask=~valid)
    if pa.types.is_time(dtype):
        return pa.array(random.integers(0, 86_400 * 10**6, rows), pa.int64(), mask=~valid).cast(dtype)
    return from_masked(Masked(draw(dtype, rows, extreme, random), valid), dtype)
