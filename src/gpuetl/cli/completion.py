"""`gpuetl completion`: words that a shell completes, by argcomplete, which asks the command line itself.

A shell calls `gpuetl` with the variable `_ARGCOMPLETE` when the user presses the tab key: `complete` answers.
"""

from __future__ import annotations

import os
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.spec.model import PipelineSpec

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ARGCOMPLETE"
PIPELINES = (".yaml", ".yml")
OF_PIPELINE = {
    "profile": lambda spec: spec.profiles,
    "stage": lambda spec: [*spec.stages, *spec.sources],
    "stages": lambda spec: spec.stages,
    "select": lambda spec: [word for name in spec.stages for word in (name, f"{name}+", f"+{name}")],
    "until": lambda spec: spec.stages,
    "from_run": lambda spec: spec.stages,
    "params": lambda spec: [f"{name}=" for name in spec.parameters],
    "names": lambda spec: [str(test.name) for test in spec.tests],
}
"""Arguments whose words are names of the pipeline's file, by their destination."""


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = completion.__doc__ or ""
    command = commands.add_parser(
        "completion", description=text, help="Print a shell's script for completion", allow_abbrev=False
    )
    command.set_defaults(command=completion)
    command.add_argument("shell", choices=SHELLS, help="the shell")


def completion(shell: str) -> None:
    """Print the script that makes a shell complete commands, options, files, stages, parameters and profiles.

    bash: eval "$(gpuetl completion bash)" in ~/.bashrc.  zsh: the same in ~/.zshrc, after compinit.
    fish: gpuetl completion fish > ~/.config/fish/completions/gpuetl.fish.
    """
    from argcomplete.shell_integration import shellcode

    print(shellcode(["gpuetl"], shell=shell))


def complete(parser: ArgumentParser) -> None:
    """Answer a shell that asks for words, and end the process; go on where none asks."""
    if VARIABLE not in os.environ:
        return
    import argcomplete

    add_completers(parser)
    argcomplete.autocomplete(parser, always_complete_options="long")


def add_completers(parser: ArgumentParser) -> None:
    """Say for the arguments of all commands which words they take."""
    from argcomplete.completers import FilesCompleter

    from gpuetl.engines.registry import engine_names
    from gpuetl.error_codes import PAGES

    engines = ["auto", *engine_names()]
    for action in actions_of(parser):
        if action.dest in ("file", "files"):
            completer: object = FilesCompleter(PIPELINES)
        elif action.dest == "engine":
            completer = WordsCompleter(lambda arguments: engines)
        elif action.dest == "code":
            completer = WordsCompleter(lambda arguments: PAGES)
        elif action.dest in OF_PIPELINE:
            completer = WordsCompleter(names_in(OF_PIPELINE[action.dest]))
        elif action.metavar in ("FILE", "FOLDER") or action.dest in ("paths", "name"):
            completer = FilesCompleter()
        elif action.choices is None and action.option_strings and action.nargs != 0:
            completer = WordsCompleter(lambda arguments: ())  # a number or size, not a file
        else:
            continue
        action.completer = completer  # type: ignore[attr-defined]


def actions_of(parser: ArgumentParser) -> Iterable[Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for command in dict.fromkeys(action.choices.values()):
                yield from actions_of(command)
        else:
            yield action


class WordsCompleter:
    """Offers words that depend on the other arguments."""

    def __init__(self, words: Callable[[Namespace], Iterable[str]]) -> None:
        self.words = words

    def __call__(self, prefix: str, parsed_args: Namespace, **others: object) -> list[str]:
        """Return the words that begin with what is typed."""
        return [word for word in self.words(parsed_args) if word.startswith(prefix)]


def names_in(names: Callable[[PipelineSpec], Iterable[str]]) -> Callable[[Namespace], Iterable[str]]:
    """Return a function that gives names of the pipeline's file which is typed; none where it cannot be read."""

    def words(arguments: Namespace) -> Iterable[str]:
        from gpuetl.pipeline import load

        file = getattr(arguments, "file", None)
        if not isinstance(file, Path):  # a store is not asked while somebody types
            return ()
        try:
            return names(load(file, profile="").spec)
        except Exception:  # there is no place to show what is wrong
            return ()

    return words
