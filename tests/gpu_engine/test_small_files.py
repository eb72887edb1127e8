"""Small Parquet files, which Arrow reads for the GPU, too."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import Pipeline
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.interchange import to_table
from gpuetl.engines.cudf.cudf_engine import CudfBackend

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ROWS = pa.table({"n": pa.array([1, None, 3, 4] * 16), "s": ["one", "two", "", None] * 16})


class CountingMachine(HostMachine):
    """Counts the files that it reads itself; Arrow is to read up to `values` values at a time."""

    def __init__(self, values):
        self.values, self.files = values, 0

    def host_values(self):
        return self.values

    def read_parquet(self, files, types, fields=()):
        self.files += len(files)
        return super().read_parquet(files, types, fields)


def read(folder, machine, **keys):
    """Return the rows of the files in a folder."""
    pipeline = Pipeline("p", root=folder)
    pipeline.read_parquet("t", "*.parquet", **keys)
    (source,) = pipeline.plan().keeping(["t"]).kept.values()
    return to_table(CudfBackend(machine).read(source, source.dataset.row_groups), machine)


def written(folder, rows):
    """Write the rows into each of two files."""
    for number in range(2):
        pq.write_table(rows, folder / f"{number}.parquet")
    return folder


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, ROWS)


@pytest.mark.parametrize(
    ("values", "columns", "files"), [(0, 2, 2), (255, 2, 2), (256, 2, 0), (128, 1, 0), (127, 1, 2)]
)
def test_files_up_to_a_number_of_values_are_read_by_arrow(tmp_path, values, columns, files):
    """Both files are read in one call, so that their values count together."""
    machine, rows = CountingMachine(values), ROWS.select(ROWS.column_names[:columns])
    assert read(written(tmp_path, rows), machine).equals(pa.concat_tables([rows, rows]))
    assert machine.files == files


def test_long_strings_are_read_by_the_machine(tmp_path):
    rows = pa.table({"s": ["x" * 1000, "y" * 1000]})
    pq.write_table(rows, tmp_path / "0.parquet", compression="none", use_dictionary=False)
    machine = CountingMachine(100)
    assert read(tmp_path, machine).equals(rows)
    assert machine.files == 1


def test_the_choice_can_be_skipped(folder):
    machine = CountingMachine(1000)
    with skipping(["read_small_on_cpu"]):
        assert read(folder, machine).equals(pa.concat_tables([ROWS, ROWS]))
    assert machine.files == 2


def test_pages_that_are_to_be_verified_are_read_by_arrow(folder):
    machine = CountingMachine(0)
    assert read(folder, machine, verify_pages=True).equals(pa.concat_tables([ROWS, ROWS]))
    assert machine.files == 0
