"""`gpuetl bench device`: what each link of this machine carries, which reports of runs compare with."""

from __future__ import annotations

import tempfile
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.messages import coded

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.telemetry.hardware_limits import HardwareLimits


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = "Measure what files, memory and copies carry on this machine"
    group = commands.add_parser("bench", description=f"{text}.", help=text, allow_abbrev=False)
    text = device.__doc__ or ""
    subcommands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = subcommands.add_parser("device", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=device)
    command.add_argument(
        "--folder", metavar="FOLDER", type=folder_path, help="where files are written and read; by default TMPDIR"
    )
    command.add_argument("--json", action="store_true", help="print only JSON")


def device(folder: Path | None = None, json: bool = False) -> None:
    """Measure files, memory and the copies between them once, and keep the rates for the reports of runs.

    Rates are the best of three, of 1 GiB, with files in the page cache.  Within a memory, bytes that are read count and
    those that are written.  Without a GPU the host's part is measured.
    """
    from json import dumps

    from gpuetl.bench import measure
    from gpuetl.engines.measured_limits import limits_path
    from gpuetl.engines.registry import look_for_gpu
    from gpuetl.errors import RunFailed

    found, folder = look_for_gpu(), folder or Path(tempfile.gettempdir())
    try:
        limits = measure(folder, gpu=bool(found.gpu))
    except OSError as error:
        raise RunFailed(
            coded("GE3004", f"bench device: {error}.  Choose another folder: --folder, GPUETL_KERNEL_CACHE")
        ) from None
    if json:
        print(dumps(limits.to_dict(), indent=2))
        return
    missing = f"only the host was measured: {found.problem}\n" if found.problem else ""
    print(f"{as_text(limits)}\n{missing}files in {folder}; kept in {limits_path(limits.machine)}")


def as_text(limits: HardwareLimits) -> str:
    """Return the machine, then a line for each measurement."""
    width = max(len(found.way) for found in limits.measured)
    rows = (f"{f.link:14}  {f.way:{width}}  {f.bytes_per_s / 1e9:8,.1f} GB/s" for f in limits.measured)
    return "\n".join((limits.machine, *rows))


def folder_path(text: str) -> Path:
    """Return a folder that is there."""
    path = Path(text)
    if not path.is_dir():
        raise ArgumentTypeError(f"folder {path} does not exist")
    return path
