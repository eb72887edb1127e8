select max(spent) as most_spent, sum(spent) as spent, max(n)::bigint as most, max(gap_us)::bigint as longest_us,
       sum(gap_us)::bigint as gaps_us
from (
  select case when amount is not null then sum(amount) over w end as spent, row_number() over w as n,
         epoch_us(ts) - lag(epoch_us(ts)) over w as gap_us
  from events window w as (partition by user_id order by ts rows unbounded preceding)
)
