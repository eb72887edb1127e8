select count(*) as groups, sum(v3) as v3, sum(count)::bigint as count
from (select sum(v3) as v3, count(*) as count from x group by id1, id2, id3, id4, id5, id6)
