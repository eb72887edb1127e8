"""Deterministic automata of regular expressions, for whether there is a match at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from gpuetl.engines.cudf.codegen.cuda_types import c_bytes, c_short_words
from gpuetl.engines.cudf.codegen.functions.regex_instructions import Op, Program, begins_at_start, program_of
from gpuetl.expressions.regex.tree import Node, Ranges
from gpuetl.records import dataclass

# Code points as ranges of bytes, each byte after the first one of six bits.
#
# Strings are UTF-8.  So what no UTF-8 has, such as characters written longer than they have to be, may be taken or not:
# ranges that begin with the first character of a length take all first bytes of it, and need fewer states.


Bytes: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of bytes, one after the other."""
LENGTHS = ((0, 0x7F, 0), (0x80, 0x7FF, 0xC0), (0x800, 0xFFFF, 0xE0), (0x10000, 0x10FFFF, 0xF0))
"""Of one to four bytes: the first and last code point, and what is added to the first byte."""


def byte_ranges(ranges: Ranges) -> Iterator[Bytes]:
    """Yield the bytes of code points."""
    for first, last in ranges:
        for more, (least, greatest, lead) in enumerate(LENGTHS):
            low, high = max(first, least), min(last, greatest)
            if low <= high:
                low = 0 if low == least else low
                high = 0x1FFFFF if high == 0x10FFFF else high
                for head, *rest in digit_ranges(low, high, more):
                    yield ((head[0] + lead, head[1] + lead), *((a + 0x80, b + 0x80) for a, b in rest))


def digit_ranges(low: int, high: int, more: int) -> Iterator[Bytes]:
    """Yield the numbers from one to another as digits of six bits: a first one of any size and some `more`."""
    if not more:
        yield ((low, high),)
        return
    last = (1 << 6 * more) - 1
    first_digit, last_digit = low >> 6 * more, high >> 6 * more
    if first_digit == last_digit:
        for rest in digit_ranges(low & last, high & last, more - 1):
            yield ((first_digit, first_digit), *rest)
        return
    if low & last:
        for rest in digit_ranges(low & last, last, more - 1):
            yield ((first_digit, first_digit), *rest)
        first_digit += 1
    if high & last != last:
        for rest in digit_ranges(0, high & last, more - 1):
            yield ((last_digit, last_digit), *rest)
        last_digit -= 1
    if first_digit <= last_digit:
        yield ((first_digit, last_digit), *[(0, 63)] * more)


# What is beside a place in the text, as far as anchors ask for it.


BOUND, NEWLINE, WORD, INSIDE = 1, 2, 4, 8
"""The end of the text, a newline, a byte of a word, and one inside of a character."""
WORD_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
SIDES: dict[int, tuple[int, int]] = {
    Op.START: (BOUND, 0),
    Op.END: (0, BOUND),
    Op.LINE_START: (BOUND | NEWLINE, 0),
    Op.LINE_END: (0, BOUND | NEWLINE),
    Op.WORD_BOUND: (WORD, WORD),
    Op.NO_WORD_BOUND: (WORD, WORD),
}
"""What an anchor looks for before and behind a place."""


def side_of(byte: int) -> int:
    """Return what a byte is to anchors beside it."""
    return NEWLINE * (byte == 10) | WORD * (byte in WORD_BYTES) | INSIDE * (0x80 <= byte < 0xC0)


def holds(op: int, before: int, after: int) -> bool:
    """Return whether a place is what an anchor asks for."""
    left, right = before & SIDES[op][0], after & SIDES[op][1]
    if op in (Op.WORD_BOUND, Op.NO_WORD_BOUND):
        return (left != right) == (op == Op.WORD_BOUND)
    return bool(left | right)


# The automaton.
#
# Sources: K. Thompson, "Regular Expression Search Algorithm" (1968), and R. Cox, "Regular Expression Matching Can Be
# Simple And Fast" (2007), on states that stand for sets of threads; A. Aho, R. Sethi, J. Ullman, "Compilers" (1986),
# algorithm 3.2, on all of them; RE2's DFA on anchors, which are decided when the next byte is known, and on bytes that
# no state tells apart.


MOST_STATES, MOST_STEPS, MOST_RANGES, MOST_WORK = 128, 4096, 64, 40_000
"""Beyond these the virtual machine is taken.  The work takes some milliseconds."""
FAILED, FOUND = 0, 1
"""The first two states, which are final."""

Thread: TypeAlias = tuple[int, Bytes]
"""The instruction that comes after some more bytes."""
State: TypeAlias = tuple[frozenset[Thread], int]
"""Threads after a byte, and what that is to anchors."""


@dataclass(frozen=True)
class Automaton:
    """The class of each byte, and of each state the next one by class; the last class is the end of the text.

    The state after the two final ones is the first.
    """

    classes: bytes
    steps: tuple[tuple[int, ...], ...]

    def code(self) -> str:
        """Return the `RegexAutomaton` of C++: states are where their rows begin."""
        width = len(self.steps[0])
        steps = c_short_words(width * state for row in self.steps for state in row)
        return f"RegexAutomaton<{width}>{{{c_bytes(self.classes)}, {steps}}}"


class TooLarge(Exception):
    """An automaton is beyond a limit."""


@lru_cache(maxsize=256)
def automaton_of(root: Node) -> Automaton | None:
    """Return what decides whether a pattern is found; None if it is too large."""
    program = program_of(root)
    if sum(map(len, program.classes)) > MOST_RANGES:
        return None
    try:
        return Construction(program, begins_at_start(root)).automaton()
    except TooLarge:
        return None


class Construction:
    """The construction of an automaton out of a program, whose threads all run at once."""

    def __init__(self, program: Program, anchored: bool) -> None:
        self.instructions, self.anchored, self.work = program.instructions, anchored, 0
        self.bytes_of = {number: [*byte_ranges(ranges)] for ranges, number in program.classes.items()}
        asked = [sides for op, sides in SIDES.items() if program.count(Op(op))]
        self.before = sum({side for side in (BOUND, NEWLINE, WORD) if any(side & left for left, _ in asked)})
        self.after = INSIDE | sum({side for side in (NEWLINE, WORD) if any(side & right for _, right in asked)})

    def automaton(self) -> Automaton:
        """Return the automaton."""
        classes, examples = self.byte_classes()
        states: dict[State, int] = {(frozenset(), BOUND & self.before): FOUND + 1}
        steps = [(final,) * (len(examples) + 1) for final in (FAILED, FOUND)]
        for state in (waiting := [*states]):
            row = []
            for after, bytes_here in self.by_side(examples):
                threads = self.closure(*state, after)
                for byte in bytes_here:
                    following = None if threads is None else self.step(threads, byte)
                    row.append((byte, self.number(following, states, waiting)))
            found = dict(row)
            ended = FOUND if self.closure(*state, BOUND) is None else FAILED
            steps.append((*(found[byte] for byte in examples), ended))
            if len(states) + 2 > MOST_STATES or len(steps[0]) * (len(states) + 2) > MOST_STEPS:
                raise TooLarge
        return Automaton(bytes(classes), tuple(steps))

    def number(self, state: State | None, states: dict[State, int], waiting: list[State]) -> int:
        """Return a state's number; a new one waits for its steps.  None is a match."""
        if state is None:
            return FOUND
        if self.anchored and not state[0]:
            return FAILED
        if state not in states:
            states[state] = len(states) + 2
            waiting.append(state)
        return states[state]

    def by_side(self, examples: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
        """Yield what bytes are to anchors before them, with those bytes."""
        sides: dict[int, list[int]] = {}
        for byte in examples:
            sides.setdefault(side_of(byte) & self.after, []).append(byte)
        yield from sides.items()

    def byte_classes(self) -> tuple[list[int], list[int]]:
        """Return the class of each byte, and a byte of each class: bytes are of one that no thread tells apart."""
        ranges = {each for sequences in self.bytes_of.values() for sequence in sequences for each in sequence}
        if 256 * len(ranges) > MOST_WORK:
            raise TooLarge
        numbers: dict[tuple[int, ...], int] = {}
        classes, examples = [], []
        for byte in range(256):
            side = side_of(byte) & (self.before | self.after)
            kind = (side, *(place for place, (low, high) in enumerate(ranges) if low <= byte <= high))
            if kind not in numbers:
                numbers[kind] = len(numbers)
                examples.append(byte)
            classes.append(numbers[kind])
        return classes, examples

    def closure(self, threads: frozenset[Thread], before: int, after: int) -> set[Thread] | None:
        """Return the threads that wait for a byte, with those that begin here; None for a match."""
        waiting = [(at, rest) for at, rest in threads if rest]
        stack = [at for at, rest in threads if not rest]
        if before & BOUND or not (self.anchored or after & INSIDE):
            stack.append(0)
        seen = set[int]()
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            op, x, y = self.instructions[at]
            match op:
                case Op.MATCH:
                    return None
                case Op.CHARACTER:
                    waiting += [(at + 1, sequence) for sequence in self.bytes_of[x]]
                case Op.JUMP:
                    stack.append(x)
                case Op.SPLIT:
                    stack += (x, y)
                case _:
                    stack += [at + 1] * holds(op, before, after)
        self.spend(len(seen) + len(waiting))
        return set(waiting)

    def step(self, threads: set[Thread], byte: int) -> State:
        """Return the state after a byte."""
        self.spend(len(threads))
        following = {(at, rest[1:]) for at, rest in threads if rest[0][0] <= byte <= rest[0][1]}
        return frozenset(following), side_of(byte) & self.before

    def spend(self, work: int) -> None:
        """Count work."""
        self.work += work
        if self.work > MOST_WORK:
            raise TooLarge
