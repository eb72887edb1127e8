"""The columns of JSON lines without a schema: the types of the values in a file's first lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from gpuetl.formats.json_text import BadLine, Digits, parsed
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.types.data_types import BOOL, FLOAT64, INT64, NULL, STRING, DataType, integer_fits

SET_ASIDE = "on_bad_row: quarantine sets such lines aside."
DECLARE = "Declare the source's schema, with the type in which it is to be read."


class Unlike(Exception):
    """Values that have no type in common; the text says which."""


def types_of(lines: Iterable[bytes], path: FilePath, skip_bad: bool) -> dict[str, DataType]:
    """Return the columns of lines, in the order in which they appear first.

    Integers are int64, or uint64 where all of them fit; other numbers are float64; times stay strings; objects without
    any key are maps of strings, since a struct has fields.  With `skip_bad` lines that cannot be read are left out, and
    values that do not fit to those before.

    Raises
    ------
    DatasetError
        With the file and the line.
    """
    found = dict[str, DataType]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parsed(line)
        except BadLine as error:
            if skip_bad:
                continue
            raise DatasetError(coded("GE1435", f"{path}:{number}: the line {error}"), SET_ASIDE) from None
        for name, value in row.items():
            if not name:
                raise DatasetError(coded("GE1414", f"{path}:{number}: a key is empty"), "Give it a name.")
            try:
                found[name] = joined(found.get(name, NULL), type_of(value))
            except Unlike as error:
                if not skip_bad:
                    raise DatasetError(coded("GE1406", f"{path}:{number}: column '{name}' {error}"), DECLARE) from None
    return {name: with_maps(dtype) for name, dtype in found.items()}


def with_maps(dtype: DataType) -> DataType:
    """Return a type with maps of strings where it has structs without fields."""
    if pa.types.is_list(dtype):
        return pa.list_(with_maps(dtype.value_type))
    if pa.types.is_struct(dtype):
        fields = [pa.field(field.name, with_maps(field.type)) for field in dtype]
        return pa.struct(fields) if fields else pa.map_(STRING, STRING)
    return dtype


def type_of(value: Any) -> DataType:
    """Return the type of a value."""
    if isinstance(value, Digits):
        return number_type(value)
    if isinstance(value, list):
        element = NULL
        for each in value:
            element = joined(element, type_of(each))
        return pa.list_(element)
    if isinstance(value, dict):
        return pa.struct([pa.field(name, type_of(each)) for name, each in value.items()])
    return {str: STRING, bool: BOOL}.get(type(value), NULL)


def number_type(digits: Digits) -> DataType:
    """Return the type of a number as it is written."""
    if not digits.lstrip("-").isdigit():
        return FLOAT64
    value = int(digits)
    for dtype in (INT64, pa.uint64()):
        if integer_fits(value, dtype):
            return dtype
    raise Unlike(f"has the integer {digits}, which 64 bits do not hold")


def joined(left: DataType, right: DataType) -> DataType:
    """Return the type of values of both types.

    Raises
    ------
    Unlike
        Where they have none, such as a string and a number.
    """
    if right in (left, NULL):
        return left
    if left == NULL:
        return right
    if {left, right} == {INT64, pa.uint64()}:
        return pa.uint64()  # a negative number is then a bad value, with its line
    numbers = (INT64, pa.uint64(), FLOAT64)
    if left in numbers and right in numbers:
        return FLOAT64
    if pa.types.is_list(left) and pa.types.is_list(right):
        return pa.list_(joined(left.value_type, right.value_type))
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        fields = {field.name: field.type for field in left}
        for field in right:
            fields[field.name] = joined(fields.get(field.name, NULL), field.type)
        return pa.struct(list(fields.items()))
    raise Unlike(f"is {worded(right)}, and {worded(left)} in an earlier line")


def worded(dtype: DataType) -> str:
    """Return what values of a type are called in JSON."""
    if pa.types.is_list(dtype):
        return "an array"
    if pa.types.is_struct(dtype):
        return "an object"
    return {STRING: "a string", BOOL: "a boolean"}.get(dtype, "a number")
