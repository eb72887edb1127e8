"""Columns as kernels take them: parameters, the arguments that go with them, and accessors that read a row."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TypeVar

from gpuetl.backends.cudf.device.types import accessor_type, stored_c_type
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING
from gpuetl.records import dataclass

MOST_BUFFERS = 360
"""Of columns that one kernel reads and writes: older drivers pass 4 KB of arguments, of which a third may be others."""
Result = TypeVar("Result", bound=Hashable)


@dataclass(frozen=True)
class ColumnKinds:
    """What a kernel's text tells of the columns that it reads: equal ones are read by the same text."""

    nullable: tuple[tuple[str, bool], ...]
    """The names in their order, and whether there are nulls."""
    parameters: tuple[str, ...]
    accessors: str

    @classmethod
    def of(cls, columns: Mapping[str, Vector]) -> ColumnKinds:
        """Return the kinds of columns."""
        nullable = tuple((name, vector.valid is not None) for name, vector in columns.items())
        return cls(nullable, tuple(column_parameters(columns)), accessors(columns))


def column_parameters(columns: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of the columns' buffers: as `buffers_of` gives them."""
    return [text for place, vector in enumerate(columns.values()) for text in _parameters(f"{place}", vector)]


def _parameters(name: str, vector: Vector) -> list[str]:
    bits = [f"const uint32_t* bits{name}"] if vector.valid is not None else []
    if vector.elements is not None:
        return [f"const int32_t* offsets{name}", *bits, *_parameters(f"{name}_", vector.elements)]
    if vector.dictionary is not None:
        return [f"const int32_t* numbers{name}", *bits, *_parameters(f"{name}_", vector.dictionary)]
    if vector.dtype == STRING:
        offset = "int64_t" if vector.offsets.dtype.itemsize == 8 else "int32_t"
        return [f"const char* data{name}", f"const {offset}* offsets{name}", *bits]
    return [f"const {stored_c_type(vector.dtype)}* data{name}", *bits]


def accessors(columns: Mapping[str, Vector]) -> str:
    """Return the statements that make the columns' accessors, `c0`, `c1`, and so on."""
    made = (f"    const {accessor_type(v)} c{place}{_made(str(place), v)};" for place, v in enumerate(columns.values()))
    return "\n".join(made)


def _made(name: str, vector: Vector) -> str:
    bits = f"bits{name}" if vector.valid is not None else "nullptr"
    if vector.elements is not None:
        return f"{{{accessor_type(vector.elements)}{_made(name + '_', vector.elements)}, offsets{name}, {bits}}}"
    if vector.dictionary is not None:
        return f"{{{accessor_type(vector.dictionary)}{_made(name + '_', vector.dictionary)}, numbers{name}, {bits}}}"
    offsets = f"offsets{name}, " if vector.dtype == STRING else ""
    return f"{{data{name}, {offsets}{bits}}}"


def buffers_of(columns: Mapping[str, Vector]) -> list[object]:
    """Return the arguments that go with `column_parameters`."""
    return [buffer for vector in columns.values() for buffer in _buffers(vector)]


def in_kernels(results: Mapping[Result, Collection[str]], columns: Mapping[str, Vector]) -> Iterator[list[Result]]:
    """Yield results, by as many as one kernel may write with the columns that these read, by name.

    A result is values and validity words.  One that reads more columns than a kernel may is alone.
    """
    some, read, count = list[Result](), set[str](), 0
    for result, names in results.items():
        more = 2 + len(buffers_of({name: columns[name] for name in names if name not in read}))
        if some and count + more > MOST_BUFFERS:
            yield some
            some, read, count = [], set(), 0
            more = 2 + len(buffers_of({name: columns[name] for name in names}))
        some.append(result)
        read.update(names)
        count += more
    if some:
        yield some


def _buffers(vector: Vector) -> list[object]:
    bits = [vector.valid] if vector.valid is not None else []
    if vector.elements is not None:
        return [vector.offsets, *bits, *_buffers(vector.elements)]
    if vector.dictionary is not None:
        return [vector.data, *bits, *_buffers(vector.dictionary)]
    return [vector.data, *([vector.offsets] if vector.dtype == STRING else []), *bits]
