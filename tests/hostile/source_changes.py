"""Files of a source that change at any moment of a run: it ends with the old rows, or with an error and no change.

`python -m hostile.source_changes --count 2000`, from the folder `tests`, draws so many runs: an engine, a format, how
rows are split, what happens to which file, and when.  It prints how they ended, and fails for any that mixed rows.
"""

import argparse
import logging
import os
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Lock, Timer
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from gpu_engine.host_machine import COMPILER, ON_CPU
from gpuetl import Pipeline, RunFailed, RunOptions
from gpuetl.executors.runner import Runner
from gpuetl.physical.nodes import Scan

FILES, GROUPS, GROUP_ROWS = 5, 3, 4
TYPES = {"version": "int64", "file": "int64", "row": "int64"}
OLD, NEW = 10, 11
LONG_AGO_NS = 1_600_000_000_123_456_789
MOST_READS = 16
"""Partitions are read before which the change comes; a run that reads fewer ends before it."""
MOST_DELAY_S = 0.003
"""Between the beginning of a read and the change, which a thread makes; a read takes about as long."""
ENGINES = ("pandas", "dask", *([ON_CPU] if COMPILER else []))
ERROR = re.compile(
    r"source 's': .*/lake/\d\.(parquet|csv) (changed during the run|was deleted or moved during the run)"
)


def write(path: Path, version: int) -> None:
    """Write a file of several row groups, all of one version."""
    rows = GROUPS * GROUP_ROWS
    number = int(path.name[0])
    table = pa.table({"version": [version] * rows, "file": [number] * rows, "row": list(range(rows))})
    if path.suffix == ".csv":
        lines = (",".join(map(str, row.values())) for row in table.to_pylist())
        path.write_text("version,file,row\n" + "".join(f"{line}\n" for line in lines))
    else:
        pq.write_table(table, path, row_group_size=GROUP_ROWS, compression="none")


def old_rows() -> list[tuple[int, int, int]]:
    """Return the rows of all files as they were planned."""
    return [(OLD, file, row) for file in range(FILES) for row in range(GROUPS * GROUP_ROWS)]


def other_file(path: Path) -> Path:
    """Write a new version beside the source."""
    other = path.parent.parent / "other" / path.name
    other.parent.mkdir(exist_ok=True)
    write(other, NEW)
    return other


def replace(path: Path) -> None:
    """Rename a new version into place, of the same size and time."""
    other = other_file(path)
    os.utime(other, ns=(0, path.stat().st_mtime_ns))
    other.replace(path)


def rewrite(path: Path) -> None:
    """Write a new version into the same file."""
    path.write_bytes(other_file(path).read_bytes())


def append(path: Path) -> None:
    """Add rows, of Parquet bytes behind the footer."""
    with path.open("ab") as file:
        file.write(b"11,0,0\n")


def truncate(path: Path) -> None:
    """Cut the file off, as a writer does that begins anew."""
    os.truncate(path, path.stat().st_size // 3)


def swap(path: Path) -> None:
    """Give two files each other's names."""
    number = int(path.name[0])
    other = path.with_name(f"{(number + 1) % FILES}{path.suffix}")
    path.rename(path.with_suffix(".tmp"))
    other.rename(path)
    path.with_suffix(".tmp").rename(other)


def move(path: Path) -> None:
    """Move the whole folder away."""
    path.parent.rename(path.parent.with_name("moved"))


CHANGES: dict[str, Callable[[Path], None]] = {
    "replace": replace, "rewrite": rewrite, "append": append, "truncate": truncate, "swap": swap, "unlink": Path.unlink,
    "move": move,
}  # fmt: skip


@contextmanager
def changing(change: Callable[[], None], before: int, delay: float) -> Iterator[None]:
    """Make a change before so many partitions were read: at once, or by a thread while others are read."""
    scan, lock = Runner.scan, Lock()
    reads: list[int] = []
    threads: list[Timer] = []

    def hooked(runner: Runner, node: Scan, index: int) -> Any:
        with lock:
            reads.append(index)
            if len(reads) == before + 1 and delay:
                threads.append(Timer(delay, change))
                threads[0].start()
            elif len(reads) == before + 1:
                change()
        return scan(runner, node, index)

    try:
        with patch.object(Runner, "scan", hooked):
            yield
    finally:
        for thread in threads:
            thread.join()


def one_run(folder: Path, draw: random.Random, engine: str) -> tuple[str, str]:
    """Run a pipeline while a file changes; return what changed and how the run ended.

    Raises
    ------
    AssertionError
        For a run that mixed rows, changed its sink without success, or left something behind.
    """
    suffix, (change_name, change) = draw.choice(("parquet", "csv")), draw.choice(list(CHANGES.items()))
    rows = draw.choice((GROUP_ROWS, 2 * GROUP_ROWS, None))
    lake = folder / "lake"
    lake.mkdir()
    for number in range(FILES):
        write(lake / f"{number}.{suffix}", OLD)
        os.utime(lake / f"{number}.{suffix}", ns=(0, LONG_AGO_NS))
    pq.write_table(pa.table({"version": [0]}), folder / "out.parquet")
    pipeline = Pipeline("changes", root=folder)
    csv = suffix == "csv"
    source = pipeline.read_csv("s", "lake", TYPES) if csv else pipeline.read_parquet("s", "lake", schema=TYPES)
    source.sort("file", "row").write_parquet("out", "out.parquet", mode="overwrite")
    changed = partial(change, lake / f"{draw.randrange(FILES)}.{suffix}")
    delay, before = draw.choice((0, draw.uniform(0, MOST_DELAY_S))), draw.randrange(MOST_READS if rows else 1)
    try:
        with changing(changed, before, delay):
            pipeline.run(engine=engine, options=RunOptions(partition_rows=rows))
    except RunFailed as error:
        ended = "error, sink unchanged"
        if not ERROR.search(str(error)):
            raise
        assert pq.read_table(folder / "out.parquet").to_pylist() == [{"version": 0}]
    else:
        ended = "old rows"
        got = [tuple(row.values()) for row in pq.read_table(folder / "out.parquet").to_pylist()]
        assert got == old_rows(), (change_name, suffix, rows, before, delay, got)
    left = [str(path) for path in folder.rglob(".*") if path != folder / ".gpuetl"]
    assert not left, left
    return change_name, ended


@contextmanager
def drawn_folder(parent: str | Path) -> Iterator[Path]:
    """Give an empty folder, and remove it."""
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def runs(parent: str | Path, count: int, engines: Sequence[str], seed: int = 1) -> Counter[tuple[str, str, str]]:
    """Run so many times; return how often each change ended how, by engine."""
    ended: Counter[tuple[str, str, str]] = Counter()
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        engine = engines[number % len(engines)]
        with drawn_folder(parent) as folder:
            ended[(engine, *one_run(folder, draw, engine))] += 1
    return ended


def main() -> None:
    """Draw runs, and print how they ended."""
    from conftest import workers_here

    logging.disable(logging.CRITICAL)  # dask logs the error of each task
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--count", type=int, default=1000)
    read.add_argument("--seed", type=int, default=1)
    read.add_argument("--engine", action="append", help="several may be given; by default all that run on a CPU")
    given = read.parse_args()
    engines = tuple(given.engine or ENGINES)
    cluster = workers_here(2) if "dask" in engines else nullcontext()
    with tempfile.TemporaryDirectory() as folder, cluster:
        ended = runs(folder, given.count, engines, given.seed)
    for (engine, change, how), count in sorted(ended.items()):
        print(f"{engine:12} {change:10} {how:24} {count:6,}")
    print(f"{sum(ended.values()):,} runs, none with mixed rows")


if __name__ == "__main__":
    main()
