"""The bytes of JSON lines: parts of a file that begin and end with lines, its first lines, and one line parsed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile

PART_BYTES = 1 << 26
"""Of a file without compression that are read at a time: lines that begin in them."""
MORE_BYTES = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""By the first bytes of a compressed file, whatever its name."""
NEWLINE = 10


def codec_of(source: OpenFile) -> str | None:
    """Return the codec of a file; None for text."""
    start = source.read_at(0, 4)
    return next((codec for mark, codec in CODECS.items() if start.startswith(mark)), None)


def parts_of(source: OpenFile) -> list[int]:
    """Return the bytes of the parts in which a file is read: a compressed one is a whole."""
    size = source.state.size
    if codec_of(source) is not None:
        return [size]
    return [min(PART_BYTES, size - start) for start in range(0, max(size, 1), PART_BYTES)]


def part_text(source: OpenFile, number: int) -> bytes:
    """Return the lines that begin in a part, without a byte order mark.

    Raises
    ------
    OSError
        For a file that cannot be read, or whose compressed text is damaged.
    """
    if codec_of(source) is not None:
        with text_stream(source) as stream:
            return refuse_other_text(source, bytes(stream.read())).removeprefix(BYTE_ORDER_MARK)
    start, end = number * PART_BYTES, min((number + 1) * PART_BYTES, source.state.size)
    first = line_start(source, start)
    last = line_start(source, end)
    text = source.read_at(first, last - first) if first < last else b""
    return refuse_other_text(source, text).removeprefix(BYTE_ORDER_MARK) if start == 0 else text


def line_start(source: OpenFile, at: int) -> int:
    """Return where the first line begins at a place or after it; the end of the file where none does."""
    size = source.state.size
    place = at - 1  # a line begins where another one ends
    while 0 <= place < size:
        found = source.read_at(place, MORE_BYTES).find(b"\n")
        if found >= 0:
            return place + found + 1
        place += MORE_BYTES
    return max(0, min(at, size)) if place < 0 else size


def lines_before(source: OpenFile, number: int) -> int:
    """Count the lines before a part."""
    return sum(part_text(source, part).count(b"\n") for part in range(number))


def first_lines(source: OpenFile, most: int) -> Iterator[bytes]:
    """Yield the first lines of a file."""
    with text_stream(source) as stream:
        for number, line in enumerate(io.BufferedReader(stream, MORE_BYTES)):  # type: ignore[type-var]
            if number == most:
                return
            yield refuse_other_text(source, line).removeprefix(BYTE_ORDER_MARK) if number == 0 else line


@contextmanager
def text_stream(source: OpenFile) -> Iterator[BinaryIO]:
    """Open the text of a file for the block, without its compression."""
    codec = codec_of(source)
    with source.for_arrow() as stored:
        if codec is None:
            yield stored
            return
        with pa.CompressedInputStream(stored, codec) as text:
            yield text


def refuse_other_text(source: OpenFile, text: bytes) -> bytes:
    """Return a file's text, which is not UTF-16, and not one JSON array.

    Raises
    ------
    DatasetError
        With the next step.
    """
    if text.startswith(UTF_16_MARKS):
        message = f"{source.path}: the file is UTF-16 text, not UTF-8"
        raise DatasetError(coded("GE1403", message), "Save the file as UTF-8.")
    if text.removeprefix(BYTE_ORDER_MARK)[:MORE_BYTES].lstrip()[:1] == b"[":
        message = f"{source.path} begins with an array; gpuetl reads JSON lines, with one object per line"
        hint = f"Convert it, such as by: jq -c '.[]' {source.path.name} > lines.jsonl"
        raise DatasetError(coded("GE1403", message), hint)
    return text


# One line.


class Digits(str):
    """A number as it is written."""

    __slots__ = ()


class BadLine(ValueError):
    """A line that is not one JSON object with distinct keys; the text completes "the line"."""


def parsed(line: bytes) -> dict[str, Any]:
    """Return the object that a line holds, with numbers as `Digits`.

    Raises
    ------
    BadLine
        For any other line.
    """
    try:
        value = DECODER.decode(line.rstrip(b"\r\n").decode())
    except UnicodeDecodeError:
        raise BadLine("is not UTF-8") from None
    except RecursionError:
        raise BadLine("nests too deeply") from None
    except json.JSONDecodeError as error:
        raise BadLine(f"is not valid JSON: {error.msg} at character {error.colno}") from None
    if not isinstance(value, dict):
        raise BadLine(f"is {kind_of(value)}, not an object")
    return value


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, whose keys must differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadLine(f"has the key '{twice}' twice")
    return found


def refuse_constant(text: str) -> Any:
    """Refuse NaN and infinities, which JSON does not have."""
    raise BadLine(f"has {text}, which is not JSON")


DECODER = json.JSONDecoder(
    object_pairs_hook=distinct, parse_int=Digits, parse_float=Digits, parse_constant=refuse_constant
)


def kind_of(value: object) -> str:
    """Return what a value of JSON is called."""
    if isinstance(value, Digits):
        return "a number"
    names = {str: "a string", bool: "a boolean", dict: "an object", list: "an array"}
    return names.get(type(value), "null")
