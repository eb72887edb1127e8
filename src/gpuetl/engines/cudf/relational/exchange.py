"""Rows split into pieces for other partitions: in a piece they keep their order, or are sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.arrays import ValueRange, numbers_where, shifted
from gpuetl.engines.cudf.columns.concat import shared_codes, stacked
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.keys import keys_of, unsigned_type
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import sorted_order
from gpuetl.engines.cudf.columns.pieces import split_rows
from gpuetl.engines.cudf.columns.string_dictionaries import with_shared_dictionaries
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes
from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import INT64


def split_by_hash(frame: Frame, keys: Sequence[str], count: int, machine: Machine) -> list[Frame]:
    """Split rows by the language's own hash of the keys: a radix pass over narrow numbers, then one for all pieces.

    Where pieces end is looked up in the numbers in order: to count each number's rows, all threads would add to a few
    places.
    """
    hashes = evaluate({"": key_hash(keys, frame.columns)}, frame.columns, frame.rows, machine)
    kind, module = f"uint{unsigned_type(count.bit_length())}", machine.closed("exchange")
    target, ends = machine.arrays.empty(frame.rows, kind), machine.arrays.empty(count, "int64")
    machine.launch(module, f"number_pieces_{kind}", frame.rows, [frame.rows, count, hashes[""].data, target])
    order = machine.sorted_order([target])
    machine.launch(module, f"find_ends_{kind}", count, [count, frame.rows, target, order, ends])
    return split_rows(with_shared_dictionaries(frame), order, list(pairwise([0, *ends.tolist()])), machine)


def key_hash(keys: Sequence[str], columns: Mapping[str, Vector] | Mapping[str, Kind]) -> Expr:
    """Return the hash of some columns."""
    return Call(FUNCTIONS["scalar", "hash"], tuple(Column(name, columns[name].dtype) for name in keys), INT64)


def hash_programs(keys: Sequence[str], frame: Kinds) -> list[KernelSource]:
    """List the program of `split_by_hash`."""
    return evaluated({"": key_hash(keys, frame.columns)}, frame).sources


def split_by_order(frame: Frame, by: Sequence[SortKey], before: Frame, after: Frame, machine: Machine) -> list[Frame]:
    """Sort rows between the boundaries, and cut where these come to stand: before or after the rows that tie."""
    parts = [part for part in (before, frame, after) if part.rows]
    if not parts:
        return [frame]
    keys = {key.column: below([part.columns[key.column] for part in parts], machine) for key in by}
    rows = sum(part.rows for part in parts)
    order = sorted_order(keys_of(keys, by, rows, machine), machine)
    numbers = machine.arrays.empty(rows, "int32")
    shifted(order, -before.rows, numbers, machine)
    cuts = numbers_where(numbers, machine, ValueRange(0, frame.rows - 1, inside=False)).tolist()
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, rows]
    return split_rows(with_shared_dictionaries(frame), numbers, list(zip(starts, ends, strict=True)), machine)


def below(vectors: Sequence[Vector], machine: Machine) -> Vector:
    """Return keys below each other; strings as their numbers."""
    return stacked(shared_codes(vectors, machine) if has_bytes(vectors[0].dtype) else vectors, machine)
