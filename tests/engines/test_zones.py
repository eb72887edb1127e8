"""Clocks of zones: the tz database's, for all years, as Python's zoneinfo has them for those from 1 to 9999."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pytest

from gpuetl.engines.zones import CYCLE, zone_clock

ZONES = [
    "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
    "Europe/Dublin", "Asia/Kolkata", "America/Nuuk", "Etc/GMT+5",
]  # fmt: skip
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(year):
    return int((datetime(year, 1, 3, tzinfo=UTC) - EPOCH).total_seconds())


def timestamps(seed, low=2, high=9998):
    """Instants of all years, half of them of the last two centuries, where clocks change."""
    random = np.random.default_rng(seed)
    spread = [random.integers(seconds(a), seconds(b), 700) for a, b in ((low, high), (1850, 2100))]
    return np.concatenate(spread)


def changes(clock):
    """The seconds around each listed change."""
    return (clock.transitions[:, None] + np.array([-3601, -1800, -1, 0, 1, 1800, 3600])).ravel()


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_are_those_of_zoneinfo(zone):
    clock = zone_clock(zone)
    instants = np.concatenate([timestamps(1), changes(clock)])
    local = [(EPOCH + timedelta(seconds=int(s))).astimezone(ZoneInfo(zone)) for s in instants]
    assert clock.offsets_at(instants).tolist() == [t.utcoffset().total_seconds() for t in local]


@pytest.mark.parametrize("zone", ZONES)
def test_instants_before_and_after_a_change_are_zoneinfos_two_folds(zone):
    clock = zone_clock(zone)
    local = np.concatenate([timestamps(2), changes(clock) + 3600, changes(clock) - 5 * 3600])
    naive = [datetime(1970, 1, 1) + timedelta(seconds=int(s)) for s in local]
    for fold, instants in enumerate(clock.instants_of(local)[:2]):
        expected = [t.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset().total_seconds() for t in naive]
        assert (local - instants).tolist() == expected


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_the_rule_of_a_zone_goes_on_for_ever(zone):
    clock = zone_clock(zone)
    instants = np.random.default_rng(3).integers(seconds(2040), seconds(2440), 1000)
    for cycles in (1, 20, 700):
        assert clock.offsets_at(instants + cycles * CYCLE).tolist() == clock.offsets_at(instants).tolist()


@pytest.mark.parametrize(("zone", "offset"), [("UTC", 0), ("+02:00", 7200), ("-03:30", -12_600), ("+00:00", 0)])
def test_an_offset_is_a_clock_that_never_changes(zone, offset):
    assert zone_clock(zone).offsets_at(np.array([-(2**43), 0, 2**43])).tolist() == [offset] * 3


def test_a_zone_that_is_not_in_the_database_is_an_error():
    with pytest.raises(ZoneInfoNotFoundError):
        zone_clock("Europe/Nowhere")
