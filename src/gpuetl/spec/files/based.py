"""Relative paths in an included file begin at its folder: its `base`, relative to the folder of the pipeline's file."""

from __future__ import annotations

from posixpath import normpath

from gpuetl.errors import InvalidPipeline
from gpuetl.messages import coded
from gpuetl.places.paths import Scheme
from gpuetl.spec.values import node_of


def joined(base: str, path: str) -> str:
    """Return a path below a folder; an absolute one, and one with a scheme, as it is."""
    if not base or path.startswith("/") or Scheme.of(path).name:
        return path
    return f"{base}/{path}" if Scheme.of(base).name else normpath(f"{base}/{path}")


def base_of(value: object) -> str:
    """Return the base of the file that a value was read from; an empty one for the pipeline's own file, and Python."""
    node = node_of(value)
    document = getattr(getattr(node, "whole", node), "document", None)
    return document.base if document is not None else ""


def one_file_path(path: str) -> str:
    """Return a path as it is written in the pipeline's own file.

    Raises
    ------
    InvalidPipeline
        For one that begins with a reference: whether it is relative is not known.
    """
    base = base_of(path)
    if base and path.startswith("${"):
        message = coded("GE1037", f"'{path}' stands in an included file: whether it is relative is not known")
        raise InvalidPipeline.because(message, "Write a folder in front of it, or keep the files as they are.")
    return joined(base, str(path))
