"""Schemas of Avro files: the Arrow type of each column, and how values that fastavro reads become Arrow's.

Values are read without their logical types: fastavro makes Python's dates and times of them, which end in the year 9999
and lose what they cannot hold.  Arrow takes the numbers that are stored.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa

from gpuetl.types.data_types import BOOL, DATE, FLOAT64, INT32, INT64, NULL, STRING, DataType
from gpuetl.types.decimal_types import MAX_DIGITS

AvroSchema: TypeAlias = "str | dict[str, Any] | list[Any]"
PLAIN: Mapping[str, DataType] = {
    "null": NULL, "boolean": BOOL, "int": INT32, "long": INT64, "float": pa.float32(), "double": FLOAT64,
    "bytes": pa.binary(), "string": STRING,
}  # fmt: skip
TIMES: Mapping[tuple[str, str], DataType] = {
    ("int", "date"): DATE,
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    **{
        ("long", f"timestamp-{name}"): pa.timestamp(unit, "UTC")
        for name, unit in (("millis", "ms"), ("micros", "us"), ("nanos", "ns"))
    },
    **{
        ("long", f"local-timestamp-{name}"): pa.timestamp(unit)
        for name, unit in (("millis", "ms"), ("micros", "us"), ("nanos", "ns"))
    },
}
LOGICAL_KEYS = frozenset(("logicalType", "precision", "scale"))
WIDEST_DIGITS = 76
"""Of Arrow's decimals."""
UUID_BYTES = 16


class AvroTypes:
    """The types of one file's schema: named ones are known from their first place on."""

    def __init__(self) -> None:
        self.named: dict[str, dict[str, Any]] = {}
        self.open: list[str] = []

    def type_of(self, schema: AvroSchema) -> DataType:
        """Return the Arrow type of a schema; one that no type of Arrow stands for is an opaque type with its name."""
        if isinstance(schema, list):
            return self.union(schema)
        if isinstance(schema, str):
            return PLAIN[schema] if schema in PLAIN else self.reference(schema)
        kind, logical = schema["type"], schema.get("logicalType")
        if not isinstance(kind, str):
            return self.type_of(kind)
        if kind in ("record", "enum", "fixed"):
            self.named[schema["name"]] = schema
        if kind == "record":
            return self.record(schema)
        if kind == "array":
            return nested(self.type_of(schema["items"]), pa.list_)
        if kind == "map":
            return nested(self.type_of(schema["values"]), lambda value: pa.map_(STRING, value))
        return self.logical(schema, kind, logical) or self.simple(schema, kind)

    def simple(self, schema: dict[str, Any], kind: str) -> DataType:
        """Return the type of a schema that is not nested, and has no logical type, or one that is not known."""
        if kind == "enum":
            return STRING
        if kind == "fixed":
            return pa.binary(schema["size"])
        return PLAIN[kind] if kind in PLAIN else self.reference(kind)

    def logical(self, schema: dict[str, Any], kind: str, logical: str | None) -> DataType | None:
        """Return the type of a logical type; None for none, and for one that readers must ignore."""
        if logical == "decimal" and kind in ("bytes", "fixed"):
            digits, scale = schema.get("precision", 0), schema.get("scale", 0)
            if not (0 <= scale <= digits and 1 <= digits <= WIDEST_DIGITS):
                return other(f"decimal({digits},{scale})")
            return pa.decimal128(digits, scale) if digits <= MAX_DIGITS else pa.decimal256(digits, scale)
        if logical == "uuid" and (kind == "string" or schema.get("size") == UUID_BYTES):
            return STRING
        if logical == "duration":
            return other("duration of months, days and milliseconds")
        return TIMES.get((kind, logical or ""))

    def union(self, schemas: Sequence[AvroSchema]) -> DataType:
        """Return the type of a union: with null, that of the other one."""
        others = [each for each in schemas if each != "null"]
        if len(others) > 1:
            return other(f"union of {' and '.join(map(worded, others))}")
        return self.type_of(others[0]) if others else NULL

    def record(self, schema: dict[str, Any]) -> DataType:
        """Return the type of a record inside of the one that a row is."""
        if schema["name"] in self.open:
            return other(f"record {schema['name']} that holds itself")
        self.open.append(schema["name"])
        fields = [(field["name"], self.type_of(field["type"])) for field in schema["fields"]]
        self.open.pop()
        return next((dtype for _, dtype in fields if is_other(dtype)), None) or pa.struct(fields)

    def reference(self, name: str) -> DataType:
        """Return the type of a named schema."""
        return self.type_of(self.named[name]) if name in self.named else other(f"unknown type {name}")


def columns_of(schema: AvroSchema) -> dict[str, DataType]:
    """Return the columns of a file.

    Raises
    ------
    ValueError
        For a schema whose rows are no records.
    """
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ValueError(f"its rows are not records, but {worded(schema)}")
    types = AvroTypes()
    types.named[schema["name"]] = schema
    types.open.append(schema["name"])
    return {field["name"]: types.type_of(field["type"]) for field in schema["fields"]}


def other(name: str) -> DataType:
    """Return what stands for a type that Arrow does not have."""
    return pa.opaque(pa.sparse_union([]), name, "avro")


def is_other(dtype: DataType) -> bool:
    """Tell whether a type stands for one that Arrow does not have."""
    return isinstance(dtype, pa.OpaqueType)


def nested(inner: DataType, outer: Callable[[DataType], DataType]) -> DataType:
    """Return a type of values of an inner type; the inner one where Arrow does not have it."""
    return inner if is_other(inner) else outer(inner)


def worded(schema: AvroSchema) -> str:
    """Return the name of a schema."""
    if isinstance(schema, list):
        return "a union"
    return schema if isinstance(schema, str) else str(schema.get("logicalType") or schema.get("name") or schema["type"])


def plain_schema(schema: AvroSchema) -> AvroSchema:
    """Return a schema without logical types: its values are those that are stored."""
    if isinstance(schema, list):
        return [plain_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: value for key, value in schema.items() if key not in LOGICAL_KEYS}
    for key in ("items", "values"):
        if key in own:
            own[key] = plain_schema(own[key])
    if not isinstance(own["type"], str):
        own["type"] = plain_schema(own["type"])
    if "fields" in own:
        own["fields"] = [{**field, "type": plain_schema(field["type"])} for field in own["fields"]]
    return own


def column_of(values: Sequence[Any], dtype: DataType) -> pa.Array:
    """Return stored values as a column.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a decimal of more digits than its type.
    """
    change = converter(dtype)
    return pa.array(values if change is None else [None if v is None else change(v) for v in values], dtype)


def converter(dtype: DataType) -> Callable[[Any], Any] | None:
    """Return what makes a stored value one that Arrow takes for a type; None where it is one."""
    if pa.types.is_decimal(dtype):
        return lambda value: decimal_of(int.from_bytes(value, "big", signed=True), dtype.scale)
    if dtype == STRING:
        return lambda value: str(uuid.UUID(bytes=value)) if isinstance(value, bytes) else value
    if pa.types.is_list(dtype):
        inner = converter(dtype.value_type)
        return inner and (lambda values: [None if value is None else inner(value) for value in values])
    if pa.types.is_map(dtype):
        item = converter(dtype.item_type) or (lambda value: value)
        return lambda found: [(key, None if value is None else item(value)) for key, value in found.items()]
    if pa.types.is_struct(dtype):
        own = {field.name: converter(field.type) or (lambda value: value) for field in dtype}
        return lambda row: {name: None if row[name] is None else change(row[name]) for name, change in own.items()}
    return None


def decimal_of(unscaled: int, scale: int) -> Decimal:
    """Return a decimal of any number of digits: Python's arithmetic rounds to 28."""
    return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -scale))
