"""What a run found of the rules of its stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl import units
from gpuetl.errors import Place
from gpuetl.messages import coded, one_line
from gpuetl.plan.plan import REMOVED, ROWS, Check
from gpuetl.records import dataclass
from gpuetl.report.failure import ProblemReport
from gpuetl.value_texts import values_of

VERDICTS = {"fail": "failed", "warn": "warned", "drop": "dropped", "quarantine": "quarantined"}


@dataclass(frozen=True)
class CheckReport:
    """One rule of a stage: how many rows it checked, and how many of them break it.

    A rule for the number of rows counts the missing or surplus rows in `broken`.  `verdict` is passed, failed, warned,
    dropped or quarantined.  A rule passes if `max_fraction` allows its share of broken rows.  If it failed, `sample`
    has the first rows that break it, as strings by column.
    """

    stage: str
    rule: str
    on_fail: str
    rows: int
    broken: int
    verdict: str
    what: str
    sample: tuple[Mapping[str, str], ...] = ()
    place: str = ""

    @property
    def share(self) -> float:
        """The part of the rows that break the rule."""
        return self.broken / self.rows if self.rows else 0.0

    @property
    def where(self) -> str:
        """The stage, and the place of the rule in the file, if it is in one."""
        return f"{self.place}: stage '{self.stage}'" if self.place else f"stage '{self.stage}'"

    def __str__(self) -> str:
        return f"{self.where}: rule '{self.rule}': {self.what}"


def check_reports(rules: Iterable[Check], counts: Mapping[str, pa.Table]) -> tuple[CheckReport, ...]:
    """Report each rule from the counts of a run."""
    return tuple(check_report(rule, counts) for rule in rules)


def check_report(rule: Check, counts: Mapping[str, pa.Table]) -> CheckReport:
    """Report one rule from the counts of a run."""
    of_stage = counts[rule.stage]
    rows = value(of_stage, ROWS)
    if rule.bounds is not None:
        rows -= value(of_stage, REMOVED)
        broken, what = beyond(rows, rule.bounds)
    else:
        broken = value(counts[rule.counts], rule.rule)
        verb = "breaks" if broken == 1 else "break"
        what = f"{broken:,} of {rows:,} rows ({percent(broken, rows)}) {verb} it"
    passes = broken == 0 or (
        rule.bounds is None and broken / rows <= rule.max_fraction
    )  # equal shares are equal floats
    verdict = "passed" if passes else VERDICTS[rule.on_fail]
    return CheckReport(rule.stage, rule.rule, rule.on_fail, rows, broken, verdict, what, place=shown_place(rule.place))


def value(table: pa.Table, name: str) -> int:
    """Return a count; a sum of nothing is null, and a stage that removes no rows does not count them."""
    return (table.column(name)[0].as_py() or 0) if name in table.column_names else 0


def beyond(rows: int, bounds: tuple[int | None, int | None]) -> tuple[int, str]:
    """Count the rows that are missing or too many, and describe them."""
    least, most = bounds
    limits = " and ".join(
        f"{word} {count:,}" for word, count in (("at least", least), ("at most", most)) if count is not None
    )
    broken = max((least or 0) - rows, rows - most if most is not None else 0, 0)
    return broken, f"the stage has {rows:,} row{'s' * (rows != 1)}, and must have {limits}"


def percent(part: int, whole: int) -> str:
    """Format a share as a percentage."""
    return units.percent(part / whole) if whole else "0 %"


def shown_place(place: Place | None) -> str:
    """Return file, line and column."""
    return f"{place.file}:{place.line}:{place.column}" if place and place.file else ""


def with_sample(report: CheckReport, rows: pa.Table) -> CheckReport:
    """Add rows that break the rule to its report."""
    columns = {name: cell_strings(rows.column(name)) for name in rows.column_names}
    sample = tuple({name: cells[row] for name, cells in columns.items()} for row in range(rows.num_rows))
    return replace(report, sample=sample)


def cell_strings(column: Any) -> Sequence[str]:
    """Format the values of a column."""
    return ["null" if item is None else str(item) for item in values_of(column)]


def problem_of(check: CheckReport) -> ProblemReport:
    """Return a rule that failed as data."""
    what, stage = f"rule '{check.rule}': {check.what}", f"stage '{check.stage}'"
    row = "  ".join(f"{name}={shortened(cell)}" for name, cell in check.sample[0].items()) if check.sample else ""
    if not check.place:
        return ProblemReport("GE1601", what, stage, row=row)
    file, line, column = check.place.rsplit(":", 2)
    return ProblemReport("GE1601", what, stage, file, int(line), int(column), row=row)


def failure(reports: Iterable[CheckReport]) -> str:
    """Word the rules that failed, each with the first rows that break it."""
    failed = [report for report in reports if report.verdict == "failed"]
    count = "1 expectation" if len(failed) == 1 else f"{len(failed)} expectations"
    return coded("GE1601", "\n\n".join([f"{count} failed; no sink has changed", *map(worded, failed)]))


def worded(report: CheckReport) -> str:
    """Return a rule that failed, and rows that break it below each other."""
    if not report.sample:
        return str(report)
    rows = [list(report.sample[0]), *(list(row.values()) for row in report.sample)]
    cells = [[shortened(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join([str(report), *(f"    {line}".rstrip() for line in lines)])


def shortened(text: str, length: int = 40) -> str:
    """Return a text on one line that is not too long for a table."""
    line = one_line(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"
