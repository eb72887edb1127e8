select count(*) as n, sum(v1) as v1, sum(v2) as v2 from x join medium using (id5)
