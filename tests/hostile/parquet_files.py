"""Reads every Parquet file of a folder on two engines, and compares: python -m hostile.parquet_files FOLDER.

A file is read in a process of its own kind: one that crashes or hangs is replaced, and so is one whose engine has met an
error, which may have left the device unusable.  A line tells what came of each file:

| result | meaning |
|---|---|
| same | both engines have the same rows |
| both refuse | both end with an error of gpuetl, with a code |
| differs | the rows differ, or one engine refuses |
| traceback | an error that gpuetl did not expect |
| crash, hang | the process ended, also after its work, or went beyond the time limit |
"""

import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TypeAlias

import pyarrow as pa

Compared: TypeAlias = tuple[str, str]
"""The result of a file, and its details."""

GOOD = ("same", "both refuse")
ENDINGS = (".parquet", ".encrypted", ".fuzz")
PLANNING = re.compile("GE1407|GE144[0-3]")
"""Errors of planning, before a device is asked for anything."""
START_S = 120.0
"""Seconds that a process may take to start, before any file."""


def main() -> None:
    """Compare the engines over the files of a folder, or be a process that does so for one file after another."""
    parser = ArgumentParser(prog="python -m hostile.parquet_files", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--engine", default="cudf", help="the engine that is compared with pandas: cudf, or cudf-on-cpu"
    )
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a file")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--all", action="store_true", help="read all files, whatever their names end with")
    parser.add_argument("--serve", action="store_true", help="read files that standard input names")
    given = parser.parse_args()
    if given.serve:
        serve(given.engine)
        return
    given.folder = given.folder.resolve()
    files = [path for path in sorted(given.folder.rglob("*")) if path.is_file()]
    files = [path for path in files if given.all or path.name.endswith(ENDINGS)]
    counts = Counter(result for result, _ in compare(files, given.engine, given.timeout, given.jobs, given.folder))
    print(f"{sum(counts.values())} files: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    sys.exit(any(name not in GOOD for name in counts))


def compare(
    files: Iterable[Path],
    engine: str,
    timeout_s: float = 60.0,
    jobs: int = 1,
    folder: Path | None = None,
    out: Callable[..., None] = print,
) -> list[Compared]:
    """Return (result, details) of each file, in order; print a line for each."""
    workers: SimpleQueue[Worker] = SimpleQueue()
    for _ in range(jobs):
        workers.put(Worker(engine, timeout_s))

    def compared(path: Path) -> Compared:
        worker = workers.get()
        try:
            result, details = worker.compared(path)
        finally:
            workers.put(worker)
        out(f"{result:12} {path.relative_to(folder) if folder else path}: {details}", flush=True)
        return result, details

    with ThreadPoolExecutor(jobs) as threads:
        results = list(threads.map(compared, files))
    for _ in range(jobs):
        ending = workers.get().close()
        if ending:
            results.append(("crash", ending))
            out(f"{'crash':12} at the end of a process: {ending}", flush=True)
    return results


class Worker:
    """A process that reads files, made anew where it does not go on."""

    def __init__(self, engine: str, timeout_s: float) -> None:
        self.command = [sys.executable, "-m", "hostile.parquet_files", "--serve", "--engine", engine]
        self.timeout_s = timeout_s
        self.process: subprocess.Popen[str] | None = None
        self.errors: IO[str] | None = None

    def compared(self, path: Path) -> Compared:
        """Return (result, details) of a file."""
        process = self.process
        if process is None:
            process = self.start()
            if line_of(process, START_S) is None:
                return "crash", f"the process did not start: {self.close()}"
        assert process.stdin is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        answer = line_of(process, self.timeout_s)
        if answer is None:
            hangs = process.poll() is None
            return "hang" if hangs else "crash", self.close(kill=True)
        result, details, goes_on = json.loads(answer)
        if not goes_on and (ending := self.close()):
            return "crash", f"at its end: {ending}; before: {result}: {details}"
        return result, details

    def start(self) -> subprocess.Popen[str]:
        """Start a process; what it prints as errors goes to a file, as a pipe that nothing reads would block it."""
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        return self.process

    def close(self, kill: bool = False) -> str:
        """End the process; return how it ended, where that is not as it should be."""
        process, self.process = self.process, None
        if process is None:
            return ""
        assert process.stdin is not None
        assert process.stdout is not None
        assert self.errors is not None
        if kill:
            process.kill()
        with process.stdout, self.errors:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                code = process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return "it did not end"
            self.errors.seek(0)
            lines = self.errors.read().strip().splitlines()
        return f"exit code {code}: {' | '.join(lines[-3:])[:300]}" if code else ""


def line_of(process: subprocess.Popen[str], seconds: float) -> str | None:
    """Return the next answer that a process prints, None where it prints none in time or ends."""
    until = time.monotonic() + seconds
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0 and selector.select(left):
            line = process.stdout.readline()
            if line.startswith("= ") or not line:
                return line[2:] or None
    return None


def serve(engine: str) -> None:
    """Compare the engines over the files that lines of standard input name; print a line of JSON for each."""
    if engine == "cudf-on-cpu":
        from gpu_engine import host_machine

        assert engine == host_machine.ON_CPU
    else:
        from gpuetl.engines.registry import load_backend

        load_backend(engine)  # where the engine cannot run, no file is to blame
    print("= ready", flush=True)
    for line in sys.stdin:
        result, details, goes_on = one_file(Path(line.rstrip("\n")), engine)
        print("= " + json.dumps([result, details, goes_on]), flush=True)
        if not goes_on:
            return


def one_file(path: Path, engine: str) -> tuple[str, str, bool]:
    """Return the result of a file, its details, and whether the process can go on."""
    read = {name: rows_of(path, name) for name in ("pandas", engine)}
    (rows, problem), (others, other_problem) = read.values()
    goes_on = engine != "cudf" or not other_problem or PLANNING.search(other_problem) is not None
    for name, (_, error) in read.items():
        if error.startswith("traceback"):
            return "traceback", f"{name}: {error}", goes_on
    if problem and other_problem:
        return "both refuse", f"pandas: {problem}; {engine}: {other_problem}", goes_on
    if problem or other_problem:
        who, what = ("pandas", problem) if problem else (engine, other_problem)
        return "differs", f"{who} alone refuses: {what}", goes_on
    from gpuetl.testing import assert_tables_equal

    assert rows is not None
    assert others is not None
    try:
        assert_tables_equal(others, rows, ordered=True)
    except AssertionError as error:
        return "differs", str(error).replace("\n", " | ")[:300], goes_on
    return "same", f"{rows.num_rows} rows, {rows.num_columns} columns", goes_on


def rows_of(path: Path, engine: str) -> tuple[pa.Table | None, str]:
    """Return the rows of the columns that gpuetl supports, or the first line of the error."""
    from gpuetl import Pipeline
    from gpuetl.errors import GpuetlError

    columns = supported(path)
    pipeline = Pipeline("file", root=path.parent)
    try:
        pipeline.read_parquet("s", str(path), columns=columns or None).stage("all")
        return pipeline.run(engine=engine, keep=["all"])["all"].to_arrow(), ""
    except GpuetlError as error:
        message = " | ".join(str(error).splitlines()[:3])
        unexpected = "bug in gpuetl" in str(error) or not re.search(r"GE\d{4}", str(error))
        return None, ("traceback: " if unexpected else "") + message
    except BaseException as error:
        return None, f"traceback: {type(error).__name__}: {error}"


def supported(path: Path) -> list[str]:
    """Return the columns of types that gpuetl has, as far as the file's footer can be read."""
    from gpuetl.formats.footers import footer_of
    from gpuetl.types.data_types import language_type

    try:
        schema = footer_of(path).schema
    except Exception:
        return []
    return [field.name for field in schema if language_type(field.type) is not None]


if __name__ == "__main__":
    main()
