"""Bytes as text and back, computed once for each distinct value."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import NOT_BASE64, NOT_HEX, NOT_UTF8, not_valid
from gpuetl.engines.pandas.columns.column import over_columns
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import BINARY, INT64, STRING, UUID, DataType


def of_distinct(compute: Callable[[Any], Any], dtype: DataType, values: Any) -> Any:
    """Return what is computed of each value, once for equal ones."""

    def column_of(column: Any) -> Any:
        encoded = column.dictionary_encode()
        computed = [None if value is None else compute(value) for value in encoded.dictionary.to_pylist()]
        return pa.array(computed, dtype).take(encoded.indices)

    return over_columns(column_of, values)


def bytes_of(value: str | bytes) -> bytes:
    """Return bytes, of a string its UTF-8."""
    return value.encode() if isinstance(value, str) else value


def hex_digits(value: str | bytes | int) -> str:
    """Return the digits of bytes, or of an integer's bits."""
    return f"{value % (1 << 64):X}" if isinstance(value, int) else bytes_of(value).hex().upper()


def from_hex(text: str) -> bytes:
    """Return the bytes of pairs of hexadecimal digits; Python allows spaces between them."""
    if not HEX.fullmatch(text):
        raise EvaluationError(NOT_HEX)
    return bytes.fromhex(text)


HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")


def from_base64(text: str) -> bytes:
    """Return the bytes of base64; bits that padding leaves over count nothing, as in Python."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError(NOT_BASE64) from None


def text_of(value: bytes) -> str:
    """Return the string of UTF-8 bytes."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError(NOT_UTF8) from None


# UUIDs and their text, for casts.


UUID_TEXT = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"


def uuids_from_text(values: Any, dtype: DataType) -> Any:
    """Read UUIDs of five groups of hexadecimal digits; raise `EvaluationError` for other text."""
    return of_distinct(_uuid, dtype, values)


def _uuid(text: str) -> bytes:
    if not re.fullmatch(UUID_TEXT[1:-1], text):
        raise EvaluationError(not_valid("uuid"))
    return bytes.fromhex(text.replace("-", ""))


def texts_of_uuids(values: Any) -> Any:
    """Write UUIDs in lower case."""

    def text(value: bytes) -> str:
        digits = value.hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    return of_distinct(text, STRING, values.cast(UUID))


# Binary and its text with escapes such as `\\xAA`, for casts.


ESCAPED = re.compile(r"(?:[\x00-\x5B\x5D-\x7F]|\\x[0-9a-fA-F]{2})*")
BYTE = re.compile(r"\\x(..)", re.DOTALL)
PLAIN = frozenset(range(32, 127)) - set(b"\\'\"")
"""Bytes that stand for themselves in the text that is written."""


def bytes_from_text(values: Any, dtype: DataType) -> Any:
    r"""Read ASCII, and bytes such as `\xAA`; raise `EvaluationError` for other text."""
    return of_distinct(_unescaped, dtype, values)


def _unescaped(text: str) -> bytes:
    if not ESCAPED.fullmatch(text):
        raise EvaluationError(not_valid("binary"))
    return BYTE.sub(lambda hit: chr(int(hit[1], 16)), text).encode("latin-1")


def texts_of_bytes(values: Any) -> Any:
    r"""Write printable ASCII as it is, and all other bytes, quotes and backslashes as `\xAA`."""
    escaped = [chr(byte) if byte in PLAIN else f"\\x{byte:02X}" for byte in range(256)]
    return of_distinct(lambda value: "".join(map(escaped.__getitem__, value)), STRING, values)


HANDLERS: dict[str, Callable[..., Any]] = {
    "hex": partial(of_distinct, hex_digits, STRING),
    "bit_length": lambda x: pc.multiply(pc.cast(pc.binary_length(x), INT64), 8),
    "unhex": partial(of_distinct, from_hex, BINARY),
    "to_base64": partial(of_distinct, lambda value: base64.b64encode(bytes_of(value)).decode(), STRING),
    "from_base64": partial(of_distinct, from_base64, BINARY),
    "encode": partial(of_distinct, bytes_of, BINARY),
    "decode": partial(of_distinct, text_of, STRING),
}
