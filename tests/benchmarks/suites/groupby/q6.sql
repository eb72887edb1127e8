select id4, id5, median(v3) as median, stddev_samp(v3) as sd from x group by id4, id5
