"""What the engine needs of the machine that runs it: arrays, kernels, and the few things that libcudf does best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Module = Any
Array = Any
"""An array of the machine's array module."""


class Machine(Protocol):
    """A GPU; in tests a CPU, for which the same kernels are compiled by a C++ compiler."""

    @property
    def arrays(self) -> Any:
        """The array module: CuPy, or NumPy in tests."""

    def host(self, array: Array) -> Any:
        """Return an array as one of NumPy's."""

    def compiled(self, source: str) -> Module:
        """Compile kernels' text, once for each text."""

    def launch(self, module: Module, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Run a kernel that loops over so many rows; arguments are arrays and integers, in the order of its parameters."""

    def launch_blocks(self, module: Module, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Run a kernel whose threads work together, in so many blocks; on a CPU it sees one block of one thread."""

    def sorted_order(self, words: Sequence[Array]) -> Array:
        """Return the stable order (int32 row numbers) of rows by uint64 arrays, the most significant first."""

    def matches(self, left: Sequence[Array], right: Sequence[Array]) -> tuple[Array, Array]:
        """Return the pairs of rows (int32) of two sides whose uint64 arrays are equal, in any order."""
