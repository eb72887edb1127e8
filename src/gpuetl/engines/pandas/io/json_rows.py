"""Lines of JSON that are not as the schema says: an error with the line, null, or quarantine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.io.csv_values import reads, values_of
from gpuetl.formats.csv_records import shortened
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.json_options import json_options
from gpuetl.formats.json_text import BadLine, Digits, kind_of, lines_before, parsed
from gpuetl.formats.json_types import SET_ASIDE
from gpuetl.formats.rejected import COLUMNS
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded, recoded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import warn
from gpuetl.types.data_types import (
    BOOL,
    STRING,
    DataType,
    integer_fits,
    is_floating,
    is_integer,
    is_temporal,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list

SHOWN = 3
"""Bad values of a column that a warning shows."""
VALUE_CHARACTERS = 80
INTEGER = re.compile(r"-?[0-9]+")
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""A decimal as Arrow reads it of a string; numbers of JSON are a part of these."""
MOST_EXPONENT = 100
"""Of a decimal: far more than its digits, and few enough to be computed."""


class BadValue(ValueError):
    """A value that is not of its column's type; `shown` is how it is written."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        super().__init__(shown)


class Problem(NamedTuple):
    """What is wrong in a line: with its column, the value as it is written; without one, what the line is."""

    line: int
    column: str
    what: str


@dataclass(frozen=True)
class JsonRows:
    """The lines of one part of a file, read one by one."""

    dataset: Dataset
    file: DataFile
    source: OpenFile
    part: int
    text: bytes
    types: Mapping[str, DataType]

    @cached_property
    def known(self) -> frozenset[str]:
        """The keys that are no extra columns."""
        return frozenset(self.dataset.own_schema) | self.dataset.excluded

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines."""
        return self.text.split(b"\n")

    @cached_property
    def before(self) -> int:
        """The lines of the file before the part."""
        return lines_before(self.source, self.part)

    @cached_property
    def read(self) -> tuple[dict[int, dict[str, Any]], list[Problem]]:
        """The values of lines by their number in the part, null where they are bad; and what is bad."""
        rows, problems = dict[int, dict[str, Any]](), list[Problem]()
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            try:
                found = parsed(line)
            except BadLine as error:
                problems.append(Problem(number, "", str(error)))
                continue
            unknown = next((name for name in found if name not in self.known), None)
            if unknown is not None and self.dataset.refuses_extra:
                problems.append(Problem(number, "", f"has the key '{unknown}', and the source has no such column"))
                continue
            rows[number] = row = {}
            for name, dtype in self.types.items():
                try:
                    row[name] = value_of(found.get(name), dtype)
                except BadValue as error:
                    row[name] = None
                    problems.append(Problem(number, name, error.shown))
        return rows, problems

    def allowed(self) -> pa.Table:
        """Return the rows as the source's `on_bad_row` says.

        Raises
        ------
        DatasetError
            With the first bad line, where it says `fail`, and for what is no line of JSON, where it says `null`.
        """
        rows, problems = self.read
        mode = json_options(self.dataset).on_bad_row
        refused = problems if mode == "fail" else [one for one in problems if not one.column and mode == "null"]
        if refused:
            raise self.error(refused[0])
        if mode == "null" and problems:
            warn(self.warning(problems))
        bad = {one.line for one in problems} if mode == "quarantine" else set[int]()
        kept = [row for number, row in rows.items() if number not in bad]
        if not self.types:
            return pa.table({":row": pa.nulls(len(kept))})
        columns = {name: column_of([row[name] for row in kept], dtype) for name, dtype in self.types.items()}
        return pa.table(columns, schema=pa.schema(self.types))

    def rejected(self, run_id: str) -> pa.Table:
        """Return the bad lines, where they stand, and what is wrong with each."""
        rules = dict[int, list[str]]()
        for one in self.read[1]:
            rules.setdefault(one.line, []).append(self.rule(one))
        columns = {
            "file": [str(self.file.path)] * len(rules), "line": [self.before + line for line in rules],
            "text": [self.lines[line - 1].decode("utf-8", "replace").rstrip("\r") for line in rules],
            "_rule": ["; ".join(each) for each in rules.values()], "_run": [run_id] * len(rules),
        }  # fmt: skip
        return pa.table(columns, schema=COLUMNS.to_arrow())

    def rule(self, one: Problem) -> str:
        """Say what is wrong."""
        return (
            f"{one.column}: {one.what} is not a valid {type_name(self.types[one.column])}" if one.column else one.what
        )

    def error(self, one: Problem) -> DatasetError:
        """Word a bad line."""
        at = f"{self.file.path}:{self.before + one.line}"
        if not one.column:
            hint = "Set extra_columns: ignore, or declare the column." if "no such column" in one.what else SET_ASIDE
            return DatasetError(coded("GE1435", f"{at}: the line {one.what}"), hint)
        dtype = self.types[one.column]
        message = coded(
            "GE1410", f"column '{one.column}': {one.what} is not a valid {type_name(dtype)}, which is {written(dtype)}"
        )
        hint = f"Correct the type in the source's schema.  {SET_ASIDE}  on_bad_row: null reads such values as null."
        return DatasetError(recoded(f"{at}: {message}", message), hint)

    def warning(self, problems: list[Problem]) -> str:
        """Count what was read as null, with the first places."""
        told = []
        for name in dict.fromkeys(one.column for one in problems):
            own = [one for one in problems if one.column == name]
            shown = [f"line {self.before + one.line}: {one.what}" for one in own[:SHOWN]] + ["…"] * (len(own) > SHOWN)
            told.append(f"column '{name}': {len(own):,} ({', '.join(shown)})")
        what = f"values that are not of their type are null: {'; '.join(told)}"
        return coded("GE1706", f"source '{self.dataset.name}': {self.file.path}: {what}")


def written(dtype: DataType) -> str:
    """Say in words what JSON a type reads."""
    if dtype == BOOL:
        return "true or false"
    if is_floating(dtype):
        return "a number"
    if is_list(dtype):
        return f"an array, each of whose values is {written(dtype.value_type)}"
    if is_temporal(dtype):
        return f"a string {reads(dtype)}"
    return "a string in UTF-8" if dtype == STRING else "an object" if pa.types.is_nested(dtype) else reads(dtype)


def value_of(value: Any, dtype: DataType) -> Any:
    """Return a value of JSON as Arrow takes it for a type; numbers are as they are written.

    Raises
    ------
    BadValue
        For any other value.
    """
    if value is None:
        return None
    if pa.types.is_nested(dtype):
        found = nested_of(value, dtype)
    elif isinstance(value, Digits):
        found = number_of(value, dtype)
    elif isinstance(value, str):
        found = string_of(value, dtype)
    else:
        found = value if isinstance(value, bool) and dtype == BOOL else None
    if found is None:
        raise BadValue(shown(value))
    return found


def nested_of(value: Any, dtype: DataType) -> Any:
    """Return an array or object in a nested type; None for any other value."""
    if is_list(dtype) and isinstance(value, list):
        return [value_of(each, dtype.value_type) for each in value]
    if pa.types.is_struct(dtype) and isinstance(value, dict):
        return {field.name: value_of(value.get(field.name), field.type) for field in dtype}
    if pa.types.is_map(dtype) and isinstance(value, dict):
        return [(value_of(key, dtype.key_type), value_of(each, dtype.item_type)) for key, each in value.items()]
    return None


def number_of(digits: Digits, dtype: DataType) -> Any:
    """Return a number in a type; None where the type does not have it."""
    if is_integer(dtype):
        whole = INTEGER.fullmatch(digits) and len(digits) <= VALUE_CHARACTERS
        return int(digits) if whole and integer_fits(int(digits), dtype) else None
    if is_floating(dtype):
        number = float(digits)
        narrow = pa.scalar(str(digits)).cast(dtype).as_py() if dtype == pa.float32() else number
        return narrow if np.isfinite(narrow) else None
    return decimal_of(digits, dtype) if is_decimal(dtype) else None


def decimal_of(text: str, dtype: DataType) -> Decimal | None:
    """Return a decimal that a text is exactly; None where it has more digits than the type."""
    if not NUMBER.fullmatch(text) or len(text) > VALUE_CHARACTERS:
        return None
    sign, digits, exponent = Decimal(text).as_tuple()
    shift = int(exponent) + dtype.scale
    if abs(shift) > MOST_EXPONENT:
        return None
    value = int("".join(map(str, digits)))
    whole, rest = (value * 10**shift, 0) if shift >= 0 else divmod(value, 10**-shift)
    if rest or whole >= 10**dtype.precision:
        return None
    return Decimal((sign, tuple(map(int, str(whole))), -dtype.scale))


def string_of(text: str, dtype: DataType) -> Any:
    """Return a string in a type; None where it is no value of it."""
    if dtype == STRING:
        try:
            text.encode()
        except UnicodeEncodeError:
            return None
        return text
    if is_decimal(dtype):
        return decimal_of(text, dtype)
    return time_of(text, dtype) if is_temporal(dtype) else None


@lru_cache(1 << 16)
def time_of(text: str, dtype: DataType) -> pa.Scalar | None:
    """Return a date or timestamp as CAST reads it; None for any other text."""
    try:
        values, bad = values_of(pa.chunked_array([[text]], STRING), dtype)
    except UnicodeEncodeError:
        return None
    return None if bad is not None else values[0]


def column_of(values: list[Any], dtype: DataType) -> pa.Array:
    """Return values that `value_of` gave as a column."""
    return pa.array(values, dtype)


def shown(value: Any) -> str:
    """Show a value: a scalar as it is written, the kind of others."""
    if isinstance(value, Digits):
        return shortened(str(value), VALUE_CHARACTERS)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return f"'{shortened(text, VALUE_CHARACTERS)}'"
    return kind_of(value)
