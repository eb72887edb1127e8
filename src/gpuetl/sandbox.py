"""A folder that a pipeline of others must not leave: which paths it may read and write, and what it may not run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from gpuetl.messages import coded
from gpuetl.records import dataclass

ENVIRONMENT = re.compile(r"\$\{\s*env\.")


class OutsideSandbox(Exception):
    """A path that leaves the sandbox, or something that would run code; worded for the user."""


@dataclass(frozen=True)
class Sandbox:
    """The folder that paths must stay in.  Symbolic links are followed before paths are compared.

    A link that somebody changes between the check and the access is not noticed: no other user may write to the folder.
    """

    folder: Path

    def check(self, path: Path) -> None:
        """Refuse a path outside of the folder.

        Raises
        ------
        OutsideSandbox
            With the path, and where it leads if it is a link.
        """
        place = os.path.realpath(path)
        if not self.holds(path):
            leads = "" if place == os.path.abspath(path) else f" (it leads to {place})"  # noqa: PTH100  links stay
            raise OutsideSandbox(coded("GE1027", f"{path} is outside of the sandbox {self.folder}{leads}"))

    def holds(self, path: Path) -> bool:
        """Return whether a path lies in the folder, when its links are followed."""
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder))

    def refuse_code(self, what: str) -> None:
        """Refuse a step that would run code of the pipeline's author.

        Raises
        ------
        OutsideSandbox
            Always.
        """
        raise OutsideSandbox(coded("GE1028", f"{what}, which a sandbox does not allow"))

    def refuse_environment(self, text: str) -> None:
        """Refuse a path that names an environment variable: its value would show in the names of folders.

        Raises
        ------
        OutsideSandbox
            Where the text has `${env.…}`.
        """
        if ENVIRONMENT.search(text):
            self.refuse_code(f"'{text}' reads an environment variable")


_CURRENT: ContextVar[Sandbox | None] = ContextVar("sandbox", default=None)


@contextmanager
def in_sandbox(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Keep the pipelines that are planned and run in the block inside of a folder.

    Sources and sinks outside of it are errors, also where a link leads there.  So are kernel steps, whose twins are
    Python code, and paths that read environment variables.  None is no sandbox.
    """
    token = _CURRENT.set(None if folder is None else Sandbox(Path(folder)))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_sandbox() -> Sandbox | None:
    """Return the sandbox in which pipelines are planned now, if there is one."""
    return _CURRENT.get()
