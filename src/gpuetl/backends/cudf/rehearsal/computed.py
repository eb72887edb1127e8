"""Twins of kernels that compute columns: values are made up, since texts of other kernels depend on types alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.launch import Launch, set_valid

VALUES, RESULTS = 8, 1 << 16
"""The distinct values of columns that are made up: few, as keys by which one groups have; and those of aggregates."""
MIX, WORD = 2_654_435_761, (1 << 32) - 1
"""By which rows are mixed: Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4)."""


def compute(launch: Launch) -> None:
    """Make up values, null where a column is if they can be; every second boolean is true, if all have values."""
    valid = launch.valid_in()
    for _, values in launch.like("r"):
        values[:] = made_up(values, valid, 2 if values.dtype == np.uint8 else VALUES)
    for place, (_, words) in enumerate(launch.like("s")):
        if not isinstance(words, int):
            set_valid(words, valid)
            launch["nulls"][place] = np.count_nonzero(~valid)


def elementwise(launch: Launch) -> None:
    """Make up values, null where an input is."""
    valid = launch.valid_in()
    for place, values in launch.like("r"):
        values[:] = made_up(values, valid, VALUES)
        set_valid(launch[f"s{place}"], valid)
        launch["nulls"][place] = np.count_nonzero(~valid)


def made_up(values: Any, valid: Any, distinct: int) -> Any:
    """Return values of so few different ones, 0 for null; floats from 1 on, from which 0 is far."""
    mixed = (np.arange(len(values)) * MIX & WORD) >> 16
    numbers = np.where(valid, mixed % distinct + (values.dtype.kind == "f"), 0)
    return numbers[:, None] if values.ndim == 2 else numbers  # long decimals: any will do


def finish(launch: Launch) -> None:
    """Make up the results of groups, which range more widely than keys do."""
    if "result" in launch:
        launch["result"][:] = made_up(launch["result"], True, RESULTS)
        set_valid(launch["bits"], np.ones(launch["rows"], bool))
    for place, values in launch.like("r"):
        values[:] = made_up(values, True, RESULTS)
        set_valid(launch[f"s{place}"], np.ones(launch["rows"], bool))


def windows(launch: Launch) -> None:
    """Make up what windows write, but for row numbers: null where a column is."""
    outputs, valid = dict(launch.like("r")), launch.valid_in()
    for place, values in outputs.items():
        if f"b{place}" not in launch:
            continue
        values[:] = made_up(values, valid, VALUES)
        set_valid(launch[f"b{place}"], valid)
        launch["state"][len(launch["state"]) - len(outputs) + place] = np.count_nonzero(~valid)
    for _, flags in launch.like("s"):
        flags[:] = 1
