"""Arguments that commands share, and how errors leave the program."""

from __future__ import annotations

import os
import sys
from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gpuetl.errors import GpuetlError
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import redacted
from gpuetl.signals import Stopped, stopping
from gpuetl.uncaught import unexpected
from gpuetl.units import read_size

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from gpuetl.options import Cluster, RunOptions
    from gpuetl.places.paths import FilePath
    from gpuetl.plan.plan import Plan

    Commands: TypeAlias = _SubParsersAction[ArgumentParser]

Params: TypeAlias = Sequence[tuple[str, str]]


class UniqueNames(Action):
    """Collects names and values; a name that is given twice is a mistake, and not the last one's value."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: Any = None) -> None:
        """Add one name and value."""
        name, value = values
        before = getattr(namespace, self.dest)
        for other, first in before:
            if other == name:
                raise ArgumentError(self, f"'{name}' is given twice: {first} and {value}.  Give it once")
        setattr(namespace, self.dest, (*before, (name, value)))


def add_command(
    commands: Commands, function: Callable[..., None], name: str = "", pair: Callable[[str], object] | None = None
) -> ArgumentParser:
    """Add a command, by default of the function's name, which its doc describes, with the arguments that all have.

    `pair` reads what `--param` is given, by default a name and a value.
    """
    text = function.__doc__ or ""
    head = text.partition(".")[0]
    command = commands.add_parser(name or function.__name__, description=text, help=head, allow_abbrev=False)
    command.set_defaults(command=function)
    command.add_argument("file", type=pipeline_file, help="the pipeline's YAML file; may be s3://… or https://…")
    add_pipeline(command, pair)
    return command


def pipeline_file(text: str) -> FilePath:
    """Read the path of a pipeline's file, which may be in a store.

    Raises
    ------
    InvalidPipeline
        For a path of a scheme that gpuetl does not support.
    """
    if "://" not in text:
        return Path(text)
    from gpuetl.spec.document import pipeline_path

    return pipeline_path(text)


def add_pipeline(command: ArgumentParser, pair: Callable[[str], object] | None = None) -> None:
    """Add the arguments that say how to read a pipeline's file."""
    command.add_argument(
        "-p", "--param", dest="params", metavar="NAME=VALUE", type=pair or name_and_value, action=UniqueNames,
        default=(), help="a parameter's value; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--params-file", dest="params_files", metavar="FILE", action="append", default=[],
        help="values of parameters from a YAML or JSON file; -p comes before it; may be repeated",
    )  # fmt: skip
    command.add_argument("--profile", metavar="NAME", help="apply this profile of the file; default: GPUETL_PROFILE")
    command.add_argument(
        "--root",
        metavar="FOLDER",
        type=root_folder,
        help="folder that relative paths start from; default: the file's folder",
    )
    text = "for untrusted files: read and write only in this folder, and run no code from the file"
    command.add_argument("--sandbox", metavar="FOLDER", type=existing_folder, help=text)


def root_folder(text: str) -> FilePath:
    """Read the path of the folder that relative paths start from, which may be in a store."""
    if "://" not in text:
        return Path(text)
    from gpuetl.places.paths import ImpossiblePath
    from gpuetl.places.registry import folder_of

    try:
        return folder_of(text)
    except ImpossiblePath as error:
        raise ArgumentTypeError(str(error)) from None


def existing_folder(text: str) -> Path:
    """Read the path of a folder that exists."""
    path = Path(text)
    if not path.is_dir():
        raise ArgumentTypeError(f"folder {path} does not exist")
    return path


def add_options(command: ArgumentParser) -> None:
    """Add the arguments that `run_options` takes."""
    command.add_argument(
        "--skip", metavar="PASS", action="append", default=[],
        help="skip an optimizer pass or a choice of the engine, by name; can be repeated",
    )  # fmt: skip
    command.add_argument(
        "--partition-rows", metavar="ROWS", type=int,
        help="most rows of a source in one partition; on a cluster, use at least one partition per worker",
    )  # fmt: skip


def add_memory(command: ArgumentParser) -> None:
    """Add the argument that says how much memory there is."""
    text = "most memory that the run may use, such as 8GB (on a cluster, each task); default: what is free"
    command.add_argument("--memory", metavar="SIZE", type=memory_size, help=text)


def memory_size(text: str) -> int:
    """Return the bytes of a size."""
    try:
        return read_size(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def add_kernel_timeout(command: ArgumentParser, seconds: float | None = None) -> None:
    """Add the argument that limits the time of a user's kernel."""
    text = f"fail if a CUDA kernel runs longer than this; default: {f'{seconds:g}' if seconds else 'never'}"
    command.add_argument("--kernel-timeout", metavar="SECONDS", type=seconds_above_0, default=seconds, help=text)


def seconds_above_0(text: str) -> float:
    """Read a number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < inf:
        raise ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds


def add_cluster(command: ArgumentParser) -> None:
    """Add the arguments that `cluster_options` takes."""
    group = command.add_argument_group("engines dask and dask-cuda")
    group.add_argument(
        "--workers",
        metavar="COUNT",
        type=int,
        help="workers to start here; default: one per processor or GPU",
    )
    group.add_argument(
        "--worker-memory", metavar="SIZE", type=memory_size,
        help="memory at which a started worker moves results to disk, such as 60GB; default: never",
    )  # fmt: skip
    group.add_argument(
        "--dashboard", metavar="ADDRESS", help="serve the dask dashboard at this address, such as 127.0.0.1:8787"
    )
    group.add_argument(
        "--worker-timeout", metavar="SECONDS", type=float, dest="worker_timeout_s",
        help="give up on a worker that is silent for this long, and end the run if the scheduler is; default: 60",
    )  # fmt: skip
    group.add_argument("--cluster", metavar="ADDRESS", help="run on an existing scheduler, such as tcp://host:8786")
    for name, what in (
        ("ca", "authority's certificate"),
        ("cert", "own certificate"),
        ("key", "own certificate's key"),
    ):
        text = f"the {what}, for a scheduler at tls://…; all three or none"
        group.add_argument(f"--tls-{name}", metavar="FILE", type=Path, help=text)


def cluster_options(given: Mapping[str, Any]) -> Cluster:
    """Return where to run, of the arguments that `add_cluster` adds."""
    from gpuetl.options import Cluster

    options = {name: value for name, value in given.items() if value is not None}
    return Cluster(address=options.pop("cluster", None), **options)


def name_and_value(text: str) -> tuple[str, str]:
    """Split a name=value pair."""
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise ArgumentTypeError(f"'{text}' is not name=value")
    return name, value


def run_options(skip: Sequence[str], partition_rows: int | None, **others: object) -> RunOptions:
    """Return the options that the command line gives; the others keep their defaults."""
    from gpuetl.options import RunOptions

    given = {} if partition_rows is None else {"partition_rows": partition_rows}
    return RunOptions.of(skip, **given, **others)


def show_warnings(plan: Plan) -> None:
    """Print a plan's warnings on stderr; a run's own are in its report."""
    for warning in (*plan.warnings, *plan.unused):
        print(f"warning: {warning}", file=sys.stderr)
    for note in plan.notes:
        print(f"note: {note}", file=sys.stderr)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn errors and signals into one message on stderr and their exit code; a bug says what to report."""
    try:
        with stopping():
            yield
    except GpuetlError as error:
        leave(f"error: {error}" if error.exit_code == ExitCode.FAILED else str(error), error.exit_code)
    except Stopped as stop:
        leave(f"interrupted ({stop}): {getattr(stop, '__notes__', ['no sink has changed'])[0]}", stop.exit_code)
    except Exception as error:
        leave(redacted("error: " + "\n".join(unexpected(error))), ExitCode.FAILED)


def leave(message: str, exit_code: int) -> None:
    """End the program with a message, if there is one."""
    if message:
        print(message, file=sys.stderr)
    from gpuetl.lost_device import is_lost

    if is_lost():  # to free the GPU's memory would wait for ever, or crash
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(exit_code)
    raise SystemExit(exit_code) from None
