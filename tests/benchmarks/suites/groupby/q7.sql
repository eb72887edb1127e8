select id3, max(v1)::bigint - min(v2) as range from x group by id3
