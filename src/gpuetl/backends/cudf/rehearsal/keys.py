"""The digits of keys, as the struct `Keys` in a kernel's text has them: see columns/keys.py and device/keys.cuh."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.launch import Launch, set_bits

SIGN = np.uint64(1 << 63)
KEY = re.compile(
    r"const auto x(\d+) = c\d+\[row\];\n(?:\s+digits\.flag\(\d+, (!?)x\d+\.valid\);\n)?"
    r"\s+digits\.value\(\d+, x\d+, (true|false)\);"
)


def digits_of(launch: Launch) -> tuple[list[Any], list[Any]]:
    """Return the digits (uint64) of the rows, the most significant first, and where each is known."""
    selected, rows = launch.named.get("from"), launch["rows"]
    digits: list[Any] = []
    known: list[Any] = []
    for found in KEY.finditer(launch.structs, launch.structs.rfind("struct Keys {")):
        place, first, descending = found[1], found[2], found[3] == "true"
        data, valid = column(launch, int(place), selected, rows)
        if "digits.flag" in found[0]:
            digits.append((~valid if first else valid).astype(np.uint64))
            known.append(np.ones(len(valid), bool))
        for digit in ordered(data):
            digits.append(np.where(valid, ~digit if descending else digit, np.uint64(0)))
            known.append(valid)
    return digits, known


def column(launch: Launch, place: int, selected: Any, rows: int) -> tuple[Any, Any]:
    """Return a key's values, and where they are valid."""
    data, words = launch[f"data{place}"], launch.named.get(f"bits{place}")
    valid = np.ones(len(data), bool) if words is None else set_bits(words)[: len(data)]
    return (data[:rows], valid[:rows]) if selected is None else (data[selected], valid[selected])


def ordered(data: Any) -> list[Any]:
    """Return unsigned numbers in the order of the values: two for long decimals."""
    if data.ndim == 2:
        return [data[:, 1].view(np.uint64) ^ SIGN, data[:, 0].view(np.uint64)]
    if data.dtype.kind == "f":
        bits = (data.astype(np.float64) + 0.0).view(np.uint64)
        return [np.where(bits & SIGN, ~bits, bits | SIGN)]
    if data.dtype.kind == "i":
        return [data.astype(np.int64).view(np.uint64) ^ SIGN]
    return [data.astype(np.uint64)]


def values_of(digits: Any, dtype: Any) -> Any:
    """Return the integers that are `ordered` so."""
    return ((digits ^ SIGN).view(np.int64) if dtype.kind == "i" else digits).astype(dtype)


def key_tuples(launch: Launch, struct: str, first: int) -> Iterator[Any]:
    """Yield the key of each row that a struct reads, from column `first` on; None for one that matches nothing."""
    rows, nulls_equal = launch["rows"], "all_known(digits)" not in launch.own
    fields = launch.structs.partition(f"struct {struct} {{")[2].partition("\n")[2].partition("\n")[0]
    columns = [column(launch, first + place, None, rows) for place in range(fields.count(" c"))]
    lists = [[tuple(v) if isinstance(v, list) else v for v in data.tolist()] for data, _ in columns]
    valid = [own.tolist() for _, own in columns]
    for values, there in zip(zip(*lists, strict=True), zip(*valid, strict=True), strict=True):
        if all(there):
            yield values
        else:
            yield tuple(v if t else None for v, t in zip(values, there, strict=True)) if nulls_equal else None
