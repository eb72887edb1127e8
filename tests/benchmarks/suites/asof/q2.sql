select count(price) as n, sum(price) as price, sum(size * price) as value
from (
  select size, case when distance <= interval 10 minutes then price end as price
  from (
    select t.size,
      case when a.ts is not null and (b.ts is null or a.ts - t.ts <= t.ts - b.ts) then a.ts - t.ts else t.ts - b.ts end as distance,
      case when a.ts is not null and (b.ts is null or a.ts - t.ts <= t.ts - b.ts) then a.price else b.price end as price
    from trades t
    asof left join quotes b on t.key = b.key and t.ts >= b.ts
    asof left join quotes a on t.key = a.key and t.ts < a.ts
  )
)
