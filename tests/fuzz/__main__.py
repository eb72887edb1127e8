"""`python -m fuzz --cases 50000`: fresh seeds on all cores; `python -m fuzz --seed 12`: one case again, made small."""

import argparse
import collections
import os
import secrets
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.blocks import run_block
from fuzz.search import SHRINK_SECONDS, Failure, run_seed
from gpu_engine.host_machine import ON_CPU

BLOCK = 50
BLOCKS_A_PROCESS = 12
"""A case loads some ten kernels where those run on the CPU, which stay mapped: of 65,530 maps a process soon has no more."""
SHOWN = 5


def main() -> int:
    """Run; the exit code is 1 where a case fails."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, help="the first seed; by default a fresh one")
    parser.add_argument("--seed", type=int, help="replay this one alone")
    parser.add_argument(
        "--engine", default="", help=f"compare this one, such as {ON_CPU}, with the oracle, not the oracle with DuckDB"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    given = parser.parse_args()
    if given.seed is not None:
        outcome = run_seed(given.seed, engine=given.engine)
        print(outcome if isinstance(outcome, Failure) else f"seed {given.seed}: {outcome.value}")
        return int(isinstance(outcome, Failure))
    first = secrets.randbelow(1 << 40) if given.first is None else given.first
    return run_many(given.cases, first, given.engine, given.workers, given.seconds)


def run_many(count: int, first: int, engine: str, workers: int, seconds: float) -> int:
    """Run the seeds from `first` in processes; print the outcomes, and the first failures made small."""
    began, counts, failed = time.monotonic(), collections.Counter[str](), list[int]()
    for block, seeds in outcomes(range(first, first + count), engine, workers, time.time() + seconds):
        if not block:  # the time is over
            continue
        counts.update(block)
        failed += seeds
        for seed in seeds:
            print(f"\rseed {seed} failed" + " " * 40, file=sys.stderr)
        rate = counts.total() / (time.monotonic() - began)
        progress = f"\r{counts.total():,} of {count:,} cases, {rate:.0f} a second, {len(failed)} failed"
        print(progress, end="", file=sys.stderr)
    print(file=sys.stderr)
    print("\n".join(f"{number:8,} {what}" for what, number in counts.most_common()))
    print(f"seeds from {first}; failed: {', '.join(map(str, failed[:50])) or 'none'}")
    for seed in failed[:SHOWN]:
        print(f"\n{run_seed(seed, shrink=seconds > SHRINK_SECONDS * SHOWN * 2, engine=engine)}")
    return int(bool(failed))


def outcomes(
    seeds: range, engine: str, workers: int, until: float
) -> Iterator[tuple[collections.Counter[str], list[int]]]:
    """Run blocks of seeds in processes, new ones after so many blocks, until the time is over; yield what each gives.

    A pool that replaces its processes by itself (`max_tasks_per_child`) waited for ever, on Python 3.11.
    """
    blocks = workers * BLOCKS_A_PROCESS
    while seeds and time.time() < until:
        now, seeds = seeds[: BLOCK * blocks], seeds[BLOCK * blocks :]
        with TemporaryDirectory() as folder, ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            run = partial(run_block, engine=engine, until=until, running=Path(folder))
            try:
                yield from pool.map(run, [now[at : at + BLOCK] for at in range(0, len(now), BLOCK)])
            except BrokenProcessPool:
                running = ", ".join(sorted(file.read_text() for file in Path(folder).iterdir()))
                sys.exit(f"\na process ended while one of these seeds ran: {running}. Replay each with --seed.")


if __name__ == "__main__":
    sys.exit(main())
