"""The texts that a run would compile: those of the closed set, and those of a pipeline's plan, listed without a GPU."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpuetl.backends.cudf.backend import CudfBackend
from gpuetl.backends.cudf.device.closed_set import FOLDER, closed_programs, closed_source
from gpuetl.backends.cudf.gpu.compiler import is_c_function, named
from gpuetl.backends.cudf.rehearsal.forgiven import failures
from gpuetl.backends.cudf.rehearsal.rehearse import rehearse
from gpuetl.kernels.machine_code import OPTIONS
from gpuetl.kernels.user_options import user_options
from gpuetl.physical.lower import PhysicalPlan

CLOSED_SET = "the closed set"
_ENTRY = re.compile(r'^(?:KERNEL|extern "C" __global__ void)\s*(?:__launch_bounds__\([^)]*\))?\s*(\w+)', re.MULTILINE)


class Program(NamedTuple):
    """A text for the compiler; `file` and `name` tell users which one it is."""

    file: str
    name: str
    text: str
    options: tuple[str, ...] = OPTIONS


class Listed(NamedTuple):
    """The programs of a plan, and a sentence for each part of it whose programs are not among them."""

    programs: list[Program]
    missing: list[str]


def closed_set() -> list[Program]:
    """Return the programs that contain nothing of a pipeline."""
    return [Program(CLOSED_SET, f"{FOLDER}/{name}.cu", closed_source(name)) for name in closed_programs()]


def plan_programs(physical: PhysicalPlan, file: str) -> Listed:
    """Return the programs that a run of a plan asks for, each once; `file` is its pipeline's.

    The files of its sources are read: their first rows, and what their footers say.
    """
    found = _Collected(file)
    with failures() as failed:
        rehearse(physical, found, CudfBackend)
    missing = [f"{what} ({reason})" for what, reason in failed]
    return Listed(list(found.programs.values()), [*missing, *found.left])


class _Collected:
    """Takes the texts that a rehearsal names."""

    def __init__(self, file: str) -> None:
        self.file, self.closed = file, {program.text: program for program in closed_set()}
        self.programs: dict[tuple[str, ...], Program] = {}
        self.left: list[str] = []

    def source(self, source: str) -> None:
        """Keep a program of the closed set, or a generated text."""
        self.add(self.closed.get(source) or Program(self.file, name_of(source), source))

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        """Keep a CUDA file; the name of one whose kernel has a C++ name is known to the compiler alone."""
        if is_c_function(source, entry):
            text = named(source, path)
            self.add(Program(self.file, f"kernel '{entry}' ({path})", text, user_options(text)))
        else:
            self.left.append(f"kernel '{entry}' ({path}), which is not declared extern \"C\"")

    def array_call(self, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Leave it: CuPy keeps its own kernels."""

    def end(self) -> None:
        """Nothing is waited for."""

    def add(self, program: Program) -> None:
        """Keep a program once."""
        self.programs.setdefault((program.text, *program.options), program)


def name_of(source: str) -> str:
    """Return what messages call a generated text: its kernels."""
    return f"kernel {', '.join(dict.fromkeys(_ENTRY.findall(source))) or 'without a name'}"
