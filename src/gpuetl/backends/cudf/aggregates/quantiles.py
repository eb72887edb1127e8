"""Quantiles: each group's values sorted, and the value at a place among them, linear between the two beside it."""

from __future__ import annotations

from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.aggregates.runs import Runs
from gpuetl.backends.cudf.columns.validity import with_nulls
from gpuetl.backends.cudf.columns.written import empty_column
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.types import FLOAT64


def median(groups: Groups, call: Call) -> Vector:
    """The middle of the values."""
    return quantile_at(groups, call.args[0], 0.5)


def quantile(groups: Groups, call: Call) -> Vector:
    """The quantile at a constant q."""
    assert isinstance(call.args[1], Literal)
    return quantile_at(groups, call.args[0], call.args[1].value)


def quantile_at(groups: Groups, x: Expr, q: float) -> Vector:
    """Return the quantile of a float64 column, sorted once for all its quantiles; NaN is the greatest value."""
    machine, count = groups.machine, groups.count
    runs = groups.once(("ascending", x), lambda: Runs.of(groups, groups.valid(x), [groups.key(x)]))
    made, nulls = empty_column(FLOAT64, count, machine), machine.arrays.zeros(1, "uint64")
    arguments = [count, len(runs.rows), runs.codes, runs.rows, groups.column(x).data, nulls, made.data, made.valid]
    machine.launch(machine.compiled(quantile_source(float(q))), "find_quantiles", count, arguments)
    return with_nulls(made, int(nulls[0]))


def quantile_source(q: float) -> str:
    """Return the kernel `find_quantiles`; between equal infinities there is no difference."""
    return f"""{headers_text(["groups.cuh", "words.cuh"])}
DEVICE double between(double below, double above, double share) {{
    return (below == above ? below : below * (1 - share) + above * share) + 0.0;
}}
KERNEL find_quantiles(int64_t groups, int64_t rows, const int32_t* codes, const int32_t* order, const double* values,
                      uint64_t* nulls, double* found, uint32_t* words) {{
    uint32_t missing = 0;
    FOR_EACH_ROW(group, groups) {{
        int64_t size = 0;
        if (group < groups) {{
            const int64_t start = first_of(codes, rows, group);
            size = first_of(codes, rows, group + 1) - start;
            const double place = {q!r} * double(size - 1);
            const int64_t low = int64_t(place), high = low + (place > double(low));
            found[group] = size ? between(values[order[start + low]], values[order[start + high]], place - double(low))
                                : 0.0;
        }}
        missing += store_word(words, group, group < groups, size > 0);
    }}
    add_nulls(nulls, missing);
}}
"""
