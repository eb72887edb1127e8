"""The texts that a user's kernel step is compiled as, had without a GPU and without rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpuetl.backends.cudf.backend import CudfBackend
from gpuetl.backends.cudf.rehearsal.machine import RehearsalMachine
from gpuetl.backends.cudf.rehearsal.rehearse import Rehearsal
from gpuetl.kernels.compilation import UserKernel
from gpuetl.plan.nodes import Kernel, KernelReduction
from gpuetl.report.recorder import Recorder, recording


class _Nothing:
    """Expects no kernel."""

    def source(self, source: str) -> None:
        """Leave it."""

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        """Leave it."""

    def end(self) -> None:
        """Nothing is waited for."""


class _Collector(RehearsalMachine):
    """Keeps the texts of users that it would compile."""

    def __init__(self) -> None:
        super().__init__(_Nothing())
        self.found: list[UserKernel] = []

    def user_module(self, source: str, kernel: str) -> str:
        """Keep what is generated around a step's texts."""
        self.found.append(UserKernel(source, None))
        return source

    def user_kernel(self, source: str, path: Path, entry: str) -> Callable[[int, int, Sequence[Any]], None]:
        """Keep a CUDA file."""
        self.found.append(UserKernel(source, path))
        return super().user_kernel(source, path, entry)


def user_kernels(operation: Kernel | KernelReduction) -> list[UserKernel]:
    """Return what a step would have compiled, by running it on made-up rows.

    Raises
    ------
    gpuetl.errors.EvaluationError
        Where an argument has no value.
    """
    machine = _Collector()
    backend = CudfBackend(machine)
    with recording(Recorder()), np.errstate(all="ignore"):
        backend.run(operation, Rehearsal(backend, machine).made_up(operation.source.schema))
    return machine.found
