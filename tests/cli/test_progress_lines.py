"""Progress where no terminal is."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from cli.slow_runs import write_slow_run
from command import environment_without_coverage
from gpuetl.cli import progress_lines
from gpuetl.cli.progress_lines import ProgressLines
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.run_totals import RunTotals


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def printed(seconds: int, partitions: int = 100, totals: bool = False) -> list[str]:
    """Return what a steady run of 100 s prints in its first seconds; it ticks once a second."""
    clock, lines = Clock(), list[str]()
    progress = ProgressLines("run of sales", clock, print_line=lines.append)
    if totals:
        progress.follow(
            lambda: RunTotals(int(123_456 * clock.now), int(40e6 * clock.now), 4_000_000_000, clock.now / 100)
        )
    for second in range(seconds + 1):
        clock.now = float(second)
        if partitions:
            progress(Origin("stage", "clean"), second if partitions > 1 else 0, partitions)
        progress.tick()
    return lines


def test_a_long_run_prints_a_line_now_and_then():
    assert printed(95) == [
        "  after 30.0 s: stage clean: 30 of 100 partitions",
        "  after 1 min 00 s: stage clean: 60 of 100 partitions",
        "  after 1 min 30 s: stage clean: 90 of 100 partitions",
    ]


def test_the_line_has_the_totals_of_the_run_and_the_time_left():
    assert printed(95, totals=True) == [
        "  after 30.0 s: 30 %, read 3.70 M rows, 1.2 of 4.0 GB at 40 MB/s, about 1 min left;"
        " stage clean: 30 of 100 partitions",
        "  after 1 min 00 s: 60 %, read 7.41 M rows, 2.4 of 4.0 GB at 40 MB/s, about 40 s left;"
        " stage clean: 60 of 100 partitions",
        "  after 1 min 30 s: 90 %, read 11.1 M rows, 3.6 of 4.0 GB at 40 MB/s, about 10 s left;"
        " stage clean: 90 of 100 partitions",
    ]


def test_one_partition_is_not_counted():
    assert printed(45, partitions=1) == ["  after 30.0 s: stage clean"]


def test_a_run_that_reports_nothing_says_that_it_runs():
    assert printed(31, partitions=0) == ["  after 30.0 s: run of sales"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_a_run_in_a_pipe_prints_lines_with_totals(tmp_path, engine):
    """In a process of its own, which prints a line every second."""
    write_slow_run(tmp_path, partitions=20, seconds=0.15)
    program = (
        "import sys; from gpuetl.cli import progress_lines; progress_lines.EVERY_S = 1.0; progress_lines.SAMPLE_S = 0.1\n"
        "from gpuetl.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "slow.yaml", "--engine", engine, "--no-report", "--partition-rows", "10"],
        cwd=tmp_path, env=environment_without_coverage(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) >= 2, done.stderr
    assert all(line.startswith("  after ") for line in lines)
    assert any(" %, read " in line and " rows" in line for line in lines), lines
    assert "\x1b" not in done.stderr


def test_progress_costs_nothing_measurable():
    """A thread that looks once a second: what a run calls takes a few microseconds."""
    lines = ProgressLines("run of sales", print_line=print)
    origin = Origin("stage", "clean")
    begun = time.perf_counter()
    for _ in range(10_000):
        lines(origin, 1, 2)
    assert (time.perf_counter() - begun) / 10_000 < 100e-6
    assert progress_lines.EVERY_S == 30.0
