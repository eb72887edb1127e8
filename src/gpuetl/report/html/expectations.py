"""What was found of the rules of stages, those that failed first, with rows that break them."""

from __future__ import annotations

from markupsafe import Markup

from gpuetl.report.checks import CheckReport
from gpuetl.report.html.elements import EMPTY, Column, details, joined, section, table, tag
from gpuetl.report.run_report import RunReport
from gpuetl.units import count, percent

COLUMNS = (
    Column("rule"), Column("stage"), Column("verdict"), Column("rows", "right"), Column("broken", "right"),
    Column("share", "right"), Column("on_fail"), Column("in the file"),
)  # fmt: skip
ORDER = ("failed", "warned", "quarantined", "dropped", "passed")
SIGNS = {"failed": "✗", "warned": "!", "passed": "✓"}
KINDS = {"failed": "bad", "warned": "warn", "passed": "good"}


def expectations_section(report: RunReport) -> Markup:
    """Return the rules; nothing without any."""
    if not report.checks:
        return EMPTY
    checks = sorted(report.checks, key=lambda check: ORDER.index(check.verdict))
    passed = sum(check.verdict == "passed" for check in checks)
    rows = [check_row(check) for check in checks]
    classes = ["failed" if check.verdict == "failed" else None for check in checks]
    note = f"{passed} of {len(checks)} rules passed."
    samples = joined(sample(check) for check in checks if check.sample)
    return section("Expectations", table("Rules of stages", COLUMNS, rows, classes), samples, note=note)


def check_row(check: CheckReport) -> list[str | Markup]:
    """Return the cells of a rule."""
    verdict = f"{SIGNS.get(check.verdict, '·')} {check.verdict}"
    return [
        check.rule,
        check.stage,
        tag("span", verdict, class_=f"verdict {KINDS.get(check.verdict, 'plain')}"),
        count(check.rows),
        count(check.broken),
        percent(check.share),
        check.on_fail,
        check.place,
    ]


def sample(check: CheckReport) -> Markup:
    """Return the first rows that break a rule."""
    columns = [Column(name) for name in check.sample[0]]
    title = f"Rows that break {check.rule} of {check.stage}"
    return details(title, table(title, columns, [list(row.values()) for row in check.sample]), is_open=True)
