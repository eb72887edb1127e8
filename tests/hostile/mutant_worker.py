"""Reads mutants in a process of its own, which may end: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import sys
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl import GpuetlError, Pipeline, col, count
from gpuetl.engines.cudf.runtime import start
from gpuetl.lost_device import is_lost
from hostile.mutations import mutate
from hostile.seed_files import SeedFile, own_files, public_files

MEMORY_BYTES = 3 << 30
"""Address space that a mutant may take; much more than any file here needs."""
RESIDENT_BYTES = 1 << 30
"""Growth of the resident memory that counts as a blow-up."""
CODE = re.compile(r"\[GE\d{4}\]")
UNEXPECTED = "[GE2009]"


class Outcome(NamedTuple):
    """How a read ends, what an error says, and the rows."""

    kind: str
    detail: str
    rows: dict[str, pa.Table] | None = None


@dataclass(frozen=True)
class Mutant:
    """A file to read: `part` is what is read besides all rows, their `count` or the rows after a `filter`.

    `verify_pages` is that option of the source."""

    path: Path
    seed: SeedFile
    on_bad_row: str = "fail"
    part: str = "count"
    verify_pages: bool = False

    def read(self, engine: str, part: str) -> dict[str, pa.Table]:
        """Run a small pipeline over the file."""
        pipeline, seed = Pipeline("mutant", root=self.path.parent), self.seed
        if seed.format == "csv":
            keys: dict[str, Any] = {"on_bad_row": None if self.on_bad_row == "null" else self.on_bad_row}
            rows = pipeline.read_csv("s", self.path.name, seed.schema, **keys)
        else:
            rows = pipeline.read_parquet(
                "s",
                self.path.name,
                verify_pages=self.verify_pages,
                columns=list(seed.columns) or None,
            )
        if part == "count":
            rows.aggregate(n=count()).stage("out")
        elif part == "filter":
            rows.filter(col("k") > seed.limit).stage("out")
        else:
            rows.stage("out")
        kept = ["out"]
        if self.on_bad_row == "quarantine":
            rows.rejected.drop("_run").stage("rejected")
            kept.append("rejected")
        run = pipeline.run(engine=engine, keep=kept)
        return {name: run[name].to_arrow() for name in kept}

    def outcome(self, engine: str, part: str) -> Outcome:
        """Return how a read ends: rows, a clean error, or anything else, which is a failure."""
        try:
            return Outcome("rows", "", self.read(engine, part))
        except GpuetlError as error:
            text = str(error)
            clean = CODE.search(text) and UNEXPECTED not in text and "Traceback" not in text
            return Outcome("refused" if clean else "traceback", text)
        except Exception as error:
            return Outcome("traceback", f"{type(error).__name__}: {error}")

    def filtered(self, rows: pa.Table) -> pa.Table:
        """Return the rows that the filter keeps."""
        return rows.filter(pc.greater(rows.column("k"), self.seed.limit))


def equal(one: dict[str, pa.Table], two: dict[str, pa.Table]) -> bool:
    """Tell whether two runs gave the same rows in the same order; damaged values need not be valid."""
    return one.keys() == two.keys() and all(
        rows.schema.equals(two[name].schema)
        and rows.num_rows == two[name].num_rows
        and all(map(equal_columns, rows.columns, two[name].columns))
        for name, rows in one.items()
    )


def equal_columns(one: pa.ChunkedArray, two: pa.ChunkedArray) -> bool:
    """Tell whether two columns have the same values; NaN is NaN."""
    if pa.types.is_floating(one.type):
        one, two = (pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column) for column in (one, two))
    return bool(one.equals(two))


class Worker:
    """Reads mutants one after another.

    Parameters
    ----------
    engine
        Another than `pandas` is compared with it.
    folder
        Where mutants are written, each over the one before.
    verify_pages
        The option of sources of Parquet files.
    """

    def __init__(self, engine: str, seeds: tuple[SeedFile, ...], folder: Path, verify_pages: bool) -> None:
        self.engine, self.seeds, self.folder, self.verify_pages = engine, seeds, folder, verify_pages
        self.rows = cache(self._rows)

    def _rows(self, seed: SeedFile) -> dict[str, pa.Table] | None:
        """Return what is read of a file that is whole."""
        path = self.folder / f"whole.{seed.format}"
        path.write_bytes(seed.data)
        return Mutant(path, seed).outcome("pandas", "").rows

    def check(self, number: int) -> dict[str, Any]:
        """Make a mutant and read it."""
        draw = Random(number)
        seed, mutation, data = mutate(draw, self.seeds)
        on_bad_row = draw.choice(("fail", "null", "quarantine")) if seed.format == "csv" else "fail"
        part = draw.choice(("count", "filter")) if seed.limit is not None else "count"
        mutant = Mutant(self.folder / f"mutant.{seed.format}", seed, on_bad_row, part, self.verify_pages)
        mutant.path.write_bytes(data)
        report(phase="pandas", file=seed.name, mutation=mutation)
        each = {part: mutant.outcome("pandas", part) for part in ("", mutant.part)}
        kind, detail = self.judged(mutant, each)
        if self.engine != "pandas" and kind not in ("traceback", "contradiction"):
            report(phase=self.engine)
            mutant.path.write_bytes(data)
            for part, expected in each.items():
                if different := self.difference(expected, mutant.outcome(self.engine, part), part):
                    return different
        return {"outcome": kind, "detail": detail}

    def judged(self, mutant: Mutant, each: Mapping[str, Outcome]) -> tuple[str, str]:
        """Return what came of a mutant on pandas: of all rows, and of a part of them."""
        failed = next((one.detail for one in each.values() if one.kind == "traceback"), None)
        if failed is not None:
            return "traceback", failed
        (kind, detail, rows), part = each[""], each[mutant.part].rows
        if rows is None:
            return kind, detail
        if part is not None and mutant.part == "count":
            counted, read = part["out"].column("n")[0].as_py(), rows["out"].num_rows
            if counted != read:
                return "contradiction", f"counts {counted} rows, reads {read}"
        elif part is not None and not equal({"out": part["out"]}, {"out": mutant.filtered(rows["out"])}):
            return "wrong statistics", ""
        whole = self.rows(mutant.seed)
        return "same rows" if whole is not None and equal(rows, whole) else "other rows", ""

    def difference(self, expected: Outcome, got: Outcome, part: str) -> dict[str, Any] | None:
        """Return in what another engine differs from pandas, if in anything."""
        what = part or "rows"
        if got.kind == "traceback":
            return {"outcome": "traceback", "detail": f"{self.engine}: {what}: {got.detail}"}
        if "[GE1446]" in got.detail or "[GE2014]" in got.detail:  # decoding on the device is the only way to tell
            return {"outcome": "GPU stopped", "detail": got.detail}
        if (got.rows is None) != (expected.rows is None):
            said = f"pandas: {expected.detail or 'reads it'}\n{self.engine}: {got.detail or 'reads it'}"
            return {"outcome": "engines differ", "detail": f"{what}: {said}"}
        if got.rows is not None and expected.rows is not None and not equal(expected.rows, got.rows):
            return {"outcome": "engines differ", "detail": f"{what}: other rows"}
        return None


def report(**what: Any) -> None:
    """Write a line for the process that started this one."""
    print(json.dumps(what), file=ANSWERS, flush=True)


def resident_peak() -> int:
    """Return the most resident memory that this process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limit_memory() -> None:
    """Let allocations fail beyond a limit; a GPU's address space is far larger, and only its growth is watched."""
    with Path("/proc/self/statm").open() as file:
        size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_BYTES, resource.RLIM_INFINITY))


def main(engine: str, verify_pages: bool, folders: list[str]) -> None:
    """Answer a line for each number on the standard input, after lines for each phase."""
    if engine.endswith("-on-cpu"):
        import gpu_engine.host_machine  # noqa: F401  # adds the engine
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seeds = (*own_files(), *public_files(map(Path, folders)))
    with tempfile.TemporaryDirectory(prefix="gpuetl-mutants-") as folder:
        worker = Worker(engine, seeds, Path(folder), verify_pages)
        first = Path(folder) / "first.parquet"
        first.write_bytes(seeds[0].data)
        for name in dict.fromkeys(("pandas", engine)):  # threads, contexts and kernels of an engine start here
            Mutant(first, seeds[0]).read(name, "")
        if engine == "pandas":
            limit_memory()
        report(ready=True)
        least = resident_peak()
        for line in sys.stdin:
            answer = worker.check(int(line))
            stderr = ERRORS.read()
            if "Traceback" in stderr:
                answer = {"outcome": "traceback", "detail": stderr}
            if resident_peak() - least > RESIDENT_BYTES:
                answer = {"outcome": "memory", "detail": f"{resident_peak() - least:,} bytes.  {answer['detail']}"}
            report(**answer, done=True)
            if answer["outcome"] == "memory" or is_lost():
                return


if __name__ == "__main__":
    ANSWERS = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    ERRORS = open(sys.argv[1], errors="replace")  # noqa: SIM115, PTH123
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        options, folders = sys.argv[3 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
        if "--large" in options:
            start.HOST_VALUES = start.HOST_VALUES_AT_FIRST = 0
        main(sys.argv[2], "--verify-pages" in options, folders)
