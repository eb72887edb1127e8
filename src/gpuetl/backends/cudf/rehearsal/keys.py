"""Twins of the closed kernels over keys. They read digits by their addresses, as device/keys.cuh does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuetl.backends.cudf.columns.keys import FLAG, FLOATING, SIGNED, kernel_digits
from gpuetl.backends.cudf.columns.layout import ALL, SIGN
from gpuetl.backends.cudf.columns.unpacked import OUTPUT_WORDS
from gpuetl.backends.cudf.machine import Struct
from gpuetl.backends.cudf.rehearsal.closed import memory, valid_rows
from gpuetl.backends.cudf.rehearsal.launch import Rehearsed

DIGIT_WORDS = PLACE_WORDS = 3
LEAST_MET = 8
"""At least one of 8 rows finds its partner."""


@dataclass(frozen=True, eq=False)
class Digits:
    """The digits (uint64) of rows, the most significant first; where each is known; and the words after the keys."""

    of: list[Any]
    known: list[Any]
    more: list[int]

    @classmethod
    def read(cls, rehearsed: Rehearsed, rows: int, struct: Struct) -> Digits:
        """Read the digits that a struct describes first."""
        selected, size, count, *words = struct.words.view(np.uint64).tolist()
        numbers = np.arange(rows)
        if selected:
            numbers = memory(selected, rehearsed.sizes[selected]).view(f"int{8 * size}")[:rows]
        own = [digit_of(rehearsed, numbers, *each) for each in in_tuples(words[: DIGIT_WORDS * count], DIGIT_WORDS)]
        more = words[DIGIT_WORDS * kernel_digits(count) :]
        return cls([digit for digit, _ in own], [known for _, known in own], more)

    def places(self) -> Iterator[tuple[Any, Any, int, int, int, int, int]]:
        """Yield each digit, where it is known, and its place: least value, address of its word, bits, shift, more."""
        for digit, known, place in zip(self.of, self.known, in_tuples(self.more, PLACE_WORDS), strict=False):
            yield digit, known, place[0], place[1], place[2] & 0xFF, place[2] >> 8 & 0xFF, place[2] >> 16

    def tuples(self, nulls_equal: int) -> list[tuple[int, ...] | None]:
        """Return the key of each row, None for one that matches nothing."""
        there = np.logical_and.reduce(self.known) | bool(nulls_equal)
        keys = zip(*(digit.tolist() for digit in self.of), strict=True)
        return [key if found else None for key, found in zip(keys, there.tolist(), strict=True)]


def in_tuples(words: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Yield tuples of `size` words."""
    return zip(*[iter(words)] * size, strict=False)


def digit_of(rehearsed: Rehearsed, rows: Any, data: int, words: int, kind: int) -> tuple[Any, Any]:
    """Return a digit of rows, and where it is known."""
    size, order, flipped = kind & 0xFF, kind >> 8 & 0xFF, bool(kind >> 16)
    valid = np.ones(len(rows), bool)
    if words:
        bits = valid_rows(words, rehearsed.sizes[words] * 8)
        valid = bits[np.minimum(rows, len(bits) - 1)]
    if order == FLAG:
        return (valid != flipped).astype(np.uint64), np.ones(len(rows), bool)
    high = size == 16 and order == SIGNED
    start = data - 8 * high
    stored = memory(start, rehearsed.sizes[start]).view(f"u{min(size, 8)}").reshape(-1, max(1, size // 8))[:, int(high)]
    digit = ordered(stored[np.minimum(rows, len(stored) - 1)], order)  # numbers that are made up may be too large
    return np.where(valid, ~digit if flipped else digit, np.uint64(0)), valid


def ordered(bits: Any, order: int) -> Any:
    """Return the bits of values as unsigned numbers in the order of the values."""
    if order == FLOATING:
        floats = bits.view(f"f{bits.itemsize}") + 0.0
        sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
        found = floats.view(bits.dtype)
        return np.where(np.isnan(floats), ~sign | sign, np.where(found & sign, ~found, found | sign)).astype(np.uint64)
    if order == SIGNED:
        return bits.view(f"i{bits.itemsize}").astype(np.int64).view(np.uint64) ^ np.uint64(SIGN)
    return bits.astype(np.uint64)


def measure_keys(rehearsed: Rehearsed, rows: int, differ: Any, places: Any, struct: Struct) -> None:
    """Measure digits. A row stands for several rows of the run, so their range is narrowed."""
    keys = Digits.read(rehearsed, rows, struct)
    for place, (digit, known) in enumerate(zip(keys.of, keys.known, strict=True)):
        if known.any():
            least, greatest = int(digit[known].min()), int(digit[known].max())
            places[2 * place] = ALL - least
            narrow = (greatest - least) // rehearsed.rows_a_row
            places[2 * place + 1] = max(least + narrow, min(greatest, least + rows))
    before = [] if isinstance(differ, int) else [np.cumsum(differ)]
    order = np.lexsort([*keys.of[::-1], *before])
    places[2 * len(keys.of)] = bool((order != np.arange(rows)).any())


def pack_keys(rehearsed: Rehearsed, rows: int, struct: Struct) -> None:
    """Pack digits into words."""
    made = np.zeros(rows, np.uint64)
    for digit, known, least, target, bits, shift, more in Digits.read(rehearsed, rows, struct).places():
        made |= np.where(known, digit - np.uint64(least), np.uint64(0)) << np.uint64(shift)
        if target:
            words = memory(target, rows * bits // 8).view(f"uint{bits}")
            words[:] = made | words if more else made
            made[:] = 0


def mark_keys(rehearsed: Rehearsed, rows: int, more: int, ties: Any, groups: Any, values: Any, struct: Struct) -> None:
    """Mark rows that differ from the one before; write columns of keys from words."""
    keys = Digits.read(rehearsed, rows, struct)
    leading, shift, count, *outputs = keys.more
    group = keys.of[:leading]
    if 0 < leading <= len(keys.of):
        group[-1] = group[-1] >> np.uint64(shift)
    for marks, digits in ((groups, group), (values, keys.of)):
        if isinstance(marks, int):
            continue
        marks[:] = marks if more else 0
        marks[:1] = 1
        for digit in digits:
            marks[1:] |= digit[1:] != digit[:-1]
    if not isinstance(ties, int):
        ties[0] = rows - np.count_nonzero(values)
    for target, least, mask, turned, kind in in_tuples(outputs[: OUTPUT_WORDS * count], OUTPUT_WORDS):
        size, digit = kind >> 16, keys.of[kind & 0xFF]
        found = np.uint64(least) + (digit >> np.uint64(kind >> 8 & 0xFF) & np.uint64(mask))
        memory(target, rows * size).view(f"uint{8 * size}")[:] = found ^ np.uint64(turned)


def build(rehearsed: Rehearsed, rows: int, *given: Any) -> None:
    """Give each key a slot."""
    nulls_equal, owners, own, repeated, struct = given[-5:]
    slots: dict[Any, int] = {}
    for row, key in enumerate(Digits.read(rehearsed, rows, struct).tuples(nulls_equal)):
        if key is None:
            own[row] = -1
            continue
        slot = slots.setdefault(key, len(slots))
        own[row] = slot
        if owners[slot] >= 0:
            repeated[0] = 1
        else:
            owners[slot] = row
    rehearsed.tables[owners.ctypes.data] = (owners, slots)


def find(rehearsed: Rehearsed, rows: int, *given: Any) -> None:
    """Find keys. If few rows of the samples match, pretend that every second one does."""
    nulls_equal, want_slots, owners, found, count, struct = given[-6:]
    _, slots = rehearsed.tables[owners.ctypes.data]
    keys = Digits.read(rehearsed, rows, struct).tuples(nulls_equal)
    own = np.array([slots.get(key, -1) for key in keys], np.int32)
    if slots and np.count_nonzero(own >= 0) < len(own) // LEAST_MET:
        own[::2] = np.arange(len(own[::2])) % len(slots)
    found[:] = own if want_slots else np.where(own < 0, -1, owners[own])
    count[0] = np.count_nonzero(own >= 0)


KEY_TWINS: dict[str, Callable[..., None]] = {
    "measure_keys": measure_keys, "pack_keys": pack_keys, "mark_keys": mark_keys, "build_by_code": build,
    "build_by_hash": build, "find_by_code": find, "find_by_hash": find,
}  # fmt: skip
"""By the names of kernels, without the number of digits at their end."""
