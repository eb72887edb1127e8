"""Large reads are cut into parts of about as many stored bytes, and read as one."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import ON_CPU
from gpuetl import Pipeline, expr
from gpuetl.backends.cudf.choices import skipping
from gpuetl.backends.cudf.sources import parts as sources_parts
from gpuetl.backends.cudf.sources.parts import LEAST_BYTES, parts_of
from gpuetl.backends.engines import load_backend
from gpuetl.io.dataset import DataFile, RowGroup
from gpuetl.testing import assert_same
from tables import table

A, B, C = (DataFile(Path(name), {}) for name in "abc")


def group(file, index, share):
    """Return a row group whose column `x` takes a share of the least that a part has, and `y` a hundred times that."""
    return RowGroup(file, index, 1, {"x": int(share * LEAST_BYTES), "y": int(share * 100 * LEAST_BYTES)}, {})


def parts(*groups, columns=("x",)):
    """Return the parts, files by name."""
    return [{path.name: own for path, own in part.items()} for part in parts_of(groups, columns)]


def test_few_bytes_are_one_part():
    """Bytes of columns that are not read do not count."""
    assert parts(group(A, 0, 0.5), group(A, 1, 0.5), group(B, 0, 0.9)) == [{"a": [0, 1], "b": [0]}]


def test_parts_follow_each_other_and_have_as_many_bytes():
    """Files are cut between row groups where that is nearer to equal."""
    assert parts(*(group(file, index, 0.5) for file in (A, B) for index in (0, 2))) == [{"a": [0, 2]}, {"b": [0, 2]}]
    assert parts(group(A, 0, 1), group(A, 1, 1), group(A, 2, 1), group(B, 0, 1), group(C, 0, 1)) == [
        {"a": [0]}, {"a": [1]}, {"a": [2], "b": [0]}, {"c": [0]},
    ]  # fmt: skip


def test_there_are_no_more_parts_than_readers_nor_than_row_groups():
    """However much is read; a part without a row group is none."""
    assert [len(part["a"]) for part in parts(*(group(A, index, 4) for index in range(16)))] == [4, 4, 4, 4]
    assert parts(group(A, 0, 9)) == [{"a": [0]}]
    assert parts(group(A, 0, 1), group(A, 1, 90), group(A, 2, 1)) == [{"a": [0]}, {"a": [1]}, {"a": [2]}]


@pytest.mark.parametrize("columns", [(), ("z",)], ids=["no column", "a column without bytes"])
def test_without_bytes_there_is_one_part(columns):
    """Rows alone may be wanted."""
    assert parts(group(A, 0, 9), group(B, 0, 9), columns=columns) == [{"a": [0], "b": [0]}]


def test_the_choice_can_be_left_out():
    """Then all is read in one call."""
    with skipping(["read_side_by_side"]):
        assert len(parts(group(A, 0, 9), group(B, 0, 9))) == 1


TYPES = {
    "i": "int64", "f": "float32", "b": "bool", "few": "string", "s": "string", "d": "decimal(30, 2)",
    "t": "timestamp", "l": "list<string>",
}  # fmt: skip


def row(at):
    """Return a row; every seventh is null, and so are all of a hundred."""
    if at % 7 == 0 or at // 100 == 2:
        return (None,) * len(TYPES)
    return (
        at - 300, at / 4, at % 2 == 0, "ab"[at % 2], f"text {at} é", Decimal(at) * 10**20, at * 10**6,
        [None, "x" * (at % 5)][: at % 3],
    )  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder of three files whose row groups are all large enough to be parts."""
    monkeypatch.setattr(sources_parts, "LEAST_BYTES", 1)
    rows = table(TYPES, *map(row, range(600)))
    for name, start in {"a": 0, "b": 50, "c": 51}.items():
        pq.write_table(rows[start : start + 400], tmp_path / f"{name}.parquet", row_group_size=90)
    return tmp_path


def test_what_is_read_in_parts_is_what_is_read_at_once(files, local_engine):
    """Rows stay in order; texts, nulls, lists and long decimals are put together."""
    pipeline = Pipeline("p", root=files)
    rows = pipeline.read_parquet("t", "*.parquet")
    rows.stage("all_of_it")
    rows.aggregate("few", n=expr("count(*)"), first=expr("min(s)"), least=expr("min(i)")).stage("groups")
    rows.filter(expr("i > 40")).select("i", "l").stage("some")
    assert_same(pipeline, local_engine)


@pytest.mark.parametrize("local_engine", [ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)], indirect=True)
def test_where_a_part_cannot_be_read_the_error_is_told(files, local_engine):
    """When the others, which go on beside it, have ended."""
    machine = load_backend(local_engine).machine
    types = {"i": pa.int64()}
    with pytest.raises((OSError, RuntimeError), match=r"gone\.parquet"):
        machine.read_parquet([{files / "a.parquet": [0]}, {files / "gone.parquet": [0]}], types)
    assert machine.read_parquet([{files / "a.parquet": [0]}, {files / "b.parquet": [1]}], types)["i"].rows == 180
