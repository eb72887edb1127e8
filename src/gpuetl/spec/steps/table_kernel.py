"""A kernel step that makes other rows: what its keys must say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpuetl.messages import coded, recoded
from gpuetl.user_kernels.contract import KernelMismatch
from gpuetl.user_kernels.size_expression import SizeExpression
from gpuetl.user_kernels.twin import COUNTS

if TYPE_CHECKING:
    from gpuetl.spec.steps.kernel import Kernel
    from gpuetl.spec.steps.step import Context


def unit_of(step: Kernel) -> str:
    """Return what the kernel makes rows of: what the step says, or groups where it has their keys."""
    return step.per or ("group" if step.by or step.order_by else "")


def check_table(step: Kernel, context: Context, at: Any) -> None:
    """Compare the keys of a table kernel with each other; `at` is where problems are that no key has."""
    unit = unit_of(step)
    if not unit:
        context.problem(
            coded("GE1307", "a table kernel says what it makes rows of"),
            "Set per: row, per: partition, or by: columns for groups.  Partitions differ from run to run.",
            at,
        )
    if unit in ("row", "partition") and (step.by or step.order_by):
        context.problem(
            coded("GE1307", f"a table kernel per {unit} has no by and order_by"),
            "Set per: group, or take them out.",
            at,
        )
    if step.keep and unit != "row":
        context.problem(
            coded("GE1307", f"a table kernel per {unit or 'group'} has no keep"),
            "Only a row's own columns can be repeated.  Columns of by are there already.",
            step.keep[0],
        )
    if step.nulls == "masks":
        context.problem(
            coded("GE1307", "a table kernel has no masks"),
            "Fill the nulls in a step before, or propagate them: rows with a null make no rows.",
            step.nulls,
        )
    check_names(step, context, {**dict.fromkeys(step.keep, "kept"), **dict.fromkeys(step.by, "a key")})
    size, names = SizeExpression("rows", step.rows), [*step.args]
    try:
        if step.rows:
            size.check_names({"input", *names}, ", ".join(["input", *names]))
            if not size.names:
                size.value({})
    except KernelMismatch as error:
        context.problem(recoded(f"{error}.", error), "", step.rows)


def check_names(step: Kernel, context: Context, kept: Mapping[str, str]) -> None:
    """Outputs are beside the columns that are repeated, and the twin's counts."""
    for name in step.outputs:
        if name in kept:
            context.problem(coded("GE1023", f"output '{name}' is {kept[name]} too"), "Give it another name.", name)
        if name == COUNTS:
            context.problem(
                coded("GE1304", f"output '{name}' has the name of what the twin counts"), "Give it another name.", name
            )
