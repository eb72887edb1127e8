"""What a run looks like on a terminal and in a pipe: one live view, and one last table of 100 columns."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import replace

import pyarrow as pa
import pytest
from rich.console import Console

from cli.slow_runs import write_slow_run
from command import environment_without_coverage, gpuetl
from gpuetl import Pipeline, RunOptions, col, count
from gpuetl.cli.live_view import LiveView
from gpuetl.cli.render import head_table
from gpuetl.cli.tables import TABLE_WIDTH, stage_table
from gpuetl.report.limits import Limit
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.run_totals import RunTotals
from left_to_full import after
from tables import table, write_source

LONG = "a_stage_with_a_name_that_is_longer_than_anyone_would_like_to_read_in_a_table"


@pytest.fixture
def made(tmp_path):
    pipeline = Pipeline("small", root=tmp_path)
    t = write_source(pipeline, "t", table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2), ("a", 3)))
    kept = t.filter(col("x") > 0).stage(LONG)
    kept.aggregate(by="k", n=count()).write_csv("out", "out.csv", mode="overwrite")
    return pipeline


def test_a_run_ends_with_a_table_that_fits_100_columns(made):
    made.to_yaml(made.root / "p.yaml")
    done = gpuetl("run", made.root / "p.yaml", "--engine", "pandas", "--measure-memory", "--no-report")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    head = next(place for place, line in enumerate(lines) if "rows in" in line)
    last = lines[head:]
    assert max(map(len, last[:-1])) <= TABLE_WIDTH
    assert last[-1].startswith("small: done on CPU in ")
    assert any(line.startswith("wrote out: 2 rows, ") for line in lines)
    assert " s " in done.stdout or " ms " in done.stdout


def test_a_table_gives_up_columns_that_the_report_has_too(made):
    """Before names are cut to less than 24 characters."""
    report = made.run(engine="pandas", options=RunOptions(profile=True)).report
    limit = Limit("host memory", 45e9, 0.1, 0.86)
    huge = tuple(
        replace(stage, rows_in=10**12, rows_out=10**12, waited=1.5, limit=limit, file_bytes=10**12, inputs=())
        for stage in report.stages
    )
    text = stage_table(replace(report, stages=huge)).plain()
    assert max(map(len, text.splitlines())) <= TABLE_WIDTH
    head = text.splitlines()[1]
    assert "rows out" in head
    assert "time" in head
    assert "waited" not in head
    assert "a_stage_with_a_name_tha" in text


def test_nothing_is_printed_on_stderr_in_a_pipe(made):
    made.to_yaml(made.root / "p.yaml")
    assert gpuetl("run", made.root / "p.yaml", "--engine", "pandas").stderr == ""


def drawn(view, width, height=24):
    stream = io.StringIO()
    Console(file=stream, width=width, height=height, force_terminal=True, color_system=None).print(view)
    return stream.getvalue().splitlines()


def test_the_live_view_has_a_line_for_each_source_stage_and_sink():
    view = LiveView("run of sales")
    view(Origin("source", "orders"), 2, 8)
    view(Origin("stage", "clean", 1), 1, 1)
    view(Origin("stage", "clean", 2), 0, 4)
    view(Origin("sink", "out"), 1, 1)
    lines = drawn(view, 100)
    assert len(lines) == 4
    assert "run of sales" in lines[0]
    assert "source orders" in lines[1]
    assert "2/8" in lines[1]
    assert "0/4" in lines[2]
    assert lines[3].startswith("✓")


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_the_live_view_fits_the_terminal(width):
    view = LiveView()
    for place in range(50):
        view(Origin("stage", f"{LONG}_{place}\x1b[31m", 1), place % 3, 2)
    lines = drawn(view, width)
    assert len(lines) <= 24 - 3
    assert max(map(len, lines)) <= min(width, 100)
    assert "\x1b[31m" not in "".join(lines)


def test_of_more_lines_than_there_is_room_for_the_unfinished_ones_stay():
    view = LiveView()
    for place in range(30):
        view(Origin("stage", f"s{place}", 1), 1, 1 if place else 2)
    lines = drawn(view, 100, height=10)
    assert "stage s0" in lines[1]
    assert lines[-1].strip() == "… and 26 more"


def view_of_a_run(second: float) -> LiveView:
    """Return the view of a steady run of 100 s at a second."""
    clock = [0.0]
    view = LiveView("run of sales", lambda: clock[0])
    view.follow(lambda: RunTotals(int(123_456 * clock[0]), int(40e6 * clock[0]), 4_000_000_000, clock[0] / 100))
    for now in range(int(second) + 1):
        clock[0] = float(now)
        view(Origin("source", "orders"), now, 100)
        view(Origin("stage", "clean_and_join_with_what_customers_have"), now // 2, 100)
        view.summary()
    return view


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            80,
            [
                "⠋  run of sales  40.0 s",
                "   40 %, read 4.94 M rows, 1.6 of 4.0 GB at 40 MB/s, about 1 min left",
                "⠋  source orders                     ━━━━━╸          40/100  40.0 s",
                "⠋  stage clean_and_join_with_what_…  ━━╸             20/100  40.0 s",
            ],
        ),
        (
            100,
            [
                "⠋  run of sales  40.0 s",
                "   40 %, read 4.94 M rows, 1.6 of 4.0 GB at 40 MB/s, about 1 min left",
                "⠋  source orders                             ━━━━━━━━━╸                40/100  40.0 s",
                "⠋  stage clean_and_join_with_what_customer…  ━━━━╸                     20/100  40.0 s",
            ],
        ),
    ],
)
def test_the_live_view_at_two_widths(width, lines):
    assert [re.sub("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋", line).rstrip() for line in drawn(view_of_a_run(40), width)] == lines


def on_terminal(columns: int, *command: str, cwd) -> tuple[int, str]:
    """Run a command on a terminal of a width; return its exit code, and all that it wrote."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    environment = {**environment_without_coverage(), "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, cwd=cwd, env=environment)
    os.close(its)
    written = b""
    while True:
        try:
            if not (part := os.read(ours, 1 << 16)):
                break
        except OSError:  # the terminal's other end is closed
            break
        written += part
    os.close(ours)
    return process.wait(), written.decode()


@pytest.mark.slow
@pytest.mark.parametrize("columns", after(1, [80, 100], "a wider terminal"))
def test_a_run_on_a_terminal_shows_the_whole_run_and_takes_the_view_away(tmp_path, columns):
    write_slow_run(tmp_path, partitions=10, seconds=0.3)
    code, written = on_terminal(
        columns, sys.executable, "-m", "gpuetl", "run", "slow.yaml", "--engine", "pandas", "--no-report",
        "--partition-rows", "10", cwd=tmp_path,
    )  # fmt: skip
    assert code == 0, written
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    lines = [line for line in text.replace("\r", "\n").splitlines() if line]
    assert max(map(len, lines)) <= columns
    assert any(re.match(r"   \d+ %, read 100 rows, 2.\d kB", line) for line in lines)
    assert any(line.startswith("✓  source rows") for line in lines)
    assert any(line.startswith("slow: done on CPU in ") for line in lines[-2:])
    assert written.count("\x1b[?25h") == 1  # the cursor is back


def test_first_rows_fit_100_columns():
    """Texts are cut before columns are left out."""
    wide = pa.table({"text": ["w" * 60], **{f"column_{place}": [place] for place in range(9)}})
    lines = head_table(wide).plain().splitlines()
    assert max(map(len, lines)) <= TABLE_WIDTH
    assert lines[1].split() == ["text", "column_0", "column_1", "column_2", "column_3", "column_4", "+4", "columns"]
    assert "w" * 23 + "…" in lines[3]


def test_a_single_column_that_is_left_out_is_one_column():
    wide = pa.table({**{f"column_{place}": [place] for place in range(8)}, "text": ["w" * 30]})
    assert head_table(wide).plain().splitlines()[1].endswith("+1 column ")


@pytest.mark.parametrize("columns", [1, 9, 12, 300])
def test_first_rows_of_any_number_of_columns_fit(columns):
    wide = pa.table({f"c{place}": ["x" * 8, None] for place in range(columns)})
    lines = head_table(wide).plain().splitlines()
    assert len(lines) == 6
    assert max(map(len, lines)) <= TABLE_WIDTH
    assert ("+" in lines[1]) is (columns > 9)


def test_a_table_that_fits_is_not_cut():
    assert "w" * 90 in head_table(pa.table({"text": ["w" * 90]})).plain()


def test_a_run_that_broke_a_rule_shows_no_rows_of_sinks(made):
    made.stages[LONG].expect(unique="k").stage("checked").write_csv("more", "more.csv")
    made.to_yaml(made.root / "p.yaml")
    done = gpuetl("run", made.root / "p.yaml", "--engine", "pandas", "--report", made.root / "r.html")
    assert done.exit_code == 4
    assert "first rows" not in done.stdout
    page = (made.root / "r.html").read_text()
    assert "Rows that were not written" in page
    assert "First rows for more, which has not changed" in page


def test_texts_are_cut_once_more_so_that_the_reason_of_a_rejected_row_is_shown():
    names = ("file", "line", "text", "_rule", "_run")
    row = ("a.csv", 52, "w" * 60, "km: 'n/a' is not a valid float64", "r" * 24)
    wide = pa.table({name: [value] for name, value in zip(names, row, strict=True)})
    lines = head_table(wide).plain().splitlines()
    assert lines[1].split() == list(names)
    assert "w" * 23 + "…" in lines[3]
