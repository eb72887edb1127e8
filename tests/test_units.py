"""Numbers as people read them."""

import pytest

from gpuetl.units import count, duration, percent, rate, rounded_percent, short_count, size, timestamp


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"), (2.48e-9, "1 µs"), (2.4827e-05, "25 µs"), (0.000999, "999 µs"), (0.0009996, "1.0 ms"),
        (0.0032, "3.2 ms"), (0.0995, "100 ms"), (0.9996, "1.00 s"), (1.244, "1.24 s"), (12.34, "12.3 s"),
        (59.96, "1 min 00 s"), (65.2, "1 min 05 s"), (3599.7, "1 h 00 min"), (3720, "1 h 02 min"),
        (400_000, "111 h 07 min"),
    ],
)  # fmt: skip
def test_seconds_have_the_unit_that_suits_them(seconds, text):
    assert duration(seconds) == text


def test_bytes_and_rates_have_decimal_units():
    assert [size(n) for n in (0, 999, 1_500, 2_000_000_000)] == ["0 B", "999 B", "1.5 kB", "2.0 GB"]
    assert [rate(n) for n in (0, 45e9, 4.51e9, 999.6e6)] == ["0 B/s", "45 GB/s", "4.5 GB/s", "1.0 GB/s"]


def test_counts_are_grouped_or_short():
    assert [count(None), count(0), count(1_234_567)] == ["", "0", "1,234,567"]
    assert [short_count(n) for n in (999, 336_776, 1_243_000, 99_960)] == ["999", "337 k", "1.24 M", "100 k"]


def test_shares_are_percents():
    assert [percent(x) for x in (0, 0.0001, 0.125, 1, 1.5)] == ["0 %", "< 0.1 %", "12.5 %", "100 %", "150 %"]
    assert [rounded_percent(x) for x in (0, 0.004, 0.864)] == ["0 %", "< 1 %", "86 %"]


def test_times_are_in_utc():
    assert timestamp(1_795_544_535.9) == "2026-11-24 18:22:15 UTC"
