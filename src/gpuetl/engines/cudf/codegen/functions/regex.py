"""Regular expressions whose patterns are constants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from gpuetl.engines.cudf.codegen.cuda_types import c_bytes
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.regex_automaton import automaton_of
from gpuetl.engines.cudf.codegen.functions.regex_instructions import begins_at_start, program_of, whole
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.regex import parse_pattern, parse_replacement
from gpuetl.expressions.regex.tree import Node

# Regular expressions: patterns and replacements are read here, and matched by the virtual machine of regex.cuh,
# or by an automaton where only a match is asked for.


CAPTURED = 0xF5
"""This byte and the nine after it are in no UTF-8; in a replacement they stand for the places that a match keeps."""


def is_found(call: Call, args: Sequence[str]) -> str:
    """Whether the pattern is found anywhere."""
    return found_by(args[0], root_of(call))


def is_whole(call: Call, args: Sequence[str]) -> str:
    """Whether the pattern matches from the start to the very end."""
    return found_by(args[0], whole(root_of(call)))


def found_by(text: str, root: Node) -> str:
    """Return the code of whether there is a match: by an automaton, or the virtual machine where that is too large."""
    automaton = automaton_of(root)
    return f"regexp_found({text}, {automaton.code() if automaton else compiled(root)})"


def extract(call: Call, args: Sequence[str]) -> str:
    """What a group of the first match matched."""
    number = constant(call.args[2]) if len(call.args) > 2 else 0
    return f"regexp_extract({args[0]}, {compiled(root_of(call, 3), {number} - {0})})"


def all_matches(call: Call, text: str) -> str:
    """Return the `RegexMatches` of a text: what a group matched in each match."""
    number = constant(call.args[2]) if len(call.args) > 2 else 0
    return f"regex_matches({text}, {compiled(root_of(call, 3), {number} - {0})})"


def parts_between(call: Call, text: str) -> str:
    """Return the `RegexParts` of a text: what stands between the matches."""
    return f"regex_parts({text}, {compiled(root_of(call))})"


def replace(call: Call, args: Sequence[str]) -> str:
    r"""Replace every match; the groups that the replacement names are kept, in their order after `\0`."""
    parts = parse_replacement(constant(call.args[2]))
    groups = groups_named(parts)
    replacement = replacement_bytes(parts, [0, *groups])
    return f"regexp_replace(out, {args[0]}, {compiled(root_of(call, 3), groups)}, {c_bytes(replacement)})"


def groups_named(parts: Sequence[str | int]) -> list[int]:
    """Return the groups that a replacement names, beside the whole match."""
    return sorted({part for part in parts if isinstance(part, int)} - {0})


def replacement_bytes(parts: Sequence[str | int], kept: Sequence[int]) -> bytes:
    """Return a replacement for the device, given the groups whose places a match keeps."""
    return b"".join(part.encode() if isinstance(part, str) else bytes([CAPTURED + kept.index(part)]) for part in parts)


def count(call: Call, args: Sequence[str]) -> str:
    """Count the matches."""
    return f"regexp_count({args[0]}, {compiled(root_of(call))})"


def compiled(root: Node, captured: Collection[int] = ()) -> str:
    """Return the C++ code of such a program."""
    return program_of(root, captured).program_code(begins_at_start(root))


def root_of(call: Call, place: int = 2) -> Node:
    """Return the tree of the constant pattern, with the options at a place."""
    options = constant(call.args[place]) if len(call.args) > place else ""
    return parse_pattern(constant(call.args[1]), options).root


def constant(arg: Expr) -> Any:
    """Return a constant's value."""
    assert isinstance(arg, Literal)
    return arg.value


def text_lists(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Make lists of strings, by kernels whose writers import this table."""
    from gpuetl.engines.cudf.codegen.list_columns import listed_strings

    return listed_strings(call, arguments, rows, machine)


HEADER = "regex.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "regexp_like": Device(is_found),
    "regexp_full_match": Device(is_whole),
    "regexp_extract": Device(extract, result_form="maybe"),
    "regexp_extract_all": Library(text_lists),
    "regexp_split_to_array": Library(text_lists),
    "regexp_replace": Device(replace, result_form="text"),
    "regexp_count": Device(count),
}
