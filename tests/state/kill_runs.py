"""Kill runs of incremental sources while files arrive, and look whether each row is there exactly once.

    python -m state.kill_runs --kills 500 --results FILE      at random times, and before each change of a file
    python -m state.kill_runs --kills 8                       the short form, which the suite runs

A process that has imported all that a run needs forks the runs.  Files arrive before a run and while it runs.  Half of
the kills come at a time that is drawn from the length of a run; the others before the N-th event of the run that changes
a file (open for writing, rename, link, remove, mkdir), with N over all of them, so also at each step of the commit.
After some kills a run is left alone.  Then all rows of all files must be in the sink that appends, each once, and the
sink that is overwritten must have the rows of the last run.

Exits with 1 where a row is lost or doubled.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq

from gpuetl import errors, loads
from gpuetl.run import pipeline_run
from gpuetl.state.run_store import RunStore

PACKAGES = ("gpuetl.run", "gpuetl.executors", "gpuetl.engines.pandas", "gpuetl.formats", "gpuetl.places.local")
LATER = ("pyarrow.compute", "pyarrow.csv", "gpuetl.engines.pandas", "gpuetl.state.taken_files")
PIPELINE = """\
gpuetl: 1
name: killed
sources:
  landing: {{csv: landing, schema: {{id: int64, ts: timestamp}}, incremental: {incremental}}}
stages:
  clean: {{from: landing, steps: [{{with_columns: {{twice: id + id}}}}]}}
sinks:
  all: {{from: clean, parquet: out/all, mode: append}}
  latest: {{from: clean, parquet: out/latest.parquet, mode: overwrite}}
"""
MODES = {
    "new_files": "{new_files: true}",
    "watermark": "{watermark: ts, lateness: interval '1 hour', late: error}",
}
EVENTS = ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
KILLS_A_LIFE = 4
ROWS_A_FILE = 3
BEGIN = datetime(2026, 1, 1)
TRIED_AGAIN = ("has changed the state", "changed during the run", "was deleted")
LONGEST_S = 60.0


@dataclass
class Tally:
    """What was done, and what was found."""

    mode: str
    kills: int = 0
    runs: int = 0
    ended: int = 0
    at_time: int = 0
    at_event: int = 0
    events: int = 0
    after_commit: int = 0
    lives: int = 0
    rows: int = 0
    lost: int = 0
    doubled: int = 0
    wrong_latest: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_sound(self) -> bool:
        """Whether each row was there once, and no run failed."""
        return not (self.lost or self.doubled or self.wrong_latest or self.failed)


class Life:
    """A pipeline in a folder of its own, from its first file until all files are read."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.mode, self.files = folder, mode, 0
        (folder / "landing").mkdir(parents=True)

    def arrive(self) -> None:
        """Put a new file into the source's folder, in one step; its rows are later than those before by an hour."""
        begin = BEGIN + timedelta(hours=2 * self.files)
        ids = range(self.files * ROWS_A_FILE, (self.files + 1) * ROWS_A_FILE)
        lines = ["id,ts", *(f"{one},{begin - timedelta(minutes=10 * row)}" for row, one in enumerate(ids))]
        new = self.folder / f"landing/.{self.files}"
        new.write_text("\n".join(lines) + "\n")
        new.rename(self.folder / f"landing/{self.files:06}.csv")
        self.files += 1

    def run(self) -> None:
        """Run once."""
        loads(PIPELINE.format(incremental=MODES[self.mode]), self.folder).run(engine="pandas")

    @property
    def version(self) -> int:
        """How many runs have committed."""
        return RunStore.at(self.folder / ".gpuetl/killed").read().version


def forked(life: Life, event: int = 0) -> int:
    """Run in a process of its own, which is killed before its N-th event that changes a file, if one is given."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        log = os.open(life.folder / "log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        if event:
            sys.addaudithook(killer(event))
        life.run()
        status = 0
    except errors.GpuetlError as error:
        print(error, flush=True)
        status = 3 if any(text in str(error) for text in TRIED_AGAIN) else 1
    except BaseException as error:
        print(repr(error), flush=True)
    finally:
        os._exit(status)


def killer(event: int) -> Callable[[str, tuple[object, ...]], None]:
    """Return a hook of events that kills the process before the N-th that changes a file."""
    seen = 0

    def hook(name: str, given: tuple[object, ...]) -> None:
        nonlocal seen
        writes = name == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if name in EVENTS or writes:
            seen += 1
            if seen == event:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


def ended(child: int, life: Life, tally: Tally) -> bool:
    """Wait for a run; return whether it was killed.  One that failed is a problem."""
    _, status = os.waitpid(child, 0)
    tally.runs += 1
    if os.WIFSIGNALED(status):
        return True
    tally.ended += 1
    if os.WEXITSTATUS(status) == 1:
        tally.failed.append((life.folder / "log").read_text()[-500:])
    return False


def kill_at_a_time(life: Life, tally: Tally, chance: random.Random, length_s: float) -> bool:
    """Kill a run after a random time, and let files arrive meanwhile; return whether it was still going on."""
    child, begin = forked(life), time.monotonic()
    end, arrivals = begin + chance.uniform(0, length_s), sorted(chance.uniform(0, length_s) for _ in range(2))
    for arrival in arrivals:
        if begin + arrival < end:
            time.sleep(max(0.0, begin + arrival - time.monotonic()))
            life.arrive()
    time.sleep(max(0.0, end - time.monotonic()))
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return ended(child, life, tally)


def one_life(life: Life, tally: Tally, chance: random.Random, length_s: float, kills: int, events: list[int]) -> None:
    """Kill runs of a pipeline so many times, then let it finish, and look at its sinks."""
    done = 0
    while done < kills:
        for _ in range(chance.randint(1, 3)):
            life.arrive()
        before, at_event = life.version, chance.random() < 0.5
        if at_event:
            if not events:  # all were tried: begin again
                events.extend(range(1, max(tally.events, 1) + 1))
            event = events.pop(chance.randrange(len(events)))
            was_killed = ended(forked(life, event), life, tally)
            if was_killed:
                tally.events = max(tally.events, event)
                if not events:
                    events.append(event + 1)
        else:
            was_killed = kill_at_a_time(life, tally, chance, length_s)
        if was_killed:
            done += 1
            tally.kills += 1
            tally.at_event += at_event
            tally.at_time += not at_event
            tally.after_commit += life.version > before
        if chance.random() < 0.2:
            ended(forked(life), life, tally)
    finish(life, tally)


def finish(life: Life, tally: Tally) -> None:
    """Let runs read what is left, and look whether each row is there once."""
    life.arrive()  # so that of those before, none waits for the lateness
    while True:
        before = life.version
        ended(forked(life), life, tally)
        if life.version == before:
            break
    expected = range(life.files * ROWS_A_FILE)
    if life.mode == "watermark":
        expected = range((life.files - 1) * ROWS_A_FILE)
    found = Counter(ids_in(*(life.folder / "out/all").glob("*.parquet")))
    tally.lives += 1
    tally.rows += len(expected)
    tally.lost += sum(1 for number in expected if not found[number])
    tally.doubled += sum(count - 1 for count in found.values() if count > 1) + len(found.keys() - {*expected})
    run_id = RunStore.at(life.folder / ".gpuetl/killed").read().run_id
    last = ids_in(*(life.folder / "out/all").glob(f"*-{run_id}-*.parquet"))
    tally.wrong_latest += sorted(last) != sorted(ids_in(life.folder / "out/latest.parquet"))
    left = [one for one in (life.folder / "out").iterdir() if one.name.startswith(".2")]
    if left:
        tally.failed.append(f"left over: {left}")


def ids_in(*files: Path) -> list[int]:
    """Return the ids in files."""
    return [number for file in files for number in pq.ParquetFile(file).read(["id"])["id"].to_pylist()]


def measured_s(folder: Path, mode: str) -> float:
    """Return how long a run takes, the third of three."""
    life, tally, seconds = Life(folder, mode), Tally(mode), 0.0
    for _ in range(3):
        life.arrive()
        begin = time.monotonic()
        ended(forked(life), life, tally)
        seconds = time.monotonic() - begin
    if tally.failed:
        raise SystemExit(f"runs fail that are not killed: {tally.failed}")
    return seconds


def import_all() -> None:
    """Import what runs need, so that a forked one begins at once."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for found in pkgutil.walk_packages(module.__path__, f"{package}."):
            if "dask" not in found.name and "cudf" not in found.name:
                importlib.import_module(found.name)
    for name in LATER:
        importlib.import_module(name)
    assert pipeline_run


def kill_runs(kills: int, mode: str, seed: int) -> Tally:
    """Kill so many runs in a mode."""
    tally, chance, begin, events = Tally(mode), random.Random(f"{seed} {mode}"), time.monotonic(), [1]
    with tempfile.TemporaryDirectory() as folder:
        length_s = measured_s(Path(folder, "measured"), mode)
        events[:] = range(1, counted_events(Path(folder, "counted"), mode) + 1)
        tally.events = len(events)
        while tally.kills < kills and time.monotonic() - begin < LONGEST_S * kills:
            life = Life(Path(folder, str(tally.lives)), mode)
            one_life(life, tally, chance, length_s, min(KILLS_A_LIFE, kills - tally.kills), events)
    tally.seconds = round(time.monotonic() - begin, 1)
    return tally


def counted_events(folder: Path, mode: str) -> int:
    """Return how many events of a run change a file, about: the least number at which a run is not killed, by halves."""
    low, high, number = 1, 512, 0
    while low < high:
        middle = (low + high) // 2
        life, tally = Life(folder / str(number), mode), Tally(mode)
        for _ in range(3):
            life.arrive()
        if ended(forked(life, middle), life, tally):
            low = middle + 1
        else:
            high = middle
        number += 1
    return low - 1


def main() -> int:
    """Kill, and write what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    import_all()
    shares = [given.kills // 2, given.kills - given.kills // 2]
    tallies = [kill_runs(kills, mode, given.seed) for kills, mode in zip(shares, MODES, strict=True)]
    for tally in tallies:
        print(json.dumps(asdict(tally)), flush=True)
    if given.results:
        content = {"seed": given.seed, "engine": "pandas", "modes": [asdict(tally) for tally in tallies]}
        given.results.write_text(json.dumps(content, indent=1) + "\n")
    return not all(tally.is_sound and tally.kills for tally in tallies)


if __name__ == "__main__":
    sys.exit(main())
