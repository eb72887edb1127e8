"""Groups of keys that range narrowly: each row's key is a code, and counts by code tell where groups begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.keys import Keys
from gpuetl.backends.cudf.columns.words import Layout, packed
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine

TABLE_BITS = 12
"""Counts of so many bits of code fit the shared memory of a block; see `counts_text`."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows by the code of their keys.

    `codes` (uint8 or uint16) are the rows' own, `ranks` (int32, in host memory) tell the group of each code, and
    `starts` where each group begins among the rows in the order of their codes, with their number at the end.
    """

    codes: Array
    ranks: NDArray[np.int32]
    starts: Array

    def groups(self, machine: Machine) -> Array:
        """Return the group (int32) of each row."""
        return machine.arrays.asarray(self.ranks)[self.codes]


def table_of(keys: Keys, layout: Layout, machine: Machine) -> Table | None:
    """Return the table of rows that are not in order and whose keys range narrowly, None for others."""
    bits, arrays = sum(layout.bits), machine.arrays
    if not 0 < bits <= TABLE_BITS or not chosen("group_by_table") or (layout.in_order and chosen("notice_order")):
        return None
    (codes,) = packed(keys, layout, machine)
    counts = arrays.zeros(1 << bits, "int32")
    module = machine.compiled(counts_text(codes.dtype.itemsize))
    machine.launch(module, "count", keys.rows, [keys.rows, 1 << bits, codes, counts])
    found = machine.host(counts)  # so few that the host is quicker than several kernels
    starts = np.concatenate([[0], np.cumsum(found[found > 0])])
    return Table(codes, np.cumsum(found > 0, dtype=np.int32) - 1, arrays.asarray(starts))


def counts_text(code_bytes: int) -> str:
    """Return the kernel `count`: each block counts in shared memory."""
    return f"""{headers_text(["rows.cuh"])}
#ifdef GPUETL_HOST
KERNEL count(int64_t rows, int64_t size, const uint{8 * code_bytes}_t* codes, int32_t* counts) {{
    for (int64_t row = 0; row < rows; ++row) ++counts[codes[row]];
}}
#else
KERNEL count(int64_t rows, int64_t size, const uint{8 * code_bytes}_t* codes, int32_t* counts) {{
    __shared__ int32_t own[{1 << TABLE_BITS}];
    for (int64_t code = threadIdx.x; code < size; code += blockDim.x) own[code] = 0;
    __syncthreads();
    FOR_EACH_ROW(row, rows) if (row < rows) atomicAdd(&own[codes[row]], 1);
    __syncthreads();
    for (int64_t code = threadIdx.x; code < size; code += blockDim.x)
        if (own[code]) atomicAdd(&counts[code], own[code]);
}}
#endif
"""
