"""Parts of dates and timestamps."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.clocks import clock_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "calendar.cuh"
PARTS = (
    "decade", "century", "millennium", "era", "yearweek", "julian",
    "year", "quarter", "month", "week", "iso_year", "day", "dayofweek", "isodow", "dayofyear", "hour", "minute",
    "second", "millisecond", "microsecond", "day_name", "month_name", "days_in_month", "is_leap_year", "to_date",
)  # fmt: skip


def of_clock(name: str, before: str = "") -> Device:
    """Return a function of what the clock of its argument shows."""
    return Device(lambda expr, args: f"{name}({before}{clock_text(expr.args[0].dtype, args[0])})")


FUNCTIONS: dict[str, Device | Library] = {
    **{name: of_clock(name) for name in PARTS},
    "last_day": of_clock("last_day", before="at, "),
    "epoch": Device("epoch"),
    "epoch_ms": Device("epoch_ms"),
    "epoch_us": Device("epoch_us"),
    "epoch_ns": Device("epoch_ns"),
    "date_part": Device("unknown_part"),
}
