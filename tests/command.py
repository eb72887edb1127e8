"""The command line, called in the process of the tests; and what processes of their own need."""

from __future__ import annotations

import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

from gpuetl.cli import execute


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def gpuetl(*arguments: object) -> Done:
    """Run a command; an exception that is no exit is the test's failure."""
    out, err, code = StringIO(), StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            execute([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def environment_without_coverage() -> dict[str, str]:
    """Return the environment for a process that cannot write a file of `make coverage` when it ends."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
