"""Join: equal keys get equal codes; each left row takes the right rows of its code."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.backends.cudf.columns.concat import stacked
from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.joins.checks import check_size, check_unique
from gpuetl.backends.cudf.joins.keys import KeyCodes, encoded_keys
from gpuetl.backends.cudf.joins.rows import Pairs, count_codes, has_match, paired
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.operation import run_operation
from gpuetl.plan.nodes import Join


@run_operation.register
def join_frames(operation: Join, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Join two frames.

    Rows come in the order of the left ones, then of the right ones; a full join's right rows without a match come last.

    Raises
    ------
    EvaluationError
        Where `validate` is broken, or the result would have 2^31 rows or more, or not fit the device's memory.
    """
    arrays = machine.arrays
    none = arrays.zeros(0, "int64")
    if operation.how == "cross":
        return combined(operation, left, right, every_pair(operation, left, right, machine), none, machine)
    keys = encoded_keys(operation, left, right, machine)
    for side, (frame, codes) in enumerate(((left, keys.left), (right, keys.right))):
        if operation.unique[side]:
            check_unique(operation, side, frame, codes, keys.size, machine)
    if operation.how in ("semi", "anti"):
        kept = has_match(keys.left, keys.right, keys.size, machine) == (operation.how == "semi")
        return combined(operation, left, right, Pairs(arrays.nonzero(kept)[0], none), none, machine)
    lonely = none
    if operation.how == "full":
        lonely = arrays.nonzero(~has_match(keys.right, keys.left, keys.size, machine))[0]
    pairs = matching_pairs(operation, left, right, keys, len(lonely), machine)
    return combined(operation, left, right, pairs, lonely, machine)


def every_pair(operation: Join, left: Frame, right: Frame, machine: Machine) -> Pairs:
    """Pair every left row with every right one."""
    total = left.rows * right.rows
    check_size(operation, left, right, total, machine)
    places = machine.arrays.arange(total)
    count = max(1, right.rows)
    return Pairs(places // count, places % count)


def matching_pairs(operation: Join, left: Frame, right: Frame, keys: KeyCodes, more: int, machine: Machine) -> Pairs:
    """Pair rows of equal keys, after looking whether that many, and `more`, fit."""
    counts = count_codes(keys.right, keys.size, machine)
    repeats = counts[keys.left]
    if operation.how != "inner":
        repeats = machine.arrays.maximum(repeats, 1)
    total = int(repeats.sum())
    check_size(operation, left, right, total + more, machine, keys)
    return paired(keys, counts, repeats, total, machine)


def combined(operation: Join, left: Frame, right: Frame, pairs: Pairs, lonely: Array, machine: Machine) -> Frame:
    """Put the columns of paired rows beside each other, and below them the right rows that are alone."""
    keys = dict(zip(operation.left_on, operation.right_on, strict=True))
    wanted = {name: right.columns[name] for name in operation.schema if name not in left.columns}
    ours = {name: left.columns[name] for name in operation.schema if name in left.columns}
    columns = dict(ours) if pairs.left is None else take(ours, pairs.left, machine)
    rows = left.rows if pairs.left is None else len(pairs.left)
    if len(lonely):
        below = take({name: right.columns[keys[name]] for name in ours if name in keys}, lonely, machine)
        for name, vector in columns.items():
            alone = below[name] if name in below else from_arrow(pa.nulls(len(lonely), vector.dtype), machine)
            columns[name] = stacked([vector, alone], machine)
    others = machine.arrays.concatenate([pairs.right, lonely]) if len(lonely) else pairs.right
    columns |= take(wanted, others, machine)
    return Frame({name: columns[name] for name in operation.schema}, rows + len(lonely))
