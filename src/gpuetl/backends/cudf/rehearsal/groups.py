"""Twins of kernels that look for groups among rows in order: see aggregates/edges.py and aggregates/quantiles.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.computed import RESULTS, made_up
from gpuetl.backends.cudf.rehearsal.launch import Launch, set_valid
from gpuetl.backends.cudf.rehearsal.nulls import few_a_group


def find_edges(launch: Launch) -> None:
    """Write the place of each group's first or last row, -1 where it has none."""
    bounds = bounds_of(launch)
    starts, ends = bounds[:-1], bounds[1:]
    launch["places"][:] = np.where(starts == ends, -1, ends - 1 if launch["last"] else starts)


def measure_groups(launch: Launch) -> None:
    """Write how many rows each group has."""
    launch["sizes"][:] = np.diff(bounds_of(launch))


def find_rows(launch: Launch) -> None:
    """Write the rows' numbers at places."""
    places = launch["places"]
    there = places >= 0
    launch["found"][:] = -1
    launch["found"][there] = launch["rows"][places[there]]


def find_quantiles(launch: Launch) -> None:
    """Make up quantiles; where rows are null and groups have few, some group has but nulls."""
    groups = launch["groups"]
    valid = np.ones(groups, bool)
    if groups > 1 and launch["rows"] < len(launch["values"]) and few_a_group(groups):
        valid[1] = False
    launch["found"][:] = made_up(launch["found"], valid, RESULTS)
    set_valid(launch["words"], valid)
    launch["nulls"][0] = np.count_nonzero(~valid)


def bounds_of(launch: Launch) -> Any:
    """Return where each group begins, and where the last one ends."""
    return np.searchsorted(launch["codes"], np.arange(launch["groups"] + 1))
