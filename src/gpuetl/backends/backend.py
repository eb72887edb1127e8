"""What an executor asks of a backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gpuetl.io.dataset import RowGroup
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read
from gpuetl.plan.schema import Schema

Frame = Any
"""A backend's own table: rows in order, columns as in the schema of the node that made it."""


class Backend(Protocol):
    """Frames and the operations on them.  Stateless: the same fragment may run again, here or elsewhere."""

    @property
    def name(self) -> str:
        """The engine's name."""

    def read(self, read: Read, groups: Sequence[RowGroup]) -> Frame:
        """Read the source's columns of some row groups; none gives no rows."""

    def run(self, operation: Node, *frames: Frame) -> Frame:
        """Run one operation on one partition of each of its inputs."""

    def split_by_hash(self, frame: Frame, keys: Sequence[str], count: int) -> list[Frame]:
        """Split rows so that equal keys, of any integer width, meet in the same piece of every frame."""

    def concat(self, frames: Sequence[Frame], schema: Schema) -> Frame:
        """Put frames of one schema below each other, in order."""

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""

    def to_arrow(self, frame: Frame) -> Any:
        """Return the frame as a `pyarrow.Table`."""
