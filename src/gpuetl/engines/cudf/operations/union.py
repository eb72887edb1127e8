"""Union."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import Needed, programs, run_operation
from gpuetl.plan.nodes import Union


@run_operation.register
def stack_rows(operation: Union, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Put the right rows below the left ones."""
    return concat([left, right], operation.schema, machine)


@programs.register
def stack_programs(operation: Union, left: Kinds, right: Kinds) -> Needed:
    """List none."""
    return Needed([], {name: below(left.columns[name], right.columns[name]) for name in operation.schema})


def below(above: Kind, kind: Kind) -> Kind:
    """Return the kind of a column below another one: texts are coded where both are, or one is null throughout."""
    if above.dictionary is None or kind.dictionary is None:
        return replace(above, dictionary=None)
    return Kind.coded(above.dictionary.rows + kind.dictionary.rows)
