"""Vocabularies on the GPU engine: tables that are too small, and the ways to fewer waits."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.columns.keys import Key
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.relational import vocabularies
from gpuetl.engines.cudf.runtime.packed_frames import in_one
from gpuetl.engines.cudf.runtime.spilled_frame import spilled
from gpuetl.formats.frames import FrameDataset
from gpuetl.io.spill_space import SpillSpace
from gpuetl.plan.nodes import (
    Read,
    Vocabularies,
    Vocabulary,
    VocabularyLookup,
    VocabularyLookups,
    VocabularyPart,
)

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ROWS = 3000


class CountingMachine(HostMachine):
    """Counts tables that are made."""

    def __init__(self):
        self.tables = []

    def launch_blocks(self, module, entry, blocks, threads, arguments):
        """Note the sizes."""
        if entry == "count_values":
            words = arguments[-1].words.reshape(vocabularies.MOST_COLUMNS, -1)
            self.tables += words[: arguments[1], 4].tolist()
        super().launch_blocks(module, entry, blocks, threads, arguments)


def numbered(machine, values, **keys):
    """Return the vocabulary of some values."""
    rows = pa.table({"x": values})
    dataset = FrameDataset.of("rows", rows)
    node = Vocabulary(source=Read(dataset=dataset, columns=("x",)), column="x", first=2, **keys)
    frame = Frame({"x": from_arrow(rows.column("x"), machine)}, rows.num_rows)
    return to_table(run_operation(node, machine, frame), machine)


@pytest.mark.parametrize("least", [1, 3])
def test_a_table_that_is_too_small_is_given_up(monkeypatch, least):
    """With the values of the larger one, which are those of an aggregate and a sort."""
    machine = CountingMachine()
    rng = np.random.default_rng(0)
    values = pa.array(rng.integers(-500, 500, ROWS), mask=rng.random(ROWS) < 0.1)
    monkeypatch.setattr(vocabularies, "SMALL_TABLES", (64, 256, 1 << 20))
    found = numbered(machine, values, min_count=least)
    assert machine.tables == [64, 256, 8192]
    with skipping(["count_by_hash"]):
        assert found.equals(numbered(machine, values, min_count=least))
    assert len(machine.tables) == 3
    assert found.column("id").to_pylist() == [*range(2, 2 + found.num_rows)]


def test_a_small_table_is_enough_for_few_values(monkeypatch):
    machine = CountingMachine()
    monkeypatch.setattr(vocabularies, "SMALL_TABLES", (64,))
    values = pa.array([(1 << 63) - 1, 7, None, -(1 << 63)] * (ROWS // 4) + [7])
    found = numbered(machine, values, most=2)
    assert machine.tables == [64]
    assert found.to_pydict() == {"value": [7, -(1 << 63)], "count": [ROWS // 4 + 1, ROWS // 4], "id": [2, 3]}


def together(machine, rows, keys, others=None):
    """Return the vocabularies of all columns, and the numbers of rows, of columns that are counted together."""
    read = Read(dataset=FrameDataset.of("rows", rows), columns=tuple(rows.column_names))
    parts = tuple(Vocabulary(source=read, column=name, first=2, **keys.get(name, {})) for name in rows.column_names)
    operation, looked_up = Vocabularies(source=read, parts=parts), rows if others is None else others
    places = range(len(parts))
    several = [VocabularyPart(source=operation, place=place) for place in places]
    lookups, left = [], Read(dataset=FrameDataset.of("others", looked_up), columns=tuple(looked_up.column_names))
    for name, part in zip(rows.column_names, several, strict=True):
        left = VocabularyLookup(
            left=left, right=part, left_on=(name,), right_on=("value",), how="left", validate="many_to_one",
            output=f"{name}.id", unknown=1,
        )  # fmt: skip
        lookups.append(left)
    every = VocabularyLookups(left=lookups[0].left, right=operation, lookups=tuple(lookups), places=tuple(places))
    batch = run_operation(operation, machine, frame_of(rows, machine))
    assert batch.rows == 1
    found = [run_operation(part, machine, batch) for part in several]
    numbers = run_operation(every, machine, frame_of(looked_up, machine), batch)
    assert list(numbers.columns) == list(every.schema)
    return [to_table(frame, machine) for frame in found], to_table(numbers, machine).select(
        [f"{name}.id" for name in rows.column_names]
    )


def frame_of(rows, machine):
    return Frame({name: from_arrow(rows.column(name), machine) for name in rows.column_names}, rows.num_rows)


def values_of_each_type(rows, seed=0):
    """Return columns of all types that have a vocabulary, and one of nulls alone."""
    rng = np.random.default_rng(seed)

    def with_nulls(values, dtype=None):
        return pa.array(values, mask=rng.random(rows) < 0.1) if dtype is None else pa.array(values).cast(dtype)

    rare = (rows * rng.random(rows) ** 3).astype(np.int64)
    words = np.array(["", "a", "bb", "bc", "long text " * 3])
    return pa.table(
        {
            "i32": with_nulls(rare.astype(np.int32)), "i64": with_nulls(rare * -(10**12)),
            "u8": with_nulls(rare.astype(np.uint8)), "f": with_nulls(rng.choice([0.0, -0.0, np.nan, 1.5, -2.5], rows)),
            "all": with_nulls(rng.choice([-1, (1 << 63) - 1, -(1 << 63)], rows)), "b": with_nulls(rare % 2 == 0),
            "day": with_nulls(rare.astype(np.int32), pa.date32()), "none": pa.array([None] * rows, pa.int16()),
            "null": pa.nulls(rows), "s": with_nulls(words[rare % 5]), "t": with_nulls([f"v{value}" for value in rare]),
            "d": with_nulls(rare, pa.decimal128(30, 2)),
        }
    )  # fmt: skip


@pytest.mark.part(3)
@pytest.mark.parametrize("rows", [0, 1, 400])
@pytest.mark.parametrize("keys", [{}, {"min_count": 3}, {"min_count": 2, "most": 4}])
def test_columns_of_all_types_are_numbered_together_as_one_after_another(monkeypatch, rows, keys):
    monkeypatch.setattr(vocabularies, "SMALL_TABLES", (64, 128))
    data = values_of_each_type(rows)
    every = dict.fromkeys(data.column_names, keys)
    machine = HostMachine()
    found, numbers = together(machine, data, every)
    others = values_of_each_type(rows, seed=1)
    with skipping(["count_by_hash"]):
        expected, expected_numbers = together(machine, data, every)
        of_others = together(machine, data, every, others)[1]
    for one, other in zip(found, expected, strict=True):
        assert one.schema == other.schema
        assert repr(one.to_pydict()) == repr(other.to_pydict())
    assert numbers.equals(expected_numbers)
    assert together(machine, data, every, others)[1].equals(of_others)


def test_the_kernels_of_a_gpu_give_the_same(monkeypatch):
    monkeypatch.setattr(vocabularies, "SMALL_TABLES", (64, 128))
    data = values_of_each_type(300).select(["i32", "i64", "f", "all", "b", "none"])
    keys = {"i32": {"min_count": 3}, "i64": {"min_count": 2}, "f": {"most": 2}}
    machine, gpu = HostMachine(), EmulatedMachine()
    expected, found = vocabulary_tables(machine, data, keys), vocabulary_tables(gpu, data, keys)
    assert repr(found) == repr(expected)


def vocabulary_tables(machine, data, keys):
    """Return the vocabularies and the numbers of columns of fixed width, by the kernels of vocabularies alone."""
    frame = frame_of(data, machine)
    columns = [
        vocabularies.Counting(
            column, Key(column, flagged=False), frame.rows, 2, own.get("min_count", 1), own.get("most")
        )
        for column, own in ((frame.columns[name], keys.get(name, {})) for name in data.column_names)
    ]
    found = vocabularies.vocabularies(columns, frame.rows, machine)
    sought = [vocabularies.Sought(one.column, each, 1) for one, each in zip(columns, found, strict=True)]
    numbers = vocabularies.numbers_of(sought, frame.rows, machine)
    return [to_table(each, machine).to_pydict() for each in found], [machine.host(each).tolist() for each in numbers]


def test_more_columns_than_a_launch_takes():
    data = pa.table({f"c{place}": [place, place, None, 7] for place in range(vocabularies.MOST_COLUMNS + 3)})
    found, numbers = together(HostMachine(), data, {name: {"min_count": 2} for name in data.column_names})
    values = [each.column("value").to_pylist() for each in found]
    assert values == [[place] for place in range(data.num_columns)]
    assert numbers.column("c34.id").to_pylist() == [2, 2, 0, 1]
    assert numbers.column("c7.id").to_pylist() == [2, 2, 0, 2]


def test_tables_that_memory_does_not_hold_together_come_one_after_another(monkeypatch):
    monkeypatch.setattr(vocabularies, "TABLES_BYTES", 4 << 10)
    monkeypatch.setattr(vocabularies, "SMALL_TABLES", (64, 128))
    machine = CountingMachine()
    data = pa.table({name: np.arange(200) + place for place, name in enumerate("abc")})
    found, _ = together(machine, data, {"b": {"min_count": 2}, "c": {"most": 3}})
    assert machine.tables == [64] * 3 + [128] * 3 + [512, 512]  # values of one row are left out of b's table of 128
    assert [each.num_rows for each in found] == [200, 0, 3]


def test_vocabularies_that_wait_are_spilled_and_sent(tmp_path):
    """Also those of strings with a dictionary, which is another one when they come back."""
    machine, rows = HostMachine(), pa.table({"a": [1, 1, 2, None], "s": ["x", "y", "y", None]})
    read = Read(dataset=FrameDataset.of("rows", rows), columns=("a", "s"))
    parts = tuple(Vocabulary(source=read, column=name, first=2) for name in rows.column_names)
    operation = Vocabularies(source=read, parts=parts)
    frame = frame_of(rows, machine)
    frame = frame.updated({"s": with_dictionary(frame.columns["s"], machine)})
    assert frame.columns["s"].dictionary is not None
    batch = run_operation(operation, machine, frame)
    expected = to_table(batch, machine)
    assert expected.to_pydict() == {
        "0:value": [[1, 2]], "0:count": [[2, 1]], "0:id": [[2, 3]], "1:value": [["y", "x"]], "1:count": [[2, 1]],
        "1:id": [[2, 3]],
    }  # fmt: skip
    packed, whole = in_one(batch)
    sent = pickle.loads(pickle.dumps(packed)).frame(whole.copy())
    back = spilled(batch, SpillSpace(tmp_path), machine).restored()
    for other in (sent, back):
        assert to_table(other, machine).equals(expected)
        lookups = [
            VocabularyLookup(
                left=read, right=VocabularyPart(source=operation, place=place), left_on=(name,), right_on=("value",),
                how="left", validate="many_to_one", output=f"{name}.id", unknown=1,
            )
            for place, name in enumerate(rows.column_names)
        ]  # fmt: skip
        every = VocabularyLookups(left=read, right=operation, lookups=tuple(lookups[1:]), places=(1,))
        numbers = run_operation(every, machine, frame, other)
        assert to_table(numbers, machine).column("s.id").to_pylist() == [3, 2, 2, 0]
