"""Clients of object stores: obstore, pyarrow.fs and s3fs, on an S3 server on loopback.

    python tests/benchmarks/store_clients.py FOLDER

FOLDER is that of `object_stores.py`, which has made the objects.  Each client reads 1 GB in ranges of 8 MB, and 2,000 small
objects, by 32 threads (s3fs: its own tasks), in a process of its own, `ROUNDS` times.  Results go to
results/store-clients-DATE.json.
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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from environment import described, today

from servers.processes import free_port, server

HERE = Path(__file__).parent
ROUNDS, THREADS, RANGE_BYTES, SMALL = 5, 32, 8 << 20, 2_000
Job = tuple[str, int, int]
"""A key with its bucket, and the bytes to read: from, and to before."""


def jobs_of(folder: Path, case: str) -> list[Job]:
    """Return the ranges of a case."""
    if case == "small":
        paths = sorted((folder / "small/t").iterdir())[:SMALL]
        return [(f"small/t/{path.name}", 0, path.stat().st_size) for path in paths]
    return [
        (f"large/t/{path.name}", start, min(start + RANGE_BYTES, path.stat().st_size))
        for path in sorted((folder / "large/t").iterdir())
        for start in range(0, path.stat().st_size, RANGE_BYTES)
    ]


def by_obstore(endpoint: str) -> Callable[[Sequence[Job]], int]:
    """Read by obstore, from threads."""
    import obstore
    from obstore.store import S3Store

    config: Any = {"endpoint": endpoint, "access_key_id": "k", "secret_access_key": "s", "region": "us-east-1"}
    stores = {name: S3Store(name, config=config, client_options={"allow_http": True}) for name in ("large", "small")}

    def one(job: Job) -> int:
        bucket, _, key = job[0].partition("/")
        return len(obstore.get(stores[bucket], key, options={"range": (job[1], job[2])}).bytes())

    return on_threads(one)


def by_pyarrow(endpoint: str) -> Callable[[Sequence[Job]], int]:
    """Read by pyarrow.fs, from threads; each file is opened once, by a request for its size."""
    from pyarrow import fs

    where = endpoint.removeprefix("http://")
    store = fs.S3FileSystem(access_key="k", secret_key="s", endpoint_override=where, scheme="http", region="us-east-1")

    def all_of(jobs: Sequence[Job]) -> int:
        keys = sorted({key for key, _, _ in jobs})
        with ThreadPoolExecutor(THREADS) as threads:
            files = dict(zip(keys, threads.map(store.open_input_file, keys), strict=True))
            return sum(threads.map(lambda job: len(files[job[0]].read_at(job[2] - job[1], job[1])), jobs))

    return all_of


def by_s3fs(endpoint: str) -> Callable[[Sequence[Job]], int]:
    """Read by s3fs, by tasks of its own loop."""
    import s3fs

    store = s3fs.S3FileSystem(key="k", secret="s", client_kwargs={"endpoint_url": endpoint, "region_name": "us-east-1"})

    def all_of(jobs: Sequence[Job]) -> int:
        keys, starts, ends = zip(*jobs, strict=True)
        return sum(len(data) for data in store.cat_ranges(list(keys), list(starts), list(ends), max_gap=None))

    return all_of


CLIENTS = {"obstore": by_obstore, "pyarrow.fs": by_pyarrow, "s3fs": by_s3fs}


def on_threads(one: Callable[[Job], int]) -> Callable[[Sequence[Job]], int]:
    """Return what does all jobs on threads."""
    threads = ThreadPoolExecutor(THREADS)
    return lambda jobs: sum(threads.map(one, jobs))


def measure(client: str, folder: Path, endpoint: str) -> None:
    """Read all cases, and print the least seconds, with those of the processor."""
    read = CLIENTS[client](endpoint)
    results = {}
    for case in ("large", "small"):
        jobs, runs = jobs_of(folder, case), []
        for _ in range(ROUNDS):
            begin, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
            count = read(jobs)
            seconds, end = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
            assert count == sum(job[2] - job[1] for job in jobs)
            runs.append((seconds, end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime))
        results[case] = {"bytes": count, "requests": len(jobs), "s": min(runs)[0], "cpu_s": min(run[1] for run in runs)}
    print(json.dumps(results))


def main() -> None:
    """Measure each client in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--measure", nargs=2)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], arguments.folder, arguments.measure[1])
        return
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        program, port = Path(scratch) / "object_server", free_port()
        build = ["g++", "-O2", "-std=c++20", "-pthread", str(HERE / "object_server.cpp"), "-o", str(program)]
        subprocess.run(build, check=True)
        with server([str(program), str(arguments.folder), str(port)], port, Path(scratch) / "log"):
            for name in CLIENTS:
                command = [sys.executable, __file__, str(arguments.folder)]
                command += ["--measure", name, f"http://127.0.0.1:{port}"]
                done = subprocess.run(command, check=False, capture_output=True, text=True)
                failed = {"failed": (done.stderr.strip() or " ").splitlines()[-1]}
                found[name] = json.loads(done.stdout) if done.returncode == 0 else failed
                print(name, found[name])
    where = described(["obstore", "pyarrow", "s3fs"])
    text = json.dumps({"benchmark": "store-clients", **where, "load": os.getloadavg()[1], "clients": found}, indent=2)
    (HERE / f"results/store-clients-{today()}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
