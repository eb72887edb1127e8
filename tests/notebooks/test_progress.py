"""Progress below a notebook's cell: HTML that is brought up to date, and a line that stays."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest

from cli.slow_runs import write_slow_run
from gpuetl.report import notebook_progress
from gpuetl.report.notebook_pages import STYLE
from gpuetl.report.notebook_progress import NotebookProgress
from gpuetl.report.notebook_progress import notebook_progress as shown_below
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.run_totals import RunTotals


def view_at(second: int) -> NotebookProgress:
    """Return the view of a steady run of 100 s."""
    clock = [0.0]
    view = NotebookProgress("run of sales", lambda: clock[0])
    view.follow(lambda: RunTotals(int(123_456 * clock[0]), int(40e6 * clock[0]), 4_000_000_000, clock[0] / 100))
    for now in range(second + 1):
        clock[0] = float(now)
        view(Origin("source", "orders"), min(2 * now, 100), 100)
        view(Origin("sink", "<out>"), now, 100)
        view.summary()
    return view


def test_the_html_of_a_run():
    html = view_at(60).html()
    assert html.startswith(STYLE)
    bar = '<span style="TRACK"><span style="BAR;width:{}%"></span></span>'
    bar = bar.replace("TRACK", notebook_progress.TRACK).replace("BAR", notebook_progress.BAR)
    assert html.removeprefix(STYLE) == (
        '<div class="gpuetl"><p><b>run of sales</b>, 1 min 00 s</p>'
        '<p style="font-variant-numeric:tabular-nums">'
        "60 %, read 7.41 M rows, 2.4 of 4.0 GB at 40 MB/s, about 40 s left</p>"
        f"<table><tbody><tr><td>✓</td><td>source orders</td><td>{bar.format(100)}</td>"
        '<td class="number">100/100</td><td class="number">1 min 00 s</td></tr>'
        f"<tr><td></td><td>sink &lt;out&gt;</td><td>{bar.format(60)}</td>"
        '<td class="number">60/100</td><td class="number">1 min 00 s</td></tr></tbody></table></div>'
    )
    assert view_at(60).plain() == (
        "run of sales: 1 min 00 s, 60 %, read 7.41 M rows, 2.4 of 4.0 GB at 40 MB/s, about 40 s left"
    )


def test_the_unfinished_lines_stay_where_there_are_many():
    view = NotebookProgress("run of sales")
    for place in range(30):
        view(Origin("stage", f"s{place}"), 1, 1 if place < 29 else 2)
    html = view.html()
    assert html.count("<tr>") == 12
    assert "stage s29" in html
    assert "… and 18 more" in html


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(notebook_progress, "FIRST_S", 0.02)
    monkeypatch.setattr(notebook_progress, "EVERY_S", 0.01)


def test_a_line_stays_at_the_end(soon):
    shown: list[tuple[str, str]] = []
    with shown_below("run of sales", lambda html, plain: shown.append((html, plain))):
        time.sleep(0.1)
    assert len(shown) > 2
    assert re.fullmatch(r"run of sales: done in 1\d\d ms", shown[-1][1])


def test_a_failed_run_says_so(soon):
    shown: list[tuple[str, str]] = []
    with suppress(ValueError), shown_below("run", lambda html, plain: shown.append((html, plain))):
        time.sleep(0.1)
        raise ValueError("wrong")
    assert re.fullmatch(r"run: failed after 1\d\d ms", shown[-1][1])


def test_a_short_run_shows_nothing():
    shown: list[str] = []
    with shown_below("run of sales", lambda html, plain: shown.append(plain)):
        pass
    assert shown == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's packages among each other
def test_in_a_kernel(tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from notebooks.kernels import kernel_in

    write_slow_run(tmp_path, partitions=10, seconds=0.2)
    run = "p.run(engine='pandas', options=RunOptions(partition_rows=10){})"
    with kernel_in(tmp_path) as kernel:
        kernel.run_all(["from gpuetl import RunOptions, load\np = load('slow.yaml')"])
        progress, result = kernel.run(run.format(""))
        assert re.fullmatch(r"run of slow: done in \d\.\d\d s", progress["data"]["text/plain"])
        assert "run of slow: done in" in progress["data"]["text/html"]
        assert result["output_type"] == "execute_result"
        for quiet in (", progress=False", ", progress=print and (lambda *progress: None)"):
            assert [output["output_type"] for output in kernel.run(run.format(quiet))] == ["execute_result"]
        rows = "p.table('slowly').collect(options=RunOptions(partition_rows=10), engine='pandas')"
        assert "rows of slowly: done in" in kernel.text(rows)
