"""Choices: made at random from a seed, or by hypothesis, which shrinks those of a case that failed."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Choice = int | bytes


class Draws:
    """The choices of one case; the first option is the simplest, to which hypothesis shrinks."""

    def below(self, count: int) -> int:
        """A whole number from 0, less than `count`."""
        raise NotImplementedError

    def codes(self, count: int) -> bytes:
        """A byte a row: which value of a pool it has."""
        raise NotImplementedError

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        return low + self.below(high - low + 1)

    def one_of(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) >= 100 - percent

    def some_of(self, options: Sequence[T], least: int = 1, most: int = 3) -> list[T]:
        """So many different options, in their order; fewer where there are not as many."""
        left = list(range(len(options)))
        kept = [left.pop(self.below(len(left))) for _ in range(min(self.between(least, most), len(left)))]
        return [options[i] for i in sorted(kept)]


class SeededDraws(Draws):
    """Choices that follow from a seed; `made` are those so far."""

    def __init__(self, seed: int) -> None:
        self.random, self.made = random.Random(seed), list[Choice]()

    def below(self, count: int) -> int:
        """Any of the numbers with the same chance; where there is no choice, none is made."""
        if count == 1:
            return 0
        self.made.append(chosen := self.random.randrange(count))
        return chosen

    def codes(self, count: int) -> bytes:
        """Any bytes."""
        if count == 0:
            return b""
        self.made.append(chosen := self.random.randbytes(count))
        return chosen


class HypothesisDraws(Draws):
    """Choices made by hypothesis, one for each of those of `SeededDraws`."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def below(self, count: int) -> int:
        """One choice."""
        return int(self.draw(_below(count))) if count > 1 else 0

    def codes(self, count: int) -> bytes:
        """One choice."""
        return bytes(self.draw(_bytes(count))) if count else b""


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


@cache
def _bytes(count: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=count, max_size=count)
