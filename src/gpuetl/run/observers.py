"""Observers of a run: what logs, traces, metrics and lineage are made from, at one place.

An observer looks at a run and changes nothing of it.  What goes wrong in one is a warning of the run (GE3030): it hides
no error, and the other observers are called.

    class Bell(RunObserver):
        def ended(self, account, report, error):
            ring("failed" if error else "done")
            return ()

`gpuetl.run.observability` chooses those of a run.  All are called in the thread of the run, except for `progress`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from gpuetl import messages
from gpuetl.messages import coded, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Progress
from gpuetl.uncaught import unexpected

if TYPE_CHECKING:
    from gpuetl.report.run_report import RunReport
    from gpuetl.run.account import Account


class RunObserver:
    """Looks at one run.  `account` is what is known of it so far, and the same object in all calls.

    `started` comes first, `ended` last, exactly once.  The others are left out where the run fails before them.
    """

    @property
    def watches_progress(self) -> bool:
        """Whether `progress` is to be called: it is asked once, before the run."""
        return type(self).progress is not RunObserver.progress

    def started(self, account: Account) -> None:
        """Look at a run that begins: its pipeline, parameters, engine, options and id are known."""

    def bound(self, account: Account) -> None:
        """Look at `account.plan`, the logical plan before the optimizer."""

    def planned(self, account: Account) -> None:
        """Look at `account.physical` and `account.fit`, the plan that is to be executed."""

    def progress(self, account: Account, origin: Origin, done: int, of: int) -> None:
        """Look at the progress, as `telemetry.recorder.Progress`; called from any thread, once a partition."""

    def ended(self, account: Account, report: RunReport, error: BaseException | None) -> Iterable[str]:
        """Look at the end of a run, also one that failed or was interrupted; return warnings.

        It must not take long: what waits for others has a limit.
        """
        return ()


@dataclass
class Observers:
    """The observers of one run, called in their order; without any, calls do nothing.

    `problems` are what observers raised, by the identity of each.  `shown` are all warnings of observers, at the end.
    """

    each: Sequence[RunObserver] = ()
    problems: dict[int, str] = field(default_factory=dict)
    shown: tuple[str, ...] = ()

    def started(self, account: Account) -> None:
        """Tell that the run begins."""
        self._call(lambda one: one.started(account))

    def bound(self, account: Account) -> None:
        """Tell that the logical plan is there."""
        self._call(lambda one: one.bound(account))

    def planned(self, account: Account) -> None:
        """Tell that the physical plan is there."""
        self._call(lambda one: one.planned(account))

    def watched(self, account: Account, progress: Progress) -> Progress:
        """Return what reports progress to observers that want it, and then to `progress`."""
        watching = [one for one in self.each if one.watches_progress]
        if not watching:
            return progress

        def report(origin: Origin, done: int, of: int) -> None:
            for one in watching:
                self._guarded(one, lambda one=one: one.progress(account, origin, done, of))  # type: ignore[misc]
            progress(origin, done, of)

        return report

    def ended(self, account: Account, report: RunReport, error: BaseException | None = None) -> RunReport:
        """Tell that the run has ended; return its report with the warnings of observers."""
        warnings: list[str] = []
        self._call(lambda one: warnings.extend(one.ended(account, report, error)))
        shown = (redacted(messages.with_code(one, one)) for one in (*warnings, *self.problems.values()))
        self.shown = tuple(dict.fromkeys(shown))
        return replace(report, warnings=(*report.warnings, *self.shown)) if self.shown else report

    def _call(self, what: Callable[[RunObserver], Any]) -> None:
        for one in self.each:
            self._guarded(one, lambda one=one: what(one))  # type: ignore[misc]

    def _guarded(self, one: RunObserver, call: Callable[[], Any]) -> None:
        """Call an observer; the first error that it raises is a problem of the run."""
        try:
            call()
        except Exception as bug:
            problem = coded("GE3030", f"{type(one).__name__} failed: " + "\n".join(unexpected(bug)))
            self.problems.setdefault(id(one), problem)
