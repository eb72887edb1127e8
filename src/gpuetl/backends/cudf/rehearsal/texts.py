"""Twins of kernels that read or write texts."""

from __future__ import annotations

import numpy as np

from gpuetl.backends.cudf.rehearsal.launch import Launch, set_valid

TEXT_BYTES = 3
"""Of texts that are made up."""


def measure_text(launch: Launch) -> None:
    """Make up sizes of texts that are computed, or cut into parts: null where a column that is read is."""
    valid = launch.valid_in()
    sizes = np.where(valid, TEXT_BYTES, 0)
    set_valid(launch["bits"], valid)
    launch["nulls"][0] = np.count_nonzero(~valid)
    if "counts" in launch:
        launch["counts"][:], launch["sizes"][:] = valid, sizes
    else:
        launch["sizes"][0], launch["sizes"][1:] = 0, sizes
        launch["nulls"][1] = sizes.sum()


def write_bytes(launch: Launch) -> None:
    """Make up texts: numbers of few digits, some of which repeat."""
    numbers = np.arange(-(-len(launch["bytes"]) // TEXT_BYTES)) % 100
    text = "".join(f"{number:0{TEXT_BYTES}}" for number in numbers.tolist()).encode()
    launch["bytes"][:] = np.frombuffer(text, np.uint8)[: len(launch["bytes"])]
    if "starts" in launch:  # parts that texts are cut into
        launch["offsets"][:] = np.arange(len(launch["offsets"])) * TEXT_BYTES
