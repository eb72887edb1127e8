"""`gpuetl kernel build`: kernels compiled before a run, for images and machines that have no GPU."""

from __future__ import annotations

import re
import shutil
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_memory, add_pipeline
from gpuetl.cli.long_looks import CLEAR_LINE, long_looks
from gpuetl.cli.output import raw_stream

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from gpuetl.cli.arguments import Commands
    from gpuetl.engines.cudf.machine_code import Target
    from gpuetl.engines.cudf.programs import Program

ANY_MEMORY = 1 << 62
EVERY_S = 5.0
"""As often a line is printed where none can be drawn again."""


def add_to(commands: Commands) -> None:
    """Add the command to those of `gpuetl kernel`."""
    command: ArgumentParser = commands.add_parser(
        "build", description=build.__doc__, help="Compile kernels before a run; needs no GPU", allow_abbrev=False
    )
    command.set_defaults(command=build)
    command.add_argument("files", metavar="FILE", nargs="*", type=Path, help="pipelines whose kernels to compile, too")
    text = "compile for these GPUs, such as sm_80,sm_90; by default for those of this machine"
    command.add_argument("--arch", metavar="LIST", type=architectures, default=(), help=text)
    text = "write there, for GPUETL_KERNEL_CACHE to name; by default to the cache of this user"
    command.add_argument("--to", metavar="FOLDER", type=Path, help=text)
    add_pipeline(command)
    add_memory(command)


def architectures(text: str) -> tuple[str, ...]:
    """Read a list of architectures."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if not re.fullmatch(r"sm_\d+", name):
            raise ArgumentTypeError(f"'{name}' is not an architecture such as sm_90")
    return names


def build(
    files: Sequence[Path] = (),
    params: Params = (),
    root: Path | None = None,
    arch: Sequence[str] = (),
    to: Path | None = None,
    memory: int | None = None,
) -> None:
    """Compile the kernels that all pipelines share, and those of the given pipelines.

    This needs NVRTC, and no GPU.  Files of the pipelines' sources are looked at as by `gpuetl plan`.
    --memory is what the GPU will have; by default all rows are expected to fit.  Exits 1 where a kernel does not
    compile.
    """
    from gpuetl.engines.cudf.kernel_build import build, find_nvrtc, jobs_of, targets_of
    from gpuetl.engines.cudf.machine_code import OPTIONS
    from gpuetl.engines.cudf.programs import CLOSED_SET, closed_set
    from gpuetl.engines.kernel_cache_folder import cache_folder, forget_oldest
    from gpuetl.sizes import size

    nvrtc = find_nvrtc()
    targets = targets_of(arch, nvrtc)
    folder = cache_folder() if to is None else to

    def path_of(program: Program, target: Target) -> Path:
        shipped = target.shipped(program.text)
        if to is None and program.options == OPTIONS and shipped.exists():
            return shipped
        return folder / target.name(program.text, program.options)

    plans = {file: plan_of(file, params, root, ANY_MEMORY if memory is None else memory) for file in files}
    programs = [*closed_set(), *(program for _, those in plans.values() for program in those)]
    jobs = jobs_of(programs, targets, path_of)
    with Lines() as lines:
        built = build(jobs, nvrtc.start, lines)
    leave_marks(plans.values(), targets, path_of, folder)
    if to is None:
        forget_oldest(folder)
    what = " and ".join([CLOSED_SET, *([f"{len(files)} pipeline{'s' * (len(files) > 1)}"] if files else [])])
    counts = f"{built.compiled} compiled, {built.there} there already"
    names = ", ".join(target.architecture for target in targets)
    print(f"{what} for {names}: {len(jobs)} programs, {counts}")
    print(f"{size(built.disk_bytes)} in {folder}, {built.seconds:.1f} s")


def plan_of(file: Path, params: Params, root: Path | None, memory: int) -> tuple[str, list[Program]]:
    """Return the digest of a pipeline's plan and the programs of its run; say what is not among them."""
    from gpuetl.engines.capacity import Capacity
    from gpuetl.engines.cudf.programs import plan_programs
    from gpuetl.options import RunOptions
    from gpuetl.pipeline import load
    from gpuetl.run.pipeline_run import Wanted
    from gpuetl.run.planning import fitted_plan
    from gpuetl.secrets import redacted

    pipeline = load(file, root)
    with long_looks():
        plan = Wanted(() if pipeline.spec.sinks else None).of(pipeline.plan(dict(params)))
    with plan.pointing(), long_looks():
        fit, _ = fitted_plan(plan, RunOptions(), "cudf", Capacity(memory))
        listed = plan_programs(fit.plan, str(file))
    for sentence in listed.missing:
        print(redacted(f"note: {file}: compiled at the first run: {sentence}"), file=sys.stderr)
    return plan.fingerprint, listed.programs


def leave_marks(
    plans: Iterable[tuple[str, list[Program]]],
    targets: Iterable[Target],
    path_of: Callable[[Program, Target], Path],
    folder: Path,
) -> None:
    """Let runs know which entries a plan's kernels are, so that they are loaded at once."""
    from gpuetl.engines.cudf.machine_code import OPTIONS, write_mark
    from gpuetl.engines.cudf.programs import common_set

    for fingerprint, programs in plans:
        for target in targets:
            those = [*common_set(), *(program for program in programs if program.options == OPTIONS)]
            write_mark(folder / target.mark(fingerprint), [path_of(program, target) for program in those])


class Lines:
    """Shows on stderr how far a build is: on a terminal by one line, elsewhere by a line now and then."""

    def __init__(self) -> None:
        self.draws, self.last = sys.stderr.isatty(), time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        if self.draws:
            raw_stream(sys.stderr).write(CLEAR_LINE)
            sys.stderr.flush()

    def __call__(self, done: int, of: int, architecture: str, seconds: float) -> None:
        """Show one more program that is done."""
        text = f"{done} of {of}, {architecture}, {seconds:.1f} s"
        if self.draws:
            raw_stream(sys.stderr).write(CLEAR_LINE + text[: shutil.get_terminal_size().columns - 1])
            sys.stderr.flush()
        elif done == of or time.monotonic() - self.last > EVERY_S:
            self.last = time.monotonic()
            print(text, file=sys.stderr, flush=True)
