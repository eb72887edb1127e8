"""Makes the tables with tpchgen-cli; decimals become doubles, as peers' own versions of the benchmark have them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP, FILES = 1_000_000, 8


def make(folder: Path, scale: float) -> None:
    """Write a folder of Parquet files for each of the eight tables."""
    raw = folder.with_suffix(".raw")
    shutil.rmtree(raw, ignore_errors=True)
    options = ["--output-dir", str(raw), "--parts", str(FILES if scale >= 1 else 2), "--quiet"]
    subprocess.run([generator(), "parquet", "-s", f"{scale:g}", *options], check=True)
    files = sorted(raw.rglob("*.parquet"))
    with ThreadPoolExecutor(FILES) as threads:
        list(threads.map(lambda file: rewrite(file, folder / file.parent.name / file.name), files))
    shutil.rmtree(raw)


def generator() -> str:
    """Return the path of tpchgen-cli, beside this Python or on the PATH; raise `SystemExit` where it is not installed."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("tpchgen-cli", path=places)
    if found is None:
        raise SystemExit("PDS-H's tables need tpchgen-cli: pip install tpchgen-cli, or leave pdsh out of --jobs")
    return found


def rewrite(file: Path, path: Path) -> None:
    """Write a file anew with doubles for decimals and plain texts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = pq.read_table(file, use_threads=False)
    schema = pa.schema([(field.name, plain(field.type)) for field in rows.schema])
    pq.write_table(rows.cast(schema), path, row_group_size=ROW_GROUP, compression="snappy")


def plain(dtype: pa.DataType) -> pa.DataType:
    """Return the type that a column gets."""
    if pa.types.is_decimal(dtype):
        return pa.float64()
    return pa.string() if pa.types.is_string_view(dtype) else dtype
