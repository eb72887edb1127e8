with l as (select ln(1 + greatest(coalesce(I1, 0), 0)) as I1, ln(1 + greatest(coalesce(I2, 0), 0)) as I2, ln(1 + greatest(coalesce(I3, 0), 0)) as I3, ln(1 + greatest(coalesce(I4, 0), 0)) as I4, ln(1 + greatest(coalesce(I5, 0), 0)) as I5, ln(1 + greatest(coalesce(I6, 0), 0)) as I6, ln(1 + greatest(coalesce(I7, 0), 0)) as I7, ln(1 + greatest(coalesce(I8, 0), 0)) as I8, ln(1 + greatest(coalesce(I9, 0), 0)) as I9, ln(1 + greatest(coalesce(I10, 0), 0)) as I10, ln(1 + greatest(coalesce(I11, 0), 0)) as I11, ln(1 + greatest(coalesce(I12, 0), 0)) as I12, ln(1 + greatest(coalesce(I13, 0), 0)) as I13, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17, C18, C19, C20, C21, C22, C23, C24, C25, C26 from clicks),
s as (select avg(I1) as m1, stddev_pop(I1) as s1, avg(I2) as m2, stddev_pop(I2) as s2, avg(I3) as m3, stddev_pop(I3) as s3, avg(I4) as m4, stddev_pop(I4) as s4, avg(I5) as m5, stddev_pop(I5) as s5, avg(I6) as m6, stddev_pop(I6) as s6, avg(I7) as m7, stddev_pop(I7) as s7, avg(I8) as m8, stddev_pop(I8) as s8, avg(I9) as m9, stddev_pop(I9) as s9, avg(I10) as m10, stddev_pop(I10) as s10, avg(I11) as m11, stddev_pop(I11) as s11, avg(I12) as m12, stddev_pop(I12) as s12, avg(I13) as m13, stddev_pop(I13) as s13 from l),
v1 as (select C1, 1 + row_number() over (order by count(*) desc, C1) as id from clicks where C1 is not null group by C1 having count(*) >= 15),
v2 as (select C2, 1 + row_number() over (order by count(*) desc, C2) as id from clicks where C2 is not null group by C2 having count(*) >= 15),
v3 as (select C3, 1 + row_number() over (order by count(*) desc, C3) as id from clicks where C3 is not null group by C3 having count(*) >= 15),
v4 as (select C4, 1 + row_number() over (order by count(*) desc, C4) as id from clicks where C4 is not null group by C4 having count(*) >= 15),
v5 as (select C5, 1 + row_number() over (order by count(*) desc, C5) as id from clicks where C5 is not null group by C5 having count(*) >= 15),
v6 as (select C6, 1 + row_number() over (order by count(*) desc, C6) as id from clicks where C6 is not null group by C6 having count(*) >= 15),
v7 as (select C7, 1 + row_number() over (order by count(*) desc, C7) as id from clicks where C7 is not null group by C7 having count(*) >= 15),
v8 as (select C8, 1 + row_number() over (order by count(*) desc, C8) as id from clicks where C8 is not null group by C8 having count(*) >= 15),
v9 as (select C9, 1 + row_number() over (order by count(*) desc, C9) as id from clicks where C9 is not null group by C9 having count(*) >= 15),
v10 as (select C10, 1 + row_number() over (order by count(*) desc, C10) as id from clicks where C10 is not null group by C10 having count(*) >= 15),
v11 as (select C11, 1 + row_number() over (order by count(*) desc, C11) as id from clicks where C11 is not null group by C11 having count(*) >= 15),
v12 as (select C12, 1 + row_number() over (order by count(*) desc, C12) as id from clicks where C12 is not null group by C12 having count(*) >= 15),
v13 as (select C13, 1 + row_number() over (order by count(*) desc, C13) as id from clicks where C13 is not null group by C13 having count(*) >= 15),
v14 as (select C14, 1 + row_number() over (order by count(*) desc, C14) as id from clicks where C14 is not null group by C14 having count(*) >= 15),
v15 as (select C15, 1 + row_number() over (order by count(*) desc, C15) as id from clicks where C15 is not null group by C15 having count(*) >= 15),
v16 as (select C16, 1 + row_number() over (order by count(*) desc, C16) as id from clicks where C16 is not null group by C16 having count(*) >= 15),
v17 as (select C17, 1 + row_number() over (order by count(*) desc, C17) as id from clicks where C17 is not null group by C17 having count(*) >= 15),
v18 as (select C18, 1 + row_number() over (order by count(*) desc, C18) as id from clicks where C18 is not null group by C18 having count(*) >= 15),
v19 as (select C19, 1 + row_number() over (order by count(*) desc, C19) as id from clicks where C19 is not null group by C19 having count(*) >= 15),
v20 as (select C20, 1 + row_number() over (order by count(*) desc, C20) as id from clicks where C20 is not null group by C20 having count(*) >= 15),
v21 as (select C21, 1 + row_number() over (order by count(*) desc, C21) as id from clicks where C21 is not null group by C21 having count(*) >= 15),
v22 as (select C22, 1 + row_number() over (order by count(*) desc, C22) as id from clicks where C22 is not null group by C22 having count(*) >= 15),
v23 as (select C23, 1 + row_number() over (order by count(*) desc, C23) as id from clicks where C23 is not null group by C23 having count(*) >= 15),
v24 as (select C24, 1 + row_number() over (order by count(*) desc, C24) as id from clicks where C24 is not null group by C24 having count(*) >= 15),
v25 as (select C25, 1 + row_number() over (order by count(*) desc, C25) as id from clicks where C25 is not null group by C25 having count(*) >= 15),
v26 as (select C26, 1 + row_number() over (order by count(*) desc, C26) as id from clicks where C26 is not null group by C26 having count(*) >= 15)
select
  sum(((I1 - m1) / s1) * ((I1 - m1) / s1)) as I1,
  sum(((I2 - m2) / s2) * ((I2 - m2) / s2)) as I2,
  sum(((I3 - m3) / s3) * ((I3 - m3) / s3)) as I3,
  sum(((I4 - m4) / s4) * ((I4 - m4) / s4)) as I4,
  sum(((I5 - m5) / s5) * ((I5 - m5) / s5)) as I5,
  sum(((I6 - m6) / s6) * ((I6 - m6) / s6)) as I6,
  sum(((I7 - m7) / s7) * ((I7 - m7) / s7)) as I7,
  sum(((I8 - m8) / s8) * ((I8 - m8) / s8)) as I8,
  sum(((I9 - m9) / s9) * ((I9 - m9) / s9)) as I9,
  sum(((I10 - m10) / s10) * ((I10 - m10) / s10)) as I10,
  sum(((I11 - m11) / s11) * ((I11 - m11) / s11)) as I11,
  sum(((I12 - m12) / s12) * ((I12 - m12) / s12)) as I12,
  sum(((I13 - m13) / s13) * ((I13 - m13) / s13)) as I13,
  cast(sum(case when l.C1 is null then 0 else coalesce(v1.id, 1) end) as bigint) as C1,
  cast(sum(case when l.C2 is null then 0 else coalesce(v2.id, 1) end) as bigint) as C2,
  cast(sum(case when l.C3 is null then 0 else coalesce(v3.id, 1) end) as bigint) as C3,
  cast(sum(case when l.C4 is null then 0 else coalesce(v4.id, 1) end) as bigint) as C4,
  cast(sum(case when l.C5 is null then 0 else coalesce(v5.id, 1) end) as bigint) as C5,
  cast(sum(case when l.C6 is null then 0 else coalesce(v6.id, 1) end) as bigint) as C6,
  cast(sum(case when l.C7 is null then 0 else coalesce(v7.id, 1) end) as bigint) as C7,
  cast(sum(case when l.C8 is null then 0 else coalesce(v8.id, 1) end) as bigint) as C8,
  cast(sum(case when l.C9 is null then 0 else coalesce(v9.id, 1) end) as bigint) as C9,
  cast(sum(case when l.C10 is null then 0 else coalesce(v10.id, 1) end) as bigint) as C10,
  cast(sum(case when l.C11 is null then 0 else coalesce(v11.id, 1) end) as bigint) as C11,
  cast(sum(case when l.C12 is null then 0 else coalesce(v12.id, 1) end) as bigint) as C12,
  cast(sum(case when l.C13 is null then 0 else coalesce(v13.id, 1) end) as bigint) as C13,
  cast(sum(case when l.C14 is null then 0 else coalesce(v14.id, 1) end) as bigint) as C14,
  cast(sum(case when l.C15 is null then 0 else coalesce(v15.id, 1) end) as bigint) as C15,
  cast(sum(case when l.C16 is null then 0 else coalesce(v16.id, 1) end) as bigint) as C16,
  cast(sum(case when l.C17 is null then 0 else coalesce(v17.id, 1) end) as bigint) as C17,
  cast(sum(case when l.C18 is null then 0 else coalesce(v18.id, 1) end) as bigint) as C18,
  cast(sum(case when l.C19 is null then 0 else coalesce(v19.id, 1) end) as bigint) as C19,
  cast(sum(case when l.C20 is null then 0 else coalesce(v20.id, 1) end) as bigint) as C20,
  cast(sum(case when l.C21 is null then 0 else coalesce(v21.id, 1) end) as bigint) as C21,
  cast(sum(case when l.C22 is null then 0 else coalesce(v22.id, 1) end) as bigint) as C22,
  cast(sum(case when l.C23 is null then 0 else coalesce(v23.id, 1) end) as bigint) as C23,
  cast(sum(case when l.C24 is null then 0 else coalesce(v24.id, 1) end) as bigint) as C24,
  cast(sum(case when l.C25 is null then 0 else coalesce(v25.id, 1) end) as bigint) as C25,
  cast(sum(case when l.C26 is null then 0 else coalesce(v26.id, 1) end) as bigint) as C26
from l cross join s
left join v1 on l.C1 = v1.C1
left join v2 on l.C2 = v2.C2
left join v3 on l.C3 = v3.C3
left join v4 on l.C4 = v4.C4
left join v5 on l.C5 = v5.C5
left join v6 on l.C6 = v6.C6
left join v7 on l.C7 = v7.C7
left join v8 on l.C8 = v8.C8
left join v9 on l.C9 = v9.C9
left join v10 on l.C10 = v10.C10
left join v11 on l.C11 = v11.C11
left join v12 on l.C12 = v12.C12
left join v13 on l.C13 = v13.C13
left join v14 on l.C14 = v14.C14
left join v15 on l.C15 = v15.C15
left join v16 on l.C16 = v16.C16
left join v17 on l.C17 = v17.C17
left join v18 on l.C18 = v18.C18
left join v19 on l.C19 = v19.C19
left join v20 on l.C20 = v20.C20
left join v21 on l.C21 = v21.C21
left join v22 on l.C22 = v22.C22
left join v23 on l.C23 = v23.C23
left join v24 on l.C24 = v24.C24
left join v25 on l.C25 = v25.C25
left join v26 on l.C26 = v26.C26
