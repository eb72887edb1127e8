"""Sets of keys: which of them group rows, in each part of an aggregate's result."""

from __future__ import annotations

from itertools import combinations

from gpuetl.messages import coded
from gpuetl.spec.group_forms import GroupSets
from gpuetl.spec.steps.group_keys import Keys
from gpuetl.spec.steps.step import Context

MOST_SETS = 64
"""A cube of six keys."""


def sets_of(context: Context, sets: GroupSets, keys: Keys) -> list[tuple[str, ...]] | None:
    """Return the sets, those of the fewest keys first; None where there are none.

    A union copies what comes first once more for each input that follows: most rows come last.
    """
    if sets is None:
        return None
    if not keys.exprs:
        hint = "Add by: the columns that the sets are made of."
        context.problem(coded("GE1822", "group_sets needs by"), hint, sets[0] if sets and sets[0] else None)
        return None
    names = tuple(keys.exprs)
    if sets == "rollup":
        found = [names[:count] for count in range(len(names) + 1)]
    elif sets == "cube":
        if 1 << len(names) > MOST_SETS:
            too_many(context, 1 << len(names))
            return None
        found = [subset for count in range(len(names) + 1) for subset in combinations(names, count)]
    else:
        found = [tuple(map(str, one)) for one in sets]
        wrong = False
        for name in (name for one in sets for name in one if name not in keys.exprs):
            wrong = True
            context.problem(coded("GE1822", f"'{name}' is not in by"), f"Keys: {', '.join(names)}.", name)
        unused = next((name for name in names if not any(name in one for one in found)), None)
        if unused is not None and not wrong:
            message = coded("GE1822", f"no set has the key '{unused}'")
            context.problem(message, "Add it to a set, or leave it out of by.", next(k for k in names if k == unused))
        found = [tuple(name for name in names if name in one) for one in found]
    if len(found) > MOST_SETS:
        too_many(context, len(found))
        return None
    return sorted(found, key=len)


def too_many(context: Context, count: int) -> None:
    """Report that there are more sets than an aggregate takes."""
    message = coded("GE1822", f"{count:,} sets of keys, and an aggregate takes {MOST_SETS}")
    context.problem(message, "Write two aggregate steps, and a union.")
