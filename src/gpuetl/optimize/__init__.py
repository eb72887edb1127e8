"""The optimizer: one sweep over named rewrites in fixed order.  Each keeps every output's rows and schema.

A new pass is a file here with one function Plan → Plan, and its place in PASSES.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence

from gpuetl.errors import InvalidPipeline, suggestion
from gpuetl.messages import coded
from gpuetl.optimize.fold_expressions import fold_expressions
from gpuetl.optimize.prune_columns import prune_columns
from gpuetl.optimize.prune_fields import prune_fields
from gpuetl.optimize.push_filters import push_filters
from gpuetl.optimize.push_limits import push_limits
from gpuetl.optimize.reduce_groups import reduce_groups
from gpuetl.optimize.roll_up_groups import roll_up_groups
from gpuetl.optimize.select_row_groups import select_row_groups
from gpuetl.optimize.share_sorts import share_sorts
from gpuetl.optimize.shorten_keys import shorten_keys
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass

PASSES: tuple[Callable[[Plan], Plan], ...] = (
    fold_expressions, roll_up_groups, push_filters, reduce_groups, push_limits, prune_columns, prune_fields,
    select_row_groups, shorten_keys, share_sorts,
)  # fmt: skip
NAMES = tuple(rewrite.__name__ for rewrite in PASSES)


@dataclass(frozen=True)
class Optimized:
    """A plan after its passes, and how long each took."""

    plan: Plan
    seconds: dict[str, float]


def optimize(plan: Plan, skip: Container[str] = (), before: str | None = None) -> Optimized:
    """Run the passes in order, without those in `skip`, and stop before the one named `before`."""
    seconds: dict[str, float] = {}
    for rewrite in PASSES:
        if rewrite.__name__ == before:
            break
        if rewrite.__name__ not in skip:
            start = time.perf_counter()
            plan = rewrite(plan)
            seconds[rewrite.__name__] = time.perf_counter() - start
    return Optimized(plan, seconds)


def check_rung(name: str) -> str:
    """Return the name of a pass to stop before, or `end`; raise `InvalidPipeline` where there is none such."""
    return name if name == "end" else check_pass(name, NAMES)


def check_pass(name: str, names: Sequence[str]) -> str:
    """Return the name of a pass, or of what else may be left out; raise `InvalidPipeline` where there is none such."""
    if name not in names:
        raise InvalidPipeline.because(
            coded("GE3004", f"unknown pass '{name}'"), f"Passes: {', '.join(names)}. {suggestion(name, names)}"
        )
    return name
