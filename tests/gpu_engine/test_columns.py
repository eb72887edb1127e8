"""Rows gathered and frames put below each other, of every type."""

import random

import numpy as np
import pyarrow as pa
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.emulated_machine import BLOCKS, THREADS, EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns import interchange
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.types.nested_types import is_list

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()


def columns(rows, nulls, seed=0):
    draws = random.Random(seed)
    drawn = {n: [draws.choice([*pool(t, wild=True), *[None] * nulls]) for _ in range(rows)] for n, t in TYPES.items()}
    return pa.table({name: pa.array(values, TYPES[name]) for name, values in drawn.items()} | {"null": pa.nulls(rows)})


def uploaded(table):
    return Frame(
        {n: from_arrow(c, MACHINE) for n, c in zip(table.column_names, table.columns, strict=True)}, table.num_rows
    )


def downloaded(vectors, schema):
    return pa.table([to_arrow(vectors[name], MACHINE) for name in schema.names], schema=schema)


@pytest.mark.parametrize("rows", [0, 1, 33, 700])
def test_a_large_frame_is_copied_to_the_host_in_one_piece(monkeypatch, rows):
    """Of every type; each value where Arrow wants it."""
    monkeypatch.setattr(interchange, "MANY_BYTES", 0)
    table = columns(rows, nulls=2)
    found = interchange.to_table(uploaded(table), MACHINE)
    assert repr(found.to_pylist()) == repr(table.to_pylist())
    aligned = [c.chunk(0).buffers()[1].address % 8 for c in found.columns if c.type in (pa.int64(), pa.float64())]
    assert set(aligned) == {0}


@pytest.mark.parametrize("nulls", [0, 2])
@pytest.mark.parametrize("rows", [[], [0], [5, 5, -1, 0], [*range(69, -1, -1)], [-1, -1]])
def test_rows_are_gathered_and_minus_one_is_null(rows, nulls):
    table = columns(70, nulls)
    got = downloaded(
        take(uploaded(table).columns, MACHINE.arrays.asarray(np.array(rows, "int32")), MACHINE), table.schema
    )
    assert str(got.to_pydict()) == str(
        table.take(pa.array([row if row >= 0 else None for row in rows], "int32")).to_pydict()
    )


@pytest.mark.parametrize("machine", [MACHINE, EmulatedMachine()], ids=["host", "emulated"])
@pytest.mark.parametrize("nulls", [0, 2])
def test_permuted_rows_have_as_many_nulls_as_before(nulls, machine):
    table, rows = columns(70, nulls), [*range(69, -1, -1)]
    taken = take(uploaded(table).columns, MACHINE.arrays.asarray(np.array(rows, "int32")), machine, permuted=True)
    assert str(downloaded(taken, table.schema).to_pydict()) == str(table.take(rows).to_pydict())
    assert [taken[name].nulls for name in table.column_names] == [column.null_count for column in table.columns]


@pytest.mark.parametrize("sizes", [[], [0, 0], [3, 0, 40, 1], [1, 1, 1, 1], [64, 64]])
def test_frames_are_put_below_each_other(sizes):
    tables = [columns(size, place % 2, place) for place, size in enumerate(sizes)]
    schema = columns(0, 0).schema
    expected = pa.concat_tables(tables) if tables else schema.empty_table()
    got = concat([uploaded(table) for table in tables], dict(zip(schema.names, schema.types, strict=True)), MACHINE)
    assert got.rows == sum(sizes)
    assert str(downloaded(got.columns, schema).to_pydict()) == str(expected.to_pydict())


def test_large_dictionaries_of_frames_that_are_put_together_become_one():
    """Of most texts in both."""
    parts = [range(40_000), range(20_000, 60_000)]
    texts = [pa.array([f"é{number:05}" for number in part for _ in range(3)]) for part in parts]
    frames = [Frame({"x": with_dictionary(from_arrow(each, MACHINE), MACHINE)}, len(each)) for each in texts]
    assert [frame.columns["x"].dictionary.rows for frame in frames] == [40_000, 40_000]
    x = concat(frames, {"x": pa.string()}, MACHINE).columns["x"]
    assert to_arrow(x.dictionary, MACHINE).to_pylist() == [f"é{number:05}" for number in range(60_000)]
    assert to_arrow(x, MACHINE) == pa.concat_arrays(texts)


def test_lists_are_among_the_types():
    assert any(map(is_list, TYPES.values()))


@pytest.mark.parametrize("text", ["x + 1", "x || '!'"], ids=["numbers", "texts"])
def test_nulls_are_added_up_once_a_warp_however_many_rows_it_writes(text):
    """One place in memory takes few additions a moment."""
    machine, rows = EmulatedMachine(), 4000
    values = pa.array([row if row % 3 else None for row in range(rows)]).cast("int64" if "+" in text else "string")
    expr = resolve(parse_expression(text), Scope({"x": values.type}, {}))
    got = evaluate({"": expr}, {"x": from_arrow(values, machine)}, rows, machine)[""]
    assert got.nulls == 1334
    assert max(machine.additions) <= 2 * THREADS * BLOCKS // 32  # nulls, and bytes of texts
