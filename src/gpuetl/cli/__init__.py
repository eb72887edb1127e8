"""The command `gpuetl`: one file a subcommand.  Nothing here imports an engine before a command needs it.

The command line is read by argparse: a library that reads it from annotations takes longer to import than all that
`validate` needs of gpuetl itself.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from gpuetl import messages
from gpuetl.cli.arguments import exit_codes
from gpuetl.cli.json_output import json_output, note_usage
from gpuetl.cli.output import checked_output, open_standard_streams
from gpuetl.messages import coded
from gpuetl.sandbox import in_sandbox
from gpuetl.version import __version__

COMMANDS = (
    "run", "runs", "backfill", "init", "validate", "test", "show", "plan", "graph", "schema", "verify", "kernel",
    "recover", "clean", "bench", "doctor", "explain", "completion",
)  # fmt: skip
"""The commands, each a module of its name."""


def main() -> None:
    """Run the command line; raise `SystemExit` where it fails.

    The garbage collector would look through a hundred thousand objects of imported modules, again and again while
    they are made and once more at exit: a fifth of the time of a short command.
    """
    gc.disable()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks which words may follow
        from gpuetl.cli.completion import complete

        complete(parser())
    open_standard_streams()
    try:
        execute()
    finally:
        if not has_run_users_code():
            gc.freeze()


def collect_garbage() -> None:
    """Let the garbage collector run again, and leave alone what was imported: for commands that take long."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def has_run_users_code() -> bool:
    """Return whether a pipeline's Python was run in this process."""
    twin = sys.modules.get("gpuetl.user_kernels.twin")
    return twin is not None and twin.is_loaded()


def execute(arguments: Sequence[str] | None = None) -> None:
    """Run the command of these arguments, by default those of the process; raise `SystemExit` where it fails."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    words = [*words[1:], "--help"] if words[:1] == ["help"] else words
    with checked_output(), exit_codes(), json_output(words):
        given = vars(parser(words).parse_args(words))
        if files := given.pop("params_files", ()):
            from gpuetl.spec.files.params_file import read_params_files

            given["params"] = (*read_params_files(files).items(), *given["params"])
        if "words" in given:
            given["words"] = words[1:]
        with in_sandbox(given.pop("sandbox", None)):
            given.pop("command")(**given)


class Arguments(ArgumentParser):
    """Reads a command line; its errors have a code and a next step too.  `command` is the one whose options count."""

    command: str = ""

    def error(self, message: str) -> NoReturn:
        """Print the usage, what is wrong, and the next step, and leave."""
        note_usage(message)
        text = f"{message}\nWhat it takes: {self.command or self.prog} --help"
        super().error(messages.with_code(text, coded("GE3004", message)))


def parser(words: Sequence[str] = ()) -> ArgumentParser:
    """Return what reads the command line of these words; it knows one command if they begin with one, else all.

    The arguments of all commands take longer to set up than those of one to read.
    """
    description = "Declarative ETL pipelines on NVIDIA GPUs, with answers that can be checked."
    read = Arguments("gpuetl", description=description, allow_abbrev=False)
    version = f"gpuetl {__version__}"
    read.add_argument("--version", action="version", version=version, help="print the version and leave")
    commands = read.add_subparsers(title="commands", metavar="COMMAND", required=True)
    if words and words[0] in COMMANDS:
        read.command = f"gpuetl {words[0]}"
    for name in [words[0]] if read.command else COMMANDS:
        import_module(f"gpuetl.cli.{name}").add_to(commands)
    return read
