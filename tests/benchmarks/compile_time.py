"""Seconds of NVRTC for the programs of pipelines, and where they go.  No GPU is needed.

    python tests/benchmarks/compile_time.py [--data FOLDER] [--jobs flights pdsh/q1] [--option=--minimal] [--results FILE]

Lists the programs of flights.yaml and of the PDS-H queries as `gpuetl kernel build` does, and compiles each for sm_90.
Every program has an NVRTC process of its own, which has compiled an empty program before.  So a program's seconds are those
that it adds to a process that is warm; the start of a process is printed apart.  All seconds are of CPU time.

NVRTC reports front end, optimizer and assembler itself (`-time`).  The rest is its start of a compilation.
Without --data the tables of PDS-H are made at scale 0.05, by tpchgen-cli.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from environment import described
from suites import jobs
from suites.pdsh.make import make
from suites.results import installed

from gpuetl.cli.kernel import ANY_MEMORY, plan_of
from gpuetl.engines.cudf.codegen.device_headers import DEVICE, header_text
from gpuetl.engines.cudf.codegen.machine_code import Target
from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcess
from gpuetl.engines.cudf.programs.kernel_build import Nvrtc, find_nvrtc
from gpuetl.engines.cudf.programs.plan_programs import CLOSED_SET, Program, closed_set

FLIGHTS = Path(__file__).parents[2] / "pipelines" / "flights.yaml"
SCALE = 0.05
EMPTY = 'extern "C" __global__ void nothing() {}'
PHASES = {"CUDA C++ Frontend": "front end", "NVVM Optimizer": "optimizer", "PTX Translation": "assembler"}
KINDS = (
    ("aggregate", "reduce_chunks"), ("window", "scan"), ("window", "totals"), ("window", "frame"), ("strings", "measure, write"), ("expressions", "compute"),
)  # fmt: skip
"""Kinds of generated programs, by a kernel's name."""
SLOWEST = 10
_FUNCTION = re.compile(r"^(?:template <[^\n]*>\s*)?(?:DEVICE|CALLED)[^;={]*?\b(\w+)\(", re.MULTILINE)
_WORD = re.compile(r"\b[a-z_]\w+(?=[(<])")


@dataclass
class Measured:
    """A program's seconds of CPU time, in all and by phase; bytes of machine code."""

    kind: str
    name: str
    jobs: list[str]
    seconds: float
    phases: dict[str, float]
    text_bytes: int
    code_bytes: int
    headers: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)


class Clock:
    """Tells the CPU time of another process, all of its threads."""

    def __init__(self, process: int) -> None:
        self.clock = (~process << 3) | 2  # CPUCLOCK_SCHED of a process, as in the kernel's posix-timers.h

    def seconds(self) -> float:
        """Return the seconds since the process began."""
        return time.clock_gettime(self.clock)


def compile_program(
    program: Program, nvrtc: Nvrtc, options: Sequence[str]
) -> tuple[float, float, dict[str, float], int]:
    """Return the seconds of a process's start, those of a program, its phases, and the bytes of its code."""
    target = Target("sm_90", nvrtc.compiler)
    asked = (*target.options(program.options), *options)
    process = NvrtcProcess(nvrtc.library)
    with tempfile.NamedTemporaryFile(suffix=".csv") as times:
        try:
            clock = Clock(process.process.pid)
            process.compiled(EMPTY, asked)
            start = clock.seconds()
            begin = time.perf_counter()
            code, log = process.compiled(program.text, (*asked, f"-time={times.name}"))
            wall, seconds = time.perf_counter() - begin, clock.seconds() - start
        finally:
            process.end()
        if not code and "-dlto" not in options:
            raise SystemExit(f"{program.file}, {program.name}: {log}")
        share = seconds / wall  # phases are told in seconds of wall time, of which others may have taken some
        return start, seconds, phases_of(Path(times.name).read_text(encoding="utf-8"), share), len(code)


def phases_of(table: str, share: float) -> dict[str, float]:
    """Return the seconds of phases, of which NVRTC writes a table: file, phase, "metric", milliseconds."""
    found: dict[str, float] = {}
    for line in table.splitlines():
        _, phase, amount, unit = (part.strip() for part in line.split(","))
        if unit != "ms":  # a file that is new has a line of titles
            continue
        name = PHASES.get(phase, phase)
        found[name] = found.get(name, 0.0) + float(amount) / 1e3 * share
    return found


def kind_of(program: Program) -> str:
    """Return the kind of a program, by the kernels that it has."""
    if program.file == CLOSED_SET:
        return "closed"
    return next((kind for kind, entry in KINDS if entry in program.name), "other")


def headers_of(text: str) -> list[str]:
    """Return the headers whose functions a text has."""
    return [name for name, functions in device_functions().items() if functions and has_all(text, functions)]


def has_all(text: str, functions: Iterable[str]) -> bool:
    """Tell whether a text declares all functions."""
    return all(f"{name}(" in text for name in functions)


def functions_of(text: str) -> list[str]:
    """Return the functions of headers that the generated part of a text calls."""
    words = set(_WORD.findall(text[max(0, text.find("\nKERNEL ")) :]))
    return sorted(words & {name for names in device_functions().values() for name in names})


@cache
def device_functions() -> dict[str, list[str]]:
    """Return the functions of each header."""
    return {path.name: _FUNCTION.findall(header_text(path.name)) for path in sorted(DEVICE.glob("*.cuh"))}


def collected(names: Sequence[str], data: Path) -> dict[tuple[str, ...], tuple[Program, list[str]]]:
    """Return the programs of pipelines with the names of those that ask for them; the closed set's are all there."""
    os.environ["DATA"] = str(data)
    files = {str(job): job.file(".yaml") for job in jobs(["pdsh"])} | {"flights": FLIGHTS}
    found: dict[tuple[str, ...], tuple[Program, list[str]]] = {}
    for program in closed_set():
        found[program.text, *program.options] = (program, [])
    for name in names:
        for program in plan_of(files[name], (), None, ANY_MEMORY)[1]:
            found.setdefault((program.text, *program.options), (program, []))[1].append(name)
    return found


def table(measured: Sequence[Measured], title: str) -> list[str]:
    """Return lines of seconds by kind."""
    kinds: dict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        kinds[each.kind].append(each)
    lines = [f"{title:34} programs      s  {'  '.join(f'{name:>9}' for name in PHASES.values())}       rest     KB"]
    for kind, those in [*sorted(kinds.items()), ("all", list(measured))]:
        phases = [sum(each.phases.get(name, 0.0) for each in those) for name in PHASES.values()]
        seconds = sum(each.seconds for each in those)
        spelled = "  ".join(f"{each:9.3f}" for each in (*phases, seconds - sum(phases)))
        lines.append(
            f"{kind:34} {len(those):8} {seconds:6.2f}  {spelled} {sum(e.code_bytes for e in those) / 1e3:6.0f}"
        )
    return lines


def slow_line(each: Measured) -> str:
    """Return a line on a slow program."""
    phases = ", ".join(f"{name} {seconds:.3f}" for name, seconds in each.phases.items())
    asked = ", ".join(each.jobs[:3])
    return (
        f"{each.seconds:6.3f} s  {each.kind} of {asked}: {phases}; {each.code_bytes / 1e3:.0f} KB"
        f"\n          {' '.join(each.headers)}\n          {' '.join(each.functions)}"
    )


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["flights", *map(str, jobs(["pdsh"]))]
    parser.add_argument("--data", type=Path, help="the folder of PDS-H's tables")
    parser.add_argument("--jobs", nargs="*", default=names, choices=names, metavar="JOB")
    parser.add_argument("--option", action="append", default=[], help="one more option of NVRTC")
    parser.add_argument("--closed", action="store_true", help="measure all of the closed set, too")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = given.data or Path(folder) / "pdsh"
        if not given.data and any(job != "flights" for job in given.jobs):
            make(data, SCALE)
        programs = collected(given.jobs, data)
    print_all(programs, given.option, given.closed, given.jobs, given.results)


def print_all(
    programs: Mapping[tuple[str, ...], tuple[Program, list[str]]],
    options: Sequence[str],
    closed: bool,
    names: Sequence[str],
    results: Path | None,
    compile_one: Callable[..., tuple[float, float, dict[str, float], int]] = compile_program,
) -> None:
    """Measure programs and print what is found; those of the closed set are compiled once a machine, so they come apart."""
    nvrtc = find_nvrtc()
    starts: list[float] = []
    measured: list[Measured] = []
    for program, asked_by in programs.values():
        if not closed and program.file == CLOSED_SET:
            continue
        start, seconds, phases, size = compile_one(program, nvrtc, options)
        starts.append(start)
        kept = Measured(kind_of(program), program.name, asked_by, seconds, phases, len(program.text), size)
        kept.headers, kept.functions = headers_of(program.text), functions_of(program.text)
        measured.append(kept)
    for title, of_title in [("all", names), *((name, [name]) for name in names)]:
        those = [each for each in measured if set(of_title) & set(each.jobs) and each.kind != "closed"]
        print("\n".join(table(those, title)), flush=True)
    if closed:
        print("\n".join(table([each for each in measured if each.kind == "closed"], "closed set")))
    print(f"start of a process, with an empty program: {min(starts):.3f} s")
    generated = sorted((each for each in measured if each.kind != "closed"), key=lambda each: -each.seconds)
    print("\n".join(map(slow_line, generated[:SLOWEST])))
    if results:
        kept_all: dict[str, Any] = {"benchmark": "compile_time", **described(installed()), "options": list(options)}
        kept_all |= {"start_s": min(starts), "programs": [asdict(each) for each in measured]}
        results.write_text(json.dumps(kept_all, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
