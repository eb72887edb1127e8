"""The engines beside each other, stage by stage: the flights demo, and events as many as the machine is given.

`python tests/benchmarks/engines.py FOLDER --rows 100000000` measures each pipeline on pandas and on cudf in processes of
their own, warm, compares what they wrote, and writes results/engines-DATE.json.  It needs an NVIDIA GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from environment import described, today
from pyarrow import dataset

from gpuetl import Pipeline, load
from gpuetl.testing import Tolerance, assert_tables_equal

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FLIGHTS = ROOT / "pipelines" / "flights.yaml"
ENGINES = ("pandas", "cudf")
TOLERANCE = Tolerance(1e-9, 1e-9)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the events and the outputs go")
    parser.add_argument("--rows", type=int, default=5_000_000, help="events")
    parser.add_argument("--runs", type=int, default=3, help="of each engine; the first one is record apart")
    parser.add_argument("--one", nargs=2, metavar=("PIPELINE", "ENGINE"), help="internal: measure one and print JSON")
    given = parser.parse_args()
    if given.one:
        name, engine = given.one
        print(json.dumps(runs_of(name, engine, given.folder, given.runs)))
        return
    sys.path.insert(0, str(HERE))
    from peers.events.make import make

    make(given.folder, given.rows, users=max(1000, given.rows // 100), files=8, row_group=1_000_000)
    pipelines = {name: measured(name, given.folder, given.rows, given.runs) for name in ("flights", "events")}
    result = described(["pyarrow", "cupy-cuda12x", "pylibcudf-cu12"]) | {"runs": given.runs, "pipelines": pipelines}
    result["hardware"]["gpu"] = gpu_name()
    path = HERE / "results" / f"engines-{today()}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


def measured(name: str, folder: Path, rows: int, runs: int) -> dict[str, Any]:
    """Run a pipeline on each engine in a process of its own, and compare the sinks."""
    found: dict[str, Any] = {}
    for engine in ENGINES:
        command = [
            sys.executable,
            __file__,
            str(folder),
            "--runs",
            str(runs),
            "--rows",
            str(rows),
            "--one",
            name,
            engine,
        ]
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        found[engine] = json.loads(done.stdout.splitlines()[-1]) | {"process_s": time.perf_counter() - began}
        print(name, engine, {key: value for key, value in found[engine].items() if key != "stages"}, file=sys.stderr)
    compare(output(name, folder, "pandas"), output(name, folder, "cudf"))
    return {"rows": rows if name == "events" else None, "engines": found}


def output(name: str, folder: Path, engine: str) -> Path:
    """Return where a run writes."""
    return folder / "out" / name / engine


def runs_of(name: str, engine: str, folder: Path, runs: int) -> dict[str, Any]:
    """Run a pipeline several times in this process; the seconds of each run, and of each stage in the last one."""
    seconds, report = [], None
    out = output(name, folder, engine)
    out.mkdir(parents=True, exist_ok=True)
    os.environ.update(EVENTS=str(folder), OUT=str(out))
    for _ in range(runs):
        began = time.perf_counter()
        report = pipeline_of(name, out).run(engine=engine).report
        seconds.append(time.perf_counter() - began)
    assert report is not None
    stages = [{"name": stage.name, "rows_out": stage.rows_out, "seconds": stage.seconds} for stage in report.stages]
    return {"first_s": seconds[0], "best_s": min(seconds[1:] or seconds), "seconds": seconds, "stages": stages}


def pipeline_of(name: str, out: Path) -> Pipeline:
    """Return a pipeline whose sinks are in the folder."""
    if name == "events":
        return load(HERE / "peers" / "events" / "events.yaml")
    text = FLIGHTS.read_text(encoding="utf-8").replace("out/", f"{out}/")
    copy = FLIGHTS.with_name(f".{out.name}.yaml")
    copy.write_text(text, encoding="utf-8")
    try:
        return load(copy)
    finally:
        copy.unlink()


def compare(expected: Path, got: Path) -> None:
    """Raise `AssertionError` unless both folders hold the same rows, in any order; of huge ones, as many and equal sums."""
    for path in sinks(expected):
        name = path.relative_to(expected)
        ours, theirs = read(got / name), read(path)
        if ours.num_rows > 20_000_000:
            assert ours.num_rows == theirs.num_rows, f"{name}: rows differ"
            ours, theirs = sums(ours), sums(theirs)
        assert_tables_equal(ours, theirs, tolerance=TOLERANCE, what=str(name))


def sinks(folder: Path) -> list[Path]:
    """Return the files and hive folders of a run."""
    files = [path for path in folder.rglob("*.parquet") if "=" not in str(path)]
    hives = {Path(str(path).partition("/month=")[0]) for path in folder.rglob("*.parquet") if "=" in str(path)}
    return sorted([*files, *hives])


def read(path: Path) -> pa.Table:
    """Return the rows of an output."""
    if path.is_dir():
        return dataset.dataset(path, partitioning="hive").to_table()
    with pq.ParquetFile(path) as file:
        return file.read()


def sums(rows: pa.Table) -> pa.Table:
    """Return the sum and the count of each column of numbers."""
    numbers = [
        name
        for name in rows.column_names
        if pa.types.is_integer(rows[name].type) or pa.types.is_floating(rows[name].type)
    ]
    return pa.table({name: [pc.sum(rows[name]).as_py(), pc.count(rows[name]).as_py()] for name in numbers})


def gpu_name() -> str:
    """Return the device's name."""
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


if __name__ == "__main__":
    main()
