select region, count(*) as n, sum(amount) as revenue, max(amount) as dearest
from events join users on user_id = id group by region
