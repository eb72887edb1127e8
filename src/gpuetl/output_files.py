"""Files that commands write for users: JSON, and files that are whole or not there."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

# JSON that every program can read.


HALF = re.compile("[\ud800-\udfff]")


def as_json(data: Any) -> str:
    r"""Return data as JSON on several lines.

    Half of a character, as in the name of a file that is not UTF-8, becomes the six characters `\udcff`: as an escape
    of JSON it stands for no character, and other programs than Python refuse the file.
    """
    return json.dumps(whole(data), indent=2)


def whole(data: Any) -> Any:
    """Return data whose texts have no halves of characters."""
    if isinstance(data, str):
        return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", data)
    if isinstance(data, Mapping):
        return {whole(name): whole(value) for name, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, bytes):
        return [whole(value) for value in data]
    return data


# Small files that are written whole, or not at all: reports, traces, a pipeline file that gets a test.


def write_whole(path: str | Path, content: bytes) -> None:
    """Put a file in place of another in one step; a disk that is full leaves the old one as it is.

    A link is written through, and the old file's permissions stay.  Devices and pipes are written to directly.  So is a
    file in a folder that takes no new files.

    Raises
    ------
    OSError
        Where the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    try:
        number, beside = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    except PermissionError:
        target.write_bytes(content)
        return
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        if target.exists():
            shutil.copymode(target, beside)
        else:
            Path(beside).chmod(0o666 & ~current_umask())
        Path(beside).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise


def current_umask() -> int:
    """Return the process's mask for new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
