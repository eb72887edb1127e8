select id1, id2, sum(v1)::bigint as v1 from x group by id1, id2
