select id3, sum(v1)::bigint as v1, avg(v3) as v3 from x group by id3
