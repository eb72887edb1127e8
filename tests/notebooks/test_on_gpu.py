"""Rows of tables on a GPU, where they are handed over on its memory, or copied to it from what is kept."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, col, count, result_cache
from gpuetl.run import result_keys

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(result_keys, "SETTLED_NS", 0)
    result_cache.clear()
    yield
    result_cache.clear()


@pytest.fixture
def t(tmp_path):
    rows = pa.table({"a": range(10_000), "x": [number / 2 for number in range(10_000)], "s": ["é"] * 10_000})
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=1_000)
    return Pipeline("p", root=tmp_path).read_parquet("t", "t.parquet")


def test_rows_are_the_same_computed_and_kept(t):
    big = t.filter(col("a") >= 9_998)
    for _ in range(2):
        rows = big.collect(engine="cudf")
        assert rows.to_arrow().to_pydict() == {"a": [9_998, 9_999], "x": [4_999.0, 4_999.5], "s": ["é", "é"]}
        assert rows.to_cudf()["a"].to_arrow().to_pylist() == [9_998, 9_999]
        assert big.select("a", "x").collect(engine="cudf").to_cupy()["x"].tolist() == [4_999.0, 4_999.5]
        assert pa.table(rows).num_rows == 2
    assert len(result_cache) == 2


def test_later_steps_and_statistics(t):
    big = t.filter(col("a") >= 5_000)
    big.collect(engine="cudf")
    assert big.aggregate(n=count()).collect(engine="cudf").to_arrow().to_pylist() == [{"n": 5_000}]
    described = t.describe(engine="cudf").to_arrow().to_pylist()
    assert [(line["column"], line["nulls"], line["median"], line["max"]) for line in described] == [
        ("a", 0, 4_999.5, "9999"), ("x", 0, 2_499.75, "4999.5"), ("s", 0, None, "é"),
    ]  # fmt: skip


def test_the_first_rows(t):
    assert t.filter(col("a") % 2 == 1).head(3, engine="cudf").to_arrow().column("a").to_pylist() == [1, 3, 5]
    assert "é" in repr(t.head(2, engine="cudf"))
