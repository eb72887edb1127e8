"""What `twenty_typos.py` has, written right: no type checker finds anything here."""

from datetime import date, timedelta

import gpuetl.functions as f
import gpuetl.selectors as cs
from gpuetl import Pipeline, Table, col, count, lag, lead, row_number, when

pipeline = Pipeline("typing")
orders = pipeline.read_csv(
    "orders", "orders.csv", {"id": "int64", "user": "string", "amount": "float64", "ts": "timestamp"}, delimiter=";"
)
users = pipeline.read_parquet("users", "users.parquet", columns=["user", "country"], filter=col("user").is_not_null())


def cleaned(table: Table, least: float, *, currency: str = "EUR") -> Table:
    return table.filter(col("amount") >= least, col("currency") == currency)


upper = col("user").upper()
month = col("ts").date_trunc("month")
days = col("ts").date_diff("day", date(2026, 1, 1))
rounded = col("amount").round(2)
part = col("user").split_part("@", 1)
zoned = col("ts").assume_zone("Europe/Berlin", ambiguous="latest")
before = lag(col("amount"), 1, default=0, ignore_nulls=True)
after = lead(col("amount"), 2)
smooth = col("amount").ewm_mean(half_life=timedelta(hours=1))
bounded = col("amount").is_between(0, 100, closed="left")
size = when(col("amount") > 100).then(2).when(col("amount") > 10).then(1).otherwise(0)
total = f.sum(col("amount")) / count()
joined = orders.join(users, "user", "left", validate="many_to_one")
paired = orders.join(users, left_on="user", right_on="user", how="anti", nulls_equal=True)
grouped = joined.group_by("country").agg(col("amount").sum().alias("total"), n=count())
ranked = orders.with_columns(row_number().over("user", order_by="ts desc").alias("place"), twice=col("amount") * 2)
named = orders.select("id", (col("amount") * 2).alias("twice"), user=upper)
numbers = orders.select(cs.numeric() - cs.by_name("id"))
first = orders.distinct("user", keep="first", order_by="ts")
united = orders.union(orders, missing="null")
some = orders.sample(0.1, by="user", seed=7)
checked = orders.expect(not_null="id", on_fail="quarantine", max_fraction=0.01)
piped = orders.pipe(cleaned, 0.5, currency="CHF")
grouped.write_parquet("totals", "totals", mode="overwrite", partition_by="country", compression="zstd(3)")
ranked.write_csv("ranked", "ranked.csv", on_empty="keep")
