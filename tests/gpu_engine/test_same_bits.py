"""Runs whose partitions are read, computed and written side by side give the same bits each time."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, RunOptions, col, expr
from tables import write_source

ROWS, KEYS, RUNS = 1 << 20, 5000, 8
OPTIONS = RunOptions(partition_rows=1 << 17, broadcast_bytes=0)


@pytest.fixture
def pipeline(tmp_path):
    """Rows with texts and nulls, split by key, joined, in windows, and summed up; most of it is written."""
    drawn = np.random.default_rng(7)
    rows = pa.table({
        "k": drawn.integers(0, KEYS, ROWS),
        "t": np.arange(ROWS),
        "x": pa.array(drawn.normal(size=ROWS), mask=drawn.random(ROWS) < 0.1),
        "s": np.char.add("text ", drawn.integers(0, 300, ROWS).astype(str)),
    })  # fmt: skip
    pipeline = Pipeline("same bits", root=tmp_path)
    t = write_source(pipeline, "t", rows, row_group_size=1 << 16)
    u = write_source(pipeline, "u", pa.table({"k": np.arange(KEYS), "w": drawn.normal(size=KEYS)}), row_group_size=1024)
    windowed = (
        t.filter(col("x") > -1)
        .join(u, "k")
        .window("k", "t", n=expr("row_number()"), total=expr("cum_sum(x)"), before=expr("lag(s)"))
        .stage("windowed")
    )
    windowed.write_parquet("out", "out", mode="overwrite")
    windowed.aggregate("s", rows=expr("count(*)"), x=expr("sum(x * w)"), most=expr("max(n)")).stage("sums")
    return pipeline


def found(pipeline, engine):
    """Return what is written, by key and time, and what is kept."""
    run = pipeline.run(engine=engine, options=OPTIONS)
    written = pq.read_table(pipeline.root / "out").sort_by([("t", "ascending")])
    return written, run["sums"].to_arrow().sort_by([("s", "ascending")])


@pytest.mark.gpu
@pytest.mark.parametrize("engine", ["cudf", "dask-cuda"])
def test_runs_agree_bit_by_bit(pipeline, engine, request):
    """A memory that is freed too soon, or a stream that does not wait, shows in some of them."""
    if engine == "dask-cuda":
        request.getfixturevalue("gpu_cluster")
    else:
        pytest.importorskip("cupy")
    first = found(pipeline, engine)
    for _ in range(RUNS):
        again = found(pipeline, engine)
        assert all(one.equals(other) for one, other in zip(first, again, strict=True))
