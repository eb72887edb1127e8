"""`gpuetl init`: a project that runs and passes its tests."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.errors import InvalidPipeline, RunFailed, system_reason
from gpuetl.messages import coded

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = init.__doc__ or ""
    command = commands.add_parser("init", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=init)
    command.add_argument("name", metavar="NAME", nargs="?", help="the folder to make; default: this folder")
    text = "files, globs or folders that become sources; default: a small file of sales"
    command.add_argument("--from", dest="paths", metavar="FILE", nargs="+", default=[], help=text)
    command.add_argument("--format", help="the format of the files; default: by their suffix")


def init(name: str | None, paths: Sequence[str], format: str | None) -> None:  # noqa: A002
    """Write a project: a pipeline with a test, an expectation and profiles, its JSON Schema, and a CI file.

    With --from, the pipeline reads these files, with the columns and types that they have.  Files that exist are never
    changed.

    Raises
    ------
    InvalidPipeline
        For a file that exists already, and for data that cannot be read; nothing is written then.
    RunFailed
        For a folder that cannot be written.
    """
    from gpuetl.cli.init_project import PIPELINE, SCHEMA, project_of, sample_project
    from gpuetl.cli.schema import sources_of
    from gpuetl.spec.json_schema import schema_text
    from gpuetl.spec.values import Text

    folder = Path(name or ".")
    title = re.sub(r"[^A-Za-z0-9_-]+", "_", folder.resolve().name).strip("_") or "pipeline"
    hints: list[str] = []
    if paths:
        found = sources_of(paths, format)
        for source in found.values():
            hints += source.shown_hints
        relative = {
            one: source._replace(spec=replace(source.spec, path=Text(path_from(folder, source.spec.path))))
            for one, source in found.items()
        }
        files = project_of(title, relative)
    else:
        files = sample_project(title)
    files[SCHEMA] = schema_text()
    if existing := [path for path in files if path != ".gitignore" and (folder / path).exists()]:
        message = coded("GE1045", f"{folder / existing[0]} exists already")
        raise InvalidPipeline.because(message, "Give another NAME, or remove it.")
    write(folder, {path: text for path, text in files.items() if not (folder / path).exists()})
    for hint in hints:
        print(f"hint: {hint}")
    go = f"cd {name} && " if name else ""
    print(f"\n    {go}gpuetl test {PIPELINE}\n    {go}gpuetl run {PIPELINE}")


def path_from(folder: Path, path: str) -> str:
    """Return a path as it is written in a file of the folder: whole paths and those of stores stay."""
    if path.startswith("/") or "://" in path:
        return path
    return os.path.relpath(path, folder)


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, and print their paths.

    Raises
    ------
    RunFailed
        For a folder or file that cannot be written.
    """
    for path, text in files.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise RunFailed(coded("GE1045", f"cannot write {target}: {system_reason(error)}")) from None
        print(target)
