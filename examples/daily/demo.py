"""Seven days of flights, as operations see them: a late file, a killed run, a resume and a backfill.

    make demo-daily                              or: python examples/daily/demo.py [--days 4] [--engine cudf]

Two pipelines run in a new folder.  `clean.yaml` takes each file that lands once (`incremental`).  `features.yaml` makes
features of each aircraft, one day after another (`state: keep`).  At the end the features are compared with those of
one run over all days.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

HERE = Path(__file__).parent
FLIGHTS = HERE.parents[1] / "data/flights"
FIRST = date(2013, 1, 1)
KEYS = ("tailnum", "departure", "flight")
RELATIVE = 1e-12
"""Means may differ by rounding between one run and several."""
DAY_BY_DAY = {
    "landing, incremental: {new_files: true}": "../landing",
    "/departed_on=${params.run_date}": "",
    "          state: keep\n": "",
    ", mode: append, run_key: [run_date]": "",
}
"""What the pipelines are without, and the paths, where one run takes all days."""
SHOWN = ("note:", "warning:", "wrote", "kept", "nothing new", "error:", "run_date=", "read ")


class Demo:
    """The folder in which the days pass, and how commands are called and shown."""

    def __init__(self, folder: Path, days: int, engine: str) -> None:
        self.folder, self.engine = folder, engine
        self.days = [FIRST + timedelta(days=place) for place in range(days)]
        self.flights = pq.read_table(FLIGHTS / "flights.parquet")
        shutil.copy(HERE / "features.yaml", folder)
        clean = (HERE / "clean.yaml").read_text()
        (folder / "clean.yaml").write_text(clean.replace("../../data/flights", str(FLIGHTS)))
        (folder / "landing").mkdir()

    def land(self, day: date) -> None:
        """Put a day's file into the folder that `clean.yaml` reads, under another name first."""
        begin = datetime.combine(day, datetime.min.time())
        zone = self.flights.schema.field("departure").type
        bounds = [pa.scalar(at, pa.timestamp("us")).cast(zone) for at in (begin, begin + timedelta(days=1))]
        departure = self.flights["departure"]
        rows = self.flights.filter(pc.and_(pc.greater_equal(departure, bounds[0]), pc.less(departure, bounds[1])))
        part = self.folder / f"{day}.part"
        pq.write_table(rows, part)
        part.rename(self.folder / f"landing/{day}.parquet")
        print(f"  landing/{day}.parquet arrives: {rows.num_rows:,} flights")

    def command(self, *arguments: str) -> list[str]:
        """Return a command line of gpuetl."""
        reports = [] if arguments[0] == "clean" else ["--no-report"]
        return [sys.executable, "-m", "gpuetl", *arguments, "--engine", self.engine, *reports]

    def show(self, text: str) -> None:
        """Print the lines of a command's output that say what happened."""
        for line in text.splitlines():
            if line.strip().startswith(SHOWN) or " values " in line:
                print(f"  {line.replace(str(self.folder), '.')}")

    def gpuetl(self, *arguments: str, fails: bool = False) -> None:
        """Run a command, and show it; `fails` says whether it is to fail.

        Raises
        ------
        SystemExit
            Where it ends otherwise.
        """
        print(f"  $ gpuetl {' '.join(arguments)}")
        done = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, check=False)
        self.show(done.stdout + done.stderr)
        if bool(done.returncode) != fails:
            raise SystemExit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        if fails:
            print(f"  exit code {done.returncode}")

    def killed(self, *arguments: str) -> None:
        """Run a command, and kill it as soon as it has kept a checkpoint: as a power failure would."""
        print(f"  $ gpuetl {' '.join(arguments)}      # and kill -9 while it runs")
        state = self.folder / ".gpuetl/clean"
        before = {path for path in state.rglob("checkpoints/**/*") if path.is_file()}
        process = subprocess.Popen(
            self.command(*arguments), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None:
            found = {path for path in state.rglob("checkpoints/**/*.json") if path.is_file()}
            if found - before:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.0005)
        print("  killed" if process.returncode < 0 else "  the run was faster than the signal")

    def backfill(self, first: date, last: date, fails: bool = False) -> None:
        """Make the features of all days that have none yet."""
        dates = ("--param", "run_date", "--from", str(first), "--to", str(last))
        self.gpuetl("backfill", "features.yaml", *dates, fails=fails)


def chapter(number: int, title: str, why: str) -> None:
    """Print what happens, and why."""
    print(f"\n{number}. {title}\n  {why}")


def run(demo: Demo) -> None:
    """Let the days pass."""
    days = demo.days
    late, killed = days[len(days) // 2 - 1], days[-1]

    chapter(1, "Files arrive day by day", "Each run of clean.yaml takes the files that no run has taken.")
    for day in days[:-1]:
        if day == late:
            print(f"  landing/{day}.parquet does not arrive")
            continue
        demo.land(day)
        demo.gpuetl("run", "clean.yaml")
    demo.gpuetl("run", "clean.yaml")

    chapter(
        2, "Features, and a missing day",
        f"features.yaml goes on from the day before, so it stops at {late}, which has no rows yet.",
    )  # fmt: skip
    demo.backfill(days[0], days[-2], fails=True)

    chapter(
        3,
        "The late file comes, next to today's, and the run is killed",
        "A killed run has taken no file, and changed no sink.",
    )
    demo.land(late)
    demo.land(killed)
    demo.killed("run", "clean.yaml")

    chapter(4, "Resume", "The stage that the killed run has kept is read, not computed; both files are taken once.")
    demo.gpuetl("run", "clean.yaml", "--resume")

    chapter(5, "Backfill", "The same command makes the features of the days that have none, in order.")
    demo.backfill(days[0], days[-1])


def one_run(demo: Demo) -> pa.Table:
    """Return the features of one run over all days, without state between runs."""
    whole = demo.folder / "whole"
    whole.mkdir()
    for name in ("clean.yaml", "features.yaml"):
        text = (demo.folder / name).read_text()
        text = text.replace("landing, incremental: {new_files: true}", "../landing").replace(
            "          state: keep\n", ""
        )
        text = text.replace("/departed_on=${params.run_date}", "").replace(", mode: append, run_key: [run_date]", "")
        (whole / name).write_text(text)
        extra = ["-p", f"run_date={FIRST}"] if name == "features.yaml" else []
        done = subprocess.run(demo.command("run", name, *extra), cwd=whole, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
    return pq.read_table(whole / "out/features")


def same(days: pa.Table, whole: pa.Table) -> None:
    """Compare the rows of two tables, and print the outcome.

    Raises
    ------
    SystemExit
        Where they differ.
    """
    order = [(key, "ascending") for key in KEYS]
    days, whole = days.select(whole.column_names).sort_by(order), whole.sort_by(order)
    exact = 0
    if days.num_rows != whole.num_rows:
        raise SystemExit(f"{days.num_rows:,} rows day by day, {whole.num_rows:,} in one run")
    for name in whole.column_names:
        one, other = days[name].combine_chunks(), whole[name].combine_chunks()
        if one.equals(other):
            exact += 1
            continue
        if not pa.types.is_floating(one.type) or not one.is_null().equals(other.is_null()):
            raise SystemExit(f"column {name} differs")
        bound = pc.multiply(RELATIVE, pc.max_element_wise(pc.abs(one), pc.abs(other), 1.0))
        if not pc.all(pc.less_equal(pc.abs(pc.subtract(one, other)), bound)).as_py():
            raise SystemExit(f"column {name} differs by more than rounding")
    rounded = whole.num_columns - exact
    floats = f", {rounded} to a relative {RELATIVE:g}" if rounded else ""
    print(f"  {whole.num_rows:,} rows, {whole.num_columns} columns: {exact} equal bit for bit{floats}")


def main() -> None:
    """Run the demo in a folder that is removed at the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--days", type=int, default=7, help="how many days pass, from 4")
    parser.add_argument("--engine", default="auto", help="as for gpuetl run")
    parser.add_argument("--folder", type=Path, help="run in this new folder, and keep it")
    given = parser.parse_args()
    if given.days < 4:
        parser.error("--days begins at 4")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.folder or Path(scratch)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        demo = Demo(folder, given.days, given.engine)
        run(demo)
        chapter(6, "The same as one run", "One run over all days gives the same features.")
        same(pq.read_table(folder / "out/features"), one_run(demo))
    print(f"\n{given.days} days in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main()
