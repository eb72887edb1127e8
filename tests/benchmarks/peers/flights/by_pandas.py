"""The demo by hand in pandas: NumPy types, as most people write it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd

ROTATIONS = [
    "tailnum", "departure", "flight", "carrier", "route", "month", "daypart", "weekend", "bad_sky", "late",
    "dep_delay", "distance", "km", "flights_before", "distance_total", "delay_mean", "delay_max", "delay_last_10",
    "delay_7_days", "hours_since", "delay_recent", "rotation",
]  # fmt: skip
HALF_LIFE_S, GAP = 7 * 86_400.0, pd.Timedelta("8h")


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    flown = joined(data)
    shutil.rmtree(out / "rotations", ignore_errors=True)
    found = rotations(flown)
    found.to_parquet(
        out / "rotations", partition_cols=["month", "daypart"], index=False, compression="zstd", compression_level=1
    )
    carrier_months(flown).to_parquet(
        out / "carrier_months.parquet", index=False, compression="zstd", compression_level=1
    )
    top_routes(flown).to_csv(out / "top_routes.csv", index=False)


def joined(data: Path) -> pd.DataFrame:
    """Return one row a flight that took off, with all that is known of it."""
    flights = pd.read_parquet(data / "flights.parquet")
    airlines = pd.read_parquet(data / "airlines.parquet").rename(columns={"name": "airline"})
    airports = pd.read_parquet(data / "airports.parquet")
    planes = pd.read_parquet(data / "planes.parquet")
    weather = pd.read_parquet(data / "weather.parquet")
    airports["airport"] = airports["name"].str.strip()
    airports["altitude_m"] = (airports["alt"] * 0.3048).round()
    places = airports[["faa", "airport", "lat", "lon", "altitude_m"]]
    planes = planes[planes["seats"] >= 1]
    aircraft = planes.assign(manufacturer=planes["manufacturer"].str.upper()).rename(columns={"year": "built"})
    flown = flights[flights["departure"].notna() & flights["tailnum"].notna()]
    flown = flown.merge(airlines, on="carrier", how="left", validate="many_to_one")
    flown = flown.merge(
        aircraft[["tailnum", "built", "manufacturer", "seats"]], on="tailnum", how="left", validate="many_to_one"
    )
    sky = weather[["origin", "time_hour", "temp", "wind_speed", "precip", "visib"]]
    flown = flown.merge(sky, on=["origin", "time_hour"], how="left", validate="many_to_one")
    flown = flown.merge(places.add_prefix("from_"), left_on="origin", right_on="from_faa", validate="many_to_one")
    flown = flown.merge(places.add_prefix("to_"), left_on="dest", right_on="to_faa", how="left", validate="many_to_one")
    return with_columns(flown.rename(columns={"from_airport": "from_airport", "to_airport": "to_airport"}))


def with_columns(flown: pd.DataFrame) -> pd.DataFrame:
    """Add what follows from a flight's own columns."""
    flown["km"] = haversine(flown["from_lat"], flown["from_lon"], flown["to_lat"], flown["to_lon"])
    flown["route"] = flown["origin"] + "-" + flown["dest"]
    flown["brand"] = flown["airline"].str.replace(" ", "_", regex=False).str.lower()
    flown["weekend"] = flown["sched_departure"].dt.dayofweek >= 5
    hour = flown["hour"]
    flown["daypart"] = np.select([hour < 6, hour < 12, hour < 18], ["night", "morning", "afternoon"], "evening")
    flown["late"] = flown["dep_delay"] > 15
    flown["made_up"] = flown["dep_delay"] - flown["arr_delay"]
    flown["age"] = flown["year"] - flown["built"]
    flown["kmh"] = flown["km"] / (flown["air_time"] / 60.0)
    flown["bad_sky"] = (flown["precip"] > 0.1) | (flown["visib"] < 3) | (flown["wind_speed"] > 25)
    return flown


def haversine(lat: pd.Series, lon: pd.Series, to_lat: pd.Series, to_lon: pd.Series) -> pd.Series:
    """Return the great circle distance in km."""
    phi, to_phi = np.radians(lat), np.radians(to_lat)
    half = np.sin((to_phi - phi) / 2) ** 2
    half += np.cos(phi) * np.cos(to_phi) * np.sin(np.radians(to_lon - lon) / 2) ** 2
    return 2 * 6371.0088 * np.arcsin(np.minimum(1.0, np.sqrt(half)))


def rotations(flown: pd.DataFrame) -> pd.DataFrame:
    """Return the features of each aircraft, flight by flight."""
    rows = flown.sort_values(["tailnum", "departure", "flight"], ignore_index=True)
    aircraft = rows.groupby("tailnum")
    delays = aircraft["dep_delay"]
    rows["flights_before"] = aircraft.cumcount()
    rows["distance_total"] = aircraft["distance"].cumsum()
    rows["delay_mean"] = delays.cumsum() / (delays.cumcount() + 1)
    rows["delay_max"] = delays.cummax()
    rows["delay_last_10"] = delays.rolling(10, min_periods=1).mean().to_numpy()
    by_time = rows.set_index("departure").groupby("tailnum")["dep_delay"]
    rows["delay_7_days"] = by_time.rolling("7D", min_periods=1, closed="both").sum().to_numpy()
    gap = aircraft["departure"].diff()
    rows["hours_since"] = gap.dt.total_seconds() / 3600.0
    rows["delay_recent"] = decayed_mean(rows["dep_delay"].to_numpy(), gap.dt.total_seconds().to_numpy())
    rows["rotation"] = (gap > GAP).groupby(rows["tailnum"]).cumsum()
    return rows[ROTATIONS]


def decayed_mean(delays: np.ndarray, gaps_s: np.ndarray) -> np.ndarray:
    """Return the decaying mean; a gap of NaN begins an aircraft."""
    result, mean = np.empty(len(delays)), 0.0
    weights = np.where(np.isnan(gaps_s), 1.0, -np.expm1(-np.log(2) * gaps_s / HALF_LIFE_S))
    for row, (weight, delay) in enumerate(zip(weights.tolist(), delays.tolist(), strict=True)):
        mean += weight * (delay - mean)
        result[row] = mean
    return result


def carrier_months(flown: pd.DataFrame) -> pd.DataFrame:
    """Return delays and distances, a carrier and month."""
    grouped = flown.groupby(["carrier", "airline", "month"], sort=True)
    found = grouped.agg(
        flights=("flight", "size"), aircraft=("tailnum", "nunique"), late_share=("late", "mean"),
        delay_mean=("dep_delay", "mean"), delay_std=("dep_delay", "std"), delay_median=("dep_delay", "median"),
        delay_worst=("dep_delay", "max"), km_flown=("km", "sum"), seats_flown=("seats", "sum"),
        airborne_h=("air_time", "sum"),
    ).reset_index()  # fmt: skip
    found["airborne_h"] /= 60.0
    return found


def top_routes(flown: pd.DataFrame) -> pd.DataFrame:
    """Return the twenty busiest routes."""
    grouped = flown.groupby(["route", "from_airport", "to_airport"], dropna=False)
    found = grouped.agg(
        flights=("flight", "size"), carriers=("carrier", "nunique"), km=("km", "max"), kmh=("kmh", "mean"),
        late=("dep_delay", "mean"),
    ).reset_index()  # fmt: skip
    return found.sort_values(["flights", "route"], ascending=[False, True]).head(20)
