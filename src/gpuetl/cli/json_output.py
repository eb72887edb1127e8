"""`--json`: one JSON document on stdout and nothing else, also where a command fails; messages go to stderr.

Every document has `schema_version`, `exit_code` and `problems`, the errors as data.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from typing import Any, TextIO

from gpuetl.exit_codes import exit_code_of

SCHEMA_VERSION = 1
"""Of all documents but that of a run: a key that is removed, renamed or changes its meaning makes it larger."""
COMMANDS = ("run", "runs", "validate", "plan", "test", "verify")
"""Those that print one document, whatever happens."""
STDOUT = 1


class JsonOutput:
    """What the command that runs prints: its document, and the message of a wrong command line."""

    def __init__(self) -> None:
        self.text: str | None = None
        self.usage = ""


OUTPUT = JsonOutput()


def print_document(data: Mapping[str, Any]) -> None:
    """Print a command's document when it ends; nothing after this one is printed."""
    from gpuetl.output_files import as_json

    OUTPUT.text = as_json(data)


def document(exit_code: int, problems: Sequence[Mapping[str, Any]] = (), **data: Any) -> dict[str, Any]:
    """Return a document: what all have, and the command's own data."""
    head = {"schema_version": SCHEMA_VERSION, "exit_code": int(exit_code)}
    return {**head, **data, "problems": list(problems)}


def note_usage(message: str) -> None:
    """Keep what is wrong with a command line for the document."""
    OUTPUT.usage = message


@contextmanager
def json_output(words: Sequence[str]) -> Iterator[None]:
    """Where a command line has --json, send all but the document to stderr, and print the document at the end."""
    if not (words and words[0] in COMMANDS and "--json" in words):
        yield
        return
    OUTPUT.text, OUTPUT.usage = None, ""
    try:
        with stdout_to_stderr():
            yield
    except BaseException as error:
        if OUTPUT.text is None and exit_code_of(error):
            print_document(failed_document(words[0], error))
        raise
    finally:
        if OUTPUT.text is not None:
            print(OUTPUT.text)
            sys.stdout.flush()


def failed_document(command: str, error: BaseException) -> dict[str, Any]:
    """Return the document of a command that failed before it had anything else to say."""
    code = exit_code_of(error)
    if isinstance(error, SystemExit):
        from gpuetl.report.failure import ProblemReport

        hint = f"What it takes: gpuetl {command} --help"
        return document(code, [asdict(ProblemReport("GE3004", OUTPUT.usage, hint=hint))], command=command)
    from gpuetl.report.failure import problems_of

    return document(code, [asdict(one) for one in problems_of(error)], command=command)


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what the block writes to stdout to stderr, also what a user's Python code or a kernel prints."""
    with ExitStack() as after:
        out = sys.stdout
        after.callback(setattr, sys, "stdout", out)
        sys.stdout = sys.stderr
        if is_descriptor(out, STDOUT):
            out.flush()
            kept = os.dup(STDOUT)
            after.callback(os.close, kept)
            os.dup2(sys.stderr.fileno(), STDOUT)
            after.callback(os.dup2, kept, STDOUT)
        yield


def is_descriptor(stream: TextIO, number: int) -> bool:
    """Return whether a stream writes to an open file of the process; one of a test may not."""
    with suppress(OSError, ValueError, AttributeError):
        return stream.fileno() == number
    return False
