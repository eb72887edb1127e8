select id6, v3 as largest
from (select id6, v3, row_number() over (partition by id6 order by v3 desc) as place from x where v3 is not null)
where place <= 2
