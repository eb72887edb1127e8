"""Groups cut into chunks: against literal bounds, and against NumPy for groups of many sizes."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import Pipeline, col
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.relational import aggregate_reduction
from gpuetl.engines.cudf.relational.aggregate_reduction import FEW, cut

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINES = pytest.mark.parametrize("machine", [HostMachine(), EmulatedMachine()], ids=["host", "emulated"])


def cut_up(sizes, chunk, machine):
    """Return the chunks of groups of so many items."""
    bounds = machine.arrays.asarray(np.concatenate([[0], np.cumsum(sizes)]).astype("int64"))
    return cut(bounds, chunk, machine)


@MACHINES
def test_groups_are_cut_from_their_first_item_on(machine):
    chunks = cut_up([5, 0, 2, 3], 2, machine)
    assert machine.host(chunks.starts).tolist() == [0, 2, 4, 5, 7, 9]
    assert machine.host(chunks.stops).tolist() == [2, 4, 5, 7, 9, 10]
    assert machine.host(chunks.chunk_starts).tolist() == [0, 3, 3, 4, 6]
    assert chunks.most == 3


@MACHINES
def test_groups_of_one_chunk_each_stay_as_they_are(machine):
    chunks = cut_up([2, 1, 2], 2, machine)
    assert machine.host(chunks.starts).tolist() == [0, 2, 3]
    assert machine.host(chunks.stops).tolist() == [2, 3, 5]
    assert (chunks.chunk_starts, chunks.most) == (None, 1)


@MACHINES
def test_few_chunks_are_written_by_a_thread_and_many_by_a_warp(machine):
    sizes = np.array([0, 3 * FEW, 3 * FEW + 1, 1, 10 * FEW, 0, 3, 0])
    chunks = cut_up(sizes, 3, machine)
    ends = np.cumsum(sizes)
    starts = [start for end, size in zip(ends, sizes, strict=True) for start in range(end - size, end, 3)]
    stops = [min(start + 3, end) for end, size in zip(ends, sizes, strict=True) for start in range(end - size, end, 3)]
    assert machine.host(chunks.starts).tolist() == starts
    assert machine.host(chunks.stops).tolist() == stops
    assert chunks.most == -(-10 * FEW // 3)


def test_all_reductions_of_an_aggregate_have_the_same_chunks(monkeypatch):
    """Each level of them is cut once, for which the host waits."""
    sizes = list[int]()
    monkeypatch.setattr(aggregate_reduction, "CHUNK", 4)
    monkeypatch.setattr(aggregate_reduction, "MERGED", 2)

    def counted(bounds, size, machine):
        sizes.append(size)
        return cut(bounds, size, machine)

    monkeypatch.setattr(aggregate_reduction, "cut", counted)
    pipeline, backend = Pipeline("p"), CudfBackend(HostMachine())
    columns = {f"x{place}": np.arange(200) * place for place in range(6)}
    t = pipeline.from_frame("t", pa.table(columns))
    sums = {f"s{name}": col(name).sum() for name in columns}
    t.aggregate(**sums, v=col("x1").var_pop()).stage("answer")
    (answer,) = pipeline.plan().keeping(["answer"]).kept.values()
    project, read = answer, answer
    while read.inputs:
        read = read.inputs[0]
    frame = backend.read(read, read.dataset.row_groups)
    for node in nodes_above(project, read):
        frame = backend.run(node, frame)
    found = {name: column.data.tolist()[0] for name, column in frame.columns.items()}
    assert [found[f"sx{place}"] for place in range(6)] == [19_900 * place for place in range(6)]
    assert found["v"] == pytest.approx(3333.25)
    assert sizes == [4, 2, 2, 2, 2]  # 50 chunks, of which 25, 13, 7 and 4 are made


def nodes_above(node, below):
    """Return the operations from a source to a node, in order."""
    chain = []
    while node is not below:
        chain.append(node)
        (node,) = node.inputs
    return chain[::-1]
