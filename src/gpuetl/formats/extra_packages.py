"""Packages that some formats need, and that an extra of gpuetl installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError


def extra_package(module: str, package: str, extra: str, files: str) -> Any:
    """Return a module of a package that an extra installs; `files` says what it reads.

    Raises
    ------
    DatasetError
        Where it is not installed, with the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        hint = f'Install it: pip install "gpuetl[{extra}]".'
        raise DatasetError(coded("GE1433", f"reading {files} needs the package {package}"), hint) from None
