"""A machine that compiles and runs nothing: it tells of each kernel's text, and goes on with plausible results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpuetl.backends.cudf.device.closed_set import closed_source
from gpuetl.backends.cudf.interchange import to_arrow
from gpuetl.backends.cudf.machine import Work
from gpuetl.backends.cudf.rehearsal.array_twins import TWINS as ARRAY_TWINS
from gpuetl.backends.cudf.rehearsal.closed import CLOSED_TWINS
from gpuetl.backends.cudf.rehearsal.expected import Expected
from gpuetl.backends.cudf.rehearsal.keys import KEY_TWINS
from gpuetl.backends.cudf.rehearsal.launch import Launch, Rehearsed
from gpuetl.backends.cudf.rehearsal.limits import Limits
from gpuetl.backends.cudf.rehearsal.sample import sampled
from gpuetl.backends.cudf.rehearsal.twins import TWINS
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import DataType

CLOSED = ""
TYPES = re.compile(r"(_(u?int|float)?\d+)*$")


ZEROED = SimpleNamespace(
    asarray=np.asarray, empty=np.zeros, empty_like=np.zeros_like, ndarray=np.ndarray, zeros=np.zeros
)
"""NumPy's memory, zeroed, since what a kernel was to write is used as a number."""


class NoFile:
    """A file that takes everything and keeps nothing."""

    def write(self, offset: int, piece: Any) -> None:
        """Write nothing."""


class RehearsalMachine:
    """A `Machine` of NumPy arrays.

    Parameters
    ----------
    expects
        Is told of kernels in the order in which a run would ask for them, of some more than once.
    """

    memory = 1 << 62
    limits: Mapping[str, Limits] = {}
    "Those of the source that is read."

    def __init__(self, expects: Expected) -> None:
        self.expects = expects
        self.arrays = ZEROED
        self.rehearsed = Rehearsed()

    @property
    def rows_a_row(self) -> int:
        """As many as were estimated for what is rehearsed."""
        return self.rehearsed.rows_a_row

    def host(self, array: Any) -> Any:
        """It is there already."""
        return array

    def address(self, array: Any) -> int:
        """Return NumPy's pointer, and note how many bytes lie there."""
        address = int(array.ctypes.data)
        self.rehearsed.sizes[address] = array.nbytes
        return address

    def expected(self, plan: str) -> None:
        """Expect nothing: this is what expects."""

    def compiled(self, source: str) -> str:
        """Tell of the text, which is the module."""
        self.expects.source(source)
        return source

    def closed(self, program: str) -> str:
        """Tell of the program's text; it stands under no name, as its kernels' twins are known by theirs."""
        self.expects.source(closed_source(program))
        return CLOSED

    def user_module(self, source: str, kernel: str) -> str:
        """Tell of the text; whether it compiles is seen by the run."""
        return self.compiled(source)

    def user_kernel(self, source: str, path: Path, entry: str) -> Callable[[int, int, Sequence[Any]], None]:
        """Tell of the kernel, whose outputs stay zeros."""
        self.expects.user_kernel(source, path, entry)
        return lambda blocks, threads, arguments: None

    def launch(self, module: str, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Run the kernel's twin, if what it writes decides how the run goes on."""
        if module == CLOSED:
            name = TYPES.sub("", entry)
            if closed_twin := CLOSED_TWINS.get(name) or ARRAY_TWINS.get(name) or KEY_TWINS.get(name):
                closed_twin(self.rehearsed, *arguments)
        elif twin := TWINS.get(entry):
            twin(Launch.of(module, entry, arguments, self.rehearsed))

    def launch_blocks(self, module: str, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Run the kernel's twin."""
        self.launch(module, entry, 0, arguments)

    def wait(self, timeout_s: float | None, slow: Callable[[], None]) -> bool:
        """Nothing runs."""
        return True

    def stage(self, name: str, work: Work = "computing") -> AbstractContextManager[None]:
        """There is nobody to tell."""
        return nullcontext()

    def sorted_order(self, words: Sequence[Any]) -> Any:
        """Sort by the last word first."""
        return np.lexsort(words[::-1]).astype(np.int32)

    def sorted_texts(self, texts: Vector) -> Any:
        """Number the distinct texts."""
        found = [text or "" for text in to_arrow(texts, self).to_pylist()]
        numbers = {text: place for place, text in enumerate(sorted(set(found)))}
        return np.array([numbers[text] for text in found], np.int32)

    def host_values(self) -> int:
        """None: the sample is of a few rows."""
        return 0

    def read_parquet(self, files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType]) -> dict[str, Vector]:
        """Read the first rows of the first row group."""
        path, groups = next(iter(files.items()))
        return sampled(path, groups[0], types, self.limits, self)

    @contextmanager
    def written_file(self, path: Path, alone: bool) -> Iterator[NoFile]:
        """Write nothing."""
        yield NoFile()

    def __getattr__(self, name: str) -> Any:
        """Refuse what a rehearsal has no use for, such as clocks and meters."""
        raise AttributeError(f"a rehearsal has no {name}")
