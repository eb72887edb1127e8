"""`gpuetl validate`: everything that is wrong with a pipeline file, at once, without reading rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command, show_warnings

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, validate)
    text = "leave out the sources' files and kernels' code"
    command.add_argument("--no-files", dest="files", action="store_false", help=text)


def validate(file: Path, params: Params = (), root: Path | None = None, files: bool = True) -> None:
    """Check names, types, expressions and tests, the files of sources, and that kernels compile.

    Of files, footers and header lines are read, never rows.  Kernels are compiled where NVRTC or nvcc is installed.
    """
    from gpuetl.cli.long_looks import long_looks
    from gpuetl.pipeline import load

    pipeline = load(file, root)
    with long_looks():
        checked = pipeline.validate(dict(params), files=files)
    show_warnings(checked.plan)
    for told in checked.not_checked:
        print(f"not checked: {told}")
    spec = pipeline.spec
    counts = [(len(spec.sources), "source"), (len(spec.stages), "stage"), (len(spec.sinks), "sink")]
    if spec.tests:
        counts.append((len(spec.tests), "test"))
    print(f"{file}: valid, {', '.join(_counted(*c) for c in counts)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
