"""Texts of a dictionary in host memory, where limits are looked up, and as a file has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector


class HostTexts(Sequence[bytes]):
    """Texts in host memory."""

    def __init__(self, texts: Vector, machine: Machine) -> None:
        self.machine = machine
        self.offsets = machine.host(texts.offsets).astype(np.int64)
        self.data = machine.host(texts.data)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, at: Any) -> Any:
        return self.data[self.offsets[at] : self.offsets[at + 1]].tobytes()

    @cached_property
    def plain(self) -> np.ndarray[Any, Any]:
        """Return all of them as PLAIN encodes them: each behind its length of 4 bytes."""
        sizes = np.diff(self.offsets)
        starts = self.offsets[:-1] + 4 * np.arange(len(self))
        heads = (starts[:, None] + np.arange(4)).reshape(-1)
        encoded = np.empty(len(self.data) + 4 * len(self), np.uint8)
        encoded[heads] = sizes.astype("<u4").view(np.uint8)
        rest = np.ones(len(encoded), bool)
        rest[heads] = False
        encoded[rest] = self.data
        return encoded

    @cached_property
    def d_plain(self) -> Array:
        """Return what is in `plain` in device memory."""
        return self.machine.arrays.asarray(self.plain)
