"""Aggregates in two steps: on each partition, then over the partitions' results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TypeVar

from gpuetl.expressions.build import col, when
from gpuetl.expressions.functions import FUNCTIONS, Function
from gpuetl.expressions.functions.aggregates import (
    BY_KEY,
    CENTER,
    CO_MOMENT,
    EXACT_DURATION_MEAN,
    EXACT_MEAN,
    HIGH_SUM,
    LOW_SUM,
    MERGED_CO_MOMENT,
    WHOLE_SUMS,
    WIDE,
    WIDE_SUM,
    edge_arguments,
)
from gpuetl.expressions.functions.moments import FOURTH_MOMENT, MERGED_FOURTH, MERGED_THIRD, THIRD_MOMENT
from gpuetl.expressions.functions.sketches import (
    BUCKET_LIST,
    BUCKETS_OF,
    DISTINCT_OF_REGISTERS,
    QUANTILE_OF_BUCKETS,
    REGISTER_LIST,
    REGISTERS_OF,
)
from gpuetl.expressions.ir import ABSENT, Call, Column, Expr
from gpuetl.expressions.resolve import formula
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Aggregate, Project, passing
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, DURATION, FLOAT64, INT64, DataType, is_floating
from gpuetl.types.decimal_types import HALF_DIGITS, is_decimal, total_type
from gpuetl.types.schema import Schema, free_name

T = TypeVar("T", Expr, Call)


@dataclass(frozen=True)
class Phases:
    """`partial` runs on each partition, `final` on the rows of equal keys, `finish` turns its columns into results.

    `prepare`, where there is one, computes on each partition what `partial` reads.
    """

    prepare: Project | None
    partial: Aggregate
    final: Aggregate
    finish: Project


def two_phases(node: Aggregate, source: Node) -> Phases | None:
    """Split an aggregate; None where one of its calls needs all rows of a group at once."""
    if not all(call.function.name in _SPLIT for call in node.calls.values()):
        return None
    split = _SplitCalls(source.schema)
    results: dict[str, Expr] = dict(passing(node.schema.select(node.kept)))
    for name, call in node.calls.items():
        results[name] = _SPLIT[call.function.name](split, _NamedCall(name, call, node.orders.get(name, ())))
    prepare = None
    if split.prepared:
        columns = {**passing(source.schema), **split.prepared}
        source = prepare = Project(source=source, columns=columns, origin=node.origin)
    first = replace(node, source=source, calls=split.partial, orders=split.partial_orders, dropped=())
    second = replace(node, source=first, calls=split.final, orders=split.final_orders)
    return Phases(prepare, first, second, Project(source=second, columns=results, origin=node.origin))


@dataclass(frozen=True)
class _NamedCall:
    """A call of the aggregate, its name, and the order of rows that it needs."""

    name: str
    call: Call
    order: tuple[SortKey, ...]


@dataclass
class _SplitCalls:
    """The calls of both phases, by name.  Names begin with the output's, which errors name."""

    schema: Schema
    prepared: dict[str, Expr] = field(default_factory=dict)
    partial: dict[str, Call] = field(default_factory=dict)
    partial_orders: dict[str, tuple[SortKey, ...]] = field(default_factory=dict)
    final: dict[str, Call] = field(default_factory=dict)
    final_orders: dict[str, tuple[SortKey, ...]] = field(default_factory=dict)

    def prepare(self, name: str, expr: Expr) -> Column:
        """Compute a column before the first phase."""
        return self._place(self.prepared, name, expr)

    def part(self, name: str, call: Call) -> Column:
        """Compute a call on each partition."""
        return self._place(self.partial, name, call)

    def merge(self, name: str, call: Call) -> Column:
        """Compute a call over the partitions' results."""
        return self._place(self.final, name, call)

    def merged(self, name: str, call: Call, merge: str) -> Column:
        """Compute a call on each partition, and merge its results by an aggregate of one argument."""
        part = self.part(name, call)
        return self.merge(name, _call(merge, part.dtype, part))

    def _place(self, place: dict[str, T], name: str, expr: T) -> Column:
        """Keep an expression under a name of its own; one that is there already is computed once."""
        part_name = next((own for own, there in place.items() if there == expr), None)
        part_name = part_name or free_name(f"{name}:part", self.schema, place)
        place[part_name] = expr
        return Column(part_name, expr.dtype)


def _call(name: str, dtype: DataType, *args: Expr) -> Call:
    return Call(FUNCTIONS["aggregate", name], args, dtype)


def _summed(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    return split.merged(named_call.name, named_call.call, "sum")


def _itself(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    return split.merged(named_call.name, named_call.call, named_call.call.function.name)


def _sum(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Carry what no partition's own sum overflows: integers and durations in 38 digits, long decimals in halves."""
    call = named_call.call
    if call.dtype in (INT64, DURATION):
        part = split.part(named_call.name, Call(WIDE_SUM, call.args, WIDE))
        whole = WHOLE_SUMS["sum_of_wide" if call.dtype == INT64 else "duration_of_wide"]
        return split.merge(named_call.name, Call(whole, (part,), call.dtype))
    if not is_decimal(call.dtype) or call.args[0].dtype.precision <= HALF_DIGITS:
        return _summed(split, named_call)
    return split.merge(named_call.name, Call(WHOLE_SUMS["sum_of_halves"], _halves(split, named_call), call.dtype))


def _halves(split: _SplitCalls, named_call: _NamedCall) -> tuple[Column, Column]:
    """Sum the high and the low halves of decimals on each partition."""
    (x,) = named_call.call.args
    high = split.part(named_call.name, Call(HIGH_SUM, (x,), WIDE))
    return high, split.part(named_call.name, Call(LOW_SUM, (x,), total_type(x.dtype)))


def _mean(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Divide once, after all partitions' sums are added up."""
    (x,) = named_call.call.args
    count = split.merged(named_call.name, _call("count", INT64, x), "sum")
    if is_floating(x.dtype):
        total = split.merged(named_call.name, _call("sum", FLOAT64, x), "sum")
        return formula(col("total") / col("count"), total=total, count=count)
    if not is_decimal(x.dtype):
        total = split.merged(named_call.name, Call(WIDE_SUM, (x,), WIDE), "sum")
        return Call(EXACT_DURATION_MEAN if x.dtype == DURATION else EXACT_MEAN, (count, total), named_call.call.dtype)
    if x.dtype.precision <= HALF_DIGITS:
        total = split.merged(named_call.name, _call("sum", total_type(x.dtype), x), "sum")
        return Call(EXACT_MEAN, (count, total), FLOAT64)
    high, low = (split.merge(named_call.name, _call("sum", part.dtype, part)) for part in _halves(split, named_call))
    return Call(EXACT_MEAN, (count, low, high), FLOAT64)


def _moments(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Merge counts, means and co-moments; of pairs, those in which neither is null."""
    x, y = named_call.call.args[0], named_call.call.args[-1]
    if x != y:
        both = when(col("x").is_not_null() & col("y").is_not_null(), col("x")).end()
        x, y = (split.prepare(named_call.name, formula(both, x=a, y=b)) for a, b in ((x, y), (y, x)))
    n, centers = split.part(named_call.name, _call("count", INT64, x)), {}
    for argument in (x, y):
        centers[argument] = split.part(named_call.name, Call(CENTER, (argument,), FLOAT64))

    def moment(left: Expr, right: Expr) -> Expr:
        part = split.part(named_call.name, Call(CO_MOMENT, (left, right), FLOAT64))
        return split.merge(named_call.name, Call(MERGED_CO_MOMENT, (n, centers[left], centers[right], part), FLOAT64))

    operands = {"n": split.merge(named_call.name, _call("sum", INT64, n)), "xy": moment(x, y)}
    if named_call.call.function.name == "corr":
        operands |= {"xx": moment(x, x), "yy": moment(y, y)}
    return formula(_FINISH[named_call.call.function.name], **operands)


def _high_moments(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Merge counts, means, and the second to the fourth moment."""
    name, (x,) = named_call.name, named_call.call.args

    def part(function: Function, *args: Expr) -> Column:
        return split.part(name, Call(function, args, FLOAT64))

    n, center = split.part(name, _call("count", INT64, x)), part(CENTER, x)
    parts = (n, center, part(CO_MOMENT, x, x), part(THIRD_MOMENT, x), part(FOURTH_MOMENT, x))
    operands = {
        "n": split.merge(name, _call("sum", INT64, n)),
        "second": split.merge(name, Call(MERGED_CO_MOMENT, (n, center, center, parts[2]), FLOAT64)),
        "third": split.merge(name, Call(MERGED_THIRD, parts, FLOAT64)),
        "fourth": split.merge(name, Call(MERGED_FOURTH, parts, FLOAT64)),
    }
    return formula(_FINISH_HIGH[named_call.call.function.name], **operands)


def _extreme_by(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Carry the value by which rows are compared."""
    y = named_call.call.args[1]
    extreme = named_call.call.function.name.removeprefix("arg_").removesuffix("_null")
    key_value = _call(extreme, y.dtype, y)
    parts = split.part(named_call.name, named_call.call), split.part(named_call.name, key_value)
    return split.merge(named_call.name, replace(named_call.call, args=parts))


def _edge(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Carry the order's keys of the row that was picked, named for the user, and whether there was one."""
    x, ignore_nulls, only = edge_arguments(named_call.call)
    considered = col("only") & col("x").is_not_null() if ignore_nulls else col("only")
    kept = split.prepare(named_call.name, formula(considered, x=x, only=only))

    def call_of(name: str, expr: Expr) -> Column:
        part = split.part(name, replace(named_call.call, args=(expr, ABSENT, kept), dtype=expr.dtype))
        split.partial_orders[part.name] = named_call.order
        return part

    order = []
    for key in named_call.order:
        key_value = call_of(f"{key.column}{BY_KEY}{named_call.name}", Column(key.column, split.schema[key.column]))
        order.append(replace(key, column=key_value.name))
    found = split.part(named_call.name, _call("any", BOOL, kept))
    result = split.merge(named_call.name, replace(named_call.call, args=(call_of(named_call.name, x), ABSENT, found)))
    split.final_orders[result.name] = tuple(order)
    return result


def _distinct_estimate(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Merge registers, the greater of each two."""
    registers = split.part(named_call.name, Call(REGISTERS_OF, named_call.call.args, REGISTER_LIST))
    return split.merge(named_call.name, Call(DISTINCT_OF_REGISTERS, (registers,), INT64))


def _quantile_estimate(split: _SplitCalls, named_call: _NamedCall) -> Expr:
    """Merge counts of values; quantiles of the same values share them."""
    x, q = named_call.call.args
    buckets = split.part(named_call.name, Call(BUCKETS_OF, (x,), BUCKET_LIST))
    return split.merge(named_call.name, Call(QUANTILE_OF_BUCKETS, (buckets, q), FLOAT64))


_N, _XY, _XX, _YY = map(col, ("n", "xy", "xx", "yy"))
_R = _XY / (_XX.sqrt() * _YY.sqrt())
_FINISH = {
    "var": when(_N > 1, _XY / (_N - 1)).end(),
    "std": when(_N > 1, (_XY / (_N - 1)).sqrt()).end(),
    "var_pop": _XY / _N,
    "std_pop": (_XY / _N).sqrt(),
    "covar_samp": when(_N > 1, _XY / (_N - 1)).end(),
    "covar_pop": _XY / _N,
    "corr": when(_N > 1, when(_R.abs() > 1, _R.sign()).otherwise(_R)).end(),
}

_SECOND = col("second")
_TAILS = _N * (col("fourth") / (_SECOND * _SECOND))
_FINISH_HIGH = {
    "skewness": when(
        (_N > 2) & (_SECOND != 0), (_N - 1).sqrt() * _N / (_N - 2) * (col("third") / (_SECOND * _SECOND.sqrt()))
    ).end(),
    "kurtosis": when(
        (_N > 3) & (_SECOND != 0), (_N - 1) * ((_N + 1) * _TAILS - 3 * (_N - 1)) / ((_N - 2) * (_N - 3))
    ).end(),
    "kurtosis_pop": when((_N > 1) & (_SECOND != 0), _TAILS - 3).end(),
}

_SPLIT: dict[str, Callable[[_SplitCalls, _NamedCall], Expr]] = {
    "count": _summed, "count_rows": _summed, "count_if": _summed, "sum": _sum, "mean": _mean,
    "min": _itself, "max": _itself, "any": _itself, "all": _itself,
    "product": _itself, "bitwise_and": _itself, "bitwise_or": _itself, "bitwise_xor": _itself,
    "approx_count_distinct": _distinct_estimate, "approx_quantile": _quantile_estimate,
    "wide_sum": _summed,  # of groups that others are made of
    "first": _edge, "last": _edge, "arg_min_null": _extreme_by, "arg_max_null": _extreme_by,
    **dict.fromkeys(_FINISH, _moments), **dict.fromkeys(_FINISH_HIGH, _high_moments),
}  # fmt: skip
