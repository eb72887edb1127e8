"""Instructions for the virtual machine of regex.cuh, which any regular expression is compiled to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from enum import IntEnum

from gpuetl.engines.cudf.codegen.cuda_types import c_words
from gpuetl.expressions.regex.tree import Anchor, Characters, Choice, Group, Node, Place, Ranges, Repeat, can_be_empty
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
    START = 5
    END = 6
    LINE_START = 7
    LINE_END = 8
    WORD_BOUND = 9
    NO_WORD_BOUND = 10


LOOKS = (Op.LINE_START, Op.LINE_END, Op.WORD_BOUND, Op.NO_WORD_BOUND)
"""These look at the bytes before and behind."""


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
                self.emit(Op[node.place.name])
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
        if not node.low and can_be_empty(node.item):  # as RE2 does: one split would lose the order of what is preferred
            self.repeat(Repeat(replace_low(node, 1), 0, 1, node.lazy))
            return
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

    def words(self) -> list[int]:
        """Return the instructions, of three words each, then the ranges of the classes."""
        starts, place = {}, 3 * len(self.instructions)
        for ranges, number in self.classes.items():
            starts[number] = place
            place += 2 * len(ranges)
        words = [
            word
            for op, x, y in self.instructions
            for word in (op, starts[x] if op == Op.CHARACTER else x, y)
        ]  # fmt: skip
        return words + [bound for ranges in self.classes for bounds in ranges for bound in bounds]

    def sizes(self) -> tuple[int, int, int]:
        """Return how many instructions there are, and the most threads and entries of the stack."""
        return len(self.instructions), self.count(Op.CHARACTER, Op.MATCH), self.count(Op.SPLIT, Op.SAVE) + 1

    def program_code(self, anchored: bool) -> str:
        """Return the `RegexProgram` of C++."""
        sizes = (*self.sizes(), 1 + 2 * len(self.captured))
        flags = (str(flag).lower() for flag in (anchored, self.count(*LOOKS) > 0))
        return f"RegexProgram<{', '.join([*map(str, sizes), *flags])}>{{{c_words(self.words())}}}"


def replace_low(node: Repeat, low: int) -> Repeat:
    """Return a repetition with another least number."""
    return Repeat(node.item, low, node.high, node.lazy)


def program_of(root: Node, captured: Collection[int] = ()) -> Program:
    """Return the program that finds a pattern, and the places of some of its groups."""
    program = Program(sorted(captured))
    program.add(root)
    program.emit(Op.MATCH)
    return program


def whole(root: Node) -> Node:
    """Return the tree of a pattern that matches from the start to the very end."""
    return Chain((Anchor(Place.START), root, Anchor(Place.END)))


def begins_at_start(node: Node) -> bool:
    """Return whether every match begins at the start of the text."""
    match node:
        case Anchor():
            return node.place is Place.START
        case Group():
            return begins_at_start(node.body)
        case Chain():
            return bool(node.items) and begins_at_start(node.items[0])
        case Choice():
            return all(map(begins_at_start, node.options))
    return False
