"""Scans for the NumPy twins of kernels: a user's operator over the rows of each group, without a loop over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.relational.segmented_scans import Combine, Segments, States


def scan_groups(offsets: NDArray[Any], combine: Combine, *states: NDArray[Any]) -> States:
    """Return, for each row, the states of the rows of its group up to and with it, combined in their order.

    `combine` is called with whole arrays, blocks of all groups side by side: O(rows) work in some 64 calls for each
    level of blocks, of which there are log64 of the longest group's rows.  It must be associative.  A sum of floats is
    within 65 * levels * 2^-53 * Σ|x| of the exact one, and the same in every run.

    Parameters
    ----------
    offsets
        Where each group begins, and the number of rows, as a twin gets them.
    combine
        Takes the fields of the earlier rows' states and of the later rows', each as a tuple of arrays of one length,
        and returns those of both together.
    states
        An array for each field: the states of the rows by themselves.

    Raises
    ------
    ValueError
        Where `combine` gives more or fewer fields.
    TypeError
        Where it gives other types, which would be rounded or cut.
    """

    def checked(earlier: States, later: States) -> States:
        combined = tuple(map(np.asarray, combine(earlier, later)))
        if len(combined) != len(states):
            raise ValueError(f"combine gave {len(combined)} fields of a state that has {len(states)}")
        for place, (field, state) in enumerate(zip(combined, states, strict=True)):
            if field.dtype != state.dtype:
                raise TypeError(f"combine gave {field.dtype} for field {place} of the state, which is {state.dtype}")
        return combined

    return Segments(np.asarray(offsets[:-1], np.int64), int(offsets[-1])).scan(checked, *states)
