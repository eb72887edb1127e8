"""The text of the kernel that gathers rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.vector import Vector

LOADS_TOGETHER = 8
"""Columns that are read before any of them is written: a load does not wait for a store, and registers suffice."""


@lru_cache(1024)
def gather_source(columns: tuple[Gathered, ...], index_bytes: int) -> str:
    """Return the kernel `gather` for columns of these kinds; kept, since columns of few kinds are gathered often."""
    told = [column.told(len(columns)) for column in columns]
    steps: list[str] = []
    for at in range(0, len(columns), LOADS_TOGETHER):
        steps += [column.load for column in columns[at : at + LOADS_TOGETHER]]
        steps += [column.store for column in columns[at : at + LOADS_TOGETHER]]
    parameters = [f"int64_t rows, const int{8 * index_bytes}_t* from", *["uint64_t* told"] * any(told)]
    parameters += [parameter for column in columns for parameter in column.parameters]
    return f"""{headers_text(["rows.cuh", "words.cuh", "reduce.cuh"])}
KERNEL gather({", ".join(parameters)}) {{
    uint32_t missing[{len(columns)}] = {{}};
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
    """The text of a kernel that gathers a column.

    Its number, the C++ type that is read, whether that are offsets, of which the sizes are written, and whether
    validity words are read and written.
    """

    place: int
    stored: str
    sized: bool
    nullable: bool
    words: bool

    @classmethod
    def of(cls, place: int, vector: Vector, made: Vector) -> Gathered:
        """Return what gathers a column into another."""
        sized = vector.offsets is not None
        stored = f"int{8 * vector.offsets.dtype.itemsize}_t" if sized else stored_c_type(vector.dtype)
        return cls(place, stored, sized, vector.valid is not None, made.valid is not None)

    @property
    def result(self) -> str:
        """The C++ type that is written."""
        return "int32_t" if self.sized else self.stored

    @property
    def parameters(self) -> list[str]:
        """Values or offsets, and validity words, as they are read; then as they are written."""
        place = self.place
        read = [f"const {self.stored}* d{place}", *[f"const uint32_t* b{place}"] * self.nullable]
        return [*read, f"{self.result}* r{place}", *[f"uint32_t* s{place}"] * self.words]

    @property
    def load(self) -> str:
        """The statements that read a row."""
        place, result = self.place, self.result
        bits = f"b{place}" if self.nullable else "nullptr"
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
