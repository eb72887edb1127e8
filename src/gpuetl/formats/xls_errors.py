"""The cells of an .xls sheet that have an error, which python-calamine reads as empty.

Sources: [MS-CFB], the container of files with sectors, and [MS-XLS], the records of a workbook.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HEADER_BYTES, ENTRY_BYTES, LAST_SECTOR = 512, 128, 0xFFFFFFFA
STREAMS = ("Workbook", "Book")
FORMULA, END, SHEET, BOOLEAN_OR_ERROR, BEGIN = 0x0006, 0x000A, 0x0085, 0x0205, 0x0809
ERRORS: Mapping[int, str] = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A",
}  # fmt: skip


def xls_errors(data: bytes, sheet: str) -> dict[tuple[int, int], str]:
    """Return the errors of a sheet by row and column, counted from 0.

    Raises
    ------
    ValueError
        For a file that is not read here, such as one whose sheet has another name in it.
    """
    try:
        stream = workbook_stream(data)
        for kind, record in records(stream, 0):
            if kind == SHEET and name_of(record) == sheet:
                (start,) = struct.unpack_from("<I", record)
                return dict(errors_from(stream, start))
    except (struct.error, IndexError, UnicodeDecodeError):
        raise ValueError("its records end early") from None
    raise ValueError(f"it has no record of the sheet '{sheet}'")


def errors_from(stream: bytes, start: int) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the errors of the sheet that begins at a place; charts inside of it have records of their own."""
    depth = 0
    for kind, record in records(stream, start):
        depth += (kind == BEGIN) - (kind == END)
        if kind == END and depth == 0:
            return
        code = None
        if kind == BOOLEAN_OR_ERROR and record[7]:
            code = record[6]
        elif kind == FORMULA and record[12:14] == b"\xff\xff" and record[6] == 2:
            code = record[8]
        if code is not None and depth == 1:
            yield struct.unpack_from("<HH", record), ERRORS.get(code, f"error {code}")
    raise ValueError("its sheet has no end")


def records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a workbook from a place on: their kind, and their content."""
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def name_of(record: bytes) -> str:
    """Return the name in the record of a sheet: of bytes, or of pairs of bytes."""
    count, wide = record[6], record[7] & 1
    return record[8 : 8 + 2 * count].decode("utf-16-le") if wide else record[8 : 8 + count].decode("latin-1")


def workbook_stream(data: bytes) -> bytes:
    """Return the stream of a container that holds the workbook.

    Raises
    ------
    ValueError
        For what is no container, has no workbook, or has one so short that it is stored in another way.
    """
    if not data.startswith(MAGIC):
        raise ValueError("it is no container of an .xls workbook")
    (shift,) = struct.unpack_from("<H", data, 30)
    directory, _, least = struct.unpack_from("<III", data, 48)
    sector = 1 << min(shift, 16)
    table = sector_table(data, sector)
    entries = chain(data, sector, table, directory)
    for at in range(0, len(entries) - ENTRY_BYTES + 1, ENTRY_BYTES):
        (length,) = struct.unpack_from("<H", entries, at + 64)
        name = entries[at : at + max(length - 2, 0)].decode("utf-16-le")
        start, size = struct.unpack_from("<II", entries, at + 116)
        if name in STREAMS and size >= least:
            return chain(data, sector, table, start)[:size]
    raise ValueError("it has no workbook of the usual size")


def sector_table(data: bytes, sector: int) -> list[int]:
    """Return which sector follows each; the sectors of this table are listed in the header, and in a chain."""
    listed = list(struct.unpack_from("<109I", data, 76))
    following, count = struct.unpack_from("<II", data, 68)
    for _ in range(min(count, len(data) // sector)):
        more = struct.unpack_from(f"<{sector // 4}I", data, HEADER_BYTES + following * sector)
        listed += more[:-1]
        following = more[-1]
    numbers = list[int]()
    for number in listed:
        if number < LAST_SECTOR:
            numbers += struct.unpack_from(f"<{sector // 4}I", data, HEADER_BYTES + number * sector)
    return numbers


def chain(data: bytes, sector: int, table: list[int], number: int) -> bytes:
    """Return the bytes of sectors that follow each other.

    Raises
    ------
    ValueError
        For sectors that go in a circle.
    """
    parts = list[bytes]()
    while number < LAST_SECTOR:
        at = HEADER_BYTES + number * sector
        parts.append(data[at : at + sector])
        number = table[number]
        if len(parts) > len(table):
            raise ValueError("its sectors go in a circle")
    return b"".join(parts)
