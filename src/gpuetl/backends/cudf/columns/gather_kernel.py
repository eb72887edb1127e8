"""The text of the kernel that gathers rows."""

from __future__ import annotations

from dataclasses import dataclass

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.vector import Vector

LOADS_TOGETHER = 8
"""Columns that are read before any of them is written: a load does not wait for a store, and registers suffice."""


def gather_source(vectors: list[Vector], marked: list[bool], index_bytes: int) -> str:
    """Return the kernel `gather` for columns of these kinds, of which those that are `marked` get validity words."""
    columns = [
        Gathered(place, vector, words) for place, (vector, words) in enumerate(zip(vectors, marked, strict=True))
    ]
    told = [column.told(len(vectors)) for column in columns]
    steps: list[str] = []
    for at in range(0, len(columns), LOADS_TOGETHER):
        steps += [column.load for column in columns[at : at + LOADS_TOGETHER]]
        steps += [column.store for column in columns[at : at + LOADS_TOGETHER]]
    parameters = [f"int64_t rows, const int{8 * index_bytes}_t* from", *["uint64_t* told"] * any(told)]
    parameters += [parameter for column in columns for parameter in column.parameters]
    return f"""{headers_text(["rows.cuh", "words.cuh", "reduce.cuh"])}
KERNEL gather({", ".join(parameters)}) {{
    uint32_t missing[{len(vectors)}] = {{}};
    {" ".join(f"Tally amount{column.place};" for column in columns if column.sized)}
    FOR_EACH_ROW(row, rows) {{
        const int64_t at = row < rows ? int64_t(from[row]) : -1;
        const bool there = at >= 0;{"".join(steps)}
    }}
    {" ".join(told)}
}}
"""


@dataclass(frozen=True)
class Gathered:
    """The text of a kernel that gathers a column: its number, and whether validity words are written."""

    place: int
    vector: Vector
    words: bool

    @property
    def sized(self) -> bool:
        """Whether it is the sizes of texts or lists that are written."""
        return self.vector.offsets is not None

    @property
    def types(self) -> tuple[str, str]:
        """The C++ types of what is read and of what is written."""
        if self.vector.offsets is None:
            return (stored_c_type(self.vector.dtype),) * 2
        return f"int{8 * self.vector.offsets.dtype.itemsize}_t", "int32_t"

    @property
    def parameters(self) -> list[str]:
        """Values or offsets, and validity words, as they are read; then as they are written."""
        place, (stored, result) = self.place, self.types
        read = [f"const {stored}* d{place}", *[f"const uint32_t* b{place}"] * (self.vector.valid is not None)]
        return [*read, f"{result}* r{place}", *[f"uint32_t* s{place}"] * self.words]

    @property
    def load(self) -> str:
        """The statements that read a row."""
        place, (_, result) = self.place, self.types
        bits = f"b{place}" if self.vector.valid is not None else "nullptr"
        value = f"d{place}[at + 1] - d{place}[at]" if self.sized else f"d{place}[at]"
        return f"""
        const bool g{place} = there && bit_is_set({bits}, at);
        const {result} v{place} = g{place} ? {result}({value}) : {result}{{}};"""

    @property
    def store(self) -> str:
        """The statements that write it; sizes stand after a first 0."""
        place = self.place
        counted = f" missing[{place}] += store_word(s{place}, row, row < rows, g{place});" if self.words else ""
        if not self.sized:
            return f"\n        if (row < rows) r{place}[row] = v{place};{counted}"
        return f"""
        if (row < rows) r{place}[row + 1] = v{place};
        if (row == 0) r{place}[0] = 0;
        amount{place}.count += v{place};{counted}"""

    def told(self, columns: int) -> str:
        """Return the statements that add up what the host wants to know."""
        nulls = f"add_nulls(told + {self.place}, missing[{self.place}]);" if self.words else ""
        return nulls + (f" amount{self.place}.store(told + {columns + self.place});" if self.sized else "")
