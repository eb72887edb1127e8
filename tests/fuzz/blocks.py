"""Seeds run one after another, by a process that knows the engine that runs kernels on the CPU."""

import collections
import faulthandler
import os
import time
from pathlib import Path

from fuzz.search import Failure, run_seed
from gpu_engine import host_machine  # noqa: F401  registers its engine


def run_block(seeds: range, engine: str, until: float, running: Path) -> tuple[collections.Counter[str], list[int]]:
    """Run a block of seeds; return how often each outcome was met, and the seeds that failed.

    A file of this process in the folder `running` has the seed that runs: a crash of native code ends the process.
    """
    faulthandler.enable()
    counts, failed = collections.Counter[str](), []
    for seed in seeds:
        if time.time() > until:
            break
        (running / str(os.getpid())).write_text(str(seed))
        outcome = run_seed(seed, shrink=False, engine=engine)
        counts["FAILED" if isinstance(outcome, Failure) else outcome.value] += 1
        failed += [seed] * isinstance(outcome, Failure)
    return counts, failed
