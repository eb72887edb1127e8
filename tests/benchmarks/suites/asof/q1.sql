select count(price) as n, sum(price) as price, sum(size * price) as value
from trades asof left join quotes on trades.key = quotes.key and trades.ts >= quotes.ts
