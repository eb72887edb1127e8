"""The queries in Polars, joined in the order in which the pipelines join."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import polars as pl

Scan = Callable[[str], pl.LazyFrame]
COL = pl.col
REVENUE = COL("l_extendedprice") * (1 - COL("l_discount"))


def q1(scan: Scan) -> pl.LazyFrame:
    """Pricing summary report."""
    price, quantity, discount = COL("l_extendedprice"), COL("l_quantity"), COL("l_discount")
    return (
        scan("lineitem")
        .filter(COL("l_shipdate") <= date(1998, 9, 2))
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=quantity.sum(), sum_base_price=price.sum(), sum_disc_price=REVENUE.sum(),
            sum_charge=(REVENUE * (1 + COL("l_tax"))).sum(), avg_qty=quantity.mean(), avg_price=price.mean(),
            avg_disc=discount.mean(), count_order=pl.len(),
        )
        .sort("l_returnflag", "l_linestatus")
    )  # fmt: skip


def q2(scan: Scan) -> pl.LazyFrame:
    """Minimum cost supplier."""
    europe = scan("region").filter(COL("r_name") == "EUROPE")
    nations = scan("nation").join(europe, left_on="n_regionkey", right_on="r_regionkey", how="semi")
    sellers = scan("supplier").join(nations, left_on="s_nationkey", right_on="n_nationkey")
    parts = scan("part").filter(COL("p_size") == 15, COL("p_type").str.ends_with("BRASS"))
    offers = (
        scan("partsupp").join(parts, left_on="ps_partkey", right_on="p_partkey").rename({"ps_partkey": "p_partkey"})
    )
    offers = offers.join(sellers, left_on="ps_suppkey", right_on="s_suppkey")
    least = offers.group_by("p_partkey").agg(least=COL("ps_supplycost").min())
    return (
        offers.join(least, on="p_partkey")
        .filter(COL("ps_supplycost") == COL("least"))
        .select("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment")
        .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False])
        .head(100)
    )


def q3(scan: Scan) -> pl.LazyFrame:
    """Shipping priority."""
    buyers = scan("customer").filter(COL("c_mktsegment") == "BUILDING")
    ordered = scan("orders").filter(COL("o_orderdate") < date(1995, 3, 15))
    ordered = ordered.join(buyers, left_on="o_custkey", right_on="c_custkey", how="semi")
    lines = scan("lineitem").filter(COL("l_shipdate") > date(1995, 3, 15))
    return (
        lines.join(ordered, left_on="l_orderkey", right_on="o_orderkey")
        .group_by("l_orderkey", "o_orderdate", "o_shippriority")
        .agg(revenue=REVENUE.sum())
        .sort("revenue", "o_orderdate", descending=[True, False])
        .head(10)
        .select("l_orderkey", "revenue", "o_orderdate", "o_shippriority")
    )


def q4(scan: Scan) -> pl.LazyFrame:
    """Order priority checking."""
    late = scan("lineitem").filter(COL("l_commitdate") < COL("l_receiptdate"))
    return (
        scan("orders")
        .filter(COL("o_orderdate") >= date(1993, 7, 1), COL("o_orderdate") < date(1993, 10, 1))
        .join(late, left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("o_orderpriority")
        .agg(order_count=pl.len())
        .sort("o_orderpriority")
    )


def q5(scan: Scan) -> pl.LazyFrame:
    """Local supplier volume."""
    asia = scan("region").filter(COL("r_name") == "ASIA")
    nations = scan("nation").join(asia, left_on="n_regionkey", right_on="r_regionkey", how="semi")
    buyers = scan("customer").join(nations, left_on="c_nationkey", right_on="n_nationkey")
    ordered = scan("orders").filter(COL("o_orderdate") >= date(1994, 1, 1), COL("o_orderdate") < date(1995, 1, 1))
    ordered = ordered.join(buyers, left_on="o_custkey", right_on="c_custkey")
    lines = scan("lineitem").join(ordered, left_on="l_orderkey", right_on="o_orderkey")
    keys, others = ["l_suppkey", "c_nationkey"], ["s_suppkey", "s_nationkey"]
    local = lines.join(scan("supplier"), left_on=keys, right_on=others, how="semi")
    return local.group_by("n_name").agg(revenue=REVENUE.sum()).sort("revenue", descending=True)


def q6(scan: Scan) -> pl.LazyFrame:
    """Forecasting revenue change."""
    kept = scan("lineitem").filter(
        COL("l_shipdate") >= date(1994, 1, 1),
        COL("l_shipdate") < date(1995, 1, 1),
        COL("l_discount").is_between(0.05, 0.07),
        COL("l_quantity") < 24,
    )
    return kept.select(revenue=(COL("l_extendedprice") * COL("l_discount")).sum())


def q7(scan: Scan) -> pl.LazyFrame:
    """Volume shipping."""
    two = scan("nation").filter((COL("n_name") == "FRANCE") | (COL("n_name") == "GERMANY"))
    sellers = scan("supplier").join(two, left_on="s_nationkey", right_on="n_nationkey")
    buyers = scan("customer").join(two, left_on="c_nationkey", right_on="n_nationkey")
    ordered = scan("orders").join(
        buyers.select("c_custkey", cust_nation="n_name"), left_on="o_custkey", right_on="c_custkey"
    )
    keys = ["supp_nation", "cust_nation", "l_year"]
    return (
        scan("lineitem")
        .filter(COL("l_shipdate") >= date(1995, 1, 1), COL("l_shipdate") <= date(1996, 12, 31))
        .join(sellers.select("s_suppkey", supp_nation="n_name"), left_on="l_suppkey", right_on="s_suppkey")
        .join(ordered, left_on="l_orderkey", right_on="o_orderkey")
        .filter(COL("supp_nation") != COL("cust_nation"))
        .with_columns(l_year=COL("l_shipdate").dt.year())
        .group_by(keys)
        .agg(revenue=REVENUE.sum())
        .sort(keys)
    )


def q8(scan: Scan) -> pl.LazyFrame:
    """National market share."""
    america = scan("region").filter(COL("r_name") == "AMERICA")
    nations = scan("nation").join(america, left_on="n_regionkey", right_on="r_regionkey", how="semi")
    buyers = scan("customer").join(nations, left_on="c_nationkey", right_on="n_nationkey", how="semi")
    ordered = scan("orders").filter(COL("o_orderdate") >= date(1995, 1, 1), COL("o_orderdate") <= date(1996, 12, 31))
    ordered = ordered.join(buyers, left_on="o_custkey", right_on="c_custkey", how="semi")
    steel = scan("part").filter(COL("p_type") == "ECONOMY ANODIZED STEEL")
    sellers = scan("supplier").join(scan("nation"), left_on="s_nationkey", right_on="n_nationkey")
    return (
        scan("lineitem")
        .join(steel, left_on="l_partkey", right_on="p_partkey", how="semi")
        .join(ordered, left_on="l_orderkey", right_on="o_orderkey")
        .join(sellers.select("s_suppkey", "n_name"), left_on="l_suppkey", right_on="s_suppkey")
        .with_columns(o_year=COL("o_orderdate").dt.year(), volume=REVENUE)
        .with_columns(brazilian=pl.when(COL("n_name") == "BRAZIL").then(COL("volume")).otherwise(0.0))
        .group_by("o_year")
        .agg(COL("brazilian").sum(), COL("volume").sum())
        .select("o_year", mkt_share=COL("brazilian") / COL("volume"))
        .sort("o_year")
    )


def q9(scan: Scan) -> pl.LazyFrame:
    """Product type profit measure."""
    green = scan("part").filter(COL("p_name").str.contains("green", literal=True))
    costs = scan("partsupp").join(green, left_on="ps_partkey", right_on="p_partkey", how="semi")
    sellers = scan("supplier").join(scan("nation"), left_on="s_nationkey", right_on="n_nationkey")
    return (
        scan("lineitem")
        .join(costs, left_on=["l_partkey", "l_suppkey"], right_on=["ps_partkey", "ps_suppkey"])
        .join(sellers.select("s_suppkey", nation="n_name"), left_on="l_suppkey", right_on="s_suppkey")
        .join(scan("orders"), left_on="l_orderkey", right_on="o_orderkey")
        .with_columns(o_year=COL("o_orderdate").dt.year(), amount=REVENUE - COL("ps_supplycost") * COL("l_quantity"))
        .group_by("nation", "o_year")
        .agg(sum_profit=COL("amount").sum())
        .sort("nation", "o_year", descending=[False, True])
    )


def q10(scan: Scan) -> pl.LazyFrame:
    """Returned item reporting."""
    ordered = scan("orders").filter(COL("o_orderdate") >= date(1993, 10, 1), COL("o_orderdate") < date(1994, 1, 1))
    buyers = scan("customer").join(scan("nation"), left_on="c_nationkey", right_on="n_nationkey")
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    return (
        scan("lineitem")
        .filter(COL("l_returnflag") == "R")
        .join(ordered.select("o_orderkey", c_custkey="o_custkey"), left_on="l_orderkey", right_on="o_orderkey")
        .join(buyers, on="c_custkey")
        .group_by(keys)
        .agg(revenue=REVENUE.sum())
        .sort("revenue", descending=True)
        .head(20)
    )


def q11(scan: Scan) -> pl.LazyFrame:
    """Important stock identification."""
    germany = scan("nation").filter(COL("n_name") == "GERMANY")
    sellers = scan("supplier").join(germany, left_on="s_nationkey", right_on="n_nationkey", how="semi")
    stock = scan("partsupp").join(sellers, left_on="ps_suppkey", right_on="s_suppkey", how="semi")
    stock = stock.select("ps_partkey", worth=COL("ps_supplycost") * COL("ps_availqty"))
    total = stock.select(least=COL("worth").sum() * 0.0001)
    values = stock.group_by("ps_partkey").agg(value=COL("worth").sum())
    found = values.join(total, how="cross").filter(COL("value") > COL("least"))
    return found.select("ps_partkey", "value").sort("value", descending=True)


def q12(scan: Scan) -> pl.LazyFrame:
    """Shipping modes and order priority."""
    urgent = COL("o_orderpriority").is_in(["1-URGENT", "2-HIGH"])
    return (
        scan("lineitem")
        .filter(
            COL("l_shipmode").is_in(["MAIL", "SHIP"]),
            COL("l_commitdate") < COL("l_receiptdate"),
            COL("l_shipdate") < COL("l_commitdate"),
            COL("l_receiptdate") >= date(1994, 1, 1),
            COL("l_receiptdate") < date(1995, 1, 1),
        )
        .join(scan("orders").select("o_orderkey", "o_orderpriority"), left_on="l_orderkey", right_on="o_orderkey")
        .with_columns(high=urgent.cast(pl.Int64), low=(~urgent).cast(pl.Int64))
        .group_by("l_shipmode")
        .agg(high_line_count=COL("high").sum(), low_line_count=COL("low").sum())
        .sort("l_shipmode")
    )


def q13(scan: Scan) -> pl.LazyFrame:
    """Customer distribution."""
    ordered = scan("orders").filter(~COL("o_comment").str.contains("special.*requests"))
    return (
        scan("customer")
        .join(ordered, left_on="c_custkey", right_on="o_custkey", how="left")
        .group_by("c_custkey")
        .agg(c_count=COL("o_orderkey").count())
        .group_by("c_count")
        .agg(custdist=pl.len())
        .sort("custdist", "c_count", descending=True)
    )


def q14(scan: Scan) -> pl.LazyFrame:
    """Promotion effect."""
    lines = scan("lineitem").filter(COL("l_shipdate") >= date(1995, 9, 1), COL("l_shipdate") < date(1995, 10, 1))
    joined = lines.join(scan("part").select("p_partkey", "p_type"), left_on="l_partkey", right_on="p_partkey")
    promoted = pl.when(COL("p_type").str.starts_with("PROMO")).then(REVENUE).otherwise(0.0)
    return joined.select(promo_revenue=100.0 * promoted.sum() / REVENUE.sum())


def q15(scan: Scan) -> pl.LazyFrame:
    """Top supplier."""
    lines = scan("lineitem").filter(COL("l_shipdate") >= date(1996, 1, 1), COL("l_shipdate") < date(1996, 4, 1))
    revenue = lines.group_by("l_suppkey").agg(total_revenue=REVENUE.sum())
    best = revenue.select(most=COL("total_revenue").max())
    top = revenue.join(best, how="cross").filter(COL("total_revenue") == COL("most"))
    found = scan("supplier").join(top, left_on="s_suppkey", right_on="l_suppkey")
    return found.select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue").sort("s_suppkey")


def q16(scan: Scan) -> pl.LazyFrame:
    """Parts and supplier relationship."""
    complained = scan("supplier").filter(COL("s_comment").str.contains("Customer.*Complaints"))
    parts = scan("part").filter(
        COL("p_brand") != "Brand#45",
        ~COL("p_type").str.starts_with("MEDIUM POLISHED"),
        COL("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9]),
    )
    return (
        scan("partsupp")
        .join(parts, left_on="ps_partkey", right_on="p_partkey")
        .join(complained, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
        .group_by("p_brand", "p_type", "p_size")
        .agg(supplier_cnt=COL("ps_suppkey").n_unique())
        .sort("supplier_cnt", "p_brand", "p_type", "p_size", descending=[True, False, False, False])
    )


def q17(scan: Scan) -> pl.LazyFrame:
    """Small-quantity-order revenue."""
    boxes = scan("part").filter(COL("p_brand") == "Brand#23", COL("p_container") == "MED BOX")
    lines = scan("lineitem").select("l_partkey", "l_quantity", "l_extendedprice")
    lines = lines.join(boxes, left_on="l_partkey", right_on="p_partkey", how="semi")
    typical = lines.group_by("l_partkey").agg(few=0.2 * COL("l_quantity").mean())
    few = lines.join(typical, on="l_partkey").filter(COL("l_quantity") < COL("few"))
    return few.select(avg_yearly=COL("l_extendedprice").sum() / 7.0)


def q18(scan: Scan) -> pl.LazyFrame:
    """Large volume customer."""
    sums = scan("lineitem").group_by("l_orderkey").agg(sum_quantity=COL("l_quantity").sum())
    large = sums.filter(COL("sum_quantity") > 300)
    return (
        scan("orders")
        .join(large, left_on="o_orderkey", right_on="l_orderkey")
        .rename({"o_custkey": "c_custkey"})
        .join(scan("customer").select("c_custkey", "c_name"), on="c_custkey")
        .select("c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "sum_quantity")
        .sort("o_totalprice", "o_orderdate", descending=[True, False])
        .head(100)
    )


def q19(scan: Scan) -> pl.LazyFrame:
    """Discounted revenue."""
    parts = scan("part").filter(COL("p_size") >= 1, COL("p_brand").is_in(["Brand#12", "Brand#23", "Brand#34"]))
    lines = scan("lineitem").filter(
        COL("l_shipmode").is_in(["AIR", "AIR REG"]), COL("l_shipinstruct") == "DELIVER IN PERSON"
    )
    joined = lines.join(parts, left_on="l_partkey", right_on="p_partkey")
    kinds = ("Brand#12", "SM", "CASE BOX PACK PKG", 1, 5), ("Brand#23", "MED", "BAG BOX PKG PACK", 10, 10)
    last = ("Brand#34", "LG", "CASE BOX PACK PKG", 20, 15)
    kept = pl.any_horizontal([discounted(*kind) for kind in (*kinds, last)])
    return joined.filter(kept).select(revenue=REVENUE.sum())


def q20(scan: Scan) -> pl.LazyFrame:
    """Potential part promotion."""
    forest = scan("part").filter(COL("p_name").str.starts_with("forest"))
    lines = scan("lineitem").filter(COL("l_shipdate") >= date(1994, 1, 1), COL("l_shipdate") < date(1995, 1, 1))
    sold = lines.join(forest, left_on="l_partkey", right_on="p_partkey", how="semi")
    sold = sold.group_by("l_partkey", "l_suppkey").agg(half=0.5 * COL("l_quantity").sum())
    left = scan("partsupp").join(sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
    left = left.filter(COL("ps_availqty") > COL("half"))
    canada = scan("nation").filter(COL("n_name") == "CANADA")
    found = scan("supplier").join(canada, left_on="s_nationkey", right_on="n_nationkey", how="semi")
    found = found.join(left, left_on="s_suppkey", right_on="ps_suppkey", how="semi")
    return found.select("s_name", "s_address").sort("s_name")


def q21(scan: Scan) -> pl.LazyFrame:
    """Suppliers who kept orders waiting: orders with lines of other suppliers, of whom none was late."""
    nations = scan("nation").filter(COL("n_name") == "SAUDI ARABIA")
    sellers = scan("supplier").join(nations, left_on="s_nationkey", right_on="n_nationkey", how="semi")
    failed = scan("orders").filter(COL("o_orderstatus") == "F")
    lines, late = scan("lineitem"), scan("lineitem").filter(COL("l_receiptdate") > COL("l_commitdate"))
    several = lines.group_by("l_orderkey").agg(suppliers=COL("l_suppkey").n_unique()).filter(COL("suppliers") > 1)
    alone = late.group_by("l_orderkey").agg(suppliers=COL("l_suppkey").n_unique()).filter(COL("suppliers") == 1)
    return (
        late.join(sellers, left_on="l_suppkey", right_on="s_suppkey")
        .join(failed, left_on="l_orderkey", right_on="o_orderkey", how="semi")
        .join(several, on="l_orderkey", how="semi")
        .join(alone, on="l_orderkey", how="semi")
        .group_by("s_name")
        .agg(numwait=pl.len())
        .sort("numwait", "s_name", descending=[True, False])
        .head(100)
    )


def q22(scan: Scan) -> pl.LazyFrame:
    """Global sales opportunity."""
    people = scan("customer").with_columns(cntrycode=COL("c_phone").str.slice(0, 2))
    people = people.filter(COL("cntrycode").is_in(["13", "31", "23", "29", "30", "18", "17"]))
    usual = people.filter(COL("c_acctbal") > 0.0).select(balance=COL("c_acctbal").mean())
    rich = people.join(usual, how="cross").filter(COL("c_acctbal") > COL("balance"))
    idle = rich.join(scan("orders"), left_on="c_custkey", right_on="o_custkey", how="anti")
    sums = idle.group_by("cntrycode").agg(numcust=pl.len(), totacctbal=COL("c_acctbal").sum())
    return sums.sort("cntrycode")


def discounted(brand: str, size: str, containers: str, quantity: int, most: int) -> pl.Expr:
    """Return whether a row is of one of the three kinds of q19."""
    return (
        (COL("p_brand") == brand)
        & COL("p_container").is_in([f"{size} {container}" for container in containers.split()])
        & (COL("l_quantity") >= quantity)
        & (COL("l_quantity") <= quantity + 10)
        & (COL("p_size") <= most)
    )
