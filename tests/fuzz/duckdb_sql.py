"""Plans in DuckDB's SQL: a bound plan becomes a chain of common table expressions, one for each node.

DuckDB must run with its optimizer off: every column is computed, so that an error shows where ours does.
"""

from functools import singledispatch

from fuzz.duckdb_aggregates import LIST_OF_GROUP, PLACE, STEP_ORDER
from fuzz.duckdb_asof import asof_text
from fuzz.duckdb_casts import Untranslated, cast_text
from fuzz.duckdb_functions import call_text
from fuzz.duckdb_text import canonical, literal_text, quoted
from fuzz.duckdb_types import sql_type
from fuzz.duckdb_windows import GAP, KEY, NUMBERED, TIME
from gpuetl.expressions.functions.aggregates import split_order
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Lambda, Literal, Variable
from gpuetl.plan import nodes
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes.vocabulary import COUNT, ID, VALUE
from gpuetl.types.data_types import DATE, is_floating, is_integer, is_temporal
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_map
from gpuetl.types.schema import Schema

KEPT, CHECK, NUMBER = '":kept"', '":check"', '":number"'


def to_duckdb(node: Node) -> str:
    """Return the query that gives the node's rows, in order where the node is a sort."""
    names: dict[int, str] = {}
    parts = []
    for number, each in enumerate(walk_graph(node)):
        names[id(each)] = f"n{number}"
        parts.append(f"n{number} AS (\n  {select(each, *(names[id(child)] for child in each.inputs))}\n)")
    final = order_text(node.by, node.schema) if isinstance(node, nodes.Sort) else ""
    chain = ",\n".join(parts)
    return f"WITH {chain}\nSELECT * FROM {names[id(node)]}{final}"


@singledispatch
def select(node: Node, *inputs: str) -> str:
    """Return the query of one node over the named inputs."""
    raise NotImplementedError(f"tests/fuzz/duckdb_sql.py has no text for the node {type(node).__name__}")


@select.register
def read(node: nodes.Read) -> str:
    """A table of the source's name."""
    return f"SELECT {columns(node.columns)} FROM {quoted(node.dataset.name)}"


@select.register
def filtered(node: nodes.Filter, source: str) -> str:
    """The whole predicate is computed for every row first, as ours is."""
    kept = f"SELECT *, {text(node.predicate)} AS {KEPT} FROM {source}"
    return f"SELECT {columns(node.schema)} FROM ({kept}) WHERE {KEPT}"


@select.register
def projected(node: nodes.Project, source: str) -> str:
    """One expression a column."""
    return f"SELECT {', '.join(f'{text(expr)} AS {quoted(name)}' for name, expr in node.columns.items())} FROM {source}"


def is_list_of_group(call: Call) -> bool:
    """Return whether a call gives a list by which rows are grouped."""
    return any(isinstance(arg, Column) and quoted(arg.name).startswith(LIST_OF_GROUP) for arg in call.args)


@select.register
def aggregated(node: nodes.Aggregate, source: str) -> str:
    """Group by keys; DuckDB's nulls and NaN are groups as well."""
    by_step = [
        order
        for name, order in node.orders.items()
        if not (split_order(node.calls[name])[1] or is_list_of_group(node.calls[name]))
    ]
    STEP_ORDER.set(bool(by_step))
    for order in by_step[:1]:  # a step has one order
        placed = f"row_number() OVER ({order_text(order, node.source.schema)})"
        source = f"(SELECT *, {placed} AS {PLACE} FROM {source})"
    keys = [canonical(quoted(name), node.source.schema[name]) for name in node.by]
    made = [f"{key} AS {quoted(name)}" for name, key in zip(node.by, keys, strict=True)]
    made += [f"{text(call)} AS {quoted(name)}" for name, call in node.calls.items()]
    return f"SELECT {', '.join(made)} FROM {source}" + (f" GROUP BY {', '.join(keys)}" if keys else "")


@select.register
def windowed(node: nodes.Window, source: str) -> str:
    """The order's time, and what passed since the row before, are columns that functions read."""
    schema = node.source.schema
    window = f"WINDOW w AS ({partition_text(node.by, schema)}{order_text(node.order_by, schema)})"
    time = time_text(node.order_by[0], schema)
    key = number_text(node.order_by[0], schema)
    timed = f"SELECT *, {time} AS {TIME}, {key} AS {KEY}, row_number() OVER w AS {NUMBERED}, {time} - lag({time}) OVER w AS {GAP} FROM {source} {window}"
    kept = [quoted(name) for name in node.source.schema if name not in node.calls]
    made = [f"{text(call)} AS {quoted(name)}" for name, call in node.calls.items()]
    return f"SELECT {', '.join(kept + made)} FROM ({timed}) {window}"


@select.register
def window_of_groups(node: nodes.GroupWindow, source: str) -> str:
    """Each row has what its group comes to."""
    keys = [(quoted(name), node.source.schema[name]) for name in node.by]
    pairs = " AND ".join(
        f"{canonical(f'l.{key}', dtype)} IS NOT DISTINCT FROM {canonical(f'r.{key}', dtype)}" for key, dtype in keys
    )
    made = [f"{'r' if name in node.calls else 'l'}.{quoted(name)} AS {quoted(name)}" for name in node.schema]
    groups = aggregated(node.aggregate, source)
    return f"SELECT {', '.join(made)} FROM {source} l LEFT JOIN ({groups}) r ON {pairs}"


def number_text(key: SortKey, schema: Schema) -> str:
    """Return the number that a window is ordered by, or null; of decimals, sums may leave DuckDB's."""
    dtype = schema[key.column]
    if is_integer(dtype):
        return f"CAST({quoted(key.column)} AS HUGEINT)"
    return f"CAST({quoted(key.column)} AS DOUBLE)" if is_floating(dtype) else "CAST(NULL AS HUGEINT)"


def time_text(key: SortKey, schema: Schema) -> str:
    """Return the time that a window is ordered by, in microseconds, or null."""
    dtype = schema[key.column]
    if not is_temporal(dtype):
        return "CAST(NULL AS BIGINT)"
    return f"epoch_us(CAST({quoted(key.column)} AS TIMESTAMP))" if dtype == DATE else quoted(key.column)


@select.register
def joined(node: nodes.Join, left: str, right: str) -> str:
    """Join on canonical keys; where `validate` is broken, an error."""
    left_keys, right_keys = (
        [f"{side}.{quoted(name)}" for name in on] for side, on in (("l", node.left_on), ("r", node.right_on))
    )
    made = {name: f"{'l' if name in node.left.schema else 'r'}.{quoted(name)}" for name in node.schema}
    if node.how == "full":  # rows of the right side alone have their keys in the left's columns
        made.update(
            (name, f"coalesce({a}, {b})") for name, a, b in zip(node.left_on, left_keys, right_keys, strict=True)
        )
    listed = ", ".join(f"{value} AS {quoted(name)}" for name, value in made.items())
    types = [node.left.schema[name] for name in node.left_on], [node.right.schema[name] for name in node.right_on]
    equal = "IS NOT DISTINCT FROM" if node.nulls_equal else "="
    pairs = " AND ".join(
        f"{canonical(a, s)} {equal} {canonical(b, t)}" for a, b, s, t in zip(left_keys, right_keys, *types, strict=True)
    )
    if isinstance(node, nodes.ConditionJoin):
        pairs = " AND ".join([*([pairs] if pairs else []), text(node.condition)])
        named = [
            f"(SELECT *{''.join(f', {quoted(name)} AS {quoted(prefix + name)}' for name in names)} FROM {side})"
            for side, prefix, names in zip((left, right), ("l.", "r."), node.condition_columns, strict=True)
        ]
    else:
        named = [left, right]
    joins = f"SELECT {listed} FROM {named[0]} l {node.how.upper()} JOIN {named[1]} r" + (
        f" ON {pairs}" if pairs else ""
    )
    return joins + checked(node, left, "left") + checked(node, right, "right")


@select.register
def asof_joined(node: nodes.AsofJoin, left: str, right: str) -> str:
    """Join with the nearest row by DuckDB's own join; where `validate` is broken, an error."""
    schema = node.right.schema
    reverse = tuple(SortKey(key.column, not key.descending, not key.nulls_first) for key in node.order_by)
    joins = asof_text(node, left, right, order_text(reverse, schema), order_text(node.order_by, schema))
    return joins + checked_asof(node, right)


def checked_asof(node: nodes.AsofJoin, right: str) -> str:
    """Return no rows more; an error where a key and its time repeat on the right side."""
    if not node.unique_right:
        return ""
    schema, on = node.right.schema, [*node.right_on, node.right_asof]
    known = [f"{quoted(name)} IS NOT NULL" for name in (on[-1:] if node.nulls_equal else on)]
    if is_floating(schema[on[-1]]):
        known.append(f"NOT isnan({quoted(on[-1])})")
    repeated = f"count(*) OVER (PARTITION BY {', '.join(canonical(quoted(n), schema[n]) for n in on)}) > 1"
    check = (
        f"SELECT CASE WHEN {' AND '.join(known)} AND {repeated} THEN error('repeated keys') END AS {CHECK} FROM {right}"
    )
    return f" UNION ALL SELECT {', '.join(['NULL'] * len(node.schema))} FROM ({check}) WHERE {CHECK} IS NOT NULL"


@select.register
def joined_value(node: nodes.ScalarJoin, left: str, right: str) -> str:
    """Each left row with the value; an error where the stage has several rows, whatever the left side has."""
    kept = [f"l.{quoted(name)}" for name in node.left.schema]
    joins = f"SELECT {', '.join([*kept, quoted(node.value)])} FROM {left} l CROSS JOIN {right}"
    check = f"SELECT CASE WHEN {quoted(node.count)} > 1 THEN error('several rows') END AS {CHECK} FROM {right}"
    nulls = ", ".join(["NULL"] * len(node.schema))
    return f"{joins} UNION ALL SELECT {nulls} FROM ({check}) WHERE {CHECK} IS NOT NULL"


@select.register
def vocabulary(node: nodes.Vocabulary, source: str) -> str:
    """Count, rank, and keep the first ranks."""
    name, dtype = quoted(node.column), node.source.schema[node.column]
    counted = (
        f"SELECT {canonical(name, dtype)} AS {quoted(VALUE)}, count(*) AS {quoted(COUNT)} FROM {source} "
        f"WHERE {name} IS NOT NULL GROUP BY 1 HAVING count(*) >= {node.min_count}"
    )
    ranked = f"SELECT *, row_number() OVER ({order_text(node.ordering, node.schema)}) AS {NUMBER} FROM ({counted})"
    kept = "" if node.most is None else f" WHERE {NUMBER} <= {node.most}"
    number = f"CAST({NUMBER} + {node.first - 1} AS INTEGER) AS {quoted(ID)}"
    return f"SELECT {quoted(VALUE)}, {quoted(COUNT)}, {number} FROM ({ranked}){kept}"


@select.register
def looked_up(node: nodes.VocabularyLookup, left: str, right: str) -> str:
    """0 for null, the number of a value that is there, or that of others."""
    (ours,), (theirs,) = node.left_on, node.right_on
    pairs = " = ".join(
        canonical(f"{side}.{quoted(name)}", schema[name])
        for side, name, schema in (("l", ours, node.left.schema), ("r", theirs, node.right.schema))
    )
    kept = ", ".join(f"l.{quoted(name)}" for name in node.schema if name != node.output)
    number = f"CASE WHEN l.{quoted(ours)} IS NULL THEN 0 ELSE coalesce(r.{quoted(ID)}, {node.unknown}) END"
    return f"SELECT {kept}, CAST({number} AS INTEGER) AS {quoted(node.output)} FROM {left} l LEFT JOIN {right} r ON {pairs}"


def checked(node: nodes.Join, side: str, which: str) -> str:
    """Return no rows more; an error where a side's keys are not as unique as promised, whatever the other side has."""
    if not node.unique[which == "right"]:
        return ""
    schema, on = (node.left.schema, node.left_on) if which == "left" else (node.right.schema, node.right_on)
    known = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in on)
    repeated = f"count(*) OVER (PARTITION BY {', '.join(canonical(quoted(n), schema[n]) for n in on)}) > 1"
    wrong = repeated if node.nulls_equal else f"({known}) AND {repeated}"
    check = f"SELECT CASE WHEN {wrong} THEN error('repeated keys') END AS {CHECK} FROM {side}"
    return f" UNION ALL SELECT {', '.join(['NULL'] * len(node.schema))} FROM ({check}) WHERE {CHECK} IS NOT NULL"


@select.register
def united(node: nodes.Union, left: str, right: str) -> str:
    """Both inputs have the same columns."""
    return " UNION ALL ".join(f"SELECT {columns(node.schema)} FROM {side}" for side in (left, right))


@select.register
def exploded(node: nodes.Explode, source: str) -> str:
    """Elements and places are unnested side by side; DuckDB gives no row of an empty list, nor of null."""
    is_entries = is_map(node.source.schema[node.column])
    values = f"map_entries({quoted(node.column)})" if is_entries else quoted(node.column)
    made = {node.column: values, node.index: f"range(len({values}))"}
    if node.keep_empty:
        null = {name: f"CAST([NULL] AS {sql_type(node.schema[name])}[])" for name in node.new_columns}
        full = f"len({values}) > 0"
        made = {name: f"CASE WHEN {full} THEN {made[name]} ELSE {null[name]} END" for name in node.new_columns}
    listed = [
        f"unnest({made[name]}) AS {quoted(name)}" if name in node.new_columns else quoted(name) for name in node.schema
    ]
    return f"SELECT {', '.join(listed)} FROM {source}"


@select.register
def inserted(node: nodes.InsertRows, source: str) -> str:
    """Places are unnested; made rows have the repeated columns only."""
    place = quoted(node.place)
    numbered = f"SELECT *, unnest(range(-{quoted(node.before)}, {quoted(node.after)} + 1)) AS {place} FROM {source}"
    kept = {node.place, *node.repeated}
    made = (
        quoted(n) if n in kept else f"CASE WHEN {place} = 0 THEN {quoted(n)} END AS {quoted(n)}" for n in node.schema
    )
    return f"SELECT {', '.join(made)} FROM ({numbered})"


@select.register
def sorted_rows(node: nodes.Sort, source: str) -> str:
    """Rows of a table have no order; limits and the end of the query state it."""
    return f"SELECT * FROM {source}"


@select.register
def limited(node: nodes.Limit, source: str) -> str:
    """The first rows in the order in which the input's rows come."""
    return f"SELECT * FROM {source}{order_text(node.ordering, node.schema)} LIMIT {'ALL' if node.count is None else node.count} OFFSET {node.offset}"


@select.register
def distinct(node: nodes.Distinct, source: str) -> str:
    """The first row of each key."""
    schema = node.source.schema
    number = f"row_number() OVER ({partition_text(node.on, schema)}{order_text(node.order_by, schema)})"
    return f"SELECT {columns(schema)} FROM (SELECT *, {number} AS {NUMBER} FROM {source}) WHERE {NUMBER} = 1"


def columns(names: object) -> str:
    """Return a list of columns."""
    return ", ".join(quoted(name) for name in names)  # type: ignore[attr-defined]


def partition_text(names: tuple[str, ...], schema: Schema) -> str:
    """Return the clause that groups a window's rows."""
    keys = ", ".join(canonical(quoted(name), schema[name]) for name in names)
    return f"PARTITION BY {keys}" if keys else ""


def order_text(keys: tuple[SortKey, ...], schema: Schema) -> str:
    """Return the clause of an order; nulls last both ways unless stated."""
    parts = [
        f"{canonical(quoted(key.column), schema[key.column])} {'DESC' if key.descending else 'ASC'} "
        f"NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        for key in keys
    ]
    return f" ORDER BY {', '.join(parts)}" if parts else ""


@singledispatch
def text(expr: Expr) -> str:
    """Return the text of an expression."""
    raise NotImplementedError(type(expr).__name__)


@text.register
def column(expr: Column) -> str:
    """A name."""
    return quoted(expr.name)


@text.register
def constant(expr: Literal) -> str:
    """A constant with its type."""
    return literal_text(expr)


@text.register
def variable(expr: Variable) -> str:
    """A name."""
    return quoted(expr.name)


@text.register
def function(expr: Lambda) -> str:
    """A lambda, whose names are DuckDB's too."""
    return f"lambda {', '.join(quoted(each.name) for each in expr.parameters)}: {text(expr.body)}"


@text.register
def cast(expr: Cast) -> str:
    """A widening that typing put in is DuckDB's own; one that the user wrote is spelled."""
    operand = text(expr.operand)
    source, target = expr.operand.dtype, expr.dtype
    spelled = (source == DATE and target != DATE) or (is_decimal(source) and is_floating(target))
    plain = expr.implicit and not spelled
    made = None if plain else cast_text(operand, source, target, expr.lenient)
    if made is None and not expr.implicit:
        raise Untranslated(f"a cast from {source} to {target}")
    return made or f"CAST({operand} AS {sql_type(target)})"


@text.register
def call(expr: Call) -> str:
    """An entry of the table."""
    return call_text(expr, *map(text, expr.args))
