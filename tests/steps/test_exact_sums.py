"""Exact numbers around sums: TPC-H Q6 as it is printed, and a sum beside its share."""

from datetime import date
from decimal import Decimal

from gpuetl import expr
from tables import table


def test_q6_as_the_specification_of_tpc_h_prints_it(source, check):
    """The discount is 0.06 - 0.01 to 0.06 + 0.01, both of them included."""
    types = {"l_shipdate": "date", "l_discount": "decimal(15,2)", "l_quantity": "decimal(15,2)", "l_extendedprice": "decimal(15,2)"}  # fmt: skip
    kept = [
        ("1994-01-01", "0.05", "23.99", "100.10"),
        ("1994-12-31", "0.07", "1", "200.20"),
        ("1994-06-01", "0.06", "2", "10"),
    ]
    left_out = [
        ("1993-12-31", "0.06", "1", "1000"), ("1995-01-01", "0.06", "1", "1000"), ("1994-06-01", "0.04", "1", "1000"),
        ("1994-06-01", "0.08", "1", "1000"), ("1994-06-01", "0.06", "24", "1000"),
    ]  # fmt: skip
    rows = [(date.fromisoformat(day), *map(Decimal, rest)) for day, *rest in (*kept, *left_out)]
    lineitem = source(table(types, *rows), "lineitem")
    selected = lineitem.filter(
        expr(
            "l_shipdate >= DATE '1994-01-01' AND l_shipdate < add_months(DATE '1994-01-01', 12)"
            " AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24"
        )
    )
    revenue = selected.aggregate(revenue=expr("sum(l_extendedprice * l_discount)"))
    check(revenue, table({"revenue": "decimal(38,4)"}, (Decimal("19.6190"),)))


def test_a_sum_compares_with_its_share(source, check):
    t = source(
        table({"k": "int64", "x": "decimal(15,2)"}, (1, Decimal("3.00")), (1, Decimal("0.01")), (2, Decimal(-1)))
    )
    sums = t.aggregate("k", total=expr("sum(x)"), above=expr("sum(x) > sum(x) * 0.0001"))
    expected = table(
        {"k": "int64", "total": "decimal(38,2)", "above": "bool"}, (1, Decimal("3.01"), True), (2, Decimal(-1), False)
    )
    check(sums, expected)
