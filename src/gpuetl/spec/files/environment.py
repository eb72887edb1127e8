r"""`.env` next to a pipeline's file: environment variables for `${env.NAME}` and `{env: NAME}`.

    # comments, and empty lines
    LAKE=s3://shop
    export LAKE_KEY='…'
    NOTE="two\nlines"

The process's own environment comes first.  The file changes it in nothing: other programs, libraries and pipelines of
the process do not see the variables.
"""

from __future__ import annotations

import os
import re
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path

from gpuetl.errors import InvalidPipeline, Problems, system_reason
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.sandbox import current_sandbox

FILE = ".env"
MOST_BYTES = 1 << 20
_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*)", re.ASCII)
_QUOTED = re.compile(r"""(?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)")\s*(?:#.*)?""")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "$": "$"}


def environment_of(folder: FilePath) -> Mapping[str, str]:
    """Return the process's environment, and below it the variables of the file `.env` of a folder, if there is one.

    In a sandbox the file is not read.

    Raises
    ------
    InvalidPipeline
        For a line that is no variable.  Messages show no value.
    """
    path = folder / FILE if isinstance(folder, Path) else None
    if path is None or current_sandbox() or not path.is_file():
        return os.environ
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8-sig")
    except OSError as error:
        message = coded("GE1035", f"cannot read {path}: {system_reason(error)}")
        raise InvalidPipeline.because(message, "Change its permissions, or remove it.") from None
    except UnicodeDecodeError:
        raise InvalidPipeline.because(coded("GE1035", f"cannot read {path}: it is not UTF-8 text")) from None
    if len(text) > MOST_BYTES:
        raise InvalidPipeline.because(coded("GE1035", f"{path} has more than {MOST_BYTES:,} bytes"))
    return ChainMap(os.environ, read_variables(text, str(path)))


def read_variables(text: str, name: str) -> dict[str, str]:
    """Return the variables of a file; `name` stands for it in messages.

    Raises
    ------
    InvalidPipeline
        With each line that is wrong, by its number.
    """
    variables: dict[str, str] = {}
    problems = Problems()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            wrong(problems, name, number, "is not NAME=value")
            continue
        value = read_value(found["value"])
        if value is None:
            wrong(problems, name, number, f"the quotes of {found['name']} do not end the line")
        elif found["name"] in variables:
            wrong(problems, name, number, f"sets {found['name']} a second time")
        else:
            variables[found["name"]] = value
    problems.check()
    return variables


def wrong(problems: Problems, name: str, number: int, message: str) -> None:
    """Keep a problem of a line, which is not shown: it may hold a secret."""
    hint = "Write NAME=value, one a line; quote values with spaces around them or a #."
    problems.add(coded("GE1035", f"{name}:{number}: {message}"), hint)


def read_value(text: str) -> str | None:
    """Return a value without its quotes, escapes and comment; None for quotes that are not closed."""
    if text[:1] in ("'", '"'):
        found = _QUOTED.fullmatch(text)
        if found is None:
            return None
        if found["single"] is not None:
            return found["single"]
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), found["double"])
    return re.split(r"\s+#", text, maxsplit=1)[0].strip()
