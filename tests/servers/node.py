"""Servers that npm installs: s3rver for S3, Azurite for Azure, the YAML language server of editors.  `make test` installs them, where npm is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "node_modules"
INSTALL = "apt-get install npm, and make test installs it"


def program(name: str) -> list[str]:
    """Return the command of a server; skip the test where it is not installed."""
    script, node = FOLDER / ".bin" / name, shutil.which("node")
    if node is None or not script.exists():
        pytest.skip(f"needs {name}, an npm package ({INSTALL})")
    return [node, str(script)]
