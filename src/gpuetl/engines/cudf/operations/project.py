"""Project."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.kind import Kinds
from gpuetl.engines.cudf.expressions.evaluate import evaluate
from gpuetl.engines.cudf.expressions.programs import evaluated
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import Needed, programs, run_operation
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import EvaluationError
from gpuetl.plan.nodes import Project


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
