"""Condition join: candidates for pairs come in bounded chunks, and those that fulfil the condition stay.

Candidates have equal keys.  Without keys they are those in a range that the condition names, found in sorted rows, or
else all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.arrays import (
    NOT_ZERO,
    ZERO,
    converted,
    filled,
    iota,
    joined,
    numbers_where,
    pick,
    scan,
    set_marks,
)
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.join import check_result, check_unique, combined, join_programs
from gpuetl.engines.cudf.relational.join_lookup import Pairs, count_codes, join_keys, lookup_of
from gpuetl.engines.cudf.relational.row_operations import is_true
from gpuetl.expressions.ir import Expr
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import ConditionJoin
from gpuetl.plan.nodes.condition_join import LEFT, RIGHT, Bound, Range, of_side, range_of
from gpuetl.records import dataclass
from gpuetl.types.data_types import is_floating

CHUNK_BYTES = 256 << 20
"""Of the row numbers of candidates, and the columns that the condition reads."""
LEAST_CHUNK = 1 << 10
STRICTER = "Make the condition stricter, or filter or aggregate a side first"


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs that may fulfil a condition: each row of one side with a run of rows of the other, `total` in all.

    A row's pairs end before its number in `ends` (int64).  Its run begins at its place in `starts` (int64), in `others`
    (int32), which are rows of the other side.  Without `ends` each row has all `width` rows of the other side.  With
    `flipped` the rows are those of the right side.
    """

    total: int
    rows: int
    width: int = 0
    ends: Array | None = None
    starts: Array | None = None
    others: Array | None = None
    flipped: bool = False

    def pairs(self, first: int, count: int, machine: Machine) -> tuple[Array, Array]:
        """Return the left and right rows (int32) of some, from number `first`."""
        own, other = (machine.arrays.empty(count, "int32") for _ in range(2))
        runs = [0 if each is None else each for each in (self.ends, self.starts, self.others)]
        arguments = [count, first, self.rows, self.width, *runs, own, other]
        machine.launch(machine.closed("pairs"), "pair_between", count, arguments)
        return (other, own) if self.flipped else (own, other)


@run_operation.register
def join_on_condition(operation: ConditionJoin, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Join two frames on a condition.

    Raises
    ------
    EvaluationError
        Where `validate` is broken, the condition has no result for a pair, or the result does not fit.
    """
    arrays = machine.arrays
    none, kept = arrays.zeros(0, "int32"), 0
    lefts, rights = [none], [none]
    matched = arrays.zeros(left.rows, "uint8"), arrays.zeros(right.rows, "uint8")
    wants_pairs = operation.how not in ("semi", "anti")
    for ours, theirs in fulfilling(operation, left, right, machine):
        set_marks(matched[0], ours, machine)
        if operation.how == "full":
            set_marks(matched[1], theirs, machine)
        if wants_pairs:
            lefts.append(ours)
            rights.append(theirs)
            check_result(operation, left, right, kept := kept + len(ours), machine, lambda: STRICTER)
    if not wants_pairs:
        found = numbers_where(matched[0], machine, NOT_ZERO if operation.how == "semi" else ZERO)
        return combined(operation, left, right, Pairs(found, none), none, machine)
    if operation.how != "inner":
        alone = numbers_where(matched[0], machine, ZERO)
        lefts.append(alone)
        rights.append(filled(len(alone), -1, "int32", machine))
    ours, theirs = joined(lefts, machine), joined(rights, machine)
    if len(ours):
        order = machine.sorted_order([ours.view("uint32")])
        ours, theirs = pick(ours, order, machine), pick(theirs, order, machine)
    unmatched = numbers_where(matched[1], machine, ZERO) if operation.how == "full" else none
    check_result(operation, left, right, len(ours) + len(unmatched), machine, lambda: STRICTER)
    return combined(operation, left, right, Pairs(ours, theirs), unmatched, machine)


def fulfilling(operation: ConditionJoin, left: Frame, right: Frame, machine: Machine) -> Iterator[tuple[Array, Array]]:
    """Yield the pairs that fulfil the condition, from one chunk of candidates after the other."""
    candidates = candidates_of(operation, left, right, machine)
    ours, theirs = operation.condition_columns
    sides = (LEFT, left, ours), (RIGHT, right, theirs)
    columns = [{prefix + name: side.columns[name] for name in names} for prefix, side, names in sides]
    sizes = (vector.nbytes / max(1, vector.rows) for side in columns for vector in side.values())
    chunk = max(LEAST_CHUNK, int(CHUNK_BYTES / (16 + sum(sizes))))
    for first in range(0, candidates.total, chunk):
        rows = candidates.pairs(first, min(chunk, candidates.total - first), machine)
        frame: dict[str, Vector] = {}
        for side, numbers in zip(columns, rows, strict=True):
            frame |= take(side, numbers, machine, missing=False) if side else {}
        mask = evaluate({"": is_true(operation.condition)}, frame, len(rows[0]), machine)[""]
        kept = numbers_where(mask.data, machine)
        yield pick(rows[0], kept, machine), pick(rows[1], kept, machine)


def candidates_of(operation: ConditionJoin, left: Frame, right: Frame, machine: Machine) -> Candidates:
    """Return the pairs of equal keys, of a range, or all."""
    if operation.left_on:
        return of_equal_keys(operation, left, right, machine)
    if not left.rows or not right.rows:
        return Candidates(0, left.rows)
    found = range_of(operation.condition)
    if found is None:
        return Candidates(left.rows * right.rows, left.rows, right.rows)
    return in_range(found, left, right, machine)


def of_equal_keys(operation: ConditionJoin, left: Frame, right: Frame, machine: Machine) -> Candidates:
    """Return the pairs of equal keys: each left row with the right rows of its slot."""
    keys = join_keys(operation, left, right, machine)
    lookup = lookup_of(keys, machine)
    check_unique(operation, (left, right), keys, lookup, machine)
    codes, _ = lookup.find(keys.left, slots=True)
    counts = count_codes(lookup.slots, lookup.size, machine)
    by_code = machine.sorted_order([lookup.slots.view("uint32")])  # those of slot -1 come last
    starts = pick(scan(counts, machine, before=True), codes, machine)
    repeats = pick(counts, codes, machine)
    ends = scan(repeats, machine)
    total = int(ends[-1]) if left.rows else 0
    return Candidates(total, left.rows, ends=ends, starts=starts, others=by_code)


def in_range(found: Range, left: Frame, right: Frame, machine: Machine) -> Candidates:
    """Return the pairs of a range: one side's values are sorted, and the other side's ends are looked up in them."""
    own, other = (left, right) if found.side == LEFT else (right, left)
    value = value_of(found.value, own, machine)
    order = sort_rows(Frame({"": value}, own.rows), [SortKey("")], 0, False, machine).rows
    order = iota(own.rows, machine) if order is None else order
    count = own.rows - value.nulls  # nulls come last
    ordered = pick(value.data, order, machine)
    starts, sizes = (machine.arrays.empty(other.rows, "int64") for _ in range(2))
    ends = [argument for bound in (found.lower, found.upper) for argument in end_arguments(bound, other, machine)]
    kind = "float64" if is_floating(found.value.dtype) else "int64"
    arguments = [other.rows, *ends, count, ordered, starts, sizes]
    machine.launch(machine.closed("pairs"), f"find_runs_{kind}", other.rows, arguments)
    bounds = scan(sizes, machine)
    total = int(bounds[-1])
    return Candidates(total, other.rows, ends=bounds, starts=starts, others=order, flipped=found.side == LEFT)


def end_arguments(bound: Bound | None, other: Frame, machine: Machine) -> list[object]:
    """Return the values of one end of a range, their validity, and whether they are in the range."""
    if bound is None:
        return [0, 0, 0]
    vector = value_of(bound.value, other, machine)
    return [vector.data, 0 if vector.valid is None else vector.valid, int(bound.inclusive)]


def value_of(value: Expr, frame: Frame, machine: Machine) -> Vector:
    """Return a value of one side, in 64 bits."""
    vector = evaluate({"": of_side(value)}, frame.columns, frame.rows, machine)[""]
    if is_floating(vector.dtype):
        return vector
    data = converted(vector.data, "int64", machine)
    return Vector(vector.dtype, vector.rows, data, vector.valid, vector.nulls) if data is not vector.data else vector


@programs.register
def condition_join_programs(operation: ConditionJoin, left: Kinds, right: Kinds) -> Needed:
    """List those of keys that are cast to compare, of the range, and of the condition."""
    needed = join_programs(operation, left, right)
    sources = list(needed.sources)
    if not operation.left_on and (found := range_of(operation.condition)):
        own, other = (left, right) if found.side == LEFT else (right, left)
        sources += evaluated({"": of_side(found.value)}, own).sources
        for bound in (found.lower, found.upper):
            sources += evaluated({"": of_side(bound.value)}, other).sources if bound else []
    kinds: dict[str, Kind] = {LEFT + name: left.columns[name] for name in operation.condition_columns[0]}
    kinds |= {RIGHT + name: right.columns[name] for name in operation.condition_columns[1]}
    return Needed([*sources, *evaluated({"": is_true(operation.condition)}, Kinds(kinds)).sources], needed.columns)
