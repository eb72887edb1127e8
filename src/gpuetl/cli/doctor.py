"""`gpuetl doctor`: what this machine has, and what mends what is wrong with it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from itertools import groupby
from typing import TYPE_CHECKING

from gpuetl.exit_codes import ExitCode

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.doctor import Diagnosis


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = doctor.__doc__ or ""
    command = commands.add_parser("doctor", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=doctor)
    text = "exit with 1 if this engine cannot run here"
    command.add_argument("--engine", metavar="ENGINE", type=known_engine, help=text)
    command.add_argument("--json", action="store_true", help="print JSON, and nothing else")


def known_engine(name: str) -> str:
    """Return the name of an engine; raise `ArgumentTypeError` if there is none of that name."""
    from gpuetl.engines.registry import engine_names  # not for the help of all commands

    if name not in engine_names():
        raise ArgumentTypeError(f"invalid choice: '{name}' (choose from {', '.join(map(repr, engine_names()))})")
    return name


def doctor(engine: str | None = None, json: bool = False) -> None:
    """Look at driver, GPUs, packages, settings and disk, and tell for each problem the line that fixes it."""
    from json import dumps

    from gpuetl.doctor import diagnose

    diagnosis = diagnose()
    print(dumps(diagnosis.to_dict(), indent=2) if json else as_text(diagnosis))
    if engine is not None and diagnosis.engines[engine]:
        raise SystemExit(ExitCode.FAILED)


def as_text(diagnosis: Diagnosis) -> str:
    """Return what was found, then which engines run, then the problems."""
    width = max(len(observation.name) for observation in diagnosis.observations)
    lines: list[str] = []
    for section, observations in groupby(diagnosis.observations, key=lambda observation: observation.section):
        lines += [section, *(f"  {observation.name:{width}}  {observation.value}" for observation in observations), ""]
    lines += ["engines"]
    lines += [f"  {name:{width}}  {f'no: {why}' if why else 'yes'}" for name, why in diagnosis.engines.items()]
    lines += ["", "no problem was found" if not diagnosis.problems else "problems"]
    for problem in diagnosis.problems:
        lines += [f"  {problem.problem}", f"    fix: {problem.fix}"]
    return "\n".join(lines)
