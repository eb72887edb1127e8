"""Twins of the generated kernels whose results decide what a run does next, such as which rows are null.

A twin does for a few rows what the kernel of its name does, by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

from gpuetl.backends.cudf.rehearsal.computed import compute, elementwise, finish, windows
from gpuetl.backends.cudf.rehearsal.launch import Launch
from gpuetl.backends.cudf.rehearsal.texts import measure_text, write_bytes

STATE_BYTES = 64


def write(launch: Launch) -> None:
    """Write the bytes of texts."""
    if "bytes" in launch:
        write_bytes(launch)


def state_bytes(launch: Launch) -> None:
    """Make up a size."""
    launch["size"][0] = STATE_BYTES


TWINS: dict[str, Callable[[Launch], None]] = {
    "compute": compute, "elementwise": elementwise, "finish": finish, "fold_frames": windows, "measure": measure_text,
    "scan": windows, "state_bytes": state_bytes, "write": write,
}  # fmt: skip
"""By the names of kernels; others decide nothing."""
