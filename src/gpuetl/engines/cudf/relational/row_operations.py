"""Filter, project, limit, sort, distinct, explode and union."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.arrays import canonical, converted, iota, numbers_where, pick, scan
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.columns.gather import first_rows, take, take_rows
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.columns.validity import with_valid
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational.sorted_aggregates import ties_at
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.messages import coded
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Distinct, Explode, Filter, Limit, Project, Sort, Union
from gpuetl.types.data_types import BOOL, INT64


@run_operation.register
def filter_rows(operation: Filter, machine: Machine, frame: Frame) -> Frame:
    """Keep the rows where the predicate is true; null is not."""
    mask = evaluate({"": is_true(operation.predicate)}, frame.columns, frame.rows, machine)[""]
    kept = numbers_where(mask.data, machine)
    return frame if len(kept) == frame.rows else take_rows(frame, kept, machine)


@programs.register
def filter_programs(operation: Filter, frame: Kinds) -> Needed:
    """List those of the predicate."""
    return Needed(evaluated({"": is_true(operation.predicate)}, frame).sources, frame.columns)


def is_true(predicate: Expr) -> Expr:
    """Return whether a predicate is true; null is not."""
    return Call(FUNCTIONS["scalar", "coalesce"], (predicate, Literal(False, BOOL)), BOOL)


@run_operation.register
def compute_columns(operation: Project, machine: Machine, frame: Frame) -> Frame:
    """Compute the output columns together; an error says which."""
    try:
        return Frame(evaluate(operation.columns, frame.columns, frame.rows, machine), frame.rows)
    except NoResult as error:
        raise first_failure(operation, machine, frame) or error from None


@programs.register
def column_programs(operation: Project, frame: Kinds) -> Needed:
    """List those of the expressions."""
    return evaluated(operation.columns, frame)


def first_failure(operation: Project, machine: Machine, frame: Frame) -> EvaluationError | None:
    """Return the error of the first column that cannot be computed: computed together, another one may have failed."""
    for name, expr in operation.columns.items():
        try:
            evaluate({name: expr}, frame.columns, frame.rows, machine)
        except NoResult as error:
            return EvaluationError.of_column(name, error)
    return None


@run_operation.register
def limit_rows(operation: Limit, machine: Machine, frame: Frame) -> Frame:
    """Keep the first rows after those that are left out."""
    if not operation.offset:
        return frame if operation.count is None else first_rows(frame, operation.count, machine)
    end = frame.rows if operation.first is None else min(operation.first, frame.rows)
    if operation.offset >= end:
        return first_rows(frame, 0, machine)
    return take_rows(frame, iota(end, machine)[operation.offset :], machine)


@run_operation.register
def sort_frame(operation: Sort, machine: Machine, frame: Frame) -> Frame:
    """Sort rows, stably; of a limit, only those that are wanted are gathered."""
    order = sort_rows(frame, operation.by, 0, operation.presorted, machine, whole=operation.limit is None)
    note_ties(operation, operation.by, order.ties)
    if operation.limit is None:
        return order.apply(frame, machine)
    if order.rows is None:
        return first_rows(frame, operation.limit, machine)
    return take_rows(frame, order.rows[: operation.limit], machine)


@run_operation.register
def distinct_rows(operation: Distinct, machine: Machine, frame: Frame) -> Frame:
    """Keep each key's first row, by `order_by` where it is given, else as rows come; float keys leave canonical."""
    keys = [SortKey(name) for name in operation.on]
    order = sort_rows(frame, [*keys, *operation.order_by], len(keys), False, machine)
    starts = order.group_starts(machine)
    if operation.order_by:
        places = converted(starts, "int64", machine)
        ties = ties_at(places, numbers_where(order.new_value, machine), frame.rows, machine)
        note_ties(operation, (*keys, *operation.order_by), ties)
    kept = take_rows(frame, starts if order.rows is None else pick(order.rows, starts, machine), machine)
    return kept.updated({name: canonical(kept.columns[name], machine) for name in operation.on})


@run_operation.register
def explode_lists(operation: Explode, machine: Machine, frame: Frame) -> Frame:
    """Repeat each row for the elements of its list, in order.

    Raises
    ------
    EvaluationError
        Where the result would have 2^31 rows or more.
    """
    arrays, lists = machine.arrays, frame.columns[operation.column]
    assert lists.elements is not None
    module, bounds = machine.closed("lists"), [lists.offsets, 0 if lists.valid is None else lists.valid]
    repeats = arrays.empty(frame.rows, "int64")
    arguments = [frame.rows, int(operation.keep_empty), *bounds, repeats]
    machine.launch(module, "measure_lists", frame.rows, arguments)
    ends = scan(repeats, machine)
    total = int(ends[-1]) if frame.rows else 0
    if total > MAX_ROWS:
        message = f"the explode would have {total:,} rows, more than {MAX_ROWS:,}"
        raise EvaluationError(coded("GE2008", f"{message}.  Read smaller partitions, or filter before"))
    rows, place, elements, found = (arrays.empty(total, each) for each in ("int32", "int64", "int32", "uint8"))
    machine.launch(module, "explode", total, [total, frame.rows, ends, *bounds, rows, place, elements, found])
    others = {name: vector for name, vector in frame.columns.items() if name != operation.column}
    columns = take(others, rows, machine, missing=False)
    columns |= take({operation.column: lists.elements}, elements, machine)
    if operation.index:
        columns[operation.index] = with_valid(Vector(INT64, total, place), found, machine)
    return Frame({name: columns[name] for name in operation.schema}, total)


@programs.register
def explode_programs(operation: Explode, frame: Kinds) -> Needed:
    """List none."""
    elements = frame.columns[operation.column].elements
    assert elements is not None
    output = {operation.column: elements, operation.index: Kind(INT64)}
    return Needed([], passed(operation.schema, output, frame.columns))


@run_operation.register
def stack_rows(operation: Union, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Put the right rows below the left ones."""
    return concat([left, right], operation.schema, machine)


@programs.register
def stack_programs(operation: Union, left: Kinds, right: Kinds) -> Needed:
    """List none."""
    return Needed([], {name: below(left.columns[name], right.columns[name]) for name in operation.schema})


def below(above: Kind, kind: Kind) -> Kind:
    """Return the kind of a column below another one: strings are coded where both are, or one is null throughout."""
    if above.dictionary is None or kind.dictionary is None:
        return replace(above, dictionary=None)
    return Kind.coded(above.dictionary.rows + kind.dictionary.rows)
