"""Calendar intervals: constants of months, days and microseconds, which have no fixed length."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.records import dataclass

CALENDAR = pa.month_day_nano_interval()
"""The type of such constants; columns of it only pass."""
_LENGTHS = (("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000), ("microsecond", 1))


@dataclass(frozen=True)
class CalendarInterval:
    """Months, then days, then microseconds, each of any sign.  Arrow makes a value of its type of one."""

    months: int
    days: int = 0
    microseconds: int = 0

    def __neg__(self) -> CalendarInterval:
        return CalendarInterval(-self.months, -self.days, -self.microseconds)

    def times(self, count: int) -> CalendarInterval:
        """Return the interval `count` times."""
        return CalendarInterval(self.months * count, self.days * count, self.microseconds * count)

    def plus(self, other: CalendarInterval) -> CalendarInterval:
        """Return the sum, part by part."""
        return CalendarInterval(
            self.months + other.months, self.days + other.days, self.microseconds + other.microseconds
        )

    @property
    def is_of_months(self) -> bool:
        """Whether it has months alone."""
        return not self.days and not self.microseconds

    @property
    def is_negative(self) -> bool:
        """Whether no part is above 0."""
        return max(self.months, self.days, self.microseconds) <= 0

    def __str__(self) -> str:
        """Return it as SQL writes it: `1 year 2 months`."""
        years, months = (self.months // 12, 0) if self.months % 12 == 0 else (0, self.months)
        unit, length = next((unit, length) for unit, length in _LENGTHS if self.microseconds % length == 0)
        parts = (("year", years), ("month", months), ("day", self.days), (unit, self.microseconds // length))
        return " ".join(f"{count} {name}{'s' * (abs(count) != 1)}" for name, count in parts if count) or "0 months"
