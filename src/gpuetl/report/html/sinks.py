"""What sinks got: rows and files, statistics of their columns, and first rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from markupsafe import Markup

from gpuetl.executors.committing import SinkReport
from gpuetl.report.column_statistics import ColumnStatistics
from gpuetl.report.html.charts import histogram
from gpuetl.report.html.elements import EMPTY, Column, bar, details, joined, section, table, tag
from gpuetl.report.run_report import RunReport
from gpuetl.units import count, percent, size
from gpuetl.value_texts import values_of

COLUMNS = (
    Column("sink"), Column("rows", "right"), Column("files", "right"), Column("size", "right"), Column("path"),
)  # fmt: skip
STATISTICS = (
    Column("column"), Column("type"), Column("nulls", "right"), Column("distinct", "right"), Column("least", "right"),
    Column("greatest", "right"), Column("values"),
)  # fmt: skip
MOST_CHARACTERS = 40
MOST_OPEN = 12
"""Columns of a sink that are shown unfolded."""


def sinks_section(report: RunReport) -> Markup:
    """Return the sinks, their columns and first rows; nothing where nothing was written or kept."""
    if not report.sinks and not report.head:
        return EMPTY
    rows = [
        [
            sink.name, count(sink.rows), count(sink.files), size(sink.file_bytes),
            path_and_changes(sink),
        ]
        for sink in report.sinks
    ]  # fmt: skip
    unwritten = (
        set() if report.sinks or not report.error else {one.name for one in report.declared if one.kind == "sink"}
    )
    title = "Output" if report.sinks else "Rows that were not written" if unwritten else "Results"
    return section(
        title,
        table("What was written", COLUMNS, rows) if rows else None,
        joined(statistics(name, columns) for name, columns in report.columns.items()),
        joined(first_rows(name, head, name in unwritten) for name, head in report.head.items()),
    )


def path_and_changes(sink: SinkReport) -> str:
    """Return the path of a sink, and what became of its rows where it says so."""
    changes = str(sink.changes or "") if sink.written else "unchanged"
    return f"{sink.path} ({changes})" if changes else sink.path


def first_rows(name: str, head: Any, is_unwritten: bool = False) -> Markup:
    """Return the first rows of a sink or stage, and whether they were not written."""
    if not head.num_columns:
        return EMPTY
    columns = [
        Column(column, "right" if is_number(head.schema.field(column).type) else "left") for column in head.column_names
    ]
    cells = zip(*(map(shown, values_of(column)) for column in head.columns), strict=True)
    title = f"First rows for {name}, which has not changed" if is_unwritten else f"First rows of {name}"
    return details(title, table(f"First rows of {name}", columns, list(cells)))


def is_number(dtype: Any) -> bool:
    """Return whether values of a type stand at the right."""
    return str(dtype).startswith(("int", "uint", "float", "double", "half", "decimal"))


def shown(value: Any) -> str:
    """Return a value as a cell."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if type(value) in (int, Decimal) else str(value)


def statistics(name: str, columns: tuple[ColumnStatistics, ...]) -> Markup:
    """Return the statistics of a sink's columns."""
    rows = [
        [
            column.name,
            column.dtype,
            nulls(column),
            count(column.distinct),
            cut(number(column.least, column.dtype)),
            cut(number(column.greatest, column.dtype)),
            values(column),
        ]
        for column in columns
    ]
    lines = table(f"Columns of {name}", STATISTICS, rows)
    return details(f"Columns of {name}, exact", lines, is_open=len(columns) <= MOST_OPEN)


def nulls(column: ColumnStatistics) -> str:
    """Return how many values are null, with their share."""
    return f"{count(column.nulls)} ({percent(column.nulls / column.rows)})" if column.nulls else "0"


def number(value: str, dtype: str) -> str:
    """Return a number as people read it: `1,234`, and a float in six digits; other values as they are."""
    if value and "int" in dtype:
        return count(int(value))
    if value and dtype.startswith("decimal"):
        return f"{Decimal(value):,}"
    return f"{float(value):,.6g}" if value and dtype.startswith("float") else value


def cut(value: str) -> Markup:
    """Return a value that is not too long, with all of it where the pointer is over it."""
    if len(value) <= MOST_CHARACTERS:
        return tag("span", value)
    return tag("span", f"{value[: MOST_CHARACTERS - 1]}…", title=value)


def values(column: ColumnStatistics) -> Markup:
    """Return the histogram of a column, or its most frequent values."""
    if (found := column.histogram) is not None:
        titles = [
            f"bin {place} of {len(found.counts)}: {count(rows)} rows" for place, rows in enumerate(found.counts, 1)
        ]
        return histogram(found.counts, titles, f"{column.name} from {found.low} to {found.high}")
    present = column.rows - column.nulls
    bars = (
        tag("li", bar(rows / present, joined((cut(value), f" {count(rows)}")))) for value, rows in column.top if present
    )
    return tag("ul", *bars, class_="top") if column.top else EMPTY
