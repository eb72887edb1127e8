select count(price) as n, sum(price) as price, sum(size * price) as value
from trades asof left join quotes on trades.ts >= quotes.ts
