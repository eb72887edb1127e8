"""Stops and kills processes of clusters at random moments: `python -m hostile.clusters --count N`, from tests/.

Each case runs a pipeline of two sinks on a cluster, and does one thing to one process: SIGSTOP or SIGKILL of a worker,
of the scheduler or of the driver, or Ctrl-C.  Then all of this must hold, whatever the moment:

- the run ends in time, with exit code 0, 1 or 130, and not with a traceback;
- both sinks are whole after exit code 0, and are not there after any other, but where the commit was already done;
- no process and no scratch folder of the run is left.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from clusters import (
    check_nothing_changed,
    check_sinks,
    end_session,
    is_worker,
    living,
    processes,
    send,
    started_run,
    waiting_pipeline,
)

TIMEOUT_S = 3
MOST_S = 90
EARLIEST_S = 0.5
"""Before that, Python itself may print a traceback for Ctrl-C."""
NAP = "import time\n\ndef k(x):\n    time.sleep(0.3)\n    return {'y': x + 1}\n"
STOP, KILL, INTERRUPT = signal.SIGSTOP, signal.SIGKILL, signal.SIGINT
CASES = [
    ("local", "worker", STOP), ("local", "worker", KILL), ("local", "driver", INTERRUPT), ("local", "driver", KILL),
    ("local", "all", INTERRUPT), ("cluster", "worker", STOP), ("cluster", "worker", KILL), ("cluster", "scheduler", STOP),
    ("cluster", "scheduler", KILL), ("cluster", "driver", INTERRUPT), ("cluster", "driver", KILL),
]  # fmt: skip


def strike(run: subprocess.Popen[str], cluster: list[subprocess.Popen[bytes]], who: str, number: int) -> None:
    """Send a signal to a process of the run or of its cluster, if it is there yet."""
    if who == "driver":
        run.send_signal(number)
    elif who == "all":
        for pid in living(run.pid):
            send(pid, number)
    elif cluster:
        cluster[0 if who == "scheduler" else 1].send_signal(number)
    elif children := [pid for pid in living(run.pid) if is_worker(pid)]:
        send(random.choice(children), number)


def one_case(where: str, who: str, number: int, delay_s: float) -> str:
    """Run one case; return what came, or raise `AssertionError`."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        waiting_pipeline(folder)
        (folder / "k.py").write_text(NAP)
        options: list[object] = ["--worker-timeout", TIMEOUT_S]
        cluster: list[subprocess.Popen[bytes]] = []
        if where == "cluster":
            address, cluster = opened.enter_context(processes(folder, 2))
            run = started_run(folder, *options, "--cluster", address)
        else:
            run = started_run(folder, *options, "--workers", 2)
        opened.callback(end_session, run.pid)
        time.sleep(delay_s)
        strike(run, cluster, who, number)
        out, err = run.communicate(timeout=MOST_S)
        assert "Traceback" not in err, err
        assert out == "", out
        check_outcome(folder, run.returncode, err)
        wait_until(lambda: not living(run.pid), "processes are left")
        wait_until(lambda: not list((folder / "tmp").glob("gpuetl-workers-*")), "a scratch folder is left")
        return f"exit {run.returncode}: {err.partition(chr(10))[0]}".rstrip(": ")


def check_outcome(folder: Path, code: int, err: str) -> None:
    """See that the sinks are what the exit code says."""
    if code == 0:
        assert err == "", err
        check_sinks(folder)
    elif code == -signal.SIGKILL:
        return  # what a killed run leaves is `hostile.kills`
    elif "all sinks are written" in err:
        check_sinks(folder)
    else:
        assert code in (1, 2, 130), (code, err)
        assert err.startswith(("error: ", "interrupted (SIGINT): no sink has changed", "cannot connect")), err
        check_nothing_changed(folder)


def wait_until(holds: Callable[[], bool], message: str, seconds: float = 10) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, message
        time.sleep(0.05)


def main() -> None:
    """Run so many cases of each kind in turn; print the outcomes, and exit with 1 where something did not hold."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--count", type=int, default=len(CASES), help="how many cases; all kinds take turns")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--longest", type=float, default=8.0, help="seconds until the last moment of a fault")
    given = reader.parse_args()
    signal.signal(INTERRUPT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
    chance, failed = random.Random(given.seed), 0
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(given.count):
        case, delay_s = CASES[number % len(CASES)], chance.uniform(EARLIEST_S, given.longest)
        name = f"{case[0]} {case[1]} {signal.Signals(case[2]).name}"
        start = time.monotonic()
        try:
            outcome = one_case(*case, delay_s)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            outcome, failed = f"FAILED: {error}", failed + 1
        counts[name, outcome.partition(":")[0]] += 1
        print(f"{number}: {name} after {delay_s:.1f} s: {outcome} ({time.monotonic() - start:.0f} s)", flush=True)
    for (name, outcome), count in sorted(counts.items()):
        print(f"| {name} | {outcome} | {count} |")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
