"""The time that a run has left: nothing until it is known, no jumps, a countdown."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from gpuetl.telemetry.time_left import TimeLeft, time_left_text


def shown(seconds: float, share_at: Callable[[float], float], every_s: float = 1.0) -> list[tuple[float, str]]:
    """Return each change of what is shown, with its time."""
    estimate, changes, now = TimeLeft(0.0), [(0.0, "")], 0.0
    while now < seconds:
        now += every_s
        estimate.update(share_at(now), now)
        if (text := estimate.text(now)) != changes[-1][1]:
            changes.append((now, text))
    return changes[1:]


def test_a_steady_run_counts_down():
    assert shown(102.5, lambda now: now / 102.5) == [
        (10.0, "about 2 min left"),
        (13.0, "about 1 min left"),
        (48.0, "about 50 s left"),
        (58.0, "about 40 s left"),
        (68.0, "about 30 s left"),
        (78.0, "about 20 s left"),
        (88.0, "about 10 s left"),
        (93.0, "less than 10 s left"),
    ]


@pytest.mark.parametrize("every_s", [0.125, 1.0])
def test_steps_of_few_partitions_do_not_make_it_jump(every_s):
    changes = shown(300, lambda now: int(now / 15) / 20, every_s)
    assert [text for _, text in changes] == [
        "about 3 min left",
        "about 2 min left",
        "about 1 min left",
        "about 50 s left",
        "about 40 s left",
        "about 30 s left",
        "about 20 s left",
        "about 10 s left",
        "less than 10 s left",
    ]
    assert changes[0][0] == pytest.approx(94, abs=1)


def seconds_of(text: str) -> float:
    """Return the seconds that a text names."""
    number, unit = text.split()[1:3] if text.startswith("about") else ("10", "s")
    return float(number) * {"s": 1, "min": 60, "h": 3600}[unit]


@pytest.mark.parametrize("seed", range(20))
def test_an_uneven_run_of_ten_minutes_seldom_adds_time(seed):
    """Partitions take random times, exponentially distributed, which is worse than they do."""
    chance, ends, now = random.Random(seed), list[float](), 0.0
    for _ in range(300):
        now += chance.expovariate(1 / 2)
        ends.append(now)
    changes = [(at, text) for at, text in shown(now, lambda at: sum(end <= at for end in ends) / 300) if text]
    times = [seconds_of(text) for _, text in changes]
    grown = [later for earlier, later in pairwise(times) if later > earlier]
    assert len(grown) <= 3
    at, middle = [(at, text) for at, text in changes if at < now / 2][-1]
    assert (now - at) / 2 < seconds_of(middle) < (now - at) * 2


def test_work_that_is_slower_later_is_noticed():
    changes = shown(300, lambda now: now / 200 if now < 100 else 0.5 + (now - 100) / 400)
    assert (141.0, "about 2 min left") in changes
    assert changes[-1][1] == "less than 10 s left"


def test_a_run_that_does_not_get_on_shows_nothing():
    changes = shown(300, lambda now: min(now / 100, 0.6))
    assert changes[-1] == (71.0, "")


def test_a_short_run_and_one_of_few_steps_show_nothing():
    assert shown(8, lambda now: now / 8) == []
    assert shown(100, lambda now: int(now / 25) / 4) == []


def test_an_unknown_share_shows_nothing():
    estimate = TimeLeft(0.0)
    for second in range(1, 100):
        estimate.update(None, float(second))
    assert estimate.text(100.0) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "less than 10 s left"), (9.9, "less than 10 s left"), (10, "about 10 s left"), (54, "about 50 s left"),
        (55, "about 1 min left"), (125, "about 2 min left"), (569, "about 9 min left"), (571, "about 10 min left"),
        (44 * 60, "about 45 min left"), (58 * 60, "about 1 h 00 min left"), (4800, "about 1 h 20 min left"),
        (36_000, "about 10 h left"), (100_000, "about 28 h left"),
    ],
)  # fmt: skip
def test_times_are_coarse(seconds, text):
    assert time_left_text(seconds) == text
