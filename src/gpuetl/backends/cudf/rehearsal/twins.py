"""What kernels write that decides how a run goes on: which rows are kept, found or null, and how far keys range.

A twin does for a few rows what the kernel of its name does, by NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.computed import compute, elementwise, finish, windows
from gpuetl.backends.cudf.rehearsal.keys import digits_of, key_tuples, values_of
from gpuetl.backends.cudf.rehearsal.launch import Launch
from gpuetl.backends.cudf.rehearsal.texts import measure_text, write_bytes

ALL = (1 << 64) - 1
STATE_BYTES = 64
LEAST_MET = 8
"""Of so many rows one finds its partner at least."""


def write(launch: Launch) -> None:
    """Write the bytes of texts."""
    if "bytes" in launch:
        write_bytes(launch)


def measure(launch: Launch) -> None:
    """Measure keys, or the sizes of texts."""
    if "bits" in launch:
        measure_text(launch)
        return
    digits, known = digits_of(launch)
    places = launch["places"]
    for place, (digit, valid) in enumerate(zip(digits, known, strict=True)):
        if valid.any():
            least, greatest = int(digit[valid].min()), int(digit[valid].max())
            places[2 * place] = ALL - least
            narrow = (greatest - least) // launch.rehearsed.rows_a_row
            places[2 * place + 1] = max(least + narrow, min(greatest, least + len(digit)))
    order = np.lexsort(digits[::-1])
    places[-1] = bool((order != np.arange(len(order))).any())


def pack(launch: Launch) -> None:
    """Pack digits of keys into words."""
    digits, known = digits_of(launch)
    for place, words in launch.like("w"):
        text = launch.text_of(rf"w{place}\[row\] = ")
        parts = [
            np.where(known[d], digits[d] - np.uint64(launch[f"least{d}"] & ALL), 0) << np.uint64(launch[f"shift{d}"])
            for d in map(int, re.findall(r"least(\d+)", text))
        ]
        words[:] = np.bitwise_or.reduce(parts)


def mark(launch: Launch) -> None:
    """Mark rows that differ from the one before, in words or in columns; write columns of keys from words."""
    if "order" in launch:
        words = {place: each[launch["order"]] for place, each in launch.like("w")}
    else:
        words = dict(enumerate(digits_of(launch)[0]))
    ties = launch["rows"]
    for place, marks in launch.like("m"):
        text, marks[:1] = launch.text_of(rf"\bd{place} = "), 1
        for digit in range(int(text.partition("before, ")[2].partition(")")[0] or 0)):
            marks[1:] |= words[digit][1:] != words[digit][:-1]
        for each in re.findall(r"x(\d+)(?: >> shift)? !=", text):
            shifted = words[int(each)].astype(np.uint64) >> np.uint64(launch["shift"] if f"x{each} >>" in text else 0)
            marks[1:] |= shifted[1:] != shifted[:-1]
        ties = launch["rows"] - np.count_nonzero(marks)
    launch["ties"][0] = ties
    for digit, values in launch.like("r"):
        text = launch.text_of(rf"r{digit}\[row\] = ")
        least, shift, mask = (np.uint64(launch[f"{name}{digit}"] & ALL) for name in ("least", "shift", "mask"))
        found = least + (words[int(re.findall(r"x(\d+)", text)[0])].astype(np.uint64) >> shift & mask)
        values[:] = values_of(~found if "~" in text else found, values.dtype)


def build(launch: Launch) -> None:
    """Give each key a slot."""
    slots: dict[Any, int] = {}
    for row, key in enumerate(key_tuples(launch, "Keys", 0)):
        if key is None:
            launch["slots"][row] = -1
            continue
        slot = slots.setdefault(key, len(slots))
        launch["slots"][row] = slot
        if launch["owners"][slot] >= 0:
            launch["repeated"][0] = 1
        else:
            launch["owners"][slot] = row
    launch.rehearsed.tables[launch["owners"].ctypes.data] = (launch["owners"], slots)


def find(launch: Launch) -> None:
    """Find keys; where the few rows of two large tables hardly meet, every second one is found."""
    owners, slots = launch.rehearsed.tables[launch["owners"].ctypes.data]
    found = np.array([slots.get(key, -1) for key in key_tuples(launch, "OtherKeys", 0)], np.int32)
    if slots and np.count_nonzero(found >= 0) < len(found) // LEAST_MET:
        found[::2] = np.arange(len(found[::2])) % len(slots)
    launch["found"][:] = found if launch["want_slots"] else np.where(found < 0, -1, owners[found])
    launch["count"][0] = np.count_nonzero(found >= 0)


def state_bytes(launch: Launch) -> None:
    """Make up a size."""
    launch["size"][0] = STATE_BYTES


TWINS: dict[str, Callable[[Launch], None]] = {
    "build": build, "compute": compute, "elementwise": elementwise, "find": find,
    "finish": finish, "fold_frames": windows, "mark": mark, "measure": measure, "pack": pack,
    "scan": windows, "state_bytes": state_bytes, "write": write,
}  # fmt: skip
"""By the names of kernels; others decide nothing."""
