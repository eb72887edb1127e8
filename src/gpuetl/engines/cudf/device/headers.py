"""The text of device code: headers with those that they include, each once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from gpuetl.engines.cudf.device.powers_of_ten import powers_of_ten_header

DEVICE = Path(__file__).parent
_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def headers_text(names: Iterable[str]) -> str:
    """Return headers and those that they include, each once."""
    return _text_of(tuple(names))


@cache
def _text_of(names: tuple[str, ...]) -> str:
    included: dict[str, None] = {}
    return "".join(_with_includes(name, included) for name in names)


def _with_includes(name: str, included: dict[str, None]) -> str:
    if name in included:
        return ""
    included[name] = None
    return _INCLUDE.sub(lambda hit: _with_includes(hit[1], included), header_text(name)).replace("#pragma once\n", "")


@cache
def header_text(name: str) -> str:
    """Return the text of a file of device code, or of the header that is calculated."""
    if name == "powers_of_ten.cuh":
        return powers_of_ten_header()
    return (DEVICE / name).read_text(encoding="utf-8")
