"""Kernels for which a user writes only the computation: a row's statements, or the operator of a reduction or scan."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import field

from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

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
"""What a reduction or a scan calls two values, or states, that become one; of a scan the earlier rows' is first."""


@dataclass(frozen=True)
class KernelCode:
    """The C++ codes that a kernel is generated around, and its NumPy twin.

    Parameters
    ----------
    texts
        `body`, the statements for one row; or `map`, `reduce`, `identity` and `post`, a reduction's expressions; or
        `map`, `combine`, `identity` and `post`, a scan's statements.
    reference, function
        The twin's file and function.
    state
        The fields of a scan's state.
    twin
        The text of the twin's file when the pipeline was planned: all partitions are computed by one text.
    flops_per_row
        The arithmetic that the user declares for `gpuetl kernel bench`; 0 where there is no such key.
    """

    snippets: Mapping[str, str]
    reference: FilePath
    function: str
    state: Mapping[str, DataType] = field(default_factory=dict)
    twin: bytes | None = field(default=None, repr=False, compare=False)
    flops_per_row: int = field(default=0, compare=False)

    @property
    def entry(self) -> str:
        """What messages call the kernel."""
        return self.function


def unusable_names(roles: Mapping[str, Iterable[str]], masked: Container[str] = ()) -> Iterator[str]:
    """Yield, in words, each name that a text cannot have for a value of its own.

    `roles` are the names by what they are, such as `input`; those of the roles that are `masked` have a boolean
    beside them.
    """
    seen: dict[str, str] = {}
    for role, name in ((role, name) for role, names in roles.items() for name in names):
        if not NAME.fullmatch(name) or name in TAKEN:
            yield coded("GE1304", f"{role} '{name}' is not a name in C++; rename it in a step before")
        for own in (name, f"{name}_valid") if role in masked else (name,):
            if own in seen:
                yield coded("GE1304", f"{role} '{name}' and {seen[own]} are both '{own}' in the kernel; rename one")
            seen.setdefault(own, f"{role} '{name}'")


def names(text: str, name: str) -> bool:
    """Return whether a text has a name in it."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def null_argument(entry: str, name: str) -> str:
    """Word an argument without a value."""
    return coded("GE1306", f"kernel '{entry}': argument '{name}' is null.  Give the parameter a value")
