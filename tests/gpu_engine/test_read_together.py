"""Files that are read in one call, and those that libcudf does not take together."""

import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import Pipeline, RunFailed, lost_device
from gpuetl.engines.cudf.columns.interchange import to_table
from gpuetl.engines.cudf.cudf_engine import CudfBackend

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
DTYPE = pa.decimal128(15, 2)
ROWS = [pa.table({"d": pa.array([Decimal(file), None], DTYPE), "s": [f"{file}", "x"]}) for file in range(4)]


class Strict(HostMachine):
    """Takes, as libcudf does, files together whose Parquet schemas are the same; counts its reads."""

    def __init__(self, refuses=lambda files: False):
        self.refuses, self.reads = refuses, []

    def read_parquet(self, files, types, fields=()):
        self.reads.append(len(files))
        if isinstance(self.refuses, str):
            raise RuntimeError(self.refuses)
        first, *others = [pq.read_metadata(path).schema for path in files]
        if self.refuses(files) or any(other != first for other in others):
            raise RuntimeError("All sources must have the same schema")
        return super().read_parquet(files, types, fields)


def read(folder, machine):
    """Return the rows of all files of a folder."""
    pipeline = Pipeline("p", root=folder)
    pipeline.read_parquet("t", "*.parquet")
    (source,) = pipeline.plan().keeping(["t"]).kept.values()
    return to_table(CudfBackend(machine).read(source, source.dataset.row_groups), machine)


def test_files_that_store_decimals_in_other_ways_are_read_apart(tmp_path):
    """Ours are integers where a file is large, and Arrow's bytes where it is small: both may be in one folder."""
    for number, rows in enumerate(ROWS):
        pq.write_table(rows, tmp_path / f"{number}.parquet", store_decimal_as_integer=number < 2)
    machine = Strict()
    assert read(tmp_path, machine).equals(pa.concat_tables(ROWS))
    assert machine.reads == [2, 2]


def test_files_that_are_refused_together_are_read_one_by_one(tmp_path):
    """For whatever reason."""
    for number, rows in enumerate(ROWS):
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    machine = Strict(refuses=lambda files: len(files) > 1)
    assert read(tmp_path, machine).equals(pa.concat_tables(ROWS))
    assert machine.reads == [4, 1, 1, 1, 1]


def test_a_file_that_the_device_refuses_is_read_by_arrow(tmp_path):
    for number, rows in enumerate(ROWS):
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    refused = tmp_path / "2.parquet"
    assert read(tmp_path, Strict(refuses=lambda files: refused in files)).equals(pa.concat_tables(ROWS))


def test_files_that_stop_the_gpu_are_named_once(tmp_path, monkeypatch):
    monkeypatch.setattr(lost_device, "_lost", [])
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    for number, rows in enumerate(ROWS):
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    machine = Strict(refuses="Fatal CUDA error: 700 cudaErrorIllegalAddress an illegal memory access was encountered")
    with pytest.raises(RunFailed, match=r"one of 4 files, .*/0.parquet to .*/3.parquet was read: a page is damaged"):
        read(tmp_path, machine)
    assert machine.reads == [4]
    assert lost_device.is_lost()
