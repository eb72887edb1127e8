"""The demo by hand in DuckDB's SQL."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

FLOWN = """
create or replace temp table flown as
with places as (select faa, trim(name) as airport, lat, lon from '{data}/airports.parquet'),
joined as (
  select f.*, a.name as airline, p.year as built, upper(p.manufacturer) as manufacturer, p.seats,
         w.temp, w.wind_speed, w.precip, w.visib,
         s.airport as from_airport, e.airport as to_airport,
         sin((radians(e.lat) - radians(s.lat)) / 2) ** 2
           + cos(radians(s.lat)) * cos(radians(e.lat)) * sin(radians(e.lon - s.lon) / 2) ** 2 as half
  from '{data}/flights.parquet' f
  left join '{data}/airlines.parquet' a using (carrier)
  left join (from '{data}/planes.parquet' where seats >= 1) p using (tailnum)
  left join '{data}/weather.parquet' w on f.origin = w.origin and f.time_hour = w.time_hour
  join places s on f.origin = s.faa
  left join places e on f.dest = e.faa
  where departure is not null and tailnum is not null
)
select *, 2 * 6371.0088 * asin(sqrt(case when half > 1 then 1 else half end)) as km, origin || '-' || dest as route, lower(replace(airline, ' ', '_')) as brand,
       dayofweek(sched_departure) in (0, 6) as weekend,
       case when hour < 6 then 'night' when hour < 12 then 'morning' when hour < 18 then 'afternoon' else 'evening' end
         as daypart,
       dep_delay > 15 as late, dep_delay - arr_delay as made_up, year - built as age, km / (air_time / 60.0) as kmh,
       coalesce(precip > 0.1 or visib < 3 or wind_speed > 25, false) as bad_sky
from joined
"""
ROTATIONS = """
copy (
  with gaps as (
    select *, epoch(departure - lag(departure) over (partition by tailnum order by departure, flight)) as gap_s,
           epoch(departure - min(departure) over (partition by tailnum)) / (7 * 86400.0) as lives
    from flown
  )
  select tailnum, departure, flight, carrier, route, month, daypart, weekend, bad_sky, late, dep_delay, distance, km,
         row_number() over w - 1 as flights_before, sum(distance) over w as distance_total,
         avg(dep_delay) over w as delay_mean, max(dep_delay) over w as delay_max,
         avg(dep_delay) over (partition by tailnum order by departure, flight rows between 9 preceding and current row)
           as delay_last_10,
         sum(dep_delay) over (partition by tailnum order by departure
                              range between interval 7 days preceding and current row) as delay_7_days,
         gap_s / 3600.0 as hours_since,
         sum(dep_delay * coalesce(1 - 2 ** (-gap_s / (7 * 86400.0)), 1) * 2 ** lives) over w / 2 ** lives
           as delay_recent,
         sum(case when gap_s > 8 * 3600 then 1 else 0 end) over w as rotation
  from gaps
  window w as (partition by tailnum order by departure, flight rows unbounded preceding)
) to '{out}/rotations' (format parquet, partition_by (month, daypart), compression zstd, compression_level 1)
"""
CARRIER_MONTHS = """
copy (
  select carrier, airline, month, count(*) as flights, count(distinct tailnum) as aircraft,
         count(*) filter (where late) / count(*) as late_share, avg(dep_delay) as delay_mean,
         stddev_samp(dep_delay) as delay_std, median(dep_delay) as delay_median, max(dep_delay) as delay_worst,
         sum(km) as km_flown, sum(seats) as seats_flown, sum(air_time) / 60.0 as airborne_h
  from flown group by all order by carrier, month
) to '{out}/carrier_months.parquet' (compression zstd, compression_level 1)
"""
TOP_ROUTES = """
copy (
  select route, from_airport, to_airport, count(*) as flights, count(distinct carrier) as carriers, max(km) as km,
         avg(kmh) as kmh, avg(dep_delay) as late
  from flown group by all order by flights desc, route limit 20
) to '{out}/top_routes.csv'
"""


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    shutil.rmtree(out / "rotations", ignore_errors=True)
    with duckdb.connect() as connection:
        for statement in (FLOWN, ROTATIONS, CARRIER_MONTHS, TOP_ROUTES):
            connection.execute(statement.format(data=data, out=out))
