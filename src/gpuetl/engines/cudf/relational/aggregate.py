"""Aggregate: rows sorted by group once, then states for most calls and sorted picks for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.engines.cudf.relational.aggregate_reduction import reduced
from gpuetl.engines.cudf.relational.aggregate_states import has_state
from gpuetl.engines.cudf.relational.collected_aggregates import array_agg, of_distinct, string_agg
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.sketches import HASHED, SKETCHES, hash_of
from gpuetl.engines.cudf.relational.sorted_aggregates import (
    cell,
    count_distinct,
    edge,
    extreme,
    mad,
    median,
    quantile,
    quantile_disc,
    value_by,
)
from gpuetl.engines.cudf.relational.value_counts import DISTRIBUTIONS
from gpuetl.expressions.functions.aggregates import is_sort_key
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.plan.nodes import Aggregate, GroupWindow

Handler = Callable[[Groups, Call, Aggregate], Vector]

PICKS: dict[str, Handler] = {
    "first": lambda groups, call, operation: edge(groups, call, operation, last=False),
    "last": lambda groups, call, operation: edge(groups, call, operation, last=True),
    "arg_min_null": lambda groups, call, operation: value_by(groups, call, greatest=False),
    "arg_max_null": lambda groups, call, operation: value_by(groups, call, greatest=True),
    "min": lambda groups, call, operation: extreme(groups, call, greatest=False),
    "max": lambda groups, call, operation: extreme(groups, call, greatest=True),
    "cell": lambda groups, call, operation: cell(groups, call),
    "median": lambda groups, call, operation: median(groups, call),
    "quantile": lambda groups, call, operation: quantile(groups, call),
    "quantile_disc": lambda groups, call, operation: quantile_disc(groups, call),
    "mad": lambda groups, call, operation: mad(groups, call),
    "count_distinct": lambda groups, call, operation: count_distinct(groups, call),
    "array_agg": array_agg,
    "array_agg_distinct": array_agg,
    "string_agg": string_agg,
    "string_agg_distinct": string_agg,
}


def of_call(handler: Callable[[Groups, Call], Vector]) -> Handler:
    """Return the handler of a function that needs nothing of the operation."""
    return lambda groups, call, operation: handler(groups, call)


PICKS |= {name: of_call(own) for name, own in {**SKETCHES, **DISTRIBUTIONS}.items()}


def one_call(groups: Groups, call: Call, operation: Aggregate) -> Vector:
    """Compute the call of an operation that has one."""
    if not has_state(call):
        return PICKS[call.function.name](groups, call, operation)
    (result,) = reduced(groups, operation.calls).values()
    return result


PICKS |= of_distinct(one_call)


@run_operation.register
def aggregate_groups(operation: Aggregate, machine: Machine, frame: Frame) -> Frame:
    """Compute one row a group, in the order of the keys; without keys there is always one.

    Raises
    ------
    EvaluationError
        Where a sum leaves its type.
    """
    groups = Groups.by(frame, operation.compared, machine)
    return Frame(groups.keys(operation.kept) | results_of(operation, groups), groups.count)


@run_operation.register
def aggregate_whole_groups(operation: GroupWindow, machine: Machine, frame: Frame) -> Frame:
    """Add each call's result for a row's group: rows stay in place, and each takes its group's by number.

    Raises
    ------
    EvaluationError
        Where a sum leaves its type.
    """
    groups = Groups.by(frame, operation.by, machine)
    results = results_of(operation.aggregate, groups)
    return frame.updated(take(results, groups.codes, machine, missing=False))


def results_of(operation: Aggregate, groups: Groups) -> dict[str, Vector]:
    """Return each call's values, one a group."""
    together = {name: call for name, call in operation.calls.items() if has_state(call)}
    results = reduced(groups, together) if together else {}
    for name, call in operation.calls.items():
        if name not in results:
            results[name] = PICKS[call.function.name](groups, call, operation)
    return {name: results[name] for name in operation.calls}


@programs.register
def aggregate_programs(operation: Aggregate, frame: Kinds) -> Needed:
    """List those of arguments that are not columns."""
    return call_programs(operation, frame)


@programs.register
def group_window_programs(operation: GroupWindow, frame: Kinds) -> Needed:
    """List those of arguments that are not columns."""
    return call_programs(operation, frame)


def call_programs(operation: Aggregate | GroupWindow, frame: Kinds) -> Needed:
    """List those of calls, and what these give."""
    sources = list[KernelSource]()
    for call in operation.calls.values():
        if call.function.name in HASHED:
            sources += evaluated({"": hash_of(call.args[0])}, frame).sources
        for argument in call.args:
            if is_sort_key(argument) or isinstance(argument, Column):
                continue
            if has_state(call) or not isinstance(argument, Literal):
                sources += evaluated({"": argument}, frame).sources
    kinds = {name: call_kind(call, frame.columns) for name, call in operation.calls.items()}
    return Needed(sources, passed(operation.schema, kinds, frame.columns))


def call_kind(call: Call, columns: Mapping[str, Kind]) -> Kind:
    """Return the kind of a call's column: what picks a row gives its value; lists have elements without codes."""
    picked = not has_state(call) and not call.function.name.startswith("string_agg")
    representative = call.args[0] if picked and call.args else None
    if isinstance(representative, Column) and representative.dtype == call.dtype:
        return columns[representative.name]
    return Kind.of(call.dtype)
