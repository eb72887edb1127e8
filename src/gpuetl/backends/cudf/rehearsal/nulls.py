"""Which rows of what a kernel computes are null, as the statements of its text say; a guess where they branch."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gpuetl.backends.cudf.rehearsal.launch import Launch
from gpuetl.backends.cudf.rehearsal.limits import ROWS

NAME = r"[vmc]\d+"
ROWS_A_GROUP = 64
"""Of fewer, some group has but null values, or a single one."""


def validity(launch: Launch, valid: str) -> Any:
    """Return where (bool) the flag of this name is true.

    It depends on those of what it is made of; a flag that a branch sets, and none else, is not in every row.
    """
    rows, seen, branches = launch["rows"], set[str](), False
    places, names = set[int](), [valid]
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        if name[0] == "c":
            places.add(int(name[1:]))
        elif re.search(rf"if \(!{name}\) {{\s*x\d+ = [^;]*; {name} = true;", launch.own):
            return np.ones(rows, bool)  # coalesce ends with a constant
        else:
            found = statements_of(launch, name)
            branches |= found == {"false", "true"} and not re.search(
                rf"else {{\s*x\d+ = [^;]*; {name} = true;", launch.own
            )
            names += [part for text in found for part in re.findall(NAME, text)]
    known = launch.valid_in(places)
    return known & (np.arange(rows) % 2 == 0) if branches else known


def statements_of(launch: Launch, name: str) -> set[str]:
    """Return what a flag is set to, or what a value is made of."""
    found = set(re.findall(rf"\b{name} = ([^;]*);", launch.own))
    made = set(re.findall(rf"assign\(\w+, {name}, ([^;]*)\);", launch.own))
    return (found | made) - {"false"} if made or name[0] == "g" else found


def few_a_group(groups: int) -> bool:
    """Tell whether groups have so few rows that some has but nulls."""
    return groups * ROWS_A_GROUP > ROWS


def group_validity(launch: Launch, place: int) -> Any:
    """Return where (bool) the result of an aggregate's state is valid, of each group."""
    rows, valid = launch["rows"], np.ones(launch["rows"], bool)
    small = few_a_group(rows)
    taken = re.search(rf"state\.a{place}\.add\(Maybe<\w+>{{.*[mv]\d+(\.valid)?}}\);", launch.structs)
    of_two = re.search(rf"states\[row\]\.a{place}\.(deviation|covariance|correlation)\((1|at)\)", launch.own)
    if rows > 1 and small and (of_two or (taken and ", true}" not in taken[0])):
        valid[1] = False
    return valid
