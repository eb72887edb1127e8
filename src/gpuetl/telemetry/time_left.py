"""The time that a run has left, from the share of its work that is done: smoothed, and shown once it is stable.

Work is done in steps, as partitions finish.  The rate is measured from step to step: between two steps it stays, and
what is shown counts down.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from gpuetl.records import dataclass

FIRST_S, FIRST_SHARE, FIRST_STEPS = 5.0, 0.03, 6
"""Nothing is estimated before a run has taken this long, done this much, and that in so many steps."""
STABLE_S, STABLE = 4.0, 1.3
"""An estimate is shown once it has stayed within this factor for so long."""
WRONG_S, WRONG = 8.0, 1.5
"""What is shown changes once estimates have been off by this factor for so long.  Until then it counts down."""
SMOOTHED_SHARE, SMOOTHED_S, SMOOTHED_STEPS = 0.7, 5.0, 4
"""The rate is that of the last seven tenths of the run, of five seconds and four steps at least."""
STALLED_GAPS, STALLED_S = 3.0, 10.0
"""Nothing is shown once a step takes this many times as long as the longest one before, and so long at least."""
STEPS_KEPT_A_RUN = 100
"""Steps that are nearer to each other than this part of the run count as one."""


@dataclass
class TimeLeft:
    """Estimates the time left of one run; `begun_s` and all times are those of one clock."""

    begun_s: float
    times: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    longest_gap_s: float = 0.0
    end_s: float | None = None
    candidate_s: float | None = None
    since_s: float = 0.0

    def __post_init__(self) -> None:
        self.times, self.shares = [self.begun_s], [0.0]

    def update(self, share: float | None, now_s: float) -> None:
        """Take note of the share of the work that is done now."""
        if share is None or now_s <= self.times[-1]:
            return
        if share > self.shares[-1]:
            self.longest_gap_s = max(self.longest_gap_s, now_s - self.times[-1])
            if len(self.times) > 1 and now_s - self.times[-2] < (now_s - self.begun_s) / STEPS_KEPT_A_RUN:
                self.times[-1], self.shares[-1] = now_s, share
            else:
                self.times.append(now_s)
                self.shares.append(share)
        if self.is_known(now_s):
            self.show(self.expected_end_s(now_s), now_s)

    def is_known(self, now_s: float) -> bool:
        """Return whether enough is done for an estimate."""
        enough = self.shares[-1] >= FIRST_SHARE and len(self.times) > FIRST_STEPS
        return enough and now_s - self.begun_s >= FIRST_S

    def expected_end_s(self, now_s: float) -> float:
        """Return when the run ends if it goes on at the rate of its latest steps."""
        since = now_s - max(SMOOTHED_S, SMOOTHED_SHARE * (now_s - self.begun_s))
        first = max(0, min(bisect_right(self.times, since) - 1, len(self.times) - 1 - SMOOTHED_STEPS))
        at_s = max(self.times[-1], now_s - self.longest_gap_s)  # a step that takes longer slows the rate down
        rate = (self.shares[-1] - self.shares[first]) / (at_s - self.times[first])
        return at_s + (1 - self.shares[-1]) / rate

    def show(self, end_s: float, now_s: float) -> None:
        """Show the first estimate that is stable; change what is shown only where it stays wrong."""
        if self.end_s is not None and (
            is_near(end_s - now_s, self.end_s - now_s, WRONG) or abs(end_s - self.end_s) < WRONG_S
        ):
            self.candidate_s = None
        elif self.candidate_s is None or not is_near(end_s - now_s, self.candidate_s - now_s, STABLE):
            self.candidate_s, self.since_s = end_s, now_s
        elif now_s - self.since_s >= (STABLE_S if self.end_s is None else WRONG_S):
            self.end_s, self.candidate_s = end_s, None

    def text(self, now_s: float) -> str:
        """Return what is left in words; nothing while that is not known, or if the run has not got on for long."""
        stalled_s = max(STALLED_S, STALLED_GAPS * self.longest_gap_s)
        if self.end_s is None or now_s - self.times[-1] > stalled_s:
            return ""
        return time_left_text(self.end_s - now_s)


def is_near(one: float, other: float, factor: float) -> bool:
    """Return whether two times differ by less than a factor."""
    return one < factor * other and other < factor * one


def time_left_text(seconds: float) -> str:
    """Return a time in few steps: `about 2 min left`."""
    if seconds < 10:
        return "less than 10 s left"
    if seconds < 55:
        return f"about {10 * round(seconds / 10)} s left"
    if seconds < 9.5 * 60:
        return f"about {max(1, round(seconds / 60))} min left"
    if seconds < 57.5 * 60:
        return f"about {5 * round(seconds / 300)} min left"
    hours, minutes = divmod(10 * round(seconds / 600), 60)
    return f"about {hours} h {minutes:02} min left" if hours < 10 else f"about {round(seconds / 3600)} h left"
