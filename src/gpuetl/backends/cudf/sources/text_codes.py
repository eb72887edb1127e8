"""Columns of few distinct texts get a dictionary as they are read: a table by hash finds these."""

from __future__ import annotations

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.dictionaries import MOST_TEXTS, sorted_dictionary
from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING

SAMPLE = 1 << 16
"""So many first rows tell whether a column is worth a dictionary: no more than half of their texts may be distinct."""
FEW = 1 << 10
"""So many distinct texts are worth one whatever their share: small tables show what large ones do."""


def with_dictionary(vector: Vector, machine: Machine) -> Vector:
    """Return a column of texts with few distinct ones by their numbers; any other as it is.

    Of n rows with b bytes this reads 8n + b bytes and writes 8n; of others only the sample is read, unless that has
    fewer distinct texts than what follows.
    """
    if vector.dtype != STRING or vector.dictionary or not vector.rows or not chosen("text_codes"):
        return vector
    table = Table(vector, machine)
    sample = min(vector.rows, SAMPLE)
    if table.add(sample) > max(FEW, sample // 2) or (sample < vector.rows and table.add(vector.rows) > MOST_TEXTS):
        return vector
    return table.coded()


class Table:
    """A table by hash of the rows that have distinct texts: `owners` (int32) by slot, -1 where none has.

    `slots` (int32) are those of the rows that were added; a null's is the one after the last.
    """

    def __init__(self, texts: Vector, machine: Machine) -> None:
        arrays, self.texts, self.machine = machine.arrays, texts, machine
        self.size = 2 * min(MOST_TEXTS, 1 << max(5, (texts.rows - 1).bit_length()))
        self.owners, self.taken = arrays.full(self.size, -1, "int32"), arrays.zeros(1, "uint64")
        self.slots = arrays.empty(texts.rows, "int32")

    def add(self, rows: int) -> int:
        """Add the first rows, and return how many distinct texts there are; more than `MOST_TEXTS` are not counted."""
        columns = {"": self.texts}
        arguments = [rows, self.size, MOST_TEXTS, self.taken, self.owners, self.slots, *buffers_of(columns)]
        self.machine.launch(self.machine.compiled(source_of(columns)), "add_texts", rows, arguments)
        return int(self.taken[0])

    def coded(self) -> Vector:
        """Return the column by numbers; which of equal rows own a slot makes no difference."""
        taken = numbers_where((self.owners >= 0).view("uint8"), self.machine)
        texts = take({"": self.texts}, self.owners[taken], self.machine)[""]
        dictionary, numbers = sorted_dictionary(texts, self.machine)
        by_slot: Array = self.machine.arrays.zeros(self.size + 1, "int32")
        by_slot[taken] = numbers
        own = self.texts
        return Vector(STRING, own.rows, by_slot[self.slots], own.valid, own.nulls, dictionary=dictionary)


def source_of(columns: dict[str, Vector]) -> str:
    """Return the kernel `add_texts`."""
    parameters = ["int64_t rows, int64_t size, int64_t most, uint64_t* taken, int32_t* owners, int32_t* slots"]
    return f"""{headers_text(["dictionaries.cuh"])}
KERNEL add_texts({", ".join([*parameters, *column_parameters(columns)])}) {{
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const Maybe<Text> text = c0[row];
        slots[row] = text.valid ? slot_of(c0, text.value, int32_t(row), owners, size - 1, taken, most) : int32_t(size);
    }}
}}
"""
