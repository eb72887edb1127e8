"""`gpuetl kernel`: kernels checked against their twins, timed, and compiled before a run."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuetl.cli.arguments import Params, add_command, add_kernel_timeout, add_memory, add_pipeline, leave, pipeline_file
from gpuetl.cli.kernel_bench import add_bench
from gpuetl.cli.output import raw_stream
from gpuetl.cli.scan_progress import CLEAR_LINE, scan_progress
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import coded

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from gpuetl.cli.arguments import Commands
    from gpuetl.engines.cudf.codegen.machine_code import Target
    from gpuetl.engines.cudf.programs.plan_programs import Program
    from gpuetl.kernels.check.outcome import KernelCheck
    from gpuetl.places.paths import FilePath
    from gpuetl.plan.nodes import Kernel
    from gpuetl.plan.plan import Plan


# `gpuetl kernel build`: kernels compiled before a run, for images and machines that have no GPU.


ANY_MEMORY = 1 << 62
EVERY_S = 5.0
"""As often a line is printed where none can be drawn again."""


def add_build(commands: Commands) -> None:
    """Add the command to those of `gpuetl kernel`."""
    command: ArgumentParser = commands.add_parser(
        "build", description=build.__doc__, help="Compile kernels before a run; needs no GPU", allow_abbrev=False
    )
    command.set_defaults(command=build)
    command.add_argument(
        "files", metavar="FILE", nargs="*", type=pipeline_file, help="pipelines whose kernels to compile, too"
    )
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
    files: Sequence[FilePath] = (),
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    arch: Sequence[str] = (),
    to: Path | None = None,
    memory: int | None = None,
) -> None:
    """Compile the kernels that all pipelines share, and those of the given pipelines.

    This needs NVRTC, and no GPU.  Kernels in Triton need Triton.  Files of the pipelines' sources are looked at as by
    `gpuetl plan`.  --memory is what the GPU will have; by default all rows are expected to fit.  Exits 1 where a kernel
    does not compile.
    """
    from gpuetl.engines.cudf.codegen.machine_code import OPTIONS
    from gpuetl.engines.cudf.programs.kernel_build import build, find_nvrtc, jobs_of, targets_of
    from gpuetl.engines.cudf.programs.plan_programs import CLOSED_SET, closed_set
    from gpuetl.engines.cudf.programs.triton_build import build_triton, check_triton
    from gpuetl.engines.kernel_cache_folder import cache_folder, forget_oldest
    from gpuetl.units import size

    nvrtc = find_nvrtc()
    targets = targets_of(arch, nvrtc)
    folder = cache_folder() if to is None else to

    def path_of(program: Program, target: Target) -> Path:
        shipped = target.shipped(program.text)
        if to is None and program.options == OPTIONS and shipped.exists():
            return shipped
        return folder / target.name(program.text, program.options)

    plans = {file: plan_of(file, params, root, ANY_MEMORY if memory is None else memory, profile) for file in files}
    triton = {file: plan.triton for file, plan in plans.items()}
    check_triton(triton)
    programs = [*closed_set(), *(program for plan in plans.values() for program in plan.programs)]
    jobs = jobs_of(programs, targets, path_of)
    with Lines() as lines:
        built = build(jobs, nvrtc.start, lines)
    leave_marks(plans.values(), targets, path_of, folder)
    of_triton = build_triton(triton, [target.architecture for target in targets], folder)
    if to is None:
        forget_oldest(folder)
    what = " and ".join([CLOSED_SET, *([f"{len(files)} pipeline{'s' * (len(files) > 1)}"] if files else [])])
    counts = f"{built.compiled} compiled, {built.there} there already"
    names = ", ".join(target.architecture for target in targets)
    print(f"{what} for {names}: {len(jobs)} programs, {counts}")
    print(f"{size(built.disk_bytes)} in {folder}, {built.seconds:.1f} s")
    if count := of_triton.compiled + of_triton.there:
        counts = f"{of_triton.compiled} compiled, {of_triton.there} there already, in {of_triton.folder}"
        print(f"Triton kernels for {names}: {count} program{'s' * (count > 1)}, {counts}")


class PlanToBuild(NamedTuple):
    """What a pipeline needs compiled: the digest of its plan, the programs of its run, and its kernels in Triton."""

    fingerprint: str
    programs: list[Program]
    triton: list[Kernel]


def plan_of(
    file: FilePath, params: Params, root: FilePath | None, memory: int, profile: str | None = None
) -> PlanToBuild:
    """Return what a pipeline needs compiled; say what is not among it."""
    from gpuetl.engines.capacity import Capacity
    from gpuetl.engines.cudf.programs.plan_programs import plan_programs
    from gpuetl.engines.cudf.programs.triton_build import python_functions, triton_kernels
    from gpuetl.engines.registry import GPU_ENGINE
    from gpuetl.messages import redacted
    from gpuetl.options import RunOptions
    from gpuetl.pipeline import load
    from gpuetl.run.pipeline_run import RunRequest
    from gpuetl.run.planning import fitted_plan

    pipeline = load(file, root, profile=profile)
    with scan_progress():
        plan = RunRequest(() if pipeline.spec.sinks else None).of(pipeline.plan(dict(params)))
    with plan.pointing(), scan_progress():
        fit, _ = fitted_plan(plan, RunOptions(), GPU_ENGINE, Capacity(memory))
        listed = plan_programs(fit.plan, str(file))
    notes = [f"compiled at the first run: {sentence}" for sentence in listed.missing]
    notes += [f"nothing to compile: {each}" for each in python_functions(fit.plan)]
    for note in notes:
        print(redacted(f"note: {file}: {note}"), file=sys.stderr)
    return PlanToBuild(plan.fingerprint, listed.programs, triton_kernels(fit.plan))


def leave_marks(
    plans: Iterable[PlanToBuild],
    targets: Iterable[Target],
    path_of: Callable[[Program, Target], Path],
    folder: Path,
) -> None:
    """Let runs know which entries a plan's kernels are, so that they are loaded at once."""
    from gpuetl.engines.cudf.codegen.machine_code import OPTIONS, write_mark
    from gpuetl.engines.cudf.programs.plan_programs import common_set

    for plan in plans:
        for target in targets:
            those = [*common_set(), *(program for program in plan.programs if program.options == OPTIONS)]
            write_mark(folder / target.mark(plan.fingerprint), [path_of(program, target) for program in those])


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


# `gpuetl kernel`: kernels compiled before a run; a pipeline's kernels checked against their NumPy twins.


TIMEOUT_S = 60.0
"""Of one launch: cases have a million rows at most."""


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = "Compile kernels before a run, check a pipeline's kernels against their NumPy twins, or time them"
    group = commands.add_parser("kernel", description=f"{text}.", help=text, allow_abbrev=False)
    those = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_build(those)
    add_bench(those)
    command = add_command(those, check)
    command.add_argument("--stage", metavar="STAGE", help="check the kernels of this stage alone")
    command.add_argument("--rtol", type=float, default=1e-12, help="what floats may differ by, relative to the twin's")
    command.add_argument("--atol", type=float, default=0.0, help="and absolute")
    add_kernel_timeout(command, TIMEOUT_S)
    command.add_argument("--json", action="store_true", help="print the outcome as JSON")


def check(
    file: FilePath,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    stage: str | None = None,
    rtol: float = 1e-12,
    atol: float = 0.0,
    kernel_timeout: float = TIMEOUT_S,
    json: bool = False,
) -> None:
    """Run each kernel against its NumPy twin on generated inputs, and say what differs.  Exits 0 or 3.

    Python functions over frames are called twice, on parts of the rows and with rows in another order: they give the
    same.  Those over pandas and Arrow frames need no GPU.

    Sizes are those around warps and blocks, and a million rows; values are ordinary ones, then extremes with NaN and
    infinities; groups are one, one a row, and skewed.  Guard values around all arrays tell of writes out of bounds,
    outputs hold a pattern that tells of rows that are not written, and two launches tell of races.  A launch may
    take --kernel-timeout seconds.  Floats may differ
    by --rtol, --atol, and what inputs 64 units in the last place away would explain.
    """
    from gpuetl.kernels.check.kernel_check import check_kernel, needs_gpu
    from gpuetl.lost_device import is_lost
    from gpuetl.pipeline import load
    from gpuetl.user_kernels.kernel_options import KernelOptions, kernel_options
    from gpuetl.verify.tolerance import Tolerance

    plan = load(file, root, profile=profile).plan(dict(params))
    kernels = chosen_kernels(plan, stage)
    machine = the_machine() if any(map(needs_gpu, kernels)) else None
    tolerance, usable = Tolerance(rtol, atol), takewhile(lambda _: not is_lost(), kernels)
    with kernel_options(KernelOptions(kernel_timeout)):
        done = [check_kernel(kernel, machine, tolerance=tolerance) for kernel in usable]
    print(as_json(done) if json else as_text(done))
    if unchecked := kernels[len(done) :]:
        names = ", ".join(f"'{kernel.contract.entry}'" for kernel in unchecked)
        leave(
            f"not checked, since the GPU stopped: {names}.  Mend the kernel that stopped it first", ExitCode.DIFFERENT
        )
    if not all(outcome.ok for outcome in done):
        leave("", ExitCode.DIFFERENT)


def chosen_kernels(plan: Plan, stage: str | None) -> list[Any]:
    """Return the kernels of a plan, or those of a stage; raise `InvalidPipeline` for a stage that is not there."""
    from gpuetl.errors import InvalidPipeline, have_hint
    from gpuetl.kernels.check.kernel_check import kernels_of

    if stage is not None and stage not in plan.stages:
        raise InvalidPipeline.because(
            coded("GE1020", f"unknown stage '{stage}'"), have_hint(stage, plan.stages, noun="Stages")
        )
    roots = {id(node): node for node in (*plan.stages.values(), *plan.roots)}.values()
    return [kernel for kernel in kernels_of(roots) if stage is None or kernel.origin.name == stage]


def the_machine(command: str = "kernel check") -> Any:
    """Return the GPU; raise `EngineUnavailable` where there is none, or not what it takes to use it."""
    from gpuetl.engines.registry import look_for_gpu
    from gpuetl.errors import EngineUnavailable

    if problem := (found := look_for_gpu()).problem:
        raise EngineUnavailable(
            coded("GE3001", f"{command} runs kernels on an NVIDIA GPU: {problem}.  {found.fix}, or see `gpuetl doctor`")
        )
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    return machine()


def as_json(done: list[KernelCheck]) -> str:
    """Return the outcomes as JSON."""
    return json.dumps({"ok": all(o.ok for o in done), "kernels": [o.as_json() for o in done]}, indent=2, default=str)


def as_text(done: list[KernelCheck]) -> str:
    """Return the outcomes for people."""
    return "\n".join(line for outcome in done for line in lines_of(outcome)) or "the pipeline has no kernels"


def lines_of(outcome: KernelCheck) -> list[str]:
    """Return one kernel's outcome: a line, and what differs under it."""
    head = f"stage '{outcome.stage}', step {outcome.step}: kernel '{outcome.kernel}' ({outcome.file})"
    counts = f"{outcome.compared:,} values in {outcome.cases} cases"
    if outcome.unsteady:
        counts += f"; {outcome.unsteady:,} more not compared, since rounding moves them too far"
    if outcome.ok:
        return [f"{head}: {outcome.agreement}, {counts}"]
    lines = [f"{head}: {outcome.difference}"]
    for mismatch in outcome.mismatches:
        lines.append(f"  {mismatch.case}: {mismatch.what}")
        for row in mismatch.rows:
            inputs = ", ".join(f"{name} = {value}" for name, value in row.inputs.items())
            lines.append(f"    row {row.row}: {inputs}: got {row.got}, expected {row.expected}")
    return lines
