"""Kernels that contain nothing of a pipeline: each is written once, for whatever columns there are.

A file of `device/closed` is a program.  What differs between columns is an argument: their addresses, their widths, and
whether they have validity words.
"""

from __future__ import annotations

from gpuetl.backends.cudf.device.headers import DEVICE, headers_text

FOLDER = "closed"


def closed_programs() -> list[str]:
    """Return the names of all programs."""
    return sorted(path.stem for path in (DEVICE / FOLDER).glob("*.cu"))


def closed_source(*programs: str) -> str:
    """Return the text of programs, with each header that they include once."""
    return headers_text(f"{FOLDER}/{program}.cu" for program in programs)
