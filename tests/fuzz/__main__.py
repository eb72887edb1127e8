"""`python -m fuzz --cases 50000`: fresh seeds on all cores; `python -m fuzz --seed 12`: one case again, made small."""

import argparse
import collections
import os
import secrets
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from fuzz.search import Failure, run_seed

BLOCK = 50
SHOWN = 5


def main() -> int:
    """Run; the exit code is 1 where a case fails."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, help="the first seed; by default a fresh one")
    parser.add_argument("--seed", type=int, help="replay this one alone")
    given = parser.parse_args()
    if given.seed is not None:
        outcome = run_seed(given.seed)
        print(outcome if isinstance(outcome, Failure) else f"seed {given.seed}: {outcome.value}")
        return int(isinstance(outcome, Failure))
    return run_many(given.cases, secrets.randbelow(1 << 40) if given.first is None else given.first)


def run_many(count: int, first: int) -> int:
    """Run the seeds from `first` on all cores; print the outcomes, and the first failures made small."""
    began, counts, failed = time.monotonic(), collections.Counter[str](), list[int]()
    starts = range(first, first + count, BLOCK)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done, (block, seeds) in enumerate(pool.map(partial(run_block, last=first + count), starts), 1):
            counts.update(block)
            failed += seeds
            for seed in seeds:
                print(f"\rseed {seed} failed" + " " * 40, file=sys.stderr)
            rate = counts.total() / (time.monotonic() - began)
            print(
                f"\r{counts.total():,} of {count:,} cases, {rate:.0f} a second, {len(failed)} failed",
                end="",
                file=sys.stderr,
            )
            if done == len(starts):
                print(file=sys.stderr)
    print("\n".join(f"{number:8,} {what}" for what, number in counts.most_common()))
    print(f"seeds from {first}; failed: {', '.join(map(str, failed[:50])) or 'none'}")
    for seed in failed[:SHOWN]:
        print(f"\n{run_seed(seed)}")
    return int(bool(failed))


def run_block(start: int, last: int) -> tuple[collections.Counter[str], list[int]]:
    """Run a block of seeds; return how often each outcome was met, and the seeds that failed."""
    counts, failed = collections.Counter[str](), []
    for seed in range(start, min(start + BLOCK, last)):
        outcome = run_seed(seed, shrink=False)
        counts["FAILED" if isinstance(outcome, Failure) else outcome.value] += 1
        failed += [seed] * isinstance(outcome, Failure)
    return counts, failed


if __name__ == "__main__":
    sys.exit(main())
