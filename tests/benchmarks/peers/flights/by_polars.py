"""The demo by hand in Polars: lazy, the three results collected in one go."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl

ROTATIONS = [
    "tailnum", "departure", "flight", "carrier", "route", "month", "daypart", "weekend", "bad_sky", "late",
    "dep_delay", "distance", "km", "flights_before", "distance_total", "delay_mean", "delay_max", "delay_last_10",
    "delay_7_days", "hours_since", "delay_recent", "rotation",
]  # fmt: skip


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    flown = joined(data)
    found, months, routes = pl.collect_all([rotations(flown), carrier_months(flown), top_routes(flown)])
    shutil.rmtree(out / "rotations", ignore_errors=True)
    found.lazy().sink_parquet(
        pl.PartitionBy(out / "rotations", key=["month", "daypart"], include_key=False),
        compression="zstd",
        compression_level=1,
        mkdir=True,
    )
    months.write_parquet(out / "carrier_months.parquet", compression="zstd", compression_level=1)
    routes.write_csv(out / "top_routes.csv")


def joined(data: Path) -> pl.LazyFrame:
    """Return one row a flight that took off, with all that is known of it."""
    places = pl.scan_parquet(data / "airports.parquet").select(
        "faa", "lat", "lon", airport=pl.col("name").str.strip_chars(), altitude_m=(pl.col("alt") * 0.3048).round()
    )
    aircraft = (
        pl.scan_parquet(data / "planes.parquet")
        .filter(pl.col("seats") >= 1)
        .select("tailnum", "seats", built="year", manufacturer=pl.col("manufacturer").str.to_uppercase())
    )
    sky = pl.scan_parquet(data / "weather.parquet").select(
        "origin", "time_hour", "temp", "wind_speed", "precip", "visib"
    )
    start = places.select(pl.all().name.prefix("from_"))
    end = places.select(pl.all().name.prefix("to_"))
    flown = (
        pl.scan_parquet(data / "flights.parquet")
        .filter(pl.col("departure").is_not_null() & pl.col("tailnum").is_not_null())
        .join(
            pl.scan_parquet(data / "airlines.parquet").rename({"name": "airline"}),
            on="carrier",
            how="left",
            validate="m:1",
        )
        .join(aircraft, on="tailnum", how="left", validate="m:1")
        .join(sky, on=["origin", "time_hour"], how="left", validate="m:1")
        .join(start, left_on="origin", right_on="from_faa", validate="m:1")
        .join(end, left_on="dest", right_on="to_faa", how="left", validate="m:1")
    )
    return with_columns(flown)


def with_columns(flown: pl.LazyFrame) -> pl.LazyFrame:
    """Add what follows from a flight's own columns."""
    hour, delay = pl.col("hour"), pl.col("dep_delay")
    bad = (pl.col("precip") > 0.1) | (pl.col("visib") < 3) | (pl.col("wind_speed") > 25)
    return flown.with_columns(km=haversine()).with_columns(
        route=pl.col("origin") + "-" + pl.col("dest"),
        brand=pl.col("airline").str.replace_all(" ", "_", literal=True).str.to_lowercase(),
        weekend=pl.col("sched_departure").dt.weekday() >= 6,
        daypart=pl.when(hour < 6).then(pl.lit("night")).when(hour < 12).then(pl.lit("morning"))
        .when(hour < 18).then(pl.lit("afternoon")).otherwise(pl.lit("evening")),
        late=delay > 15,
        made_up=delay - pl.col("arr_delay"),
        age=pl.col("year") - pl.col("built"),
        kmh=pl.col("km") / (pl.col("air_time") / 60.0),
        bad_sky=bad.fill_null(value=False),
    )  # fmt: skip


def haversine() -> pl.Expr:
    """Return the great circle distance in km."""
    phi, to_phi = pl.col("from_lat").radians(), pl.col("to_lat").radians()
    half = ((to_phi - phi) / 2).sin() ** 2
    half += phi.cos() * to_phi.cos() * ((pl.col("to_lon") - pl.col("from_lon")).radians() / 2).sin() ** 2
    return 2 * 6371.0088 * half.sqrt().clip(upper_bound=1.0).arcsin()


def rotations(flown: pl.LazyFrame) -> pl.LazyFrame:
    """Return the features of each aircraft, flight by flight."""
    delay, departure, aircraft = pl.col("dep_delay"), pl.col("departure"), "tailnum"
    gap = departure.diff().over(aircraft)
    return (
        flown.sort(aircraft, "departure", "flight")
        .with_columns(
            flights_before=pl.int_range(pl.len()).over(aircraft),
            distance_total=pl.col("distance").cast(pl.Int64).cum_sum().over(aircraft),
            delay_mean=(delay.cast(pl.Float64).cum_sum() / delay.cum_count()).over(aircraft),
            delay_max=delay.cum_max().over(aircraft),
            delay_last_10=delay.cast(pl.Float64).rolling_mean(10, min_samples=1).over(aircraft),
            delay_7_days=delay.rolling_sum_by("departure", "7d", closed="both").over(aircraft),
            hours_since=gap.dt.total_microseconds() / 3.6e9,
            delay_recent=delay.cast(pl.Float64).ewm_mean_by("departure", half_life="7d").over(aircraft),
            rotation=(gap.fill_null(pl.duration()) > pl.duration(hours=8)).cast(pl.Int64).cum_sum().over(aircraft),
        )
        .select(ROTATIONS)
    )


def carrier_months(flown: pl.LazyFrame) -> pl.LazyFrame:
    """Return delays and distances, a carrier and month."""
    delay = pl.col("dep_delay")
    return (
        flown.group_by("carrier", "airline", "month")
        .agg(
            flights=pl.len(), aircraft=pl.col("tailnum").n_unique(), late_share=pl.col("late").sum() / pl.len(),
            delay_mean=delay.mean(), delay_std=delay.std(), delay_median=delay.median(), delay_worst=delay.max(),
            km_flown=pl.col("km").sum(), seats_flown=pl.col("seats").sum(), airborne_h=pl.col("air_time").sum() / 60.0,
        )
        .sort("carrier", "month")
    )  # fmt: skip


def top_routes(flown: pl.LazyFrame) -> pl.LazyFrame:
    """Return the twenty busiest routes."""
    return (
        flown.group_by("route", "from_airport", "to_airport")
        .agg(
            flights=pl.len(), carriers=pl.col("carrier").n_unique(), km=pl.col("km").max(), kmh=pl.col("kmh").mean(),
            late=pl.col("dep_delay").mean(),
        )
        .sort("flights", "route", descending=[True, False])
        .head(20)
    )  # fmt: skip
