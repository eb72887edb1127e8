"""How users' kernels run: guarded, in a time limit, with errors that name them; and kernels of one row's text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.codegen.cuda_types import accessors, buffers_of, c_type, column_parameters, stored_c_type
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.columns.arrays import filled, joined
from gpuetl.engines.cudf.columns.validity import empty_column, with_nulls
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import SLOW_S, Array, Machine
from gpuetl.errors import EvaluationError
from gpuetl.lost_device import fault_message, is_fault, lose_device, running_kernel
from gpuetl.messages import coded
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import show_progress
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.kernel_code import KernelCode
from gpuetl.user_kernels.kernel_options import current_options

# Guard bands: values before and after an array that a kernel must leave as they are.


GUARD = 1024
"""Elements on each side: a block's worth, and a multiple of every alignment."""
PATTERN = 0xA5
"""The byte of guard bands, and of outputs that are not written yet."""


def unwritten(rows: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array that is full of the pattern."""
    return np.full(rows * dtype.itemsize, PATTERN, np.uint8).view(dtype)


def damage(name: str, before: NDArray[Any], after: NDArray[Any]) -> str:
    """Say which values of the two bands of an array have changed; empty where none has."""
    size, found = before.dtype.itemsize, []
    for side, band in (("before the first", before), ("after the last", after)):
        fresh = unwritten(len(band), band.dtype).view(np.uint8)
        changed = np.unique(np.flatnonzero(np.ascontiguousarray(band).view(np.uint8) != fresh) // size)
        if len(changed):
            nearest = int(len(band) - changed[-1]) if side.startswith("before") else int(changed[0]) + 1
            found.append(f"{len(changed)} values {side} row of {name}, the nearest {nearest} away")
    return " and ".join(found)


# How a user's kernels run: in a time limit, and with errors that name the kernel.  The host waits for each of them.
#
# A kernel may never end.  So the host asks the device again and again whether the kernel has ended.  Python then still
# handles signals such as Ctrl-C, and the time limit is noticed.


CHECK = "Find the access with `gpuetl kernel check`, or with `gpuetl run --sanitize`."
OUT_OF_TIME = "Look for a loop that does not end, or raise --kernel-timeout.  Start Python again to use the GPU."


_CURRENT: ContextVar[str] = ContextVar("user's kernel", default="")


@contextmanager
def user_kernel(operation: Kernel | KernelReduction | KernelTable, machine: Machine) -> Iterator[None]:
    """Launch a user's kernel in the block, and wait for it at the end.

    Raises
    ------
    EvaluationError
        Where it ends in a fault, or does not end in time.
    """
    name = named(operation)
    token = _CURRENT.set(name)
    try:
        with running_kernel(name):
            try:
                yield
                finish_user_kernel(machine)
            except RuntimeError as error:
                if not is_fault(error):
                    raise
                lose_device()
                raise EvaluationError(fault_message(name, error), CHECK) from error
    finally:
        _CURRENT.reset(token)


def finish_user_kernel(machine: Machine) -> None:
    """Wait for what the user's kernel, in whose block this is called, has been asked to do; elsewhere do nothing.

    Raises
    ------
    EvaluationError
        Where it takes longer than the options allow.
    """
    if not (name := _CURRENT.get()):
        return
    limit = current_options().timeout_s
    if not machine.wait(limit, partial(say_it_runs, name)):
        what = f"{name} did not end within {limit:g} s"
        raise EvaluationError(coded("GE2013", what), OUT_OF_TIME)


def say_it_runs(name: str) -> None:
    """Show on the screen that a kernel has not ended: some that access memory far outside their arrays never do."""
    plain = name.removeprefix("kernel ").replace("'", "")
    show_progress(Origin("kernel", f"{plain} has run for {SLOW_S} s; Ctrl-C ends the run"), 0, 1)


def named(operation: Kernel | KernelReduction | KernelTable) -> str:
    """Return how messages name a kernel: with its file."""
    contract = operation.contract
    file = contract.cuda if isinstance(contract, KernelContract) else contract.reference
    return f"kernel '{contract.entry}' ({file})"


class GuardedArray:
    """An array between two guard bands, `GUARD` elements each, in device memory."""

    def __init__(self, name: str, array: Array, machine: Machine) -> None:
        self.name, self.machine, size = name, machine, array.dtype.itemsize
        self.dtype, self.rows = array.dtype, len(array)
        self.guarded_buffer = filled((self.rows + 2 * GUARD) * size, PATTERN, "uint8", machine)
        self.inside = self.guarded_buffer[GUARD * size : (GUARD + self.rows) * size].view(array.dtype)
        self.inside[:] = array

    def damage(self) -> str:
        """Say which guard values have changed; empty where none has."""
        host: NDArray[Any] = self.machine.host(
            joined(
                [self.guarded_buffer[: self.band], self.guarded_buffer[len(self.guarded_buffer) - self.band :]],
                self.machine,
            )
        )
        return damage(self.name, host[: self.band].view(self.dtype), host[self.band :].view(self.dtype))

    @property
    def band(self) -> int:
        """The bytes of a band."""
        return GUARD * int(self.dtype.itemsize)


def guarded(arrays: dict[str, Array], machine: Machine) -> tuple[dict[str, Array], list[GuardedArray]]:
    """Return outputs between guard bands where the run is to be sanitized, and what looks at them; else as they are."""
    if not current_options().sanitize:
        return arrays, []
    bands = [GuardedArray(name, array, machine) for name, array in arrays.items()]
    return {band.name: band.inside for band in bands}, bands


def check_guards(operation: Kernel | KernelTable, bands: Iterable[GuardedArray]) -> None:
    """Refuse what a kernel wrote outside of its outputs.

    Raises
    ------
    EvaluationError
        With the kernel, the output, and how far outside it wrote.
    """
    if found := [text for band in bands if (text := band.damage())]:
        what = f"{named(operation)} wrote outside of its outputs: {'; '.join(found)}"
        hint = "Compare the row with n_rows before you write.  `gpuetl kernel check` shows small examples."
        raise EvaluationError(coded("GE1308", what), hint)


# The kernel around a user's statements for one row: one pass reads the inputs and writes the outputs, with nulls.


def elementwise(
    operation: Kernel, contract: KernelCode, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector], rows: int,
    machine: Machine,
) -> dict[str, Vector]:  # fmt: skip
    """Compute the outputs of each row; `arguments` are columns of one row.

    Raises
    ------
    EvaluationError
        Where the user's text does not compile.
    """
    columns_out = {name: empty_column(dtype, rows, machine) for name, dtype in operation.outputs.items()}
    module = machine.user_module(elementwise_source(operation, contract, inputs, arguments), contract.entry)
    nulls = machine.arrays.zeros(len(columns_out), "uint64")
    outputs = [buffer for vector in columns_out.values() for buffer in (vector.data, vector.valid)]
    columns = columns_of(inputs, arguments)
    with user_kernel(operation, machine):
        machine.launch(module, "elementwise", rows, [rows, nulls, *buffers_of(columns), *outputs])
    counts = nulls.tolist()
    return {
        name: with_nulls(vector, int(count)) for (name, vector), count in zip(columns_out.items(), counts, strict=True)
    }


def columns_of(inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]) -> dict[str, Vector]:
    """Return inputs and arguments under names that tell them apart: a kernel's parameters, in order."""
    return {f"input {name}": v for name, v in inputs.items()} | {f"argument {name}": v for name, v in arguments.items()}


def user_code(name: str, text: str) -> str:
    """Return a text of the user's, in which the compiler counts lines from 1."""
    return f'\n#line 1 "{name}"\n{text}\n#line 1 "the generated kernel"\n'


def typed(names: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of a function that takes the values of a row."""
    return [f"const {c_type(vector.dtype)} {name}" for name, vector in names.items()]


def argument_values(inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]) -> list[str]:
    """Return the values of the arguments: each is a column of one row."""
    return [f"c{len(inputs) + place}[0].value" for place in range(len(arguments))]


def elementwise_source(
    operation: Kernel, contract: KernelCode, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]
) -> str:
    """Return the kernel's text."""
    masks = operation.nulls == "masks"
    parameters, values = [], []
    for place, (text, name) in enumerate(zip(typed(inputs), inputs, strict=True)):
        parameters += [text, *([f"const bool {name}_valid"] if masks else [])]
        values += [f"x{place}.value", *([f"x{place}.valid"] if masks else [])]
    for place, (name, dtype) in enumerate(operation.outputs.items()):
        parameters += [f"{c_type(dtype)}& {name}", *([f"bool& {name}_valid"] if masks else [])]
        values += [f"y{place}", *([f"g{place}"] if masks else [])]
    parameters += typed(arguments)
    values += argument_values(inputs, arguments)
    columns, places = columns_of(inputs, arguments), range(len(operation.outputs))
    written = [f"{stored_c_type(t)}* r{p}, uint32_t* s{p}" for p, t in enumerate(operation.outputs.values())]
    seen = " && ".join(["row < rows", *(f"x{p}.valid" for p in range(len(inputs)) if not masks)])
    read = "\n".join(f"        const auto x{p} = c{p}[row < rows ? row : 0];" for p in range(len(inputs)))
    declared = "\n".join(
        f"        {c_type(t)} y{p}{{}}; bool g{p} = seen;" for p, t in enumerate(operation.outputs.values())
    )
    stored = "\n".join(
        f"        if (row < rows) r{p}[row] = {stored_c_type(t)}(g{p} ? y{p} : {c_type(t)}{{}});\n"
        f"        missing[{p}] += store_word(s{p}, row, row < rows, g{p});"
        for p, t in zip(places, operation.outputs.values(), strict=True)
    )
    sums = " ".join(f"add_nulls(nulls + {p}, missing[{p}]);" for p in places)
    return f"""{headers_text(["rows.cuh", "words.cuh"])}
DEVICE void body({", ".join(parameters)}) {{{user_code("body", contract.snippets["body"])}}}
KERNEL elementwise({", ".join(["int64_t rows", "uint64_t* nulls", *column_parameters(columns), *written])}) {{
{accessors(columns)}
    uint32_t missing[{len(places)}] = {{}};
    FOR_EACH_ROW(row, rows) {{
{read}
        const bool seen = {seen};
{declared}
        if (seen) body({", ".join(values)});
{stored}
    }}
    {sums}
}}
"""
