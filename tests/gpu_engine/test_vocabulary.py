"""Vocabularies on the GPU engine: tables that are too small, and the ways to fewer waits."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.relational import vocabularies
from gpuetl.formats.frames import FrameDataset
from gpuetl.plan.nodes import Read, Vocabulary

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
