select id6, sum(v1)::bigint as v1, sum(v2)::bigint as v2, sum(v3) as v3 from x group by id6
