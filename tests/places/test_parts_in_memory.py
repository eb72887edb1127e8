"""Parts of a file in memory: reads within a part, over several, and over what is not there."""

import io

import pyarrow as pa
import pytest

from gpuetl.places.parts_in_memory import PartsInMemory


@pytest.mark.parametrize(
    ("start", "size", "expected"),
    [
        (2, 3, b"abc"),
        (3, 1, b"b"),
        (2, 6, b"abcdef"),
        (0, 4, b"\0\0ab"),
        (7, 4, b"f\0\0x"),
        (10, 9, b"xy"),
        (12, 1, b""),
        (0, 99, b"\0\0abcdef\0\0xy"),
        (0, -1, b"\0\0abcdef\0\0xy"),
    ],
)
def test_reads(start, size, expected):
    parts = PartsInMemory(12, {5: b"def", 10: b"xy", 2: b"abc"})
    assert parts.seek(start) == start
    assert parts.read(size) == expected
    assert parts.tell() == start + len(expected)


def test_arrow_reads_it():
    with PartsInMemory(12, {5: b"def", 2: b"abc"}).for_arrow() as file:
        assert file.size() == 12
        assert file.read_at(3, 3) == b"bcd"
        assert file.read_at(3, 5) == b"def"
        file.seek(-4, io.SEEK_END)
        assert pa.py_buffer(file.read()).size == 4
