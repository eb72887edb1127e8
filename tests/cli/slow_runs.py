"""A pipeline whose run takes as long as a test wants: its kernel's twin sleeps in each partition."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 10
"""Of a partition: one row group."""
SLOW = """\
gpuetl: 1
name: slow
sources:
  rows: {parquet: rows.parquet}
stages:
  slowly:
    from: rows
    steps:
      - kernel: {cuda: k.cu, entry: slowly, reference: twin.py:slowly, inputs: [x], outputs: {y: int64}}
  total:
    from: slowly
    steps:
      - aggregate: {by: [k], columns: {n: 'count(*)'}}
sinks:
  out: {from: total, csv: out/total.csv, mode: overwrite}
  all: {from: slowly, parquet: out/all, mode: overwrite}
"""
TWIN = """\
import os, time
def slowly(x):
    if os.path.exists("stop_here"):
        open("reached", "w").close()
    time.sleep(float(os.environ.get("SLOW_S", "SECONDS")))
    return {"y": x * 2}
"""
KERNEL = """\
extern "C" __global__ void slowly(const long long* x, long long* y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
"""


def write_slow_run(folder: Path, partitions: int, seconds: float) -> Path:
    """Write a pipeline to `slow.yaml`; with `--partition-rows 10`, its run takes so many times `seconds`."""
    rows = ROWS * partitions
    table = pa.table({"x": pa.array(range(rows), pa.int64()), "k": pa.array([n % 3 for n in range(rows)], pa.int64())})
    pq.write_table(table, folder / "rows.parquet", row_group_size=ROWS)
    (folder / "slow.yaml").write_text(SLOW)
    (folder / "twin.py").write_text(TWIN.replace("SECONDS", str(seconds)))
    (folder / "k.cu").write_text(KERNEL)
    return folder / "slow.yaml"
