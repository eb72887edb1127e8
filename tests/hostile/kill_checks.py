"""What is looked at after a run was killed: what readers find, what recovery and the next run make of it."""

from __future__ import annotations

import gc
import importlib
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gpuetl.cli import COMMANDS, execute
from hostile.kill_scenarios import KILLED, SCENARIOS, WHOLE, Scenario, files_and_lists, leftovers
from hostile.system_calls import KILL, Fault, Stopped, run_stopped

HAS_RECOVER = "recover" in COMMANDS
COUNTERS = ("found", "recovered", "problems")
EXAMPLES = 3
HEADS = ("mode", "engine", "fault", "kills", "old", "new", "between", "back", "forward", "problems")


@dataclass
class Tally:
    """What came of the kills of one scenario."""

    scenario: str
    engine: str
    fault: str = KILL.name
    kills: int = 0
    calls: int = 0
    seconds: float = 0.0
    found: Counter[str] = field(default_factory=Counter)
    recovered: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def problem(self, what: str, where: str) -> None:
        """Count a problem, and keep some as examples."""
        self.problems[what] += 1
        if self.problems[what] <= EXAMPLES:
            self.examples.append(f"{self.scenario}: {what}: {where}")

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        found, recovered = self.found, self.recovered
        counts = (self.kills, found["old"], found["new"], found["between"], recovered["back"], recovered["forward"])
        return (self.scenario, self.engine, self.fault, *map(str, counts), str(self.problems.total()))

    def add(self, other: Tally) -> None:
        """Add the counts of a part of the same kills."""
        self.kills += other.kills
        self.calls = max(self.calls, other.calls)
        self.seconds = max(self.seconds, other.seconds)
        for name in COUNTERS:
            getattr(self, name).update(getattr(other, name))
        self.examples += other.examples

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return vars(self) | {name: dict(getattr(self, name)) for name in COUNTERS}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Return what `to_dict` gave."""
        return cls(**data | {name: Counter(data[name]) for name in COUNTERS})


class Bench:
    """One scenario's folder, which is made anew for each kill."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.root, self.template = folder / "root", folder / "template"
        self.old, self.new, self.twice = (scenario.expected(runs) for runs in (0, 1, 2))
        self.make_template()
        self.usual = self.usual_leftovers()

    def make_template(self) -> None:
        """Make the folder as it is before the run that is killed."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        (self.root / "p.yaml").write_text(self.scenario.yaml)
        if not self.scenario.is_new:
            for day, rows in self.scenario.earlier(self.scenario.sinks[0]):
                self.scenario.write_rows(self.root, rows)
                self.must(self.run(day))
        self.scenario.write_rows(self.root, KILLED[1])
        shutil.copytree(self.root, self.template, symlinks=True)

    def usual_leftovers(self) -> set[str]:
        """Return what runs leave that nothing stops; check the modes' rows on the way."""
        usual = leftovers(self.root)
        for expected in (self.new, self.twice):
            done = self.run()
            if not self.scenario.is_new or expected is self.new:
                self.must(done)
            states = self.scenario.states(self.root, expected, expected)
            if set(states.values()) - {"old", "new"} and not self.scenario.is_new:
                raise SystemExit(f"{self.scenario.name}: a run that nothing stops gives other rows: {states}")
            usual |= leftovers(self.root)
        return usual

    def reset(self) -> None:
        """Make the folder as it was before the run."""
        shutil.rmtree(self.root)
        shutil.copytree(self.template, self.root, symlinks=True)

    def command(self, *words: str) -> int:
        """Run a command of gpuetl in this process."""
        execute(words)
        return 0

    def run_words(self, day: int = KILLED[0], engine: str = "pandas") -> tuple[str, ...]:
        """Return the command line of a run."""
        return ("run", str(self.root / "p.yaml"), "-q", "--engine", engine, "-p", f"day={day}")

    def run(self, day: int = KILLED[0], at: int = 0, fault: Fault = KILL) -> Stopped:
        """Run the pipeline in a forked process."""
        return run_stopped(partial(self.command, *self.run_words(day)), self.root, at, fault)

    def recover(self, at: int = 0) -> Stopped:
        """Run `gpuetl recover` in a forked process."""
        return run_stopped(partial(self.command, "recover", str(self.root)), self.root, at)

    def must(self, done: Stopped) -> None:
        """Stop where a run that nothing disturbs fails."""
        if done.exit_code:
            raise SystemExit(f"{self.scenario.name}: a run that nothing stops fails:\n{done.text}")

    def path_of(self, name: str) -> str:
        """Return the path of a sink."""
        return next(sink.path for sink in self.scenario.sinks if sink.name == name)

    def states(self) -> dict[str, str]:
        """Say what a reader finds."""
        return dict(self.scenario.states(self.root, self.old, self.new))

    def common_state(self) -> str:
        """Return "old" or "new" where all sinks are the one or the other, else "mixed" with the sinks' states."""
        states = self.states()
        for one in ("new", "old"):
            same = getattr(self, one)
            if all(s == one or self.old[name] == self.new[name] == same[name] for name, s in states.items()):
                return one
        return f"mixed {states}"


def check_readers(bench: Bench, tally: Tally, where: str) -> None:
    """Look at the sinks as a reader does who comes right after the kill."""
    states = bench.states()
    for name, state in states.items():
        if state not in WHOLE:
            tally.problem(f"a reader finds {state}", f"sink {name} {where}")
        if unlisted := files_and_lists(bench.root / bench.path_of(name)).unlisted:
            tally.problem("files that are on no list", f"sink {name} {where}: {unlisted[:3]}")
    common = bench.common_state()
    tally.found[common if common in ("old", "new") else "between"] += 1


def check_killed_recovery(bench: Bench, tally: Tally, where: str, at: int) -> None:
    """Kill `gpuetl recover`, too, before its `at`-th call, and look at the sinks as a reader does; then recover again."""
    done = bench.recover(at)
    where = f"{where}, killed at call {at}: {done.fault_at.replace(str(bench.root), '')}"
    for name, state in bench.states().items():
        if state not in WHOLE:
            tally.problem(f"a reader finds {state}", f"sink {name} {where}")
    check_recovery(bench, tally, where)


def check_recovery(bench: Bench, tally: Tally, where: str) -> None:
    """Recover by the command, and look at the sinks, which must be all old or all new."""
    done = bench.recover()
    if done.exit_code:
        tally.problem("recover fails", f"{where}: {done.text.strip()[-400:]}")
    state = bench.common_state()
    if state in ("old", "new"):
        tally.recovered["back" if state == "old" else "forward"] += 1
    else:
        tally.problem("sinks differ after recover", f"{where}: {state}")


def check_next_run(bench: Bench, tally: Tally, where: str) -> None:
    """Run the pipeline again, and look at the rows and at what is left over."""
    before = bench.common_state()
    if any(bench.root.rglob("commit.forward")):  # a run that has decided to commit is finished, not undone
        before = "new"
    done = bench.run()
    refused = bench.scenario.is_new and "GE1501" in done.text
    if done.exit_code and not refused:
        tally.problem("the next run fails", f"{where}: {done.text.strip()[-400:]}")
        return
    if "Traceback" in done.text:
        tally.problem("traceback", f"{where}: {done.text.strip()[-400:]}")
    # the killed run did all or nothing, and then the next one came: its rows are there once or twice
    ends = [bench.scenario.states(bench.root, end, end) for end in (bench.new, bench.twice)]
    once, twice = (set(end.values()) <= {"old", "new"} for end in ends)
    if not (once or twice) or (before == "old" and not once) or (before == "new" and not refused and not twice):
        tally.problem("wrong rows after the next run", f"{where}: {before}, then {ends[0]}, {ends[1]}")
    for sink in bench.scenario.sinks:
        listed = files_and_lists(bench.root / sink.path)
        if listed.unlisted or listed.gone or listed.lists > 1:
            tally.problem("the list is not right after the next run", f"sink {sink.name} {where}: {listed}")
    if left := leftovers(bench.root) - bench.usual:
        tally.problem("left over after the next run", f"{where}: {sorted(left)[:4]}")


def check_exit(bench: Bench, tally: Tally, done: Stopped, where: str) -> None:
    """A run that ended by itself says what it did: 0 means all sinks are new, another code that all are old."""
    state = bench.common_state()
    if "Traceback" in done.text or "report this" in done.text:
        tally.problem("traceback", f"{where}: {done.text.strip()[-600:]}")
    if done.exit_code == 0 and state != "new":
        tally.problem("exit 0, and not all sinks are new", f"{where}: {state}: {done.text.strip()[-300:]}")
    committed = "all sinks are written" in done.text
    if done.exit_code > 0 and state == "new" and not committed:
        tally.problem("a failure, and all sinks are new", f"{where}: exit {done.exit_code}: {done.text.strip()[-300:]}")


def warm_up() -> None:
    """Import what a run imports, so that forked processes need not: a child writes down its modules."""
    with tempfile.TemporaryDirectory() as folder:
        listed, bench = Path(folder, "modules"), Bench(SCENARIOS[0], Path(folder).resolve())
        bench.reset()

        def work() -> int:
            execute(bench.run_words())
            return Path(folder, "modules").write_text("\n".join(sys.modules)) * 0

        bench.must(run_stopped(work, bench.root, at=0))
        for name in listed.read_text().split("\n"):
            with suppress(Exception):  # parts of packages that are no modules of their own
                importlib.import_module(name)
    gc.freeze()
