"""Paths of files in strings."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.lists import split
from gpuetl.expressions.functions.paths import is_trimmed, separators_of
from gpuetl.expressions.ir import Call, Cast


def separators(call: Call) -> str:
    """Return the code of the characters that separate parts."""
    found = separators_of(call.args)
    return f"PathSeparators{{{str('/' in found).lower()}, {str(found.endswith(chr(92))).lower()}}}"


def filename(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the code of the name, perhaps without its extension."""
    assert isinstance(call, Call)
    return f"parse_filename({args[0]}, {separators(call)}, {str(is_trimmed(call.args)).lower()})"


def dirpath(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the code of what stands before the name."""
    assert isinstance(call, Call)
    return f"parse_dirpath({args[0]}, {separators(call)})"


def dirname(call: Call | Cast, args: Sequence[str]) -> str:
    """Return the code of the first folder."""
    assert isinstance(call, Call)
    return f"parse_dirname({args[0]}, {separators(call)})"


HEADER = "paths.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "parse_filename": Device(filename),
    "parse_dirpath": Device(dirpath),
    "parse_dirname": Device(dirname),
    "parse_path": Library(split),
}
