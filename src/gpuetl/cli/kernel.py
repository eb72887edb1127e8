"""`gpuetl kernel`: kernels compiled before a run; a pipeline's kernels checked against their NumPy twins."""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl.cli import kernel_build
from gpuetl.cli.arguments import Params, add_command, add_kernel_timeout, leave
from gpuetl.messages import coded

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.kernels.check.check import KernelCheck

DIFFERENT = 3
TIMEOUT_S = 60.0
"""Of one launch: cases have a million rows at most."""


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = "Compile kernels before a run, or check a pipeline's CUDA kernels against their NumPy twins"
    group = commands.add_parser("kernel", description=f"{text}.", help=text, allow_abbrev=False)
    those = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    kernel_build.add_to(those)
    command = add_command(those, check)
    command.add_argument("--stage", metavar="STAGE", help="check the kernels of this stage alone")
    command.add_argument("--rtol", type=float, default=1e-12, help="what floats may differ by, relative to the twin's")
    command.add_argument("--atol", type=float, default=0.0, help="and absolute")
    add_kernel_timeout(command, TIMEOUT_S)
    command.add_argument("--json", action="store_true", help="print the outcome as JSON")


def check(
    file: Path,
    params: Params = (),
    root: Path | None = None,
    stage: str | None = None,
    rtol: float = 1e-12,
    atol: float = 0.0,
    kernel_timeout: float = TIMEOUT_S,
    json: bool = False,
) -> None:
    """Run each kernel against its NumPy twin on generated inputs, and say what differs.  Exits 0 or 3.

    Sizes are those around warps and blocks, and a million rows; values are ordinary ones, then extremes with NaN and
    infinities; groups are one, one a row, and skewed.  Guard values around all arrays tell of writes out of bounds,
    outputs hold a pattern that tells of rows that are not written, and two launches tell of races.  A launch may
    take --kernel-timeout seconds.  Floats may differ
    by --rtol, --atol, and what inputs 64 units in the last place away would explain.
    """
    from gpuetl.errors import InvalidPipeline, have_hint
    from gpuetl.kernels.check.check import check_kernel, kernels_of
    from gpuetl.lost_device import is_lost
    from gpuetl.pipeline import load
    from gpuetl.user_kernels.kernel_options import KernelOptions, kernel_options
    from gpuetl.verify.tolerance import Tolerance

    plan = load(file, root).plan(dict(params))
    if stage is not None and stage not in plan.stages:
        raise InvalidPipeline.because(
            coded("GE1020", f"unknown stage '{stage}'"), have_hint(stage, plan.stages, noun="Stages")
        )
    roots = {id(node): node for node in (*plan.stages.values(), *plan.roots)}.values()
    kernels = [kernel for kernel in kernels_of(roots) if stage is None or kernel.origin.name == stage]
    machine = the_machine() if kernels else None
    tolerance, usable = Tolerance(rtol, atol), takewhile(lambda _: not is_lost(), kernels)
    with kernel_options(KernelOptions(kernel_timeout)):
        done = [check_kernel(kernel, machine, tolerance=tolerance) for kernel in usable if machine]
    print(as_json(done) if json else as_text(done))
    if unchecked := kernels[len(done) :]:
        names = ", ".join(f"'{kernel.contract.entry}'" for kernel in unchecked)
        leave(f"not checked, since the GPU stopped: {names}.  Mend the kernel that stopped it first", DIFFERENT)
    if not all(outcome.ok for outcome in done):
        leave("", DIFFERENT)


def the_machine() -> Any:
    """Return the GPU; raise `EngineUnavailable` where there is none, or not what it takes to use it."""
    from gpuetl.engines.registry import look_for_gpu
    from gpuetl.errors import EngineUnavailable

    if problem := (found := look_for_gpu()).problem:
        raise EngineUnavailable(
            coded(
                "GE3001", f"kernel check runs kernels on an NVIDIA GPU: {problem}.  {found.fix}, or see `gpuetl doctor`"
            )
        )
    from gpuetl.engines.cudf.gpu.machine import machine

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
        return [f"{head}: equal to its twin, {counts}"]
    lines = [f"{head}: differs from its twin"]
    for finding in outcome.findings:
        lines.append(f"  {finding.case}: {finding.what}")
        for row in finding.rows:
            inputs = ", ".join(f"{name} = {value}" for name, value in row.inputs.items())
            lines.append(f"    row {row.row}: {inputs}: got {row.got}, expected {row.expected}")
    return lines
