"""Twins of kernels that compute columns: values are made up, since other kernels depend on types and nulls alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.launch import Launch, set_valid
from gpuetl.backends.cudf.rehearsal.nulls import group_validity, validity

VALUES, RESULTS = 8, 1 << 16
"""The distinct values of columns that are made up: few, as keys by which one groups have; and those of aggregates."""
MIX, WORD = 2_654_435_761, (1 << 32) - 1
"""By which rows are mixed: Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4)."""


def compute(launch: Launch) -> None:
    """Make up values, null where their text says so; every second truth value is true, if all columns have values."""
    nulls = []
    for place, values in launch.like("r"):
        nullable = f"s{place}" in launch
        valid = validity(launch, f"g{place}") if nullable else np.ones(launch["rows"], bool)
        truth = f"uint8_t* r{place}" in launch.own
        values[:] = made_up(values, launch.valid_in(), 2) if truth else made_up(values, valid, VALUES)
        if nullable:
            set_valid(launch[f"s{place}"], valid)
            nulls.append(np.count_nonzero(~valid))
    if nulls:
        launch["nulls"][:] = nulls


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
        valid = group_validity(launch, place)
        values[:] = made_up(values, valid, RESULTS)
        set_valid(launch[f"s{place}"], valid)
        launch["nulls"][place] = np.count_nonzero(~valid)


def windows(launch: Launch) -> None:
    """Make up what windows write: null where a column is that must not be, or where they look at another row."""
    outputs = dict(launch.like("r"))
    for place, values in outputs.items():
        if f"b{place}" not in launch:
            continue
        made, told = launch.text_of(rf"const auto o{place} = "), launch.text_of(rf"\bg{place} = (?!false)")
        valid = launch.valid_in({int(column) for column in re.findall(r"c(\d+)\.valid", told)})
        valid[:1] &= re.match(r"moved|difference|relative_change", made) is None
        values[:] = made_up(values, valid, VALUES)
        set_valid(launch[f"b{place}"], valid)
        launch["state"][len(launch["state"]) - len(outputs) + place] = np.count_nonzero(~valid)
    for _, flags in launch.like("s"):
        flags[:] = 1
