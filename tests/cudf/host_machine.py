"""Runs generated kernels on the CPU: the same text, compiled by a C++ compiler, one thread for all rows."""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++")
FLAGS = ("-std=c++17", "-O0", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-x", "c++")


class HostMachine:
    """A machine whose arrays are NumPy's."""

    arrays = np

    def host(self, array: Any) -> Any:
        """It is there already."""
        return array

    def compiled(self, source: str) -> ctypes.CDLL:
        """Compile with g++."""
        return library(source)

    def launch(self, module: ctypes.CDLL, entry: str, rows: int, arguments: Any) -> None:
        """Call the entry point."""
        module[entry](*(ctypes.c_int64(a) if isinstance(a, int) else ctypes.c_void_p(a.ctypes.data) for a in arguments))

    def launch_blocks(self, module: ctypes.CDLL, entry: str, blocks: int, threads: int, arguments: Any) -> None:
        """Call the entry point once: it sees one block of one thread."""
        self.launch(module, entry, 0, arguments)

    def sorted_order(self, words: Any) -> Any:
        """Sort by the last word first."""
        return np.lexsort(words[::-1]).astype(np.int32)

    def matches(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Compare rows as tuples."""
        places: dict[Any, list[int]] = {}
        for row, key in enumerate(zip(*(word.tolist() for word in right), strict=True)):
            places.setdefault(key, []).append(row)
        keys = enumerate(zip(*(word.tolist() for word in left), strict=True))
        pairs = [(row, other) for row, key in keys for other in places.get(key, ())]
        found = np.array(pairs, np.int32).reshape(-1, 2)
        return found[:, 0].copy(), found[:, 1].copy()


@cache
def folder() -> Path:
    """Return where compiled kernels lie, for this process."""
    return Path(tempfile.mkdtemp(prefix="gpuetl-kernels-"))


@cache
def library(source: str, host: bool = True) -> ctypes.CDLL:
    """Compile and load a text; raise `ValueError` with the compiler's words and the text where it does not compile."""
    path = folder() / f"{hashlib.sha256(source.encode()).hexdigest()[:16]}.so"
    run = subprocess.run(
        [COMPILER, *FLAGS, *["-DGPUETL_HOST"] * host, "-", "-o", path], input=source, capture_output=True, text=True, check=False
    )
    if run.returncode:
        numbered = "\n".join(f"{place:4} {line}" for place, line in enumerate(source.splitlines(), 1))
        raise ValueError(f"{run.stderr[:4000]}\n{numbered}")
    return ctypes.CDLL(str(path))
