copy (
  with joined as (
    select user_id, ts, amount, region, category,
           power(sin((radians(lat::double) - radians(home_lat::double)) / 2), 2)
             + cos(radians(home_lat::double)) * cos(radians(lat::double))
             * power(sin((radians(lon::double) - radians(home_lon::double)) / 2), 2) as half
    from events join users on user_id = id where quantity > 0 and amount is not null
  ), gaps as (
    select *, lag(amount) over w as last, epoch_us(ts) - lag(epoch_us(ts)) over w as gap_us,
           (epoch_us(ts) - epoch_us(timestamp '2026-01-01')) / 86400e6 as days
    from joined window w as (partition by user_id order by ts)
  )
  select user_id, ts, region, category, 2 * 6371.0088 * asin(sqrt(least(half, 1.0))) as km,
         row_number() over w as n, sum(amount) over w as spent, last, gap_us / 1e6 as gap_s,
         -- an average that halves in a day: 2^90 at most, so that its prefix sums stay within a double
         sum(amount * coalesce(1 - power(2, -gap_us / 86400e6), 1) * power(2, days)) over w / power(2, days) as recent,
         sum(amount) over (partition by user_id order by ts range between interval 1 hour preceding and current row)
           as spent_hour,
         sum(case when gap_us > 1800e6 then 1 else 0 end) over w as session
  from gaps window w as (partition by user_id order by ts rows unbounded preceding)
) to '$OUT/features' (format parquet, per_thread_output true, compression $CODEC);
copy (
  select region, category, count(*) as events, avg(km) as km, avg(recent) as recent, max(spent_hour) as most_hour,
         max(session) as sessions
  from '$OUT/features/*.parquet' group by region, category
) to '$OUT/totals.parquet' (format parquet, compression $CODEC)
