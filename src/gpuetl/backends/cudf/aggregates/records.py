"""Columns that are read in the order of groups, laid side by side first: a record of up to 32 bytes for each row.

A column that is read at random costs a sector of 32 bytes for each value, and its validity another access.  A record
costs one sector for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.device.types import c_type, stored_c_type
from gpuetl.backends.cudf.vector import Vector, storage_type
from gpuetl.expressions.types import STRING, is_list
from gpuetl.records import dataclass

SIZES = (8, 16, 32)
"""Of a record: in none of these does it lie in two sectors."""
MANY_ROWS = 1 << 20
"""Fewer rows stay in a GPU's cache."""


@dataclass(frozen=True)
class Field:
    """A column in a record: its C++ types, its width, and whether it has nulls."""

    type: str
    stored: str
    width: int
    nullable: bool


@dataclass(frozen=True)
class RecordKind:
    """The columns of a record, in the order in which a kernel takes them, and its bytes."""

    fields: tuple[Field, ...]
    size: int

    @classmethod
    def of(cls, columns: Mapping[str, Vector], with_nulls: bool = False) -> RecordKind | None:
        """Return the record of columns, None where one has no fixed width or all together are too wide.

        `with_nulls` takes all columns to have nulls.
        """
        if any(is_list(vector.dtype) or vector.dtype == STRING for vector in columns.values()):
            return None
        fields = tuple(field_of(vector, with_nulls or vector.valid is not None) for vector in columns.values())
        size = next((size for size in SIZES if fits(fields, size)), None)
        return None if size is None else cls(fields, size)

    @property
    def text(self) -> str:
        """The struct `Record`, with the widest values first; all of its bytes are in some member."""
        places = sorted(range(len(self.fields)), key=lambda place: -self.fields[place].width)
        members = [f"{self.fields[place].stored} v{place};" for place in places]
        free = free_words(self.fields, self.size)
        names = ["valid" if at == widest(free) else f"rest{at}" for at in range(len(free))]
        members += [f"uint{8 * width}_t {name};" for width, name in zip(free, names, strict=True)]
        return f"""struct alignas({min(self.size, 16)}) Record {{ {" ".join(members)} }};
static_assert(sizeof(Record) == {self.size}, "as in records.py");
"""

    @property
    def written(self) -> str:
        """The statements that fill the record `made` of a row, which begins as zeros, from the columns' buffers."""
        values = [f"made.v{place} = data{place}[row];" for place in range(len(self.fields))]
        if any(field.nullable for field in self.fields):
            word = f"uint{8 * max(free_words(self.fields, self.size))}_t"
            bits = (f"{word}({valid_text(field, place)}) << {place}" for place, field in enumerate(self.fields))
            values.append(f"made.valid = {word}({' | '.join(bits)});")
        return " ".join(values)

    @property
    def accessors(self) -> str:
        """The statements that make accessors of the values of `record`."""
        return " ".join(
            f"const Held<{field.type}, {field.stored}> c{place}{{record.v{place}, {held_text(field, place)}}};"
            for place, field in enumerate(self.fields)
        )


def field_of(vector: Vector, nullable: bool) -> Field:
    """Return a column of fixed width as a field."""
    width = np.dtype(storage_type(vector.dtype)).itemsize
    return Field(c_type(vector.dtype), stored_c_type(vector.dtype), width, nullable)


def fits(fields: tuple[Field, ...], size: int) -> bool:
    """Tell whether a record of some bytes holds the values, and a word with a bit for each where some may be null."""
    free = free_words(fields, size)
    bits = 8 * max(free, default=0)
    return sum(field.width for field in fields) <= size and (
        bits >= len(fields) or not any(field.nullable for field in fields)
    )


def free_words(fields: tuple[Field, ...], size: int) -> list[int]:
    """Return the bytes of the words that lie behind the values: each as wide as its place allows."""
    words, at = list[int](), sum(field.width for field in fields)
    while at < size:
        words.append(next(width for width in (8, 4, 2, 1) if at % width == 0 and at + width <= size))
        at += words[-1]
    return words


def widest(words: list[int]) -> int:
    """Return the place of the widest word."""
    return max(range(len(words)), key=lambda at: words[at])


def valid_text(field: Field, place: int) -> str:
    """Return whether a row of a column is valid, by its words."""
    return f"bit_is_set(bits{place}, row)" if field.nullable else "true"


def held_text(field: Field, place: int) -> str:
    """Return whether a value of a record is valid."""
    return f"(record.valid >> {place} & 1) != 0" if field.nullable else "true"


def record_of(columns: Mapping[str, Vector], rows: int, ordered: bool) -> RecordKind | None:
    """Return the record by which a reduction of so many rows reads columns; None where it reads them as they are.

    `ordered` says that the rows of groups come by their numbers.
    """
    return RecordKind.of(columns) if uses_records(columns, rows, ordered) else None


def likely_records(columns: Mapping[str, Vector], rows: float, ordered: bool) -> list[RecordKind | None]:
    """Return what `record_of` may give for at most so many rows, where it is not known if columns have nulls.

    Filters and joins below may leave few rows.  That some columns have nulls and others have none is left out.
    """
    if not uses_records(columns, rows, ordered):
        return [None]
    return list(dict.fromkeys([RecordKind.of(columns), None, RecordKind.of(columns, with_nulls=True)]))


def uses_records(columns: Mapping[str, Vector], rows: float, ordered: bool) -> bool:
    """Tell whether a reduction of so many rows reads columns by records."""
    return ordered and len(columns) > 1 and rows >= MANY_ROWS and chosen("reduce_by_records")
