"""What clocks show, and the zones that they are of, spelled in CUDA."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby

from gpuetl.engines.cudf.codegen.cuda_types import c_text
from gpuetl.expressions.text_rules import Field, parse_format, way_of
from gpuetl.types.data_types import DataType
from gpuetl.types.time_zones import fixed_offset


def clock_text(dtype: DataType, text: str) -> str:
    """Return the text of what a clock shows at a date or timestamp: that of its zone, where it has one."""
    zone = zone_of(dtype)
    return f"clock_of({text}, {zone_text(zone)})" if zone else f"clock_of({text})"


def zone_of(dtype: DataType) -> str | None:
    """Return the name of a zoned timestamp's zone."""
    return getattr(dtype, "tz", None)


def zone_text(name: str) -> str:
    """Return the text of a zone: a table of the kernel's (row_kernels.py), or an offset."""
    offset = fixed_offset(name)
    return f"{zone_identifier(name)}()" if offset is None else f"FixedOffset{{{offset}}}"


def zone_identifier(name: str) -> str:
    """Return a name of C++ for a zone: `zone_Europe_2f_Berlin`."""
    return "zone_" + re.sub(r"[^A-Za-z0-9]", lambda hit: f"_{ord(hit[0]):x}_", name)


def format_statement(form: str, dtype: DataType, text: str) -> str:
    """Return the text of the chain of calls (formats.cuh) that writes a date or timestamp by a format."""
    offset = f"offset_at({text}, {zone_text(zone)})" if (zone := zone_of(dtype)) else ""
    calls = (f".put({part})" if isinstance(part, str) else _call(part, offset) for part in _parts(form))
    return f"write(out, {clock_text(dtype, text)}){''.join(calls)}"


def _call(field: Field, offset: str) -> str:
    return f".z({offset})" if field.letter == "z" else _method(field)


def _method(field: Field, short: str = "short") -> str:
    """Return the call of a specifier's method (formats.cuh)."""
    return f".{short}_{field.base}()" if field.is_short else f".{field.letter}()"


def read(form: str, text: str) -> str:
    """Return the text of the chain of calls (formats.cuh) that reads a text by a format and writes it again."""
    parts = _parts(form)
    letters = {part.base for part in parts if isinstance(part, Field)}
    known = {"y": 2} if "Y" in letters else {}
    known |= {"I": 2, "p": 2} if "H" in letters else {}
    known |= {"n": 9, "g": 3} if "f" in letters else {"g": 3} if "n" in letters else {}
    fields = "".join(_reading(part, known) for part in parts)
    again = "".join(
        f".put({part})" if isinstance(part, str) else ".skip(5)" if part.letter == "z" else _method(part, "same")
        for part in parts
    )
    return f"Reader({text}){fields}.by_{way_of(letters)}(){again}"


def _reading(part: Field | str, known: Mapping[str, int]) -> str:
    """Return the call that reads a field, or what stands between two; fields that others say again are passed over."""
    if isinstance(part, str):
        return f".skip({part}.size)"
    if part.base in known:
        return f".pass_digits({known[part.base]})" if part.is_short else f".skip({known[part.base]})"
    return _method(part)


def _parts(form: str) -> list[Field | str]:
    """Return the fields of a format, and C++ codes of what stands between them."""
    parts: list[Field | str] = []
    for kind, run in groupby(parse_format(form), type):
        found = list(run)
        parts += [c_text("".join(map(str, found)))] if kind is str else found
    return parts
