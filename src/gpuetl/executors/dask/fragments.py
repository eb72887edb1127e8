"""What one task computes, as data: steps that each make a frame of frames made before, or of the task's arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuetl.records import dataclass


class Step(NamedTuple):
    """One physical node, by its number, on one partition.

    `sources` are the frames that it takes: of an earlier step by its place, of the task's arguments by -1, -2, …  A
    frame is taken once.  `given` is what a scan reads: row groups, or rows of a source in memory.
    """

    node: int
    partition: int
    sources: tuple[int, ...] = ()
    given: Any = None


@dataclass(frozen=True)
class Fragment:
    """The steps of a task, and the places of the frames that it is about, made by steps or given as arguments.

    `name` is the task's.
    """

    name: str
    steps: tuple[Step, ...]
    values: tuple[int, ...]

    def __dask_tokenize__(self) -> str:
        """Tell dask by what tasks differ: it would look through all that they hold."""
        return self.name


class FragmentBuilder:
    """Collects steps, and the keys of the tasks whose results they take.

    `share` is where the partition of a source that they read begins in it, 0.5 is the middle, if it is a large one.
    `light` counts the further inputs that they compute themselves.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.keys: list[Any] = []
        self.share: float | None = None
        self.light = 0

    def step(self, node: int, partition: int, sources: tuple[int, ...] = (), given: Any = None) -> int:
        """Add a step; return the place of its frame."""
        self.steps.append(Step(node, partition, sources, given))
        return len(self.steps) - 1

    def argument(self, key: Any) -> int:
        """Add the result of a task; return its place."""
        self.keys.append(key)
        return -len(self.keys)

    def fragment(self, name: str, values: tuple[int, ...]) -> Fragment:
        """Return the steps, of which the frames at `values` are wanted."""
        return Fragment(name, tuple(self.steps), values)
