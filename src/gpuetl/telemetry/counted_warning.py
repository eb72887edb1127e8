"""A warning that counts: those of the parts of a file become one, with the total."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gpuetl.messages import Message

SHOWN = 3
"""Examples of a count that are shown."""


class Count(NamedTuple):
    """How often something was found in a part of a file.

    Parameters
    ----------
    what
        What was found.
    place
        Where the part begins.  A part that is read twice counts once.
    total
        How often.
    examples
        The first of them, as many as are shown.
    group
        What stands before counts of the same group.
    """

    what: str
    place: int
    total: int
    examples: tuple[str, ...]
    group: str = ""


class CountedWarning(Message):
    """A warning of what was counted in parts of something; `about` names it at the beginning of the text."""

    about: str
    counts: tuple[Count, ...]
    __slots__ = ("about", "counts")

    def __new__(cls, code: str, about: str, counts: Iterable[Count]) -> CountedWarning:
        """Word the counts, those of a group together, in the order of their places."""
        by_part = {(one.group, one.what, one.place): one for one in counts}
        counts = tuple(sorted(by_part.values(), key=lambda one: (not one.group, one.place)))
        self = str.__new__(cls, f"{about}: {'; '.join(texts_of(counts))}")
        self.code, self.about, self.counts = code, about, counts
        return self

    def __reduce__(self) -> tuple[type[CountedWarning], tuple[str, str, tuple[Count, ...]]]:  # type: ignore[override]
        return CountedWarning, (self.code, self.about, self.counts)

    def merged(self, other: object) -> CountedWarning | None:
        """Return one warning for this and another one of the same thing; None where the other is of something else."""
        if isinstance(other, CountedWarning) and (self.code, self.about) == (other.code, other.about):
            return CountedWarning(self.code, self.about, (*self.counts, *other.counts))
        return None


def texts_of(counts: Iterable[Count]) -> list[str]:
    """Return a text for each thing that was found."""
    found: dict[tuple[str, str], list[Count]] = {}
    for one in counts:
        found.setdefault((one.group, one.what), []).append(one)
    texts, before = list[str](), ""
    for (group, what), parts in found.items():
        total, examples = sum(part.total for part in parts), [text for part in parts for text in part.examples][:SHOWN]
        shown = ", ".join([*examples, *["…"] * (total > len(examples))])
        texts.append(f"{f'{group}: ' if group not in ('', before) else ''}{what}: {total:,} ({shown})")
        before = group
    return texts
