"""Twenty typos, one a line after the marker: mypy --strict and pyright must find each. Nothing runs this file."""

import gpuetl
import gpuetl.functions as f
from gpuetl import Pipeline, Table, col, count, lag, when

pipeline = Pipeline("typing")
orders = pipeline.read_csv(
    "orders", "orders.csv", {"id": "int64", "user": "string", "amount": "float64", "ts": "timestamp"}
)
users = pipeline.read_parquet("users", "users.parquet")


def cleaned(table: Table, least: float) -> Table:
    return table.filter(col("amount") >= least)


# one typo a line
col("user").uper()
col("ts").date_trunc("mont")
col("amount").round("2")
col("user").split_part("@")
col("ts").assume_zone("Europe/Berlin", ambiguos="latest")
col("ts").assume_zone("Europe/Berlin", ambiguous="last")
lag(col("amount"), offset="1")
f.sum("amount")
gpuetl.row_numbr()
when(col("amount") > 100).than(2)
orders.filtr(col("amount") > 0)
orders.filter("amount > 0")
orders.join(users, "user", "lefft")
orders.join(users, left_on="user", right_in="user")
orders.group_by("user").agg(total="sum(amount)", n=count())
orders.distinct("user", keep="last")
orders.expect(not_null="id", on_fail="quarantin")
orders.write_parquet("out", "out", mode="overwite")
pipeline.read_csv("more", "more.csv", "infer", delimeter=";")
orders.pipe(cleaned, minimum=0.5)
