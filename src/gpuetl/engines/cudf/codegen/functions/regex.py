"""Regular expressions compiled for the virtual machine of regex.cuh."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from enum import IntEnum
from typing import Any

from gpuetl.engines.cudf.codegen.cuda_types import c_bytes, c_words
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.regex import parse_pattern, parse_replacement
from gpuetl.expressions.regex.tree import Anchor, Characters, Choice, Group, Node, Ranges, Repeat
from gpuetl.expressions.regex.tree import Sequence as Chain
from gpuetl.records import dataclass

# Regular expressions compiled for the virtual machine of regex.cuh.
#
# Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009); the instructions are his, with
# repetitions written out as in `Repeat`'s text.


class Op(IntEnum):
    """What an instruction does; the same numbers as in regex.cuh."""

    CHARACTER = 0
    MATCH = 1
    SPLIT = 2
    JUMP = 3
    SAVE = 4
    AT_START = 5
    AT_END = 6


@dataclass
class Program:
    """Instructions of an operation and two operands; `captured` are the groups whose places are kept, in order."""

    captured: Sequence[int] = ()
    instructions: list[tuple[int, int, int]] = field(default_factory=list)
    classes: dict[Ranges, int] = field(default_factory=dict)

    def count(self, *ops: Op) -> int:
        """Return how many instructions are of some operations."""
        return sum(op in ops for op, _, _ in self.instructions)

    def emit(self, op: Op, x: int = 0, y: int = 0) -> int:
        """Add an instruction and return its place."""
        self.instructions.append((op, x, y))
        return len(self.instructions) - 1

    def add(self, node: Node) -> None:
        """Add the instructions that match a node."""
        match node:
            case Characters():
                self.emit(Op.CHARACTER, self.classes.setdefault(node.ranges, len(self.classes)), len(node.ranges))
            case Anchor():
                self.emit(Op.AT_END if node.end else Op.AT_START)
            case Group():
                self.group(node)
            case Chain():
                for item in node.items:
                    self.add(item)
            case Choice():
                self.choice(node.options)
            case Repeat():
                self.repeat(node)

    def group(self, node: Group) -> None:
        """Add a group, with its places where they are asked for."""
        if node.number not in self.captured:
            self.add(node.body)
            return
        slot = 2 * self.captured.index(node.number) + 1  # the start of the match has the first one
        self.emit(Op.SAVE, slot)
        self.add(node.body)
        self.emit(Op.SAVE, slot + 1)

    def choice(self, options: Sequence[Node]) -> None:
        """Add options, the first one preferred."""
        ends = []
        for option in options[:-1]:
            split = self.emit(Op.SPLIT)
            self.add(option)
            ends.append(self.emit(Op.JUMP))
            self.prefer(split, split + 1, len(self.instructions), lazy=False)
        self.add(options[-1])
        for end in ends:
            self.instructions[end] = (Op.JUMP, len(self.instructions), 0)

    def repeat(self, node: Repeat) -> None:
        """Add an item as often as it has to be there, then as often as it may."""
        for _ in range(node.low if node.high is not None else max(node.low - 1, 0)):
            self.add(node.item)
        if node.high is None:
            self.loop(node)
            return
        splits = []
        for _ in range(node.high - node.low):
            splits.append(self.emit(Op.SPLIT))
            self.add(node.item)
        for split in splits:
            self.prefer(split, split + 1, len(self.instructions), node.lazy)

    def loop(self, node: Repeat) -> None:
        """Add an item any number of times, at least once where `low` says so."""
        start = len(self.instructions)
        if not node.low:
            self.emit(Op.SPLIT)
        self.add(node.item)
        if node.low:
            split = self.emit(Op.SPLIT)
            self.prefer(split, start, split + 1, node.lazy)
        else:
            self.emit(Op.JUMP, start)
            self.prefer(start, start + 1, len(self.instructions), node.lazy)

    def prefer(self, split: int, inside: int, after: int, lazy: bool) -> None:
        """Set where a split goes: inside first, unless it is lazy."""
        self.instructions[split] = (Op.SPLIT, *((after, inside) if lazy else (inside, after)))

    def program_code(self, anchored: bool) -> str:
        """Return the `RegexProgram` of C++: instructions of three words, then the ranges of the classes."""
        starts, place = {}, 3 * len(self.instructions)
        for ranges, number in self.classes.items():
            starts[number] = place
            place += 2 * len(ranges)
        words = [
            word
            for op, x, y in self.instructions
            for word in (op, starts[x] if op == Op.CHARACTER else x, y)
        ]  # fmt: skip
        words += [bound for ranges in self.classes for bounds in ranges for bound in bounds]
        sizes = (
            len(self.instructions), self.count(Op.CHARACTER, Op.MATCH), self.count(Op.SPLIT, Op.SAVE) + 1,
            1 + 2 * len(self.captured),
        )  # fmt: skip
        return f"RegexProgram<{', '.join(map(str, sizes))}, {str(anchored).lower()}>{{{c_words(words)}}}"


def compiled(root: Node, captured: Collection[int] = ()) -> str:
    """Return the C++ code of the program that finds a pattern, and the places of some of its groups."""
    program = Program(sorted(captured))
    program.add(root)
    program.emit(Op.MATCH)
    return program.program_code(begins_at_start(root))


def begins_at_start(node: Node) -> bool:
    """Return whether every match begins at the start of the text."""
    match node:
        case Anchor():
            return not node.end
        case Group():
            return begins_at_start(node.body)
        case Chain():
            return begins_at_start(node.items[0])
        case Choice():
            return all(map(begins_at_start, node.options))
    return False


# Regular expressions: patterns and replacements are read here, and matched by the virtual machine of regex.cuh.


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
    replacement = b"".join(
        part.encode() if isinstance(part, str) else bytes([CAPTURED + places[part]]) for part in parts
    )
    return f"regexp_replace(out, {args[0]}, {compiled(root_of(call), groups)}, {c_bytes(replacement)})"


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
    "regexp_extract": Device(extract, result_form="maybe"),
    "regexp_replace": Device(replace, result_form="text"),
    "regexp_count": Device(count),
}
