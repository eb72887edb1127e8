select category, count(*) as n, sum(amount) as revenue, count(distinct user_id) as users
from events where quantity >= 3 and lat > -45 group by category
