"""Parquet objects of an S3 server on loopback: gpuetl's engines beside Polars, cudf-polars and DuckDB.

    python tests/benchmarks/object_stores.py FOLDER

FOLDER, on a disk with 2 GB, gets the objects.  `object_server.cpp` serves them from the page cache, and counts requests and
bytes.  Each library runs in a process of its own, once cold and `ROUNDS` times warm.  `gpuetl, local files` reads the same
files without the server.  A library that cannot run here is in the results with the reason.  Results go to
results/object-stores-DATE.json, or to the file that `--into` names; they are written after each case.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today

from servers.processes import free_port, server

HERE = Path(__file__).parent
ROUNDS = 5
LONGEST_S = 60
"""How long a library may take for a case."""
LARGE_FILES, LARGE_ROWS, GROUP_ROWS, COLUMNS = 8, 2_000_000, 250_000, 8
SMALL_FILES, SMALL_ROWS = 10_000, 100
COLUMN_NAMES = [f"x{number}" for number in range(COLUMNS)]
CASES = {
    "1 GB, all columns": ("large", COLUMN_NAMES),
    "1 GB, 2 of 8 columns": ("large", COLUMN_NAMES[2:4]),
    "10,000 small objects": ("small", ["x0"]),
}
"""The bucket of each case, and the columns whose sums it asks for."""


def make(folder: Path) -> None:
    """Write the buckets, where they are missing, in several processes."""
    with ProcessPoolExecutor(mp_context=get_context("fork")) as processes:
        made = [
            processes.submit(make_files, folder / bucket / "t", range(first, min(first + step, files)), rows, names)
            for bucket, files, step, rows, names in (
                ("large", LARGE_FILES, 1, LARGE_ROWS, COLUMN_NAMES),
                ("small", SMALL_FILES, 500, SMALL_ROWS, COLUMN_NAMES[:1]),
            )
            for first in range(0, files, step)
        ]
        for one in made:
            one.result()


def make_files(folder: Path, numbers: Iterable[int], rows: int, names: Sequence[str]) -> None:
    """Write some files of a bucket."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        path, rng = folder / f"{number:05}.parquet", np.random.default_rng(number)
        if not path.exists():
            table = pa.table({name: rng.random(rows) for name in names})
            pq.write_table(table, path, row_group_size=GROUP_ROWS, compression="none", use_dictionary=False)


def needed_bytes(folder: Path, bucket: str, columns: list[str]) -> int:
    """Return the bytes of the column chunks and of the footers that a question needs."""
    count = 0
    for path in sorted((folder / bucket / "t").iterdir()):
        metadata = pq.read_metadata(path)
        count += metadata.serialized_size + 8
        for group in range(metadata.num_row_groups):
            chunks = [metadata.row_group(group).column(place) for place in range(metadata.num_columns)]
            count += sum(one.total_compressed_size for one in chunks if one.path_in_schema in columns)
    return count


# The libraries.  Each returns what asks the question once.

Question = Callable[[], list[float]]


class Asked(NamedTuple):
    """A question: the server and the folder of its buckets, the bucket, and the columns whose sums are wanted."""

    endpoint: str
    folder: str
    bucket: str
    columns: list[str]


def gpuetl_question(asked: Asked, engine: str = "pandas", path: str = "") -> Question:
    """Ask an engine of gpuetl."""
    from gpuetl import Pipeline, expr

    def ask() -> list[float]:
        pipeline = Pipeline("sums")
        rows = pipeline.read_parquet("t", path or f"s3://{asked.bucket}/t")
        sums: dict[str, Any] = {name: expr(f"sum({name})") for name in asked.columns}
        rows.aggregate(**sums).stage("sums")
        row = pipeline.run(engine=engine, keep=["sums"])["sums"].to_arrow().to_pylist()[0]
        return [row[name] for name in asked.columns]

    return ask


def local_question(asked: Asked) -> Question:
    """Ask gpuetl's pandas engine of the same files on local disk."""
    return gpuetl_question(asked, path=f"{asked.folder}/{asked.bucket}/t")


def cudf_question(asked: Asked) -> Question:
    """Ask gpuetl's cudf engine."""
    return gpuetl_question(asked, "cudf")


def polars_question(asked: Asked) -> Question:
    """Ask Polars."""
    import polars as pl

    options = {"aws_endpoint_url": asked.endpoint, "aws_allow_http": "true", "aws_region": "us-east-1"}
    options |= {"aws_access_key_id": "k", "aws_secret_access_key": "s"}

    def ask() -> list[float]:
        rows = pl.scan_parquet(f"s3://{asked.bucket}/t/*.parquet", storage_options=options)
        return list(rows.select(pl.col(asked.columns).sum()).collect().row(0))

    return ask


def cudf_polars_question(asked: Asked) -> Question:
    """Ask cudf-polars, which takes no storage options: libcudf reads s3:// itself, by the environment."""
    import polars as pl

    os.environ |= {"AWS_ALLOW_HTTP": "true", "AWS_DEFAULT_REGION": "us-east-1"}
    engine = pl.GPUEngine(raise_on_fail=True)

    def ask() -> list[float]:
        rows = pl.scan_parquet(f"s3://{asked.bucket}/t/*.parquet")
        return list(rows.select(pl.col(asked.columns).sum()).collect(engine=engine).row(0))

    return ask


def duckdb_question(asked: Asked) -> Question:
    """Ask DuckDB, whose extension for HTTP has to be installed."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("LOAD httpfs")
    connection.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID 'k', SECRET 's', REGION 'us-east-1', USE_SSL false, URL_STYLE 'path', "
        f"ENDPOINT '{asked.endpoint.removeprefix('http://')}')"
    )
    sums = ", ".join(f"sum({name})" for name in asked.columns)

    def ask() -> list[float]:
        found = connection.execute(f"SELECT {sums} FROM 's3://{asked.bucket}/t/*.parquet'").fetchone()
        assert found is not None
        return list(found)

    return ask


LIBRARIES = {
    "gpuetl, pandas engine": gpuetl_question,
    "gpuetl, cudf engine": cudf_question,
    "polars": polars_question,
    "cudf-polars": cudf_polars_question,
    "duckdb": duckdb_question,
    "gpuetl, local files": local_question,
}


def counts(endpoint: str, path: str = ".counts") -> dict[str, int]:
    """Return what the server counted."""
    with urllib.request.urlopen(f"{endpoint}/{path}") as answer:
        found: dict[str, int] = json.load(answer)
        return found


def cpu_s() -> float:
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(library: str, case: str, endpoint: str, folder: str, rounds: int, began: float) -> None:
    """Ask a question cold and warm, and print the seconds and what the server counted."""
    bucket, columns = CASES[case]
    ask, runs, found = LIBRARIES[library](Asked(endpoint, folder, bucket, columns)), [], dict[str, Any]()
    for _ in range(rounds + 1):
        counts(endpoint, ".reset")
        cpu, start = cpu_s(), time.perf_counter()
        answer = ask()
        seconds = time.perf_counter() - start
        found.setdefault("process_s", time.time() - began)
        runs.append({"s": seconds, "cpu_s": cpu_s() - cpu, **counts(endpoint)})
    warm = sorted(runs[1:], key=lambda run: run["s"])
    found |= {"answer": answer, "cold": runs[0], "warm": warm[len(warm) // 2], "least_s": warm[0]["s"]}
    found["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(json.dumps(found))


def measured(library: str, case: str, endpoint: str, folder: Path, rounds: int) -> dict[str, Any]:
    """Measure a library in a process of its own; `process_s` is from its start to the first answer."""
    names = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    environment = {**os.environ, **names, "AWS_REGION": "us-east-1"}
    place = library, case, endpoint, str(folder), str(rounds), str(time.time())
    command = [sys.executable, __file__, "--measure", *place]
    try:
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {LONGEST_S} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure all libraries in all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--measure", nargs=6)
    parser.add_argument("--only", nargs="*", default=[*LIBRARIES])
    parser.add_argument("--cases", nargs="*", default=[*CASES])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no measurement after so many")
    parser.add_argument("--into", type=Path, default=HERE / f"results/object-stores-{today()}.json")
    arguments = parser.parse_args()
    if arguments.measure:
        library, case, endpoint, folder, rounds, began = arguments.measure
        measure(library, case, endpoint, folder, int(rounds), float(began))
        return
    end = time.perf_counter() + arguments.seconds
    make(arguments.folder)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        program, port = Path(scratch) / "object_server", free_port()
        build = ["g++", "-O2", "-std=c++20", "-pthread", str(HERE / "object_server.cpp"), "-o", str(program)]
        subprocess.run(build, check=True)
        with server([str(program), str(arguments.folder), str(port)], port, Path(scratch) / "log"):
            for case in arguments.cases:
                needed, found = needed_bytes(arguments.folder, *CASES[case]), dict[str, Any]()
                results[case] = {"needed_bytes": needed, "libraries": found}
                for name in arguments.only:
                    late = time.perf_counter() > end
                    place = f"http://127.0.0.1:{port}", arguments.folder, arguments.rounds
                    found[name] = {"failed": "no time was left"} if late else measured(name, case, *place)
                    print_library(case, needed, name, found[name])
                    write(arguments.into, arguments.rounds, results)
                check_answers(one["answer"] for one in found.values() if "answer" in one)


def write(path: Path, rounds: int, results: dict[str, Any]) -> None:
    """Write what was measured so far; cases that are in the file stay."""
    where = described(["gpuetl", "obstore", "pyarrow", "polars", "cudf-polars-cu12", "duckdb"])
    where["hardware"] |= gpu()
    load = {"load": os.getloadavg()[1], "rounds": rounds}
    before = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else {}
    text = json.dumps({"benchmark": "object-stores", **where, **load, "cases": {**before, **results}}, indent=2)
    path.write_text(text + "\n", encoding="utf-8")


def gpu() -> dict[str, str]:
    """Return the name of the GPU, if there is one."""
    try:
        command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return {"gpu": subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]}
    except (OSError, subprocess.CalledProcessError, IndexError):
        return {}


def check_answers(answers: Iterable[list[float]]) -> None:
    """Refuse answers that differ."""
    first, *others = [*answers] or [[]]
    for one in others:
        assert np.allclose(one, first, rtol=1e-9), (one, first)


def print_library(case: str, needed: int, name: str, found: dict[str, Any]) -> None:
    """Print what was measured of a library."""
    if "failed" in found:
        print(f"{case}: {name}: {found['failed']}", flush=True)
        return
    print(
        f"{case}: {name}: {found['process_s']:.2f} s from the start of the process, peak {found['peak_bytes'] / 1e6:,.0f} MB"
    )
    for kind in ("cold", "warm"):
        if run := found.get(kind):
            print(
                f"  {kind} {run['s']:6.2f} s, {run['cpu_s']:6.2f} s of CPU {run['bytes'] / run['s'] / 1e6:7,.0f} MB/s "
                f"{run['bytes'] / needed:5.2f} x bytes {run['get']:6,} GET {run['head']:6,} HEAD {run['list']:4} LIST "
                f"of {run['list_bytes'] / 1e6:.1f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
