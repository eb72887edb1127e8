"""Pipeline E and a hash exchange on one GPU and on several: weak scaling, strong scaling, and what the host gives.

    python tests/benchmarks/scaling.py FOLDER --gpus 1,2,4 --rows-a-gpu 100000000

Makes events for the most GPUs in FOLDER, of which fewer GPUs get the first files; measures first what the host's memory
gives and takes.  Then each number of GPUs, in a process of its own: one is the engine `cudf`, more are `dask-cuda`.  Each
runs the pipeline over as many rows a GPU, and over all rows; the totals of all must agree.  Of several GPUs a hash
exchange of frames in device memory is timed, too.  Results are written to results/scaling-DATE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from environment import described, today
from exchange import exchange_seconds
from suites import Job
from suites.answers import assert_same_answers
from suites.events.make import make
from suites.folders import make_whole
from suites.results import first_and_best, gpu, installed, printed, table_size

from gpuetl import RunOptions, load
from gpuetl.bench import read, written

HERE = Path(__file__).parent
FILES_A_GPU = 8
EXCHANGED_ROWS = 25_000_000, 100_000_000, 400_000_000
"""A GPU's, of 24 bytes."""


def main() -> None:
    """Measure."""
    asked = arguments()
    if asked.serve:
        serve(asked, asked.serve)
        return
    most = max(asked.gpus)
    data = asked.folder / "data" / f"scaling-{asked.rows_a_gpu * most}"
    make_whole(data, lambda begun: make(begun, asked.rows_a_gpu * most, files=FILES_A_GPU * most))
    found: dict[str, Any] = {"benchmark": "scaling", **described(installed()), "rows_a_gpu": asked.rows_a_gpu}
    found["hardware"] |= gpu()
    found["events"] = table_size(data / "events")
    found["host"] = list(host_rates(asked.folder, most, asked.host_bytes))
    found["runs"] = []
    for count in asked.gpus:
        found["runs"] += measured(asked, count)
        asked.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]  # noqa: E731
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--gpus", type=numbers, default=[1, 2, 4])
    parser.add_argument("--rows-a-gpu", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=4, help="after the first one")
    parser.add_argument("--exchanged", type=numbers, default=EXCHANGED_ROWS, help="rows a GPU, of 24 bytes")
    parser.add_argument(
        "--host-bytes", type=int, default=1 << 26, help="a thread writes and reads, to measure the host"
    )
    parser.add_argument("--on-cpu", action="store_true", help="engines pandas and dask: to see that all works")
    parser.add_argument("--results", type=Path, default=HERE / "results" / f"scaling-{today()}.json")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def host_rates(folder: Path, most: int, size: int) -> Iterator[dict[str, Any]]:
    """Measure files in the page cache, so many bytes each, written and read by 16 threads for each of so many GPUs."""
    for gpus in sorted({1, most}):
        threads = 16 * gpus
        source = np.ones(threads * size, np.uint8)
        with TemporaryDirectory(dir=folder) as made:
            for link, seconds in (
                ("host to file", written(Path(made), threads, source)),
                ("file to host", read(Path(made), threads, source, threads)),
            ):
                yield printed({"link": link, "threads": threads, "gb_s": len(source) / seconds / 1e9})


def measured(asked: argparse.Namespace, gpus: int) -> list[dict[str, Any]]:
    """Return what a number of GPUs took, measured in another process."""
    command = [sys.executable, *sys.argv, "--serve", str(gpus)]
    record = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env={"KVIKIO_NTHREADS": "16", **os.environ}
    )
    return [printed(json.loads(line)) for line in record.stdout.splitlines() if line.startswith("{")]


def serve(asked: argparse.Namespace, gpus: int) -> None:
    """Measure a number of GPUs; tell each result in a line."""
    most = max(asked.gpus)
    whole = asked.folder / "data" / f"scaling-{asked.rows_a_gpu * most}"
    with cluster(asked, gpus) as client:
        for share in sorted({gpus, most}):
            run = partial(run_pipeline, asked, part_of(whole, share), client)
            record = {"gpus": gpus, "rows": asked.rows_a_gpu * share, **timed(run, asked.runs)}
            printed({**record, "stages": run(), "equals": compared(asked, share, gpus)})
        for rows in asked.exchanged if client is not None else ():
            seconds = timed(partial(exchange_seconds, client, rows, "pandas" if asked.on_cpu else "cudf"), asked.runs)
            printed({"gpus": gpus, "exchanged_bytes_a_gpu": 24 * rows, **seconds})


@contextmanager
def cluster(asked: argparse.Namespace, gpus: int) -> Iterator[Any]:
    """Give a client of a worker for each GPU; none for one GPU."""
    if gpus == 1:
        yield None
        return
    from gpuetl.executors.dask.cluster import open_client
    from gpuetl.options import Cluster

    with open_client("dask" if asked.on_cpu else "dask-cuda", Cluster(workers=gpus)) as client:
        yield client


def part_of(whole: Path, gpus: int) -> Path:
    """Return a folder with links to the files for a number of GPUs, and to the users, who are the same for all."""
    part = whole.with_name(f"{whole.name}-{gpus}")
    shutil.rmtree(part, ignore_errors=True)
    (part / "events").mkdir(parents=True)
    for number in range(gpus * FILES_A_GPU):
        (part / "events" / f"{number}.parquet").symlink_to(whole / "events" / f"{number}.parquet")
    (part / "users").symlink_to(whole / "users")
    return part


def run_pipeline(asked: argparse.Namespace, data: Path, client: Any) -> dict[str, Any]:
    """Run the pipeline; return the seconds of its parts and of its stages."""
    os.environ.update(DATA=str(data), OUT=str(asked.folder / "out"))
    engine = ("pandas" if client is None else "dask") if asked.on_cpu else ("cudf" if client is None else "dask-cuda")
    report = (
        load(Job("events", "pipeline").file(".yaml")).run(engine=engine, client=client, options=RunOptions()).report
    )
    return {"run": report.seconds, "stages": {stage.name: stage.seconds for stage in report.stages}}


def timed(run: Callable[[], Any], runs: int) -> dict[str, Any]:
    """Return the seconds of a first run, and of the best of those after it; a run may tell its seconds itself."""
    seconds = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        record = run()
        seconds.append(record if isinstance(record, float) else time.perf_counter() - began)
    return first_and_best(seconds)


def compared(asked: argparse.Namespace, share: int, gpus: int) -> str | None:
    """Compare the totals with the first ones over these rows, and keep them if they are those; return whose they equal."""
    totals, kept = asked.folder / "out" / "totals", asked.folder / "totals" / str(share)
    first = next(iter(kept.iterdir()), None) if kept.exists() else None
    if first is None:
        shutil.copytree(totals, kept / str(gpus) / "totals")
        return None
    with TemporaryDirectory() as ours:
        shutil.copytree(totals, Path(ours) / "totals")
        assert_same_answers(Path(ours), first)
    return f"{first.name} GPUs" if first.name != "1" else "1 GPU"


if __name__ == "__main__":
    main()
