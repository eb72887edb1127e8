"""How far the columns of a plan can be compared: which are bit-equal, which are rounded, which an engine may choose."""

import enum
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from gpuetl.expressions.ir import Call, Cast, Column, Expr
from gpuetl.expressions.types import FLOAT64, is_floating
from gpuetl.plan import nodes
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node


class Precision(enum.IntEnum):
    """What two right answers have in common, from nothing to everything."""

    NOTHING = 0
    """The rounding of large terms that cancel: not compared."""
    SELF = 1
    """Compared between runs of the engine, not with DuckDB, which has no text for it."""
    COARSE = 2
    """Rounded to float32."""
    ROUNDED = 3
    """Equal but for the last digits: not to be branched on, sorted by or joined with."""
    EXACT = 4
    """Bit-equal."""
    TAME = 5
    """Bit-equal, and so are sums of it, in any order: small integers and multiples of a quarter."""


EXACT_FLOATS = frozenset((
    "add", "subtract", "multiply", "divide", "negate", "abs", "sign", "floor", "ceil", "trunc", "sqrt", "greatest",
    "least", "coalesce", "case", "nullif", "min", "max", "lag", "lead", "first", "last", "ffill", "cum_min", "cum_max",
    "rolling_min", "rolling_max", "round", "epoch", "diff", "mode", "fill_null", "clip", "try_add",
    "try_subtract", "try_multiply", "list_get",
))  # fmt: skip
"""Functions whose float results are correctly rounded, or one of their arguments."""
KEEPING = frozenset((
    "negate", "abs", "floor", "ceil", "trunc", "greatest", "least", "coalesce", "case", "min", "max", "lag", "lead",
    "first", "last", "ffill", "cum_min", "cum_max", "rolling_min", "rolling_max", "mode", "fill_null", "clip",
    "list_get",
))  # fmt: skip
"""Of these, those that leave tame values tame."""
VALUE_ONLY = frozenset(("negate", "abs", "coalesce", "case", "lag", "lead", "first", "last", "ffill"))
"""Functions that look at no digit of a number: rounded ones stay rounded."""
ACCUMULATING = frozenset((
    "sum", "mean", "var", "std", "var_pop", "std_pop", "cum_sum", "cum_mean", "rolling_sum", "rolling_mean", "rolling_std",
    "rolling_var", "ewm_mean", "decayed_sum", "corr", "covar", "covar_samp", "covar_pop", "skew", "skewness", "kurtosis",
    "quantile", "median", "cum_prod", "rolling_median", "rolling_quantile",
))  # fmt: skip
"""Functions whose terms can cancel."""
SELF_ONLY = frozenset(("ewm_mean", "decayed_sum", "hash", "bucket"))
"""Functions that DuckDB has no text for."""


def precision_of(expr: Expr, columns: dict[str, Precision]) -> Precision:
    """Return how far the expression's value can be compared."""
    if isinstance(expr, Column):
        return columns[expr.name]
    if isinstance(expr, Cast):
        inner = precision_of(expr.operand, columns)
        return inner if expr.implicit else min(inner, Precision.EXACT)
    if not isinstance(expr, Call):
        return Precision.EXACT
    return of_call(expr, min((precision_of(arg, columns) for arg in expr.args), default=Precision.EXACT))


def of_call(call: Call, arguments: Precision) -> Precision:
    """Return how far a call's result can be compared, given the least of its arguments."""
    name = call.function.name
    if name in SELF_ONLY:
        least = Precision.TAME if is_floating(call.dtype) else Precision.EXACT
        return Precision.SELF if arguments >= least else Precision.NOTHING
    if not is_floating(call.dtype):
        return min(arguments, Precision.TAME if name in KEEPING else Precision.EXACT)
    if name in ACCUMULATING:
        return Precision.ROUNDED if arguments is Precision.TAME else Precision.NOTHING
    if name == "round" and len(call.args) > 1:
        return Precision.ROUNDED if arguments is Precision.TAME else Precision.NOTHING
    if arguments <= Precision.ROUNDED:
        return arguments if name in VALUE_ONLY else Precision.NOTHING
    if name in EXACT_FLOATS:
        return min(arguments, Precision.TAME if name in KEEPING else Precision.EXACT)
    return Precision.ROUNDED if call.dtype == FLOAT64 else Precision.COARSE


@dataclass(frozen=True)
class Facts:
    """What is known of a node's rows beside their types.

    `unique` are columns that tell rows apart, or None; `most_rows` bounds their number; `sorted` says that they come
    in the order of the node's `ordering`, on any number of partitions.
    """

    precision: dict[str, Precision]
    unique: frozenset[str] | None
    most_rows: int
    sorted: bool = False


def facts_of(node: Node, known: dict[int, tuple[Node, Facts]]) -> Facts:
    """Return the facts of a node; those of its sources are `known`, and so are, after the call, those of all nodes."""
    for each in walk_graph(node):
        if id(each) not in known:
            known[id(each)] = each, facts(each, *(known[id(child)][1] for child in each.inputs))
    return known[id(node)][1]


@singledispatch
def facts(node: Any, *inputs: Facts) -> Facts:
    """Return a node's facts; by default its columns are those of its first input, or exact where they are new."""
    kept = {name: inputs[0].precision.get(name, Precision.EXACT) for name in node.schema}
    return Facts(kept, None, sum(each.most_rows for each in inputs))


@facts.register
def filter_facts(node: nodes.Filter, source: Facts) -> Facts:
    """Fewer rows, in order."""
    return source


@facts.register
def limit_facts(node: nodes.Limit, source: Facts) -> Facts:
    """Fewer rows, in order."""
    return Facts(source.precision, source.unique, min(node.count, source.most_rows), source.sorted)


@facts.register
def sort_facts(node: nodes.Sort, source: Facts) -> Facts:
    """The same rows, in an order that is total where its keys tell rows apart."""
    total = source.unique is not None and source.unique <= {key.column for key in node.by}
    return Facts(source.precision, source.unique, source.most_rows, total)


@facts.register
def project_facts(node: nodes.Project, source: Facts) -> Facts:
    """Rows keep their order and what tells them apart, as far as those columns are kept."""
    names = {old: new for new, old in node.passed.items()}
    unique = None
    if source.unique is not None and source.unique <= names.keys():
        unique = frozenset(names[name] for name in source.unique)
    precision = {name: precision_of(expr, source.precision) for name, expr in node.columns.items()}
    total = unique is not None and unique <= {key.column for key in node.ordering}
    return Facts(precision, unique, source.most_rows, source.sorted and total)


@facts.register
def join_facts(node: nodes.Join, left: Facts, right: Facts) -> Facts:
    """What tells pairs of rows apart is what tells both rows apart."""
    precision = {name: left.precision.get(name, right.precision.get(name)) for name in node.schema}
    unique = None
    if left.unique is not None and right.unique is not None:
        unique = left.unique | (right.unique - set(node.right_on))
    return Facts(precision, unique, left.most_rows * max(right.most_rows, 1))


@facts.register
def aggregate_facts(node: nodes.Aggregate, source: Facts) -> Facts:
    """The keys tell groups apart."""
    results = {name: precision_of(call, source.precision) for name, call in node.calls.items()}
    keys = {name: source.precision[name] for name in node.by}
    return Facts({**keys, **results}, frozenset(node.by), source.most_rows if node.by else 1)


@facts.register
def window_facts(node: nodes.Window, source: Facts) -> Facts:
    """Rows with more columns, in another order."""
    results = {name: precision_of(call, source.precision) for name, call in node.calls.items()}
    unique = None if source.unique is None or source.unique & results.keys() else source.unique
    return Facts({**source.precision, **results}, unique, source.most_rows)


@facts.register
def distinct_facts(node: nodes.Distinct, source: Facts) -> Facts:
    """The keys tell rows apart."""
    return Facts(source.precision, frozenset(node.on), source.most_rows)
