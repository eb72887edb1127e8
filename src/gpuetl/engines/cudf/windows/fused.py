"""The text of several folds as one: a struct of their states, which one kernel combines for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from gpuetl.engines.cudf.device.types import accessor_type
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.steps import Fold, PerRow

ALIGNMENT = 16


def together(folds: Sequence[Fold], columns: Mapping[str, Vector]) -> str:
    """Return the struct `Together` of the folds `f0`, `f1` and so on, whose states are `s0`, `s1` and so on."""
    types = [fold.struct.format(*(accessor_type(columns[name]) for name in fold.columns)) for fold in folds]
    places = range(len(folds))
    typedefs = "\n".join(f"typedef {text} F{place};" for place, text in enumerate(types))
    return f"""
{typedefs}
struct Together {{
    struct State {{ {" ".join(f"F{i}::State s{i};" for i in places)} }};
    {" ".join(f"F{i} f{i};" for i in places)}
    DEVICE State at(int64_t row) const {{ return {{{", ".join(f"f{i}.at(row)" for i in places)}}}; }}
}};
DEVICE Together::State combine(const Together::State& earlier, const Together::State& later) {{
    return {{{", ".join(f"combine(earlier.s{i}, later.s{i})" for i in places)}}};
}}
"""


def constants_of(steps: Iterable[Fold | PerRow]) -> list[int]:
    """Return the constants of some steps, which are the arguments `k0`, `k1` and so on of their kernels."""
    return [constant for step in steps for constant in step.constants]


def constant_names(steps: Iterable[Fold | PerRow]) -> list[str]:
    """Return the names of `constants_of`, whose parameters are of type `int64_t`."""
    return [f"k{place}" for place in range(len(constants_of(steps)))]


def instance(folds: Sequence[Fold], columns: Mapping[str, Vector]) -> str:
    """Return the text of the folds' values, in terms of `marks`, `state`, the columns' accessors and the constants."""
    accessor, constants = {name: f"c{place}" for place, name in enumerate(columns)}, iter(constant_names(folds))
    made = []
    for site, fold in enumerate(folds):
        of = ", ".join([*(accessor[name] for name in fold.columns), *islice(constants, len(fold.constants))])
        made.append(f"{{marks, {{{of}}}{f', state + {site}' if fold.can_fail else ''}}}")
    return f"Together{{{', '.join(made)}}}"


def state_bytes(folds: Sequence[Fold]) -> int:
    """Return as many bytes as a state of all folds takes, or more."""
    return sum(-(-fold.state_bytes // ALIGNMENT) * ALIGNMENT for fold in folds)
