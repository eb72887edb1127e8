"""What it costs to compare files of sources with the plan, as a difference in one process: with the checks and without.

    python -m benchmarks.source_checks [--files 20000] [--rows 20000000] [--repeat 5]

Each file is read as the pandas engine reads it, first with the checks and then without, in turns.  Prints the fewest
seconds of processor time of each, and the median of the differences between neighbours.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline, expr
from gpuetl.places import open_file


@contextmanager
def without_checks() -> Iterator[None]:
    """Open files as before, and compare nothing."""

    @contextmanager
    def unchanged(files: object) -> Iterator[None]:
        yield

    with (
        patch.object(open_file, "unchanged", unchanged),
        patch.object(open_file, "check_unchanged", lambda files: None),
        patch.object(open_file, "refuse_change", lambda path, planned, now: None),
    ):
        yield


def processor_seconds(step: Callable[[], object]) -> float:
    """Return the processor time of all threads for a step."""
    start = time.process_time()
    step()
    return time.process_time() - start


def measured(name: str, folder: Path, repeat: int) -> str:
    """Read a folder with the checks and without, in turns, and word what came."""

    def run() -> None:
        pipeline = Pipeline("p")
        pipeline.read_parquet("t", str(folder)).aggregate(n=expr("count(*)"), total=expr("sum(x)")).stage("s")
        pipeline.run(engine="pandas", keep="s")

    run()
    checked, plain = [], []
    for _ in range(repeat):
        checked.append(processor_seconds(run))
        with without_checks():
            plain.append(processor_seconds(run))
    differences = [one - other for one, other in zip(checked, plain, strict=True)]
    spread = f"{min(differences):.3f} to {max(differences):.3f}"
    return (
        f"{name}: {min(checked):.3f} s with the checks, {min(plain):.3f} s without; "
        f"difference {statistics.median(differences):.3f} s ({spread}), {repeat} pairs"
    )


def main() -> None:
    """Make the files, and measure both kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        small, large = Path(place) / "small", Path(place) / "large"
        small.mkdir()
        large.mkdir()
        rows = pa.table({"x": np.arange(10, dtype=np.float64)})
        for number in range(given.files):
            pq.write_table(rows, small / f"{number:05}.parquet")
        pq.write_table(pa.table({"x": np.random.default_rng(0).random(given.rows)}), large / "a.parquet")
        print(measured(f"{given.files:,} files of 10 rows", small, given.repeat), flush=True)
        print(measured(f"1 file of {given.rows:,} rows", large, given.repeat))


if __name__ == "__main__":
    main()
