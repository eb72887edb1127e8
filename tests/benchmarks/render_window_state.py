"""Renders what a day costs with window state between runs, and what it costs to compute all days again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from render_text import conditions, table


def window_state_section(results: Sequence[dict[str, Any]]) -> list[str]:
    """Render the results of the engines that were measured."""
    if not results:
        return []
    lines = [
        "## Window state", "",
        "`tests/benchmarks/window_state.py`: events of users, a file a day, in time order. With state, a run reads its day and goes on",
        "from the last run: the median of the runs since the sample before. Anew, one run reads the files of all days so far, computes",
        "the same windows, and keeps the day: on the days of the table only. The rows of these days are equal. Whole runs in a warm",
        "process, from files to a file. *Last rows* are six functions, such as a running sum, the time since the last event, sessions and",
        "a mean of five rows. *7 days* is a sum over an interval, so its state has the rows of a week. See",
        "[window state](window-state.md).", "",
    ]  # fmt: skip
    for result in results:
        engine = result["benchmark"].removeprefix("window-state-")
        rough = (
            f" Other work ran on the machine (load {result['load']:.0f}), so times are rough."
            if result["load"] > 1
            else ""
        )
        lines += [
            f"`{engine}`: {result['rows']:,} events a day, {result['users']:,} users. {conditions(result)}.{rough}", "",
            *table(("case", "day", "with state, s", "anew, s", "×", "state, MB"), rows_of(result)),
        ]  # fmt: skip
    return lines


def rows_of(result: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each sampled day of each case."""
    names = {"last rows": "last rows", "an interval of 7 days": "7 days"}
    for name, case in result["cases"].items():
        for day, anew in case["recomputed_s"].items():
            kept, size = case["kept_s"][day], case["state_bytes"][day] / 1e6
            yield f"| {names[name]} | {int(day):,} | {kept:.3f} | {anew:.2f} | {anew / kept:.1f} | {size:.1f} |"
