"""Kernels of which a user writes only what is computed: one row's statements, or a reduction's expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = """
    alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete
    do double else enum explicit export extern false float for friend goto if inline int long mutable namespace new
    not nullptr operator or private protected public register return short signed sizeof static struct switch
    template this throw true try typedef typename union unsigned using virtual void volatile while xor DEVICE KERNEL
    LANE LANES TABLE FOR_EACH_ROW FOR_EACH_WARP
"""
TAKEN = frozenset(_WORDS.split())
"""Words of C++, and the macros of the engine's own headers."""
REDUCED = ("a", "b")
"""What a reduction's expressions call two values that become one."""


@dataclass(frozen=True)
class KernelTexts:
    """The C++ texts that a kernel is generated around, and its NumPy twin.

    Parameters
    ----------
    texts
        `body`, the statements for one row; or `map`, `reduce`, `identity` and `post`, a reduction's expressions.
    reference, function
        The twin's file and function.
    """

    texts: Mapping[str, str]
    reference: Path
    function: str

    @property
    def entry(self) -> str:
        """What messages call the kernel."""
        return self.function


def unusable_names(
    inputs: Iterable[str], outputs: Iterable[str], arguments: Iterable[str], masks: bool
) -> Iterator[str]:
    """Yield, in words, each name that the texts cannot have for a value of theirs."""
    seen: dict[str, str] = {}
    roles = (("input", inputs), ("output", outputs), ("argument", arguments))
    for role, name in ((role, name) for role, names in roles for name in names):
        if not NAME.fullmatch(name) or name in TAKEN:
            yield f"{role} '{name}' is not a name in C++; rename it in a step before"
        for own in (name, f"{name}_valid") if masks and role != "argument" else (name,):
            if own in seen:
                yield f"{role} '{name}' and {seen[own]} are both '{own}' in the kernel; rename one"
            seen.setdefault(own, f"{role} '{name}'")


def names(text: str, name: str) -> bool:
    """Tell whether a text has a name in it."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def null_argument(entry: str, name: str) -> str:
    """Word an argument without a value."""
    return f"kernel '{entry}': argument '{name}' is null.  Give the parameter a value"
