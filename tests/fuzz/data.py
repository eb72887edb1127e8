"""Nasty tables: columns of every type of the language, whose values come from small pools so that keys meet."""

import shutil
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.draws import Draws
from fuzz.precision import Precision
from gpuetl.io.partition_folders import split_by_value
from gpuetl.types.data_types import BINARY, TIME, DataType, integer_fits, is_floating, is_integer, parse_type
from gpuetl.types.nested_types import is_list, is_map, is_struct

TYPE_NAMES = (
    "int64", "float64", "string", "bool", "timestamp", "date", "int32", "decimal(9,2)", "duration", "timestamp[UTC]",
    "float32", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "decimal(38,4)", "timestamp[Europe/Berlin]",
    "decimal(18,0)", "decimal(4,4)", "decimal(20,7)", "list<int64>", "list<string>", "binary", "time",
    "struct<x: int64, s: string>", "map<string, int64>", "list<struct<x: int64, s: string>>", "list<bool>", "list<list<int64>>",
)  # fmt: skip
TYPES: dict[str, DataType] = {name: parse_type(name) for name in TYPE_NAMES}

FOLDER_TYPES = ("int64", "int32", "uint8", "string", "date32[day]", "bool")

TAME_INTEGERS = (1, 0, 2, 3, 5, 7, 10, 12, 25, 60, 100, 127, -1, -2, -7, -100)
TAME_FLOATS = (1.0, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 100.25, -7.75, 1024.0, nan, inf, -inf)
"""Sums of these are exact in any order: multiples of a quarter, far from 2^53."""
WILD_FLOATS = (
    *TAME_FLOATS,
    0.1,
    1 / 3,
    -2.675,
    1e-300,
    5e-324,
    1e300,
    1.7976931348623157e308,
    9007199254740993.0,
    -1e16,
)
STRINGS = (
    "a", "", "b", "ab", "A", " a ", "ab%c_d", "añb", "e\u0301", "😀x", "Ω", "zz", "12", "-3", "1.5", "it's", '"q"',
    "\\d", "a\tb", "aaa", "x.y", "\u00a0", "true", "2020-02-29", "\U0001d11e",
    "2020-02-29 12:30+0130", "29.02.2020", "2021-02-29", "ß", "İI", "ŉ ǆ", "JEAN-luc d'x", "2020-W09-6", "1,2,,3",
    '{"a": {"b": ["x", 2]}, "b": null}',
)  # fmt: skip
DAYS = tuple(
    map(date.fromisoformat, (
        "1970-01-01", "1969-12-31", "2020-02-29", "2021-03-28", "2021-10-31", "1999-12-31", "2000-01-01", "1900-01-01",
        "2024-12-30", "2023-01-01", "2262-04-12",
    ))
)  # fmt: skip
MOMENTS = tuple(
    map(datetime.fromisoformat, (
        "1970-01-01T00:00:00", "1970-01-01T00:00:01", "1969-12-31T23:59:59.999999", "2020-02-29T12:30:15.250000",
        "2021-03-28T00:59:59", "2021-03-28T01:00:00", "2021-10-31T00:30:00", "2021-10-31T01:30:00", "1999-12-31T23:59:59",
        "2000-01-01T00:00:00", "1970-01-01T00:20:00", "1970-01-01T01:00:00", "1970-01-02T00:00:00", "2262-04-12T00:00:00",
        "2021-03-28T02:30:00", "2021-10-31T02:30:00.000001", "2021-07-01T22:30:00",
    ))
)  # fmt: skip
BYTES = (b"a", b"", b"ab", b"\xff\x00", b"\x80", b"a\x00", "añb".encode(), bytes(range(40)))
CLOCKS = (time(0), time(12, 30), time(23, 59, 59, 999999), time(9, 5, 7, 250000), time(0, 0, 0, 1))
DURATIONS = tuple(
    timedelta(**parts)
    for parts in (
        {"hours": 1}, {}, {"seconds": 1}, {"microseconds": 1}, {"days": 1}, {"minutes": -90}, {"days": 400}, {"days": -1},
    )
)  # fmt: skip


@cache
def pool(dtype: DataType, wild: bool) -> list[Any]:
    """Return the values of a type, the simplest first; `wild` ones leave what sums can hold."""
    if dtype == pa.bool_():
        return [True, False]
    if is_integer(dtype):
        bits = dtype.bit_width - pa.types.is_signed_integer(dtype)
        extremes = (2**bits - 1, -(2**bits), 2**bits - 2, 2**53 + 1, -(2**53) - 1, 1 - 2**bits)
        return [value for value in TAME_INTEGERS + extremes * wild if integer_fits(value, dtype)]
    if is_floating(dtype):
        numbers = WILD_FLOATS if wild else TAME_FLOATS
        return list(dict.fromkeys(numbers if dtype.bit_width == 64 else map(_as_float32, numbers)))
    if pa.types.is_decimal(dtype):
        greatest = Decimal((0, (9,) * dtype.precision, -dtype.scale))
        tame = map(
            Decimal, ("1", "0", "0.25", "-0.5", "2.5", "12.34", "-12.34", "999.99", "0.01", "-1", "7", "-0.0005")
        )
        held = [value for value in tame if abs(value) <= greatest and value == round(value, dtype.scale)]
        return held + [greatest, greatest.copy_negate()] * wild
    if pa.types.is_timestamp(dtype):
        return [moment.replace(tzinfo=UTC) if dtype.tz else moment for moment in MOMENTS]
    if is_struct(dtype):
        pools = {field.name: [*pool(field.type, wild)[:4], None] for field in dtype}
        return [
            {name: values[(at * step) % len(values)] for step, (name, values) in enumerate(pools.items(), 1)}
            for at in range(5)
        ]
    if is_map(dtype):
        keys, values = pool(dtype.key_type, wild), [*pool(dtype.item_type, wild)[:3], None]
        return [list(zip(keys[:count], values[count % 3 :], strict=False)) for count in (1, 0, 3, 2)]
    if is_list(dtype):
        elements = pool(dtype.value_type, wild)
        return [elements[:1], [], elements[:3], [None], [None, *elements[2:5], None], elements[1:2] * 3]
    if dtype in (BINARY, TIME):
        return list(BYTES if dtype == BINARY else CLOCKS)
    return list({"string": STRINGS, "date32[day]": DAYS, "duration[us]": DURATIONS}[str(dtype)])


def _as_float32(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


@dataclass(frozen=True)
class Source:
    """A table, how far its columns can be trusted to compare, and how many rows a row group has.

    The first column tells rows apart; with that, orders are total.  `folders` names the column, the last one, whose
    values are the names of the folders in which the rows are, if there is one.
    """

    name: str
    rows: pa.Table
    precision: dict[str, Precision]
    row_group_size: int
    folders: str = ""

    @property
    def path(self) -> str:
        """Where the rows are, in the pipeline's folder."""
        return self.name if self.folders else f"{self.name}.parquet"

    def write(self, root: Path) -> None:
        """Write the rows."""
        if not self.folders:
            pq.write_table(self.rows, root / self.path, row_group_size=self.row_group_size)
            return
        shutil.rmtree(root / self.path, ignore_errors=True)
        for folder, rows in split_by_value(self.rows, (self.folders,)):
            (root / self.path / folder).mkdir(parents=True)
            pq.write_table(rows, root / self.path / folder / "rows.parquet", row_group_size=self.row_group_size)


def draw_source(draws: Draws, name: str, sizes: tuple[int, ...]) -> Source:
    """Draw a table of `id` and one to five columns."""
    count = draws.between(0, draws.one_of(sizes))
    ids = np.arange(count, dtype=np.int64)
    if draws.chance(50):
        ids = ids * 7919 % max(count, 1) if count % 7919 else ids[::-1].copy()
    key = f"{name}_id"
    columns, precision = {key: pa.array(ids)}, {key: Precision.EXACT}
    for letter in "abcde"[: draws.between(2, 5)]:
        dtype, wild = TYPES[draws.one_of(TYPE_NAMES)], draws.chance(15)
        column = f"{name}_{letter}" if draws.chance(50) else letter
        columns[column] = _column(draws, dtype, wild, count)
        precision[column] = Precision.EXACT if wild else Precision.TAME
    folders = column if count and str(dtype) in FOLDER_TYPES and draws.chance(20) else ""
    return Source(name, pa.table(columns), precision, draws.one_of((2, 1, 3, 7)), folders)


def _column(draws: Draws, dtype: DataType, wild: bool, count: int) -> pa.Array:
    """Draw a column: a few values of the type's pool, beside nulls in three of four columns."""
    values = pool(dtype, wild)
    start, kept = draws.below(len(values)), draws.one_of((3, 1, 6, len(values)))
    chosen = (values[start:] + values[:start])[:kept]
    if draws.chance(75):
        chosen.append(None)
    codes = np.frombuffer(draws.codes(min(count, 64)), np.uint8).astype(np.int64)
    if count > len(codes):
        codes = np.resize(codes, count) + np.arange(count, dtype=np.int64) // 64
    return pa.array(chosen, dtype).take(pa.array(codes % len(chosen)))
