"""Regular expressions: patterns and replacements are read here, and matched by the virtual machine of regex.cuh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuetl.engines.cudf.device.types import c_bytes
from gpuetl.engines.cudf.expressions.functions.device import Device, Library
from gpuetl.engines.cudf.expressions.functions.regex_programs import compiled
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.regex import parse_pattern, parse_replacement
from gpuetl.expressions.regex.tree import Anchor, Node
from gpuetl.expressions.regex.tree import Sequence as Chain

CAPTURED = 0xF5
"""This byte and the nine after it are in no UTF-8; in a replacement they stand for the places that a match keeps."""


def is_found(call: Call, args: Sequence[str]) -> str:
    """Whether the pattern is found anywhere."""
    return f"regexp_found({args[0]}, {compiled(root_of(call))})"


def is_whole(call: Call, args: Sequence[str]) -> str:
    """Whether the pattern matches from the start to the very end."""
    whole = Chain((Anchor(end=False), root_of(call), Anchor(end=True)))
    return f"regexp_found({args[0]}, {compiled(whole)})"


def extract(call: Call, args: Sequence[str]) -> str:
    """What a group of the first match matched."""
    number = constant(call.args[2]) if len(call.args) > 2 else 0
    return f"regexp_extract({args[0]}, {compiled(root_of(call), {number} - {0})})"


def replace(call: Call, args: Sequence[str]) -> str:
    r"""Replace every match; the groups that the replacement names are kept, in their order after `\0`."""
    parts = parse_replacement(constant(call.args[2]))
    groups = sorted({part for part in parts if isinstance(part, int)} - {0})
    places = {number: place for place, number in enumerate([0, *groups])}
    written = b"".join(part.encode() if isinstance(part, str) else bytes([CAPTURED + places[part]]) for part in parts)
    return f"regexp_replace(out, {args[0]}, {compiled(root_of(call), groups)}, {c_bytes(written)})"


def count(call: Call, args: Sequence[str]) -> str:
    """Count the matches."""
    return f"regexp_count({args[0]}, {compiled(root_of(call))})"


def root_of(call: Call) -> Node:
    """Return the tree of the constant pattern."""
    return parse_pattern(constant(call.args[1])).root


def constant(arg: Expr) -> Any:
    """Return a constant's value."""
    assert isinstance(arg, Literal)
    return arg.value


HEADER = "regex.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "regexp_like": Device(is_found),
    "regexp_full_match": Device(is_whole),
    "regexp_extract": Device(extract, gives="maybe"),
    "regexp_replace": Device(replace, gives="text"),
    "regexp_count": Device(count),
}
