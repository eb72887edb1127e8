"""Batches of a stage that a run computes while they are used: larger than memory, in as many passes as are wanted."""

import gc
import math
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU
from gpuetl import InvalidPipeline, PackageMissing, Pipeline, RunFailed, RunOptions, col, expr
from gpuetl.errors import ContractBroken, EvaluationError, OutOfMemory
from gpuetl.executors.handover import Handover
from gpuetl.physical.fit import fitted
from gpuetl.physical.layout import Layout
from gpuetl.run import streamed_batches
from torch_stand_in import torch_for_tests

ROWS = 100
TABLE = pa.table(
    {
        "i": pa.array(range(ROWS), pa.int32()), "x": np.arange(ROWS) / 4, "y": np.arange(ROWS) % 2 == 0,
        "s": [str(i) for i in range(ROWS)],
    }
)  # fmt: skip
ENGINES = ["pandas", pytest.param(ON_CPU, marks=pytest.mark.skipif(COMPILER is None, reason="needs g++"))]
BY_7 = RunOptions(partition_rows=7)


@pytest.fixture(params=["stand-in", "torch"])
def torch(request, monkeypatch):
    """PyTorch where it is installed, and a stand-in for what is used of it."""
    return torch_for_tests(request.param, monkeypatch)


@pytest.fixture(autouse=True)
def _no_run_is_left():
    yield
    gc.collect()
    assert not runs()


def runs():
    """Return the threads of runs that go on."""
    return [thread for thread in threading.enumerate() if thread.name == "gpuetl-stream"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pipeline(rows=TABLE):
    """Return a pipeline with a stage `f` of two thirds of the rows, in row groups of 7 rows, in the working folder."""
    pq.write_table(rows, "t.parquet", row_group_size=7)
    made = Pipeline("streams")
    made.read_parquet("t", "t.parquet")
    made.table("t").filter(expr("i % 3 <> 0")).select("i", "x", "y").stage("f")
    return made


def dataset(rows=TABLE, **keys):
    return pipeline(rows).torch_dataset("f", **{"engine": "pandas", "batch_rows": 10, "options": BY_7, **keys})


KEPT = [i for i in range(ROWS) if i % 3]


@pytest.mark.part(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", [BY_7, RunOptions(partition_rows=20), None], ids=["by 7", "by 20", "whole"])
@pytest.mark.usefixtures("torch")
def test_each_pass_gives_all_rows_in_batches_of_the_same_size(engine, options):
    found = dataset(engine=engine, options=options)
    for _ in range(2):
        batches = [*found]
        assert [len(batch["i"]) for batch in batches] == [10] * 6 + [6]
        assert [i for batch in batches for i in batch["i"].tolist()] == KEPT
        assert [x for batch in batches for x in batch["x"].tolist()] == [i / 4 for i in KEPT]
        assert batches[0]["y"].tolist() == [i % 2 == 0 for i in KEPT[:10]]
        assert str(batches[0]["i"].dtype).endswith("int32")


@pytest.mark.usefixtures("torch")
def test_a_batch_may_be_a_matrix_and_a_label():
    features, label = next(iter(dataset(features=["x", "i"], label="y", matrix=True)))
    assert features.tolist() == [[i / 4, float(i)] for i in KEPT[:10]]
    assert str(features.dtype).endswith("float32")
    assert label.tolist() == [i % 2 == 0 for i in KEPT[:10]]


@pytest.mark.usefixtures("torch")
def test_a_source_can_be_streamed_and_a_stage_without_rows_gives_no_batch():
    made = pipeline()
    found = made.torch_dataset("t", engine="pandas", batch_rows=64, features=["i"], options=BY_7)
    assert [len(batch["i"]) for batch in found] == [64, 36]
    assert [*dataset(TABLE.slice(0, 0))] == []
    assert [*dataset(TABLE.slice(0, 1))] == []


@pytest.mark.usefixtures("torch")
def test_rows_are_shuffled_in_their_partitions():
    def passes(seed):
        found = dataset(features=["i"], shuffle=True, seed=seed)
        return [[i for batch in found for i in batch["i"].tolist()] for _ in range(2)]

    (first, second), again = passes(7), passes(7)
    assert [first, second] == again
    assert sorted(first) == sorted(second) == KEPT
    assert first != second != KEPT != first
    assert passes(8)[0] != first
    partitions = [[i for i in range(start, start + 7) if i % 3] for start in range(0, ROWS, 7)]
    places = np.cumsum([0, *map(len, partitions)])
    for own, start, end in zip(partitions, places, places[1:], strict=False):
        assert sorted(first[start:end]) == [i for i in own if i < ROWS]


def test_a_loader_takes_the_dataset_without_workers(torch, monkeypatch):
    if not hasattr(torch, "nn"):
        monkeypatch.setattr(__import__("sys").modules["torch.utils.data"], "get_worker_info", SimpleNamespace)
        with pytest.raises(EvaluationError, match="each worker of a DataLoader would run the whole pipeline"):
            next(iter(dataset()))
        return
    from torch.utils.data import DataLoader

    found = dataset(label="y")
    for _ in range(2):
        assert sum(len(label) for _, label in DataLoader(found, batch_size=None)) == len(KEPT)
    with pytest.raises(EvaluationError, match="Set num_workers=0"):
        next(iter(DataLoader(found, batch_size=None, num_workers=1)))


# A run that is broken off, or fails.


COUNTING = """
def counted(frame):
    with open(r"{path}", "a") as file:
        file.write("x")
    return {{"z": frame["x"]}}
"""


@pytest.fixture
def counted(tmp_path):
    """A stage that counts its partitions, and what tells how many were computed."""
    (tmp_path / "count.py").write_text(COUNTING.format(path=tmp_path / "count"))
    made = pipeline()
    t = made.table("t").python_kernel("count.py:counted", "x", {"z": "float64"}, frame="arrow")
    t.select("i", "z").stage("c")
    return made, lambda: len((tmp_path / "count").read_text())


@pytest.mark.parametrize("in_flight", [1, 3])
@pytest.mark.usefixtures("torch")
def test_a_run_that_is_broken_off_ends(counted, in_flight):
    made, count = counted
    found = made.torch_dataset("c", engine="pandas", batch_rows=5, in_flight=in_flight, options=BY_7)
    batches = iter(found)
    assert next(batches)["i"].tolist() == [0, 1, 2, 3, 4]
    assert len(runs()) == 1
    batches.close()
    assert not runs()
    assert 1 <= count() <= in_flight + 1
    for batch in found:
        assert len(batch["i"]) == 5
        break
    gc.collect()
    assert not runs()
    assert sum(len(batch["i"]) for batch in found) == ROWS


@pytest.mark.usefixtures("torch")
def test_no_more_partitions_are_in_memory_than_were_asked_for(monkeypatch):
    alive, most = weakref.WeakSet(), 0

    class Columns(dict):
        """Tensors of a partition."""

        __hash__ = object.__hash__

    def tracked(torch, backend, frame):
        nonlocal most
        columns = Columns(streamed_batches.to_tensors(torch, backend.to_arrays(frame)))
        alive.add(columns)
        most = max(most, len(alive))
        return columns

    monkeypatch.setattr(streamed_batches, "tensors_of", tracked)
    batches = [*dataset(in_flight=2, batch_rows=3)]  # which hold no partition
    assert sum(len(batch["i"]) for batch in batches) == len(KEPT)
    assert 1 <= most <= 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("torch")
def test_an_error_of_the_run_comes_where_the_next_batch_is_asked_for(engine):
    made = pipeline()
    made.table("f").with_columns(z=expr("CAST(9223372036854775000 AS int64) + i * (i // 90) * 100")).stage("h")
    batches = iter(made.torch_dataset("h", engine=engine, batch_rows=10, options=BY_7))
    assert [next(batches)["i"].tolist() for _ in range(3)] == [KEPT[:10], KEPT[10:20], KEPT[20:30]]
    with pytest.raises(RunFailed, match=r"stage 'h', step 1: column 'z': .*overflow of int64") as error:
        list(batches)
    assert "test_streamed_batches.py" in str(error.value)
    assert not runs()
    with pytest.raises(StopIteration):
        next(batches)


@pytest.mark.usefixtures("torch")
def test_a_null_is_an_error_of_the_partition_that_has_it():
    rows = TABLE.set_column(1, "x", pa.array([None if i == 71 else 1.0 for i in range(ROWS)]))
    batches = iter(dataset(rows))
    next(batches)
    with pytest.raises(EvaluationError, match="column 'x' has 1 nulls, but an array cannot have any"):
        list(batches)
    assert len([*dataset(rows, features=["i"])]) == 7  # other columns are not computed


@pytest.mark.usefixtures("torch")
def test_rules_of_the_stage_and_those_above_hold_at_the_end_of_a_pass():
    made = pipeline()
    made.table("t").expect(that=expr("i < 99")).stage("checked")
    made.table("checked").select("i").stage("r")
    made.table("t").expect(that=expr("i < 5")).stage("other")
    batches = iter(made.torch_dataset("r", engine="pandas", batch_rows=50, options=BY_7))
    assert [len(next(batches)["i"]) for _ in range(2)] == [50, 50]
    with pytest.raises(ContractBroken, match="stage 'checked'") as error:
        next(batches)
    assert "other" not in str(error.value)


def out_of_memory():
    """Fail as a step does."""
    raise OutOfMemory.during("stage 'f', step 1", "1 GB asked for")


def test_a_run_begins_again_in_smaller_partitions_only_before_it_has_handed_one_over():
    handover = Handover(lambda backend, frame: frame, 2)
    with pytest.raises(OutOfMemory):
        handover.execute(out_of_memory)
    handover.take(None, "partition")
    with pytest.raises(RunFailed, match="out of memory: 1 GB asked for") as error:
        handover.execute(out_of_memory)
    assert not isinstance(error.value, OutOfMemory)
    assert "Make all smaller: RunOptions(partition_rows=…)" in str(error.value)


def test_a_plan_counts_the_memory_of_partitions_that_are_in_use():
    from dataclasses import replace

    plan = pipeline().plan().keeping(["f"])

    def needs(streams):
        return fitted(replace(plan, streams=streams), Layout(7, 0), 1 << 40).expected.bytes

    one, two = needs(1), needs(2)
    assert one < two < needs(0)
    assert needs(1000) > needs(0) > two
    assert math.isclose(two - one, needs(3) - two, rel_tol=0.01)


# Wrong use.


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"batch_rows": 0}, "batch_rows takes a whole number from 1, got 0"),
        ({"in_flight": 0}, "in_flight takes a whole number from 1, got 0"),
        ({"in_flight": True}, "in_flight takes a whole number from 1, got True"),
        ({"label": "z"}, "unknown column 'z'"),
        ({"features": []}, "there is no column of features"),
        ({"engine": "dask"}, "rows cannot be streamed from engine 'dask'"),
        ({"stage": "g"}, "unknown stage 'g'"),
    ],
)
@pytest.mark.usefixtures("torch")
def test_wrong_arguments_are_refused_before_a_run(keys, message):
    with pytest.raises(InvalidPipeline, match=message):
        pipeline().torch_dataset(**{"stage": "f", "engine": "pandas", **keys})


@pytest.mark.usefixtures("torch")
def test_a_column_that_is_no_number_is_refused_before_a_run():
    with pytest.raises(EvaluationError, match="column 's' is string, but an array needs numbers"):
        pipeline().torch_dataset("t", engine="pandas")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(PackageMissing, match="torch_dataset needs the package torch"):
        pipeline().torch_dataset("f", engine="pandas")


@pytest.mark.gpu
def test_partitions_are_streamed_from_the_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    rows = 1_000_000
    made = Pipeline("streams")
    made.from_frame("t", pa.table({"i": np.arange(rows), "x": np.ones(rows)}))
    made.table("t").filter(col("i") >= 10).stage("f")
    options = RunOptions(partition_rows=100_000, memory="2GB")
    found = made.torch_dataset("f", engine="cudf", batch_rows=65_536, label="x", matrix=True, options=options)
    for _ in range(2):
        batches = [*torch.utils.data.DataLoader(found, batch_size=None)]
        assert {features.device.type for features, _ in batches} == {"cuda"}
        total = sum(int(features.double().sum()) for features, _ in batches)
        assert total == rows * (rows - 1) // 2 - 45
    for features, _ in found:
        assert features.shape == (65_536, 1)
        break
