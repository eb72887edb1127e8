"""Parquet objects of an S3 server on loopback: gpuetl's pandas engine beside Polars and DuckDB.

    python tests/benchmarks/object_stores.py FOLDER

FOLDER, on a disk with 2 GB, gets the objects.  `object_server.cpp` serves them from the page cache, and counts requests and
bytes.  Each library runs in a process of its own, once cold and `ROUNDS` times warm.  Results go to
results/object-stores-DATE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today

from servers.processes import free_port, server

HERE = Path(__file__).parent
ROUNDS = 5
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
    """Write the buckets, where they are missing."""
    rng = np.random.default_rng(1)
    for bucket, files, rows, names in (
        ("large", LARGE_FILES, LARGE_ROWS, COLUMN_NAMES),
        ("small", SMALL_FILES, SMALL_ROWS, COLUMN_NAMES[:1]),
    ):
        (folder / bucket / "t").mkdir(parents=True, exist_ok=True)
        for number in range(files):
            path = folder / bucket / "t" / f"{number:05}.parquet"
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


def gpuetl_question(endpoint: str, bucket: str, columns: list[str]) -> Question:
    """Ask gpuetl's pandas engine."""
    from gpuetl import Pipeline, expr

    def ask() -> list[float]:
        pipeline = Pipeline("sums")
        rows = pipeline.read_parquet("t", f"s3://{bucket}/t")
        sums: dict[str, Any] = {name: expr(f"sum({name})") for name in columns}
        rows.aggregate(**sums).stage("sums")
        row = pipeline.run(engine="pandas", keep=["sums"])["sums"].to_arrow().to_pylist()[0]
        return [row[name] for name in columns]

    return ask


def polars_question(endpoint: str, bucket: str, columns: list[str]) -> Question:
    """Ask Polars."""
    import polars as pl

    options = {"aws_endpoint_url": endpoint, "aws_allow_http": "true", "aws_region": "us-east-1"}
    options |= {"aws_access_key_id": "k", "aws_secret_access_key": "s"}

    def ask() -> list[float]:
        rows = pl.scan_parquet(f"s3://{bucket}/t/*.parquet", storage_options=options)
        return list(rows.select(pl.col(columns).sum()).collect().row(0))

    return ask


def duckdb_question(endpoint: str, bucket: str, columns: list[str]) -> Question:
    """Ask DuckDB, whose extension for HTTP has to be installed."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("LOAD httpfs")
    connection.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID 'k', SECRET 's', REGION 'us-east-1', USE_SSL false, URL_STYLE 'path', "
        f"ENDPOINT '{endpoint.removeprefix('http://')}')"
    )
    sums = ", ".join(f"sum({name})" for name in columns)

    def ask() -> list[float]:
        found = connection.execute(f"SELECT {sums} FROM 's3://{bucket}/t/*.parquet'").fetchone()
        assert found is not None
        return list(found)

    return ask


LIBRARIES = {"gpuetl": gpuetl_question, "polars": polars_question, "duckdb": duckdb_question}


def counts(endpoint: str, path: str = ".counts") -> dict[str, int]:
    """Return what the server counted."""
    with urllib.request.urlopen(f"{endpoint}/{path}") as answer:
        found: dict[str, int] = json.load(answer)
        return found


def measure(library: str, case: str, endpoint: str) -> None:
    """Ask a question cold and warm, and print the seconds and what the server counted."""
    bucket, columns = CASES[case]
    ask = LIBRARIES[library](endpoint, bucket, columns)
    runs = []
    for _ in range(ROUNDS + 1):
        counts(endpoint, ".reset")
        start = time.perf_counter()
        answer = ask()
        runs.append({"s": time.perf_counter() - start, **counts(endpoint)})
    warm = sorted(runs[1:], key=lambda run: run["s"])
    print(json.dumps({"answer": answer, "cold": runs[0], "warm": warm[len(warm) // 2], "least_s": warm[0]["s"]}))


def measured(library: str, case: str, endpoint: str) -> dict[str, Any]:
    """Measure a library in a process of its own."""
    names = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    command = [sys.executable, __file__, "--measure", library, case, endpoint]
    environment = {**os.environ, **names, "AWS_REGION": "us-east-1"}
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure all libraries in all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--measure", nargs=3)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    make(arguments.folder)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        program, port = Path(scratch) / "object_server", free_port()
        build = ["g++", "-O2", "-std=c++20", "-pthread", str(HERE / "object_server.cpp"), "-o", str(program)]
        subprocess.run(build, check=True)
        with server([str(program), str(arguments.folder), str(port)], port, Path(scratch) / "log"):
            endpoint = f"http://127.0.0.1:{port}"
            for case, (bucket, columns) in CASES.items():
                needed = needed_bytes(arguments.folder, bucket, columns)
                found = {name: measured(name, case, endpoint) for name in LIBRARIES if arguments.only in name}
                check_answers([one["answer"] for one in found.values() if "answer" in one])
                results[case] = {"needed_bytes": needed, "libraries": found}
                print_case(case, needed, found)
    if not arguments.only:
        where = described(["gpuetl", "obstore", "pyarrow", "polars", "duckdb"])
        load = {"load": os.getloadavg()[1], "rounds": ROUNDS}
        text = json.dumps({"benchmark": "object-stores", **where, **load, "cases": results}, indent=2)
        (HERE / f"results/object-stores-{today()}.json").write_text(text + "\n", encoding="utf-8")


def check_answers(answers: list[list[float]]) -> None:
    """Refuse answers that differ."""
    for one in answers[1:]:
        assert np.allclose(one, answers[0], rtol=1e-9), answers


def print_case(case: str, needed: int, found: dict[str, dict[str, Any]]) -> None:
    """Print what was measured."""
    print(f"{case}: {needed / 1e6:,.1f} MB are needed")
    for name, one in found.items():
        for kind in ("cold", "warm"):
            if kind in one:
                run = one[kind]
                share, rate = run["bytes"] / needed, run["bytes"] / run["s"] / 1e6
                print(
                    f"  {name:8} {kind} {run['s']:6.2f} s {rate:7,.0f} MB/s {share:5.2f} x bytes "
                    f"{run['get']:6,} GET {run['head']:6,} HEAD {run['list']:4} LIST"
                )
            elif "failed" in one:
                print(f"  {name:8} {one['failed']}")


if __name__ == "__main__":
    main()
