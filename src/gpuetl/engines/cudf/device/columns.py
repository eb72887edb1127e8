"""Columns as kernels take them: parameters, the arguments that go with them, and accessors that read a row."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TypeVar

from gpuetl.engines.cudf.device.types import accessor_type, stored_c_type
from gpuetl.engines.cudf.vector import Vector
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING

MOST_BUFFERS = 360
"""Of columns that one kernel reads and writes: older drivers pass 4 KB of arguments, of which a third may be others."""
Result = TypeVar("Result", bound=Hashable)


@dataclass(frozen=True)
class ColumnKinds:
    """What a kernel's text says of the columns that it reads: their types, but not whether they have nulls.

    Columns of equal kinds are read by the same text.
    """

    names: tuple[str, ...]
    parameters: tuple[str, ...]
    accessors: str

    @classmethod
    def of(cls, columns: Mapping[str, Vector]) -> ColumnKinds:
        """Return the kinds of columns."""
        return cls(tuple(columns), tuple(column_parameters(columns)), accessors(columns))


def column_parameters(columns: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of the columns' buffers: as `buffers_of` gives them."""
    return [text for place, vector in enumerate(columns.values()) for text in _parameters(f"{place}", vector)]


def _parameters(name: str, vector: Vector) -> list[str]:
    bits = f"const uint32_t* __restrict__ bits{name}"
    if vector.elements is not None:
        return [f"const int32_t* __restrict__ offsets{name}", bits, *_parameters(f"{name}_", vector.elements)]
    if vector.dictionary is not None:
        return [f"const int32_t* __restrict__ numbers{name}", bits, *_texts(f"{name}_", vector.dictionary)]
    if vector.dtype == STRING:
        return [*_texts(name, vector), bits]
    return [f"const {stored_c_type(vector.dtype)}* __restrict__ data{name}", bits]


def _texts(name: str, vector: Vector) -> list[str]:
    offset = "int64_t" if vector.offsets.dtype.itemsize == 8 else "int32_t"
    return [f"const char* __restrict__ data{name}", f"const {offset}* __restrict__ offsets{name}"]


def accessors(columns: Mapping[str, Vector]) -> str:
    """Return the statements that make the columns' accessors, `c0`, `c1`, and so on."""
    made = (f"    const {accessor_type(v)} c{place}{_made(str(place), v)};" for place, v in enumerate(columns.values()))
    return "\n".join(made)


def _made(name: str, vector: Vector) -> str:
    if vector.elements is not None:
        inner = f"{accessor_type(vector.elements)}{_made(f'{name}_', vector.elements)}"
        return f"{{{inner}, offsets{name}, bits{name}}}"
    if vector.dictionary is not None:
        texts = f"{accessor_type(vector.dictionary)}{{data{name}_, offsets{name}_, nullptr}}"
        return f"{{{texts}, numbers{name}, bits{name}}}"
    offsets = f"offsets{name}, " if vector.dtype == STRING else ""
    return f"{{data{name}, {offsets}bits{name}}}"


def buffers_of(columns: Mapping[str, Vector]) -> list[object]:
    """Return the arguments that go with `column_parameters`; 0 stands for the validity of a column without nulls."""
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
    bits = 0 if vector.valid is None else vector.valid
    if vector.elements is not None:
        return [vector.offsets, bits, *_buffers(vector.elements)]
    if vector.dictionary is not None:
        return [vector.data, bits, vector.dictionary.data, vector.dictionary.offsets]
    return [vector.data, *([vector.offsets] if vector.dtype == STRING else []), bits]
