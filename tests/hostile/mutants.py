"""Mutants of real files: `python -m hostile.mutants --count 20000 --engine pandas [FOLDER...]`, from tests/.

Each mutant is read by a process that may crash, hang or take too much memory.  It must give rows or a clean error; on
another engine than pandas the same as there.  `--seed N --count 1` repeats mutant N.  Folders have further files that
are changed, such as a clone of apache/parquet-testing; with other folders a number stands for another mutant.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue
from random import Random
from typing import IO, Any

from hostile.mutations import mutate
from hostile.seed_files import own_files, public_files

HANG_SECONDS = 20.0
START_SECONDS = 300.0
GOOD = ("same rows", "other rows", "wrong statistics", "refused", "GPU stopped")
"""The GPU stops, with a clean error, at some damaged pages that Arrow reads or refuses: libcudf does not check all.

Wrong statistics: a filter leaves out row groups whose statistics lie, as in any reader; their rows are damaged data."""
FAILURES = ("traceback", "crash", "hang", "memory", "contradiction", "engines differ")
ENDED = ("crash", "hang", "memory", "GPU stopped")
"""Outcomes after which a worker is replaced."""
TESTS = Path(__file__).parents[1]
SHOWN_CHARACTERS = 400


@dataclass(frozen=True)
class Result:
    """What came of a mutant."""

    seed: int
    outcome: str
    file: str = ""
    mutation: str = ""
    detail: str = ""
    seconds: float = 0.0


class WorkerEnded(Exception):
    """A worker that ended, or gave no answer in time."""


@dataclass(frozen=True)
class Reading:
    """How mutants are read: the engine, whether with `verify_pages`, and folders of further files that are changed."""

    engine: str = "pandas"
    folders: Sequence[str] = ()
    verify_pages: bool = False
    large: bool = False
    """Whether the cudf engine reads the small files of the mutants as it reads large ones, by libcudf."""

    def arguments(self) -> list[str]:
        """Return the arguments of a worker process."""
        return [self.engine, *self.options(), "--", *self.folders]

    def command(self, seed: int) -> str:
        """Return the command that repeats a mutant."""
        given = [f"--engine {self.engine}", *self.options(), f"--seed {seed} --count 1"]
        return " ".join(["python -m hostile.mutants", *given, *self.folders])

    def options(self) -> list[str]:
        """Return the options that are set."""
        return ["--verify-pages"] * self.verify_pages + ["--large"] * self.large


class Process:
    """A worker process, started anew when it has ended."""

    def __init__(self, reading: Reading) -> None:
        self.errors = tempfile.NamedTemporaryFile(prefix="gpuetl-mutants-", suffix=".stderr")  # noqa: SIM115
        command = [sys.executable, "-m", "hostile.mutant_worker", self.errors.name, *reading.arguments()]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment
        )
        self.rest = b""
        self.phase: dict[str, Any] = {}
        if "ready" not in self.answer(START_SECONDS):
            raise WorkerEnded("the worker did not start")

    def answer(self, seconds: float) -> dict[str, Any]:
        """Return the next line.

        Raises
        ------
        TimeoutError, WorkerEnded
            Where there is none.
        """
        output, until = self.process.stdout, time.monotonic() + seconds
        assert output is not None
        while b"\n" not in self.rest:
            if not select.select([output], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError
            if not (more := os.read(output.fileno(), 1 << 16)):
                raise WorkerEnded(self.ending())
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        found: dict[str, Any] = json.loads(line)
        return found

    def ending(self) -> str:
        """Say how the process ended, with the last of what it wrote."""
        code = self.process.wait()
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{name}: {Path(self.errors.name).read_text(errors='replace')[-1500:]}"

    def check(self, seed: int) -> Result:
        """Let the worker read a mutant."""
        began = time.monotonic()
        assert self.process.stdin is not None
        self.phase = {}
        try:
            self.process.stdin.write(b"%d\n" % seed)
            self.process.stdin.flush()
            while "done" not in (answer := self.answer(HANG_SECONDS)):
                self.phase |= answer
        except TimeoutError:
            answer = {"outcome": "hang", "detail": f"no answer in {HANG_SECONDS:.0f} s of {self.phase.get('phase')}"}
        except (WorkerEnded, BrokenPipeError) as error:
            answer = {"outcome": "crash", "detail": f"{self.phase.get('phase')}: {error or self.ending()}"}
        about = {key: self.phase.get(key, "") for key in ("file", "mutation")}
        return Result(seed, answer["outcome"], **about, detail=answer["detail"], seconds=time.monotonic() - began)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                stream.close()


class Pool:
    """Threads that each hold a worker process, and put what comes of mutants into `found`; None when one is done."""

    def __init__(self, seeds: Iterable[int], reading: Reading, until: float) -> None:
        self.numbers, self.reading, self.until = iter(seeds), reading, until
        self.lock = threading.Lock()
        self.found: Queue[Result | Exception | None] = Queue()

    def next_seed(self) -> int | None:
        """Return the next number, None when there are no more or the time is over."""
        with self.lock:
            return next(self.numbers, None) if time.monotonic() < self.until else None

    def work(self) -> None:
        """Read mutants until there are no more; a process that ended is replaced."""
        process = None
        try:
            while (seed := self.next_seed()) is not None:
                process = process or Process(self.reading)
                result = process.check(seed)
                if result.outcome in ENDED:
                    process.close()
                    process = None
                self.found.put(result)
        except Exception as error:  # a failure of this program, not of a mutant
            self.found.put(error)
        finally:
            if process:
                process.close()
            self.found.put(None)


def results(seeds: Iterable[int], reading: Reading, workers: int, seconds: float) -> Iterator[Result]:
    """Yield what comes of each mutant, as it comes.

    Raises
    ------
    WorkerEnded
        Where a worker does not start.
    """
    pool = Pool(seeds, reading, time.monotonic() + seconds)
    for _ in range(workers):
        threading.Thread(target=pool.work).start()
    while workers:
        result = pool.found.get()
        if result is None:
            workers -= 1
        elif isinstance(result, Exception):
            raise result
        else:
            yield result


def save(folder: Path, result: Result, folders: Sequence[str]) -> None:
    """Write a mutant that failed, and what came."""
    seed, _, data = mutate(Random(result.seed), (*own_files(), *public_files(map(Path, folders))))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{result.seed}-{seed.name}").write_bytes(data)
    (folder / f"{result.seed}.json").write_text(json.dumps(asdict(result), indent=1))


def run_many(given: argparse.Namespace) -> int:
    """Read mutants; print counts and the failures; return how many failed."""
    began, counts, kinds = time.monotonic(), Counter[str](), Counter[str]()
    log: IO[str] | None = given.results.open("w") if given.results else None
    seeds = range(given.seed, given.seed + given.count)
    reading = Reading(given.engine, given.folders, given.verify_pages, given.large)
    for result in results(seeds, reading, given.workers, given.seconds):
        counts[result.outcome] += 1
        kinds[result.mutation] += 1
        if log:
            print(json.dumps(asdict(result)), file=log, flush=True)
        if result.outcome in FAILURES or given.count == 1:
            print(
                f"{result.outcome}: seed {result.seed}, {result.mutation} of {result.file}: {result.detail[:SHOWN_CHARACTERS]}"
            )
            print(f"    {reading.command(result.seed)}", flush=True)
            if given.save:
                save(given.save, result, given.folders)
    took = time.monotonic() - began
    print(f"{counts.total():,} mutants on {given.engine} in {took:.0f} s, seeds from {given.seed}")
    print("\n".join(f"{counts[kind]:8,} {kind}" for kind in (*GOOD, *FAILURES)))
    print("mutations: " + ", ".join(f"{kind} {number:,}" for kind, number in kinds.most_common()))
    if log:
        log.close()
    return sum(counts[kind] for kind in FAILURES)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="hostile.mutants", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="further Parquet files to change")
    parser.add_argument("--count", type=int, default=1000, help="how many mutants")
    parser.add_argument("--engine", default="pandas", help="another than pandas is compared with it")
    parser.add_argument("--verify-pages", action="store_true", help="sources of Parquet files have that option")
    parser.add_argument("--large", action="store_true", help="cudf reads them by libcudf, as it reads large files")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--results", type=Path, help="a file for a line of JSON on each mutant")
    parser.add_argument("--save", type=Path, help="a folder for the mutants that fail")
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(min(1, run_many(arguments())))
