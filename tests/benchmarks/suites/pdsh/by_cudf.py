"""The queries in classic cuDF, reading only the columns that are needed, joined in the order in which the pipelines join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf
import numpy as np

Read = Callable[..., Any]


def day(text: str) -> np.datetime64:
    """Return a date that columns of dates compare with."""
    return np.datetime64(text, "s")


def revenue(rows: Any) -> Any:
    """Return the discounted price of lines."""
    return rows["l_extendedprice"] * (1 - rows["l_discount"])


def semi(left: Any, right: Any, left_on: str, right_on: str) -> Any:
    """Return the rows of the left side that have a match."""
    return left[left[left_on].isin(right[right_on])]


def q1(read: Read) -> Any:
    """Pricing summary report."""
    names = ["l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus", "l_shipdate"]
    rows = read("lineitem", names)
    rows = rows[rows["l_shipdate"] <= day("1998-09-02")]
    rows["disc_price"] = revenue(rows)
    rows["charge"] = rows["disc_price"] * (1 + rows["l_tax"])
    grouped = rows.groupby(["l_returnflag", "l_linestatus"], as_index=False, sort=True)
    return grouped.agg(
        sum_qty=("l_quantity", "sum"), sum_base_price=("l_extendedprice", "sum"), sum_disc_price=("disc_price", "sum"),
        sum_charge=("charge", "sum"), avg_qty=("l_quantity", "mean"), avg_price=("l_extendedprice", "mean"),
        avg_disc=("l_discount", "mean"), count_order=("l_quantity", "count"),
    )  # fmt: skip


def q2(read: Read) -> Any:
    """Minimum cost supplier."""
    regions = read("region", ["r_regionkey", "r_name"])
    europe = regions[regions["r_name"] == "EUROPE"]
    nations = semi(read("nation", ["n_nationkey", "n_name", "n_regionkey"]), europe, "n_regionkey", "r_regionkey")
    names = ["s_suppkey", "s_nationkey", "s_acctbal", "s_name", "s_address", "s_phone", "s_comment"]
    sellers = read("supplier", names).merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    parts = read("part", ["p_partkey", "p_mfgr", "p_size", "p_type"])
    parts = parts[(parts["p_size"] == 15) & parts["p_type"].str.endswith("BRASS")]
    offers = read("partsupp", ["ps_partkey", "ps_suppkey", "ps_supplycost"])
    offers = offers.merge(parts, left_on="ps_partkey", right_on="p_partkey")
    offers = offers.merge(sellers, left_on="ps_suppkey", right_on="s_suppkey")
    least = offers.groupby("p_partkey", as_index=False).agg(least=("ps_supplycost", "min"))
    rows = offers.merge(least, on="p_partkey")
    rows = rows[rows["ps_supplycost"] == rows["least"]]
    rows = rows[["s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment"]]
    order = ["s_acctbal", "n_name", "s_name", "p_partkey"]
    return rows.sort_values(order, ascending=[False, True, True, True]).head(100)


def q3(read: Read) -> Any:
    """Shipping priority."""
    buyers = read("customer", ["c_custkey", "c_mktsegment"])
    buyers = buyers[buyers["c_mktsegment"] == "BUILDING"]
    ordered = read("orders", ["o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"])
    ordered = semi(ordered[ordered["o_orderdate"] < day("1995-03-15")], buyers, "o_custkey", "c_custkey")
    lines = read("lineitem", ["l_orderkey", "l_extendedprice", "l_discount", "l_shipdate"])
    lines = lines[lines["l_shipdate"] > day("1995-03-15")]
    rows = lines.merge(ordered, left_on="l_orderkey", right_on="o_orderkey")
    rows["revenue"] = revenue(rows)
    keys = ["l_orderkey", "o_orderdate", "o_shippriority"]
    found = rows.groupby(keys, as_index=False).agg({"revenue": "sum"})
    found = found.sort_values(["revenue", "o_orderdate"], ascending=[False, True]).head(10)
    return found[["l_orderkey", "revenue", "o_orderdate", "o_shippriority"]]


def q4(read: Read) -> Any:
    """Order priority checking."""
    late = read("lineitem", ["l_orderkey", "l_commitdate", "l_receiptdate"])
    late = late[late["l_commitdate"] < late["l_receiptdate"]]
    ordered = read("orders", ["o_orderkey", "o_orderdate", "o_orderpriority"])
    ordered = ordered[(ordered["o_orderdate"] >= day("1993-07-01")) & (ordered["o_orderdate"] < day("1993-10-01"))]
    rows = semi(ordered, late, "o_orderkey", "l_orderkey")
    return rows.groupby("o_orderpriority", as_index=False, sort=True).agg(order_count=("o_orderkey", "count"))


def q5(read: Read) -> Any:
    """Local supplier volume."""
    region, nation = read("region", ["r_regionkey", "r_name"]), read("nation", ["n_nationkey", "n_name", "n_regionkey"])
    nations = semi(nation, region[region["r_name"] == "ASIA"], "n_regionkey", "r_regionkey")
    buyers = read("customer", ["c_custkey", "c_nationkey"])
    buyers = buyers.merge(nations, left_on="c_nationkey", right_on="n_nationkey")
    ordered = read("orders", ["o_orderkey", "o_custkey", "o_orderdate"])
    ordered = ordered[(ordered["o_orderdate"] >= day("1994-01-01")) & (ordered["o_orderdate"] < day("1995-01-01"))]
    ordered = ordered.merge(buyers, left_on="o_custkey", right_on="c_custkey")[["o_orderkey", "c_nationkey", "n_name"]]
    lines = read("lineitem", ["l_orderkey", "l_suppkey", "l_extendedprice", "l_discount"])
    rows = lines.merge(ordered, left_on="l_orderkey", right_on="o_orderkey")
    sellers = read("supplier", ["s_suppkey", "s_nationkey"])
    rows = rows.merge(sellers, left_on=["l_suppkey", "c_nationkey"], right_on=["s_suppkey", "s_nationkey"])
    rows["revenue"] = revenue(rows)
    return rows.groupby("n_name", as_index=False).agg({"revenue": "sum"}).sort_values("revenue", ascending=False)


def q6(read: Read) -> Any:
    """Forecasting revenue change."""
    rows = read("lineitem", ["l_quantity", "l_extendedprice", "l_discount", "l_shipdate"])
    kept = (rows["l_shipdate"] >= day("1994-01-01")) & (rows["l_shipdate"] < day("1995-01-01"))
    kept &= (rows["l_discount"] >= 0.05) & (rows["l_discount"] <= 0.07) & (rows["l_quantity"] < 24)
    rows = rows[kept]
    return cudf.DataFrame({"revenue": [(rows["l_extendedprice"] * rows["l_discount"]).sum()]})


def q7(read: Read) -> Any:
    """Volume shipping."""
    nation = read("nation", ["n_nationkey", "n_name"])
    two = nation[nation["n_name"].isin(["FRANCE", "GERMANY"])]
    sellers = read("supplier", ["s_suppkey", "s_nationkey"]).merge(two, left_on="s_nationkey", right_on="n_nationkey")
    sellers = sellers[["s_suppkey", "n_name"]].rename(columns={"n_name": "supp_nation"})
    buyers = read("customer", ["c_custkey", "c_nationkey"]).merge(two, left_on="c_nationkey", right_on="n_nationkey")
    buyers = buyers[["c_custkey", "n_name"]].rename(columns={"n_name": "cust_nation"})
    ordered = read("orders", ["o_orderkey", "o_custkey"]).merge(buyers, left_on="o_custkey", right_on="c_custkey")
    lines = read("lineitem", ["l_orderkey", "l_suppkey", "l_extendedprice", "l_discount", "l_shipdate"])
    lines = lines[(lines["l_shipdate"] >= day("1995-01-01")) & (lines["l_shipdate"] <= day("1996-12-31"))]
    rows = lines.merge(sellers, left_on="l_suppkey", right_on="s_suppkey")
    rows = rows.merge(ordered[["o_orderkey", "cust_nation"]], left_on="l_orderkey", right_on="o_orderkey")
    rows = rows[rows["supp_nation"] != rows["cust_nation"]]
    rows["l_year"], rows["revenue"] = rows["l_shipdate"].dt.year, revenue(rows)
    keys = ["supp_nation", "cust_nation", "l_year"]
    return rows.groupby(keys, as_index=False, sort=True).agg({"revenue": "sum"})


def q8(read: Read) -> Any:
    """National market share."""
    region, nation = read("region", ["r_regionkey", "r_name"]), read("nation", ["n_nationkey", "n_name", "n_regionkey"])
    nations = semi(nation, region[region["r_name"] == "AMERICA"], "n_regionkey", "r_regionkey")
    buyers = semi(read("customer", ["c_custkey", "c_nationkey"]), nations, "c_nationkey", "n_nationkey")
    ordered = read("orders", ["o_orderkey", "o_custkey", "o_orderdate"])
    ordered = ordered[(ordered["o_orderdate"] >= day("1995-01-01")) & (ordered["o_orderdate"] <= day("1996-12-31"))]
    ordered = semi(ordered, buyers, "o_custkey", "c_custkey")
    parts = read("part", ["p_partkey", "p_type"])
    steel = parts[parts["p_type"] == "ECONOMY ANODIZED STEEL"]
    sellers = read("supplier", ["s_suppkey", "s_nationkey"])
    sellers = sellers.merge(nation, left_on="s_nationkey", right_on="n_nationkey")[["s_suppkey", "n_name"]]
    lines = read("lineitem", ["l_orderkey", "l_partkey", "l_suppkey", "l_extendedprice", "l_discount"])
    rows = semi(lines, steel, "l_partkey", "p_partkey").merge(ordered, left_on="l_orderkey", right_on="o_orderkey")
    rows = rows.merge(sellers, left_on="l_suppkey", right_on="s_suppkey")
    rows["o_year"], rows["volume"] = rows["o_orderdate"].dt.year, revenue(rows)
    rows["brazilian"] = rows["volume"].where(rows["n_name"] == "BRAZIL", 0.0)
    found = rows.groupby("o_year", as_index=False, sort=True).agg({"brazilian": "sum", "volume": "sum"})
    found["mkt_share"] = found["brazilian"] / found["volume"]
    return found[["o_year", "mkt_share"]]


def q9(read: Read) -> Any:
    """Product type profit measure."""
    parts = read("part", ["p_partkey", "p_name"])
    green = parts[parts["p_name"].str.contains("green", regex=False)]
    costs = semi(read("partsupp", ["ps_partkey", "ps_suppkey", "ps_supplycost"]), green, "ps_partkey", "p_partkey")
    nation = read("nation", ["n_nationkey", "n_name"]).rename(columns={"n_name": "nation"})
    sellers = read("supplier", ["s_suppkey", "s_nationkey"])
    sellers = sellers.merge(nation, left_on="s_nationkey", right_on="n_nationkey")[["s_suppkey", "nation"]]
    lines = read("lineitem", ["l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_discount"])
    rows = lines.merge(costs, left_on=["l_partkey", "l_suppkey"], right_on=["ps_partkey", "ps_suppkey"])
    rows = rows.merge(sellers, left_on="l_suppkey", right_on="s_suppkey")
    rows = rows.merge(read("orders", ["o_orderkey", "o_orderdate"]), left_on="l_orderkey", right_on="o_orderkey")
    rows["o_year"] = rows["o_orderdate"].dt.year
    rows["sum_profit"] = revenue(rows) - rows["ps_supplycost"] * rows["l_quantity"]
    found = rows.groupby(["nation", "o_year"], as_index=False).agg({"sum_profit": "sum"})
    return found.sort_values(["nation", "o_year"], ascending=[True, False])


def q10(read: Read) -> Any:
    """Returned item reporting."""
    ordered = read("orders", ["o_orderkey", "o_custkey", "o_orderdate"])
    ordered = ordered[(ordered["o_orderdate"] >= day("1993-10-01")) & (ordered["o_orderdate"] < day("1994-01-01"))]
    names = ["c_custkey", "c_name", "c_acctbal", "c_phone", "c_address", "c_comment", "c_nationkey"]
    nation = read("nation", ["n_nationkey", "n_name"])
    buyers = read("customer", names).merge(nation, left_on="c_nationkey", right_on="n_nationkey")
    lines = read("lineitem", ["l_orderkey", "l_extendedprice", "l_discount", "l_returnflag"])
    rows = lines[lines["l_returnflag"] == "R"].merge(ordered, left_on="l_orderkey", right_on="o_orderkey")
    rows = rows.merge(buyers, left_on="o_custkey", right_on="c_custkey")
    rows["revenue"] = revenue(rows)
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    found = rows.groupby(keys, as_index=False).agg({"revenue": "sum"})
    return found.sort_values("revenue", ascending=False).head(20)


def q11(read: Read) -> Any:
    """Important stock identification."""
    nations = read("nation", ["n_nationkey", "n_name"])
    sellers = read("supplier", ["s_suppkey", "s_nationkey"])
    sellers = semi(sellers, nations[nations["n_name"] == "GERMANY"], "s_nationkey", "n_nationkey")
    stock = read("partsupp", ["ps_partkey", "ps_suppkey", "ps_supplycost", "ps_availqty"])
    stock = semi(stock, sellers, "ps_suppkey", "s_suppkey")
    stock["value"] = stock["ps_supplycost"] * stock["ps_availqty"]
    values = stock.groupby("ps_partkey", as_index=False).agg(value=("value", "sum"))
    return values[values["value"] > stock["value"].sum() * 0.0001].sort_values("value", ascending=False)


def q12(read: Read) -> Any:
    """Shipping modes and order priority."""
    rows = read("lineitem", ["l_orderkey", "l_shipmode", "l_shipdate", "l_commitdate", "l_receiptdate"])
    kept = (rows["l_receiptdate"] >= day("1994-01-01")) & (rows["l_receiptdate"] < day("1995-01-01"))
    kept &= (rows["l_commitdate"] < rows["l_receiptdate"]) & (rows["l_shipdate"] < rows["l_commitdate"])
    kept &= rows["l_shipmode"].isin(["MAIL", "SHIP"])
    rows = rows.loc[kept, ["l_orderkey", "l_shipmode"]]
    rows = rows.merge(read("orders", ["o_orderkey", "o_orderpriority"]), left_on="l_orderkey", right_on="o_orderkey")
    urgent = rows["o_orderpriority"].isin(["1-URGENT", "2-HIGH"])
    rows["high_line_count"], rows["low_line_count"] = urgent.astype("int64"), (~urgent).astype("int64")
    grouped = rows.groupby("l_shipmode", as_index=False, sort=True)
    return grouped.agg({"high_line_count": "sum", "low_line_count": "sum"})


def q13(read: Read) -> Any:
    """Customer distribution."""
    ordered = read("orders", ["o_orderkey", "o_custkey", "o_comment"])
    ordered = ordered.loc[~ordered["o_comment"].str.contains("special.*requests"), ["o_orderkey", "o_custkey"]]
    rows = read("customer", ["c_custkey"]).merge(ordered, left_on="c_custkey", right_on="o_custkey", how="left")
    counts = rows.groupby("c_custkey", as_index=False).agg(c_count=("o_orderkey", "count"))
    found = counts.groupby("c_count", as_index=False).agg(custdist=("c_custkey", "count"))
    return found.sort_values(["custdist", "c_count"], ascending=False)


def q14(read: Read) -> Any:
    """Promotion effect."""
    lines = read("lineitem", ["l_partkey", "l_extendedprice", "l_discount", "l_shipdate"])
    lines = lines[(lines["l_shipdate"] >= day("1995-09-01")) & (lines["l_shipdate"] < day("1995-10-01"))]
    rows = lines.merge(read("part", ["p_partkey", "p_type"]), left_on="l_partkey", right_on="p_partkey")
    total = revenue(rows)
    promoted = total[rows["p_type"].str.startswith("PROMO")].sum()
    return cudf.DataFrame({"promo_revenue": [100.0 * promoted / total.sum()]})


def q15(read: Read) -> Any:
    """Top supplier."""
    lines = read("lineitem", ["l_suppkey", "l_shipdate", "l_extendedprice", "l_discount"])
    lines = lines[(lines["l_shipdate"] >= day("1996-01-01")) & (lines["l_shipdate"] < day("1996-04-01"))]
    lines["total_revenue"] = revenue(lines)
    sums = lines.groupby("l_suppkey", as_index=False).agg(total_revenue=("total_revenue", "sum"))
    top = sums[sums["total_revenue"] == sums["total_revenue"].max()]
    suppliers = read("supplier", ["s_suppkey", "s_name", "s_address", "s_phone"])
    rows = suppliers.merge(top, left_on="s_suppkey", right_on="l_suppkey")
    return rows[["s_suppkey", "s_name", "s_address", "s_phone", "total_revenue"]].sort_values("s_suppkey")


def q16(read: Read) -> Any:
    """Parts and supplier relationship; the count goes over distinct rows."""
    sellers = read("supplier", ["s_suppkey", "s_comment"])
    complained = sellers[sellers["s_comment"].str.contains("Customer.*Complaints")]
    parts = read("part", ["p_partkey", "p_brand", "p_type", "p_size"])
    kept = (parts["p_brand"] != "Brand#45") & parts["p_size"].isin([49, 14, 23, 45, 19, 3, 36, 9])
    parts = parts[kept & ~parts["p_type"].str.startswith("MEDIUM POLISHED")]
    rows = read("partsupp", ["ps_partkey", "ps_suppkey"]).merge(parts, left_on="ps_partkey", right_on="p_partkey")
    rows = rows[~rows["ps_suppkey"].isin(complained["s_suppkey"])]
    keys = ["p_brand", "p_type", "p_size"]
    pairs = rows[[*keys, "ps_suppkey"]].drop_duplicates()
    found = pairs.groupby(keys, as_index=False).agg(supplier_cnt=("ps_suppkey", "count"))
    return found.sort_values(["supplier_cnt", *keys], ascending=[False, True, True, True])


def q17(read: Read) -> Any:
    """Small-quantity-order revenue."""
    parts = read("part", ["p_partkey", "p_brand", "p_container"])
    boxes = parts[(parts["p_brand"] == "Brand#23") & (parts["p_container"] == "MED BOX")]
    lines = semi(read("lineitem", ["l_partkey", "l_quantity", "l_extendedprice"]), boxes, "l_partkey", "p_partkey")
    typical = lines.groupby("l_partkey", as_index=False).agg(few=("l_quantity", "mean"))
    rows = lines.merge(typical, on="l_partkey")
    few = rows[rows["l_quantity"] < 0.2 * rows["few"]]
    return cudf.DataFrame({"avg_yearly": [few["l_extendedprice"].sum() / 7.0]})


def q18(read: Read) -> Any:
    """Large volume customer."""
    lines = read("lineitem", ["l_orderkey", "l_quantity"])
    sums = lines.groupby("l_orderkey", as_index=False).agg(sum_quantity=("l_quantity", "sum"))
    large = sums[sums["sum_quantity"] > 300]
    ordered = read("orders", ["o_orderkey", "o_custkey", "o_orderdate", "o_totalprice"])
    rows = ordered.merge(large, left_on="o_orderkey", right_on="l_orderkey")
    rows = rows.merge(read("customer", ["c_custkey", "c_name"]), left_on="o_custkey", right_on="c_custkey")
    rows = rows.sort_values(["o_totalprice", "o_orderdate"], ascending=[False, True]).head(100)
    return rows[["c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "sum_quantity"]]


def q19(read: Read) -> Any:
    """Discounted revenue."""
    parts = read("part", ["p_partkey", "p_brand", "p_container", "p_size"])
    parts = parts[(parts["p_size"] >= 1) & parts["p_brand"].isin(["Brand#12", "Brand#23", "Brand#34"])]
    names = ["l_partkey", "l_quantity", "l_extendedprice", "l_discount", "l_shipmode", "l_shipinstruct"]
    lines = read("lineitem", names)
    lines = lines[lines["l_shipmode"].isin(["AIR", "AIR REG"]) & (lines["l_shipinstruct"] == "DELIVER IN PERSON")]
    rows = lines.merge(parts, left_on="l_partkey", right_on="p_partkey")
    kept = discounted(rows, "Brand#12", "SM", "CASE BOX PACK PKG", 1, 5)
    kept |= discounted(rows, "Brand#23", "MED", "BAG BOX PKG PACK", 10, 10)
    kept |= discounted(rows, "Brand#34", "LG", "CASE BOX PACK PKG", 20, 15)
    return cudf.DataFrame({"revenue": [revenue(rows[kept]).sum()]})


def q20(read: Read) -> Any:
    """Potential part promotion."""
    parts = read("part", ["p_partkey", "p_name"])
    forest = parts[parts["p_name"].str.startswith("forest")]
    lines = read("lineitem", ["l_partkey", "l_suppkey", "l_quantity", "l_shipdate"])
    lines = lines[(lines["l_shipdate"] >= day("1994-01-01")) & (lines["l_shipdate"] < day("1995-01-01"))]
    lines = semi(lines, forest, "l_partkey", "p_partkey")
    sold = lines.groupby(["l_partkey", "l_suppkey"], as_index=False).agg(quantity=("l_quantity", "sum"))
    left = read("partsupp", ["ps_partkey", "ps_suppkey", "ps_availqty"])
    left = left.merge(sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
    left = left[left["ps_availqty"] > 0.5 * left["quantity"]]
    nations = read("nation", ["n_nationkey", "n_name"])
    sellers = read("supplier", ["s_suppkey", "s_nationkey", "s_name", "s_address"])
    sellers = semi(sellers, nations[nations["n_name"] == "CANADA"], "s_nationkey", "n_nationkey")
    return semi(sellers, left, "s_suppkey", "ps_suppkey")[["s_name", "s_address"]].sort_values("s_name")


def q21(read: Read) -> Any:
    """Suppliers who kept orders waiting: orders with lines of other suppliers, of whom none was late."""
    nations = read("nation", ["n_nationkey", "n_name"])
    sellers = read("supplier", ["s_suppkey", "s_nationkey", "s_name"])
    sellers = semi(sellers, nations[nations["n_name"] == "SAUDI ARABIA"], "s_nationkey", "n_nationkey")
    orders = read("orders", ["o_orderkey", "o_orderstatus"])
    lines = read("lineitem", ["l_orderkey", "l_suppkey", "l_receiptdate", "l_commitdate"])
    late = lines[lines["l_receiptdate"] > lines["l_commitdate"]]
    several = lines.groupby("l_orderkey", as_index=False).agg(suppliers=("l_suppkey", "nunique"))
    alone = late.groupby("l_orderkey", as_index=False).agg(suppliers=("l_suppkey", "nunique"))
    rows = late.merge(sellers, left_on="l_suppkey", right_on="s_suppkey")
    rows = semi(rows, orders[orders["o_orderstatus"] == "F"], "l_orderkey", "o_orderkey")
    rows = semi(rows, several[several["suppliers"] > 1], "l_orderkey", "l_orderkey")
    rows = semi(rows, alone[alone["suppliers"] == 1], "l_orderkey", "l_orderkey")
    counts = rows.groupby("s_name", as_index=False).agg(numwait=("l_orderkey", "count"))
    return counts.sort_values(["numwait", "s_name"], ascending=[False, True]).head(100)


def q22(read: Read) -> Any:
    """Global sales opportunity."""
    people = read("customer", ["c_custkey", "c_phone", "c_acctbal"])
    people["cntrycode"] = people["c_phone"].str.slice(0, 2)
    people = people[people["cntrycode"].isin(["13", "31", "23", "29", "30", "18", "17"])]
    balance = people["c_acctbal"][people["c_acctbal"] > 0.0].mean()
    rich = people[people["c_acctbal"] > balance]
    idle = rich[~rich["c_custkey"].isin(read("orders", ["o_custkey"])["o_custkey"])]
    sums = idle.groupby("cntrycode", as_index=False).agg(
        numcust=("c_custkey", "count"), totacctbal=("c_acctbal", "sum")
    )
    return sums.sort_values("cntrycode")


def discounted(rows: Any, brand: str, size: str, containers: str, quantity: int, most: int) -> Any:
    """Return whether a row is of one of the three kinds of q19."""
    kept = (rows["p_brand"] == brand) & (rows["p_size"] <= most)
    kept &= rows["p_container"].isin([f"{size} {container}" for container in containers.split()])
    return kept & (rows["l_quantity"] >= quantity) & (rows["l_quantity"] <= quantity + 10)
