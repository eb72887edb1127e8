"""Keys of any type in the text of a kernel: a struct `Keys`, whose rows are digits in the order of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuetl.backends.cudf.columns.texts import numbered_texts
from gpuetl.backends.cudf.device.columns import buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector, storage_type
from gpuetl.expressions.types import NULL
from gpuetl.plan.node import SortKey


@dataclass(frozen=True, eq=False)
class Key:
    """A column of fixed width, and where its values and nulls stand: NaN is the greatest, -0.0 is 0.0.

    With `flagged` a digit before the value's says where the nulls are.
    """

    column: Vector
    flagged: bool
    descending: bool = False
    nulls_first: bool = False

    @property
    def digits(self) -> int:
        """How many digits the key has."""
        return self.flagged + (2 if storage_type(self.column.dtype) == "V16" else 1)


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of a frame's rows, the first the most significant; `selected`, if any, are the numbers of the rows taken."""

    keys: tuple[Key, ...]
    rows: int
    selected: Array | None = None

    @property
    def digits(self) -> int:
        """How many digits a row has."""
        return sum(key.digits for key in self.keys)

    @property
    def columns(self) -> Mapping[str, Vector]:
        """The columns that a kernel reads."""
        return {str(place): key.column for place, key in enumerate(self.keys)}

    @property
    def arguments(self) -> list[Any]:
        """What goes with the parameters."""
        return [*([] if self.selected is None else [self.selected]), *buffers_of(self.columns)]

    @property
    def parameters(self) -> list[str]:
        """The parameters of a kernel that reads the keys."""
        return [*([] if self.selected is None else [f"const {index_type(self.selected)}* from"]),
                *column_parameters(self.columns)]  # fmt: skip

    @property
    def text(self) -> str:
        """The headers, and the struct `Keys`."""
        return headers_text(["rows.cuh", "keys.cuh"]) + self.struct("Keys")

    def made(self, struct: str = "Keys", first: int = 0) -> str:
        """Return the C++ text that makes a struct from the parameters, of which `first` is the first column's."""
        bits = (f"bits{first + p}" if key.column.valid is not None else "nullptr" for p, key in enumerate(self.keys))
        columns = (f"{{data{first + place}, {valid}}}" for place, valid in enumerate(bits))
        return f"{struct}{{{', '.join([*([] if self.selected is None else ['from']), *columns])}}}"

    def struct(self, name: str) -> str:
        """Return the text of a struct whose operator[] gives a row's digits."""
        fields, statements, at = [], [], 0
        if self.selected is not None:
            fields.append(f"const {index_type(self.selected)}* from;")
        for place, key in enumerate(self.keys):
            fields.append(f"Fixed<{stored_c_type(key.column.dtype)}> c{place};")
            statements.append(digits_text(key, place, at))
            at += key.digits
        return f"""
struct {name} {{
    {" ".join(fields)}
    DEVICE Digits<{at}> operator[](int64_t place) const {{
        const int64_t row = {"place" if self.selected is None else "from[place]"};
        Digits<{at}> digits;
{"".join(statements)}        return digits;
    }}
}};
"""


def digits_text(key: Key, place: int, at: int) -> str:
    """Return the statements that put a key's digits from number `at` on."""
    value, descending = f"x{place}", "true" if key.descending else "false"
    lines = [f"const auto {value} = c{place}[row];"]
    if key.flagged:
        lines.append(f"digits.flag({at}, {'' if key.nulls_first else '!'}{value}.valid);")
    lines.append(f"digits.value({at + key.flagged}, {value}, {descending});")
    return "".join(f"        {line}\n" for line in lines)


def index_type(rows: Array) -> str:
    """Return the C++ type of row numbers."""
    return f"int{8 * rows.dtype.itemsize}_t"


def key_of(vector: Vector, key: SortKey, machine: Machine) -> Key:
    """Return a column as a key; texts by their number in the order of their bytes."""
    return Key(numbered_texts(vector, machine), vector.valid is not None, key.descending, key.nulls_first)


def keys_of(columns: Mapping[str, Vector], keys: Sequence[SortKey], rows: int, machine: Machine) -> Keys:
    """Return a frame's keys; columns of the type null tell no rows apart and are left out."""
    told = [key for key in keys if columns[key.column].dtype != NULL]
    return Keys(tuple(key_of(columns[key.column], key, machine) for key in told), rows)
