"""The events pipeline by hand in DuckDB's SQL."""

from __future__ import annotations

from pathlib import Path

import duckdb

PURCHASES = """
create or replace temp table purchases as
select e.*, u.region, u.born, e.ts::date as day, amount * quantity as revenue, year(ts) - born as age,
       case when amount >= 100 then 'high' when amount >= 25 then 'mid' else 'low' end as band
from '{data}/events/*.parquet' e left join '{data}/users.parquet' u using (user_id)
where quantity > 0 and category <> 'category_07'
"""
FEATURES = """
copy (
  select event_id, user_id, ts, band, revenue,
         row_number() over w - 1 as n_before,
         case when amount is not null then sum(amount) over w end as spent,
         epoch(ts) - epoch(lag(ts) over w) as gap_s,
         case when amount is not null then max(amount) over w end as dearest,
         coalesce(sum(amount) over (partition by user_id order by ts
                                    range between interval 1 hour preceding and current row), 0) as spent_hour,
         avg(amount) over (partition by user_id order by ts rows between 9 preceding and current row) as mean_10
  from purchases
  window w as (partition by user_id order by ts rows unbounded preceding)
) to '{out}/features.parquet' (compression zstd, compression_level 1)
"""
DAYS = """
copy (
  select region, category, day, count(*) as purchases, sum(revenue) as revenue, count(distinct user_id) as users,
         max(amount) as dearest, avg(age) as age, count(*) filter (where band = 'high') as high
  from purchases group by all order by all
) to '{out}/days.parquet' (compression zstd, compression_level 1)
"""


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    with duckdb.connect() as connection:
        for statement in (PURCHASES, FEATURES, DAYS):
            connection.execute(statement.format(data=data, out=out))
