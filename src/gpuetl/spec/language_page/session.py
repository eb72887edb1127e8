"""Examples of the language's page that are whole files: a command in their folder, and what it prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gpuetl.records import dataclass

LANGUAGES = {"csv": "csv", "yaml": "yaml"}


@dataclass(frozen=True)
class Session:
    """Files by name, the arguments of `gpuetl` in their folder, and a folder whose files are listed after it."""

    files: Mapping[str, str]
    command: str
    listed: str = ""

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")


Print = Callable[[Session], str]
"""Runs the command of a session and returns what it prints, or the files of the listed folder."""


def shown_session(session: Session, printed: Print) -> str:
    """Return the files, and the command with what it prints."""
    files = [
        f"`{name}`:\n\n```{LANGUAGES[name.rpartition('.')[2]]}\n{text}```\n" for name, text in session.files.items()
    ]
    return "\n".join([*files, shown_command(session, printed)])


def shown_command(session: Session, printed: Print) -> str:
    """Return the command with what it prints."""
    commands = [f"$ gpuetl {session.command}", *([f"$ find {session.listed} -type f"] if session.listed else [])]
    output = "\n".join([*commands, printed(session)])
    return f"```text\n{output}\n```\n"
