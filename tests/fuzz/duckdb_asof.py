"""As-of joins in DuckDB's SQL, by its own ASOF JOIN: one for the rows before, one for those after."""

from fuzz.duckdb_text import canonical, quoted
from gpuetl.plan import nodes
from gpuetl.types.data_types import DATE, DataType, is_floating

NUMBER, TIME, THERE = '":number"', '":time"', '":there"'


def asof_text(node: nodes.AsofJoin, left: str, right: str, reversed_order: str, order: str) -> str:
    """Return the query; `order` are the right columns that order its ties, and `reversed_order` is the reverse.

    DuckDB takes any of the right rows that tie, so that only the one that is taken is left.  It joins null to nothing,
    so that NaN is null.  It has no tolerance: a match that is too far is none.
    """
    ours = f"(SELECT *, {time_text(node.left_asof, node.left.schema[node.left_asof])} AS {TIME} FROM {left}) l"
    first, last = (one_of_ties(node, right, ties) for ties in (order, reversed_order))
    equal = "IS NOT DISTINCT FROM" if node.nulls_equal else "="
    joins, chosen = "", {"backward": "r_before", "forward": "r_after", "nearest": "r"}[node.direction]
    for side, direction, compared in (("r_before", "forward", ">"), ("r_after", "backward", "<")):
        if node.direction == direction:
            continue
        rows = first if node.direction == "forward" else last
        on = [f"l.{TIME} {compared}{'' if node.strict else '='} {side}.{TIME}"]
        for a, b in zip(node.left_on, node.right_on, strict=True):
            keys = [
                canonical(f"l.{quoted(a)}", node.left.schema[a]),
                canonical(f"{side}.{quoted(b)}", node.right.schema[b]),
            ]
            on.append(f"{keys[0]} {equal} {keys[1]}")
        joins += f" ASOF LEFT JOIN ({rows}) {side} ON {' AND '.join(on)}"
    takes = {side: taken(node, side) for side in ("r_before", "r_after")}
    if node.direction == "nearest":
        nearer = f"{distance(node, 'r_after')} <= {distance(node, 'r_before')}"
        after = f"r_after.{THERE} IS NOT NULL AND (r_before.{THERE} IS NULL OR {nearer})"
        found = {
            name: f"CASE WHEN {after} THEN r_after.{name} ELSE r_before.{name} END"
            for name in map(quoted, node.payload)
        }
        there = f"CASE WHEN {after} THEN {takes['r_after']} ELSE {takes['r_before']} END"
    else:
        found = {name: f"{chosen}.{name}" for name in map(quoted, node.payload)}
        there = takes[chosen]
    columns = [f"l.{quoted(name)} AS {quoted(name)}" for name in node.left.schema]
    columns += [f"CASE WHEN {there} THEN {value} END AS {name}" for name, value in found.items()]
    return f"SELECT {', '.join(columns)} FROM {ours}{joins}" + (f" WHERE {there}" if node.how == "inner" else "")


def one_of_ties(node: nodes.AsofJoin, right: str, order: str) -> str:
    """Return the query of the first right row of each key and time in an order, without those that have no time."""
    schema = node.right.schema
    time = time_text(node.right_asof, schema[node.right_asof])
    keys = ", ".join([*(canonical(quoted(name), schema[name]) for name in node.right_on), time])
    number = f"row_number() OVER (PARTITION BY {keys}{order})"
    return (
        f"SELECT *, true AS {THERE} FROM (SELECT *, {time} AS {TIME}, {number} AS {NUMBER} FROM {right}) "
        f"WHERE {NUMBER} = 1 AND {TIME} IS NOT NULL"
    )


def time_text(name: str, dtype: DataType) -> str:
    """Return what is compared, null where that is NaN."""
    own = canonical(quoted(name), dtype)
    return f"CASE WHEN NOT isnan({own}) THEN {own} END" if is_floating(dtype) else own


def distance(node: nodes.AsofJoin, side: str) -> str:
    """Return how far a row is from its match."""
    ours, theirs = f"l.{TIME}", f"{side}.{TIME}"
    if is_floating(node.order_type):
        a, b = (f"CAST({each} AS DOUBLE)" for each in (ours, theirs))
        return f"CASE WHEN {a} = {b} THEN 0.0 ELSE abs({a} - {b}) END"
    if node.order_type == DATE:
        return f"abs({ours} - {theirs})"
    return f"abs(CAST({ours} AS HUGEINT) - CAST({theirs} AS HUGEINT))"


def taken(node: nodes.AsofJoin, side: str) -> str:
    """Return whether a row has a match, and none too far."""
    there = f"{side}.{THERE} IS NOT NULL"
    return there if node.tolerance is None else f"({there} AND {distance(node, side)} <= {node.tolerance})"
