"""Join: the right side's rows are put into a table by key, in which each left row finds its partners."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import joined, scan
from gpuetl.engines.cudf.columns.compact import NEGATIVE, NOT_NEGATIVE, numbers_where
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kinds
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.interchange import from_arrow
from gpuetl.engines.cudf.joins.checks import check_size, check_unique
from gpuetl.engines.cudf.joins.keys import comparable_texts, join_keys
from gpuetl.engines.cudf.joins.lookup import lookup_of
from gpuetl.engines.cudf.joins.rows import KeyCodes, Pairs, count_codes, lonely_rows, paired, single_partners
from gpuetl.engines.cudf.machine import Array, Machine, Text
from gpuetl.engines.cudf.operation import Needed, passed, programs, run_operation
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
    none = arrays.zeros(0, "int32")
    if operation.how == "cross":
        return combined(operation, left, right, every_pair(operation, left, right, machine), none, machine)
    keys = join_keys(operation, left, right, machine)
    lookup = lookup_of(keys, machine)
    check_unique(operation, (left, right), keys, lookup, machine)
    if operation.how in ("semi", "anti"):
        found, _ = lookup.find(keys.left, slots=False)
        kept = numbers_where(found, machine, NOT_NEGATIVE if operation.how == "semi" else NEGATIVE)
        return combined(operation, left, right, Pairs(kept, none), none, machine)
    if operation.how != "full" and not lookup.repeated:
        found, count = lookup.find(keys.left, slots=False)
        pairs = single_partners(found, count, operation.how == "inner", machine)
        check_size(operation, left, right, len(pairs.right), machine)
        return combined(operation, left, right, pairs, none, machine)
    found, _ = lookup.find(keys.left, slots=True)
    codes = KeyCodes(found, lookup.slots, lookup.size)
    lonely = lonely_rows(codes, machine) if operation.how == "full" else none
    pairs = matching_pairs(operation, left, right, codes, len(lonely), machine)
    return combined(operation, left, right, pairs, lonely, machine)


@programs.register
def join_programs(operation: Join, left: Kinds, right: Kinds) -> Needed:
    """List those of keys that are cast to compare."""
    texts, keys = list[Text](), zip(operation.left_on, operation.right_on, strict=True)
    for ours, theirs in keys:
        texts += comparable_texts(left.columns[ours], right.columns[theirs])
    return Needed(texts, passed(operation.schema, left.columns, right.columns))


def every_pair(operation: Join, left: Frame, right: Frame, machine: Machine) -> Pairs:
    """Pair every left row with every right one."""
    total = left.rows * right.rows
    check_size(operation, left, right, total, machine)
    ours, theirs = machine.arrays.empty(total, "int32"), machine.arrays.empty(total, "int32")
    machine.launch(machine.closed("pairs"), "pair_all", total, [total, right.rows, ours, theirs])
    return Pairs(ours, theirs)


def matching_pairs(operation: Join, left: Frame, right: Frame, keys: KeyCodes, more: int, machine: Machine) -> Pairs:
    """Pair rows of equal keys, after looking whether that many, and `more`, fit."""
    counts = count_codes(keys.right, keys.size, machine)
    repeats = machine.arrays.empty(left.rows, "int64")
    arguments = [left.rows, int(operation.how != "inner"), keys.left, counts, repeats]
    machine.launch(machine.closed("pairs"), "count_partners", left.rows, arguments)
    ends = scan(repeats, machine)
    total = int(ends[-1]) if left.rows else 0
    check_size(operation, left, right, total + more, machine, keys)
    return paired(keys, counts, repeats, ends, total, machine)


def combined(operation: Join, left: Frame, right: Frame, pairs: Pairs, lonely: Array, machine: Machine) -> Frame:
    """Put the columns of paired rows beside each other, and below them the right rows that are alone."""
    keys = dict(zip(operation.left_on, operation.right_on, strict=True))
    wanted = {name: right.columns[name] for name in operation.schema if name not in left.columns}
    ours = {name: left.columns[name] for name in operation.schema if name in left.columns}
    columns = dict(ours) if pairs.left is None else take(ours, pairs.left, machine, missing=False)
    rows = left.rows if pairs.left is None else len(pairs.left)
    if len(lonely):
        below = take({name: right.columns[keys[name]] for name in ours if name in keys}, lonely, machine, missing=False)
        for name, vector in columns.items():
            alone = below[name] if name in below else from_arrow(pa.nulls(len(lonely), vector.dtype), machine)
            columns[name] = stacked([vector, alone], machine)
    others = joined([pairs.right, lonely], machine) if len(lonely) else pairs.right
    columns |= take(wanted, others, machine, missing=operation.how not in ("inner", "cross"))
    return Frame({name: columns[name] for name in operation.schema}, rows + len(lonely))
