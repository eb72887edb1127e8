"""Kill runs, and look whether anything is lost.

    python -m hostile.kills --every                        before each system call that changes files, in all modes
    python -m hostile.kills --every --fault ENOSPC         the call fails instead; also EIO, or SIGTERM comes
    python -m hostile.kills --every --step 7 --scenario overwrite
    python -m hostile.kills --random 1000 --engine pandas  after a random time; also dask, dask-cuda, cudf
    python -m hostile.kills --random 1000 --engine dask --standing    runs on one cluster, whose workers outlive them

After each kill a reader must find every sink whole: old or new, never less.  Then `gpuetl recover`, one that is killed
itself, or the next run puts things in order: all sinks old or all new, the next run's rows right, nothing left over.
Exits with 1 where a problem was found, and with 77 where this machine cannot do it.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from hostile.kill_checks import (
    HAS_RECOVER,
    HEADS,
    Bench,
    Tally,
    check_exit,
    check_killed_recovery,
    check_next_run,
    check_readers,
    check_recovery,
    warm_up,
)
from hostile.kill_scenarios import SCENARIOS
from hostile.random_kills import kill_at_random
from hostile.system_calls import KILL, Fault, why_not

SHOWN = 12
SKIPPED = 77
NEXT = ("recover", "killed recover", "run") if HAS_RECOVER else ("run",)
"""What comes after a kill."""
RECOVER_CALLS = 40


def kill_at_every(bench: Bench, fault: Fault, step: int, first: int) -> Tally:
    """Stop the run before each `step`-th system call that changes files, from the `first` on.

    With a step of 1 all that may come next does so; with others, one after the other.
    """
    tally = Tally(bench.scenario.name, "pandas", fault.name)
    began, at, turn = time.monotonic(), first, 0
    while True:
        for by in NEXT if step == 1 else (NEXT[turn % len(NEXT)],):
            bench.reset()
            done = bench.run(at=at, fault=fault)
            if not done.reached:
                tally.calls, tally.seconds = len(done.calls), time.monotonic() - began
                return tally
            where = f"at call {at}: {done.fault_at.replace(str(bench.root), '')}, then {by}"
            tally.kills += 1
            if done.text == "hung":
                tally.problem("hung", where)
            if fault is not KILL:
                check_exit(bench, tally, done, where)
            check_readers(bench, tally, where)
            if by == "recover":
                check_recovery(bench, tally, where)
            elif by == "killed recover":
                check_killed_recovery(bench, tally, where, random.Random(at).randint(1, RECOVER_CALLS))
            check_next_run(bench, tally, where)
        at, turn = at + step, turn + 1


def every(given: argparse.Namespace, folder: Path) -> list[Tally]:
    """Stop runs at their system calls, in each scenario that was asked for."""
    fault = KILL if given.fault == KILL.name else Fault.named(given.fault)
    tallies = []
    for scenario in SCENARIOS:
        if scenario.name in (given.scenario or [scenario.name]):
            bench = Bench(scenario, folder / scenario.name)
            tallies.append(kill_at_every(bench, fault, given.step, given.first))
            print("  ".join(tallies[-1].cells), file=sys.stderr, flush=True)
    return tallies


def in_processes(given: argparse.Namespace, folder: Path) -> list[Tally]:
    """Do the work in several processes, each with a part of the system calls or of the kills."""
    common = [f"--scenario={name}" for name in given.scenario or ()]
    running = []
    for place in range(given.jobs):
        results = folder / f"results-{place}"
        if given.every:
            part = ["--every", f"--fault={given.fault}", f"--step={given.step * given.jobs}"]
            part.append(f"--first={given.first + place * given.step}")
        else:
            count = given.random // given.jobs + (place < given.random % given.jobs)
            part = [f"--random={count}", f"--engine={given.engine}", f"--seed={given.seed + place}"]
            part += ["--standing"] * given.standing
        command = [sys.executable, "-m", "hostile.kills", *part, *common, f"--results={results}"]
        running.append((subprocess.Popen(command, stdout=subprocess.PIPE, text=True), results))
    merged: dict[str, Tally] = {}
    for process, results in running:
        said = process.communicate()[0]
        if not results.exists():
            raise SystemExit(f"a part failed:\n{said}")
        for data in json.loads(results.read_text()):
            tally = Tally.from_dict(data)
            merged.setdefault(tally.scenario, Tally(tally.scenario, tally.engine, tally.fault)).add(tally)
    return list(merged.values())


def table(tallies: Sequence[Tally]) -> str:
    """Return the tallies for people."""
    rows = [HEADS, *(tally.cells for tally in tallies)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for tally in tallies:
        lines += [f"  {tally.scenario}: {count} × {what}" for what, count in tally.problems.most_common()]
        lines += [f"    {example}" for example in tally.examples[:SHOWN]]
    kills, seconds = sum(tally.kills for tally in tallies), sum(tally.seconds for tally in tallies)
    return "\n".join([*lines, f"{kills:,} kills in {seconds:.0f} s"])


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    read = argparse.ArgumentParser(
        prog="hostile.kills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = read.add_mutually_exclusive_group(required=True)
    what.add_argument("--every", action="store_true", help="stop at each system call that changes files")
    what.add_argument("--random", metavar="COUNT", type=int, help="kill so many runs after a random time")
    read.add_argument("--engine", default="pandas", help="the engine of the runs that are killed at random (pandas)")
    read.add_argument("--standing", action="store_true", help="with dask: runs share one cluster, which outlives them")
    read.add_argument("--seed", type=int, help="of the random times; by default a fresh one")
    read.add_argument("--fault", default=KILL.name, help="a signal, or the error that the call gives (SIGKILL)")
    read.add_argument("--scenario", action="append", choices=[one.name for one in SCENARIOS], help="this one alone")
    read.add_argument("--step", type=int, default=1, help="each so many-th call only (1)")
    read.add_argument("--first", type=int, default=1, help="the number of the first call (1)")
    read.add_argument("--jobs", type=int, default=1, help="processes that work at once (1)")
    read.add_argument("--results", metavar="FILE", type=Path, help="write the counts there, as JSON")
    return read


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    given = parser().parse_args(arguments)
    if given.standing:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster is closed
    given.seed = secrets.randbelow(1 << 30) if given.seed is None else given.seed
    if why := why_not():
        print(f"skipped: {why}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        if given.jobs > 1:
            tallies = in_processes(given, folder)
        elif given.every:
            warm_up()
            tallies = every(given, folder)
        else:
            warm_up()
            tallies = kill_at_random(given.random, given.engine, given.seed, folder, given.scenario, given.standing)
    print(table(tallies))
    if given.results:
        given.results.write_text(json.dumps([tally.to_dict() for tally in tallies], indent=2) + "\n")
    return int(any(tally.problems for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
