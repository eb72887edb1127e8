"""Expressions as instructions for the kernel `interpret`, which is in the closed set: nothing is compiled for them.

A first run uses them, while the kernel of its own that an expression gets is compiled for later ones.  Rows, errors and
bits are those of that kernel: both call the same device functions.  What is not covered here waits for the compiler.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from gpuetl.engines.cudf.codegen.cuda_types import unscaled
from gpuetl.engines.cudf.codegen.emit import branches_of, word_of
from gpuetl.engines.cudf.codegen.functions.like import WILDCARD_CODES, has_pattern, parts_of
from gpuetl.engines.cudf.codegen.functions.logic import has_scales
from gpuetl.engines.cudf.columns.vector import NO_DATA, Buffer, Vector, has_bytes, storage_type
from gpuetl.engines.cudf.machine import Struct
from gpuetl.expressions.ir import UINT64, Call, Cast, Column, Expr, Literal, can_fail
from gpuetl.expressions.text_rules import Wildcard
from gpuetl.records import dataclass
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    DataType,
    is_floating,
    is_integer,
    is_opaque,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_nested

COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
PARTS = {
    "year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "day": "DAY_OF_MONTH", "dayofweek": "DAY_OF_WEEK",
    "hour": "HOUR", "minute": "MINUTE",
}  # fmt: skip
OPERATIONS = (
    "LOAD_INT8", "LOAD_INT16", "LOAD_INT32", "LOAD_INT64", "LOAD_UINT8", "LOAD_UINT16", "LOAD_UINT32", "LOAD_BOOLEAN",
    "VALID", "VALID_BOOLEAN", "NUMBER", "NULL_NUMBER", "BOOLEAN", "NULL_BOOLEAN",
    *COMPARISONS, *(f"FLOAT_{name}" for name in COMPARISONS), *(f"TEXT_{name}" for name in COMPARISONS),
    "ADD", "SUBTRACT", "MULTIPLY", "FLOAT_ADD", "FLOAT_SUBTRACT", "FLOAT_MULTIPLY", "FLOAT_DIVIDE", "DIVIDE",
    "FLOAT_OF_INT", *PARTS.values(),
    "ALL_TRUE", "ANY_TRUE", "NOT", "IS_NULL", "BOOLEAN_IS_NULL", "TEXT_IS_NULL", "GUARD",
    "SELECT", "SELECT_BOOLEAN", "FIRST_VALID", "FIRST_VALID_BOOLEAN",
    "STARTS_WITH", "ENDS_WITH", "CONTAINS", "LIKE",
    "STORE_INT8", "STORE_INT16", "STORE_INT32", "STORE_INT64", "STORE_BOOLEAN", "STORE_VALID", "STORE_VALID_BOOLEAN",
)  # fmt: skip
"""In the order of bytecode.cu."""
TEXT_PAIRS = frozenset([*(f"TEXT_{name}" for name in COMPARISONS), "STARTS_WITH", "ENDS_WITH", "CONTAINS", "LIKE"])
"""Operations of two strings, whose places are the halves of `value`."""
CODES = {name: place for place, name in enumerate(OPERATIONS)}
NUMBERS, BOOLEANS, OUTPUTS, WORDS, NONE = 16, 64, 32, 440, 255
Address = Callable[[Any], int]


class NotCovered(Exception):
    """An expression has to be compiled."""


class Number(NamedTuple):
    """A register of 64 bits, before it has one of those that the kernel has."""

    place: int


class Boolean(NamedTuple):
    """A boolean's bit."""

    place: int


class StringPlace(NamedTuple):
    """Where the data of the code says how a text is read."""

    place: int


Register = Number | Boolean
Operand = Register | StringPlace
R = TypeVar("R", bound=Number | Boolean)


@dataclass
class Instruction:
    """An operation with its operands; `value` is a constant, an address, a set of booleans or places of strings."""

    operation: str
    to: Register | int = NONE
    a: Register | int = NONE
    b: Register | int = NONE
    guard: Boolean | int = NONE
    site: int = 0
    value: int = 0

    def encoded(self, registers: Mapping[Number, int]) -> list[int]:
        """Return the two words."""
        parts = [self.to, self.a, self.b, self.guard]
        places = [registers[p] if isinstance(p, Number) else p.place if isinstance(p, Boolean) else p for p in parts]
        word = CODES[self.operation] | sum(place << 8 * (1 + at) for at, place in enumerate(places)) | self.site << 40
        return [word, self.value]


@dataclass
class Assembler:
    """Writes instructions that compute expressions over columns; `address` gives that of an array.

    Raises
    ------
    NotCovered
        Where an expression needs what the kernel `interpret` has not.
    """

    columns: Mapping[str, Vector]
    address: Address
    instructions: list[Instruction] = field(default_factory=list)
    data: list[list[int]] = field(default_factory=list)
    sites: list[Expr] = field(default_factory=list)
    operand_of: dict[tuple[Expr, Boolean | None], Operand] = field(default_factory=dict)
    numbers: int = 0
    booleans: int = 0

    def add(self, operation: str, to: R, **operands: Any) -> R:
        """Append an instruction; return the register that it sets."""
        self.instructions.append(Instruction(operation, to, **operands))
        return to

    def do(self, operation: str, **operands: Any) -> None:
        """Append an instruction that sets no register."""
        self.instructions.append(Instruction(operation, **operands))

    def register(self, dtype: DataType) -> Register:
        """Return a new register for values of a type."""
        if dtype == BOOL:
            return self.boolean()
        if not is_number(dtype):
            raise NotCovered
        return self.number()

    def number(self) -> Number:
        """Return a new register of 64 bits."""
        self.numbers += 1
        return Number(self.numbers)

    def boolean(self) -> Boolean:
        """Return a new boolean."""
        if self.booleans == BOOLEANS:
            raise NotCovered
        self.booleans += 1
        return Boolean(self.booleans - 1)

    def value(self, expr: Expr, guard: Boolean | None = None) -> Any:
        """Return where the value of an expression is; what can fail is computed where the guard is true."""
        key = (expr, guard if can_fail(expr) else None)
        if key not in self.operand_of:
            self.operand_of[key] = self.computed(expr, guard)
        return self.operand_of[key]

    def computed(self, expr: Expr, guard: Boolean | None) -> Operand:
        """Write what computes an expression."""
        if isinstance(expr, Column):
            return self.column(expr)
        if isinstance(expr, Literal):
            return self.literal(expr)
        if isinstance(expr, Cast):
            return self.cast(expr, guard)
        if isinstance(expr, Call):
            return self.call(expr, guard)
        raise NotCovered

    def column(self, expr: Column) -> Operand:
        """Load a row's value."""
        vector = self.columns[expr.name]
        if expr.dtype == STRING:
            return self.string_place(vector)
        to = self.register(expr.dtype)
        of_boolean = "_BOOLEAN" if expr.dtype == BOOL else ""
        stored = storage_type(expr.dtype)
        load = f"LOAD{of_boolean or '_' + ('INT64' if stored == 'float64' else stored.upper())}"
        if load not in CODES:
            raise NotCovered
        self.add(load, to, value=self.address(vector.data))
        if vector.valid is not None:
            self.do(f"VALID{of_boolean}", a=to, value=self.address(vector.valid))
        return to

    def string_place(self, vector: Vector) -> StringPlace:
        """Say how the strings of a column are read."""
        where = vector.dictionary or vector
        wide = 8 if where.offsets is not None and where.offsets.dtype.itemsize == 8 else 4
        bits = 0 if vector.valid is None else self.address(vector.valid)
        numbers = self.address(vector.data) if vector.dictionary else 0
        return self.described([wide, self.address(where.data), self.address(where.offsets), numbers, bits])

    def described(self, words: list[int]) -> StringPlace:
        """Keep words in the data of the code."""
        self.data.append(words)
        return StringPlace(len(self.data) - 1)

    def constant_text(self, data: bytes) -> StringPlace:
        """Keep a constant's bytes behind what says where they are; `code` puts their place in."""
        padded = data + bytes(-len(data) % 8)
        return self.described([0, 0, len(data), 0, 0, *struct.unpack(f"<{len(padded) // 8}q", padded)])

    def literal(self, expr: Literal) -> Operand:
        """Set a constant."""
        if expr.dtype == STRING:
            if expr.value is None:
                raise NotCovered
            return self.constant_text(expr.value.encode())
        to = self.register(expr.dtype)
        of_type = "BOOLEAN" if expr.dtype == BOOL else "NUMBER"
        if expr.value is None:
            return self.add(f"NULL_{of_type}", to)
        return self.add(of_type, to, value=constant(expr))

    def cast(self, expr: Cast, guard: Boolean | None) -> Operand:
        """Widen an integer, or make a float of it."""
        source, target = expr.operand.dtype, expr.dtype
        widens = expr.implicit and is_integer(source) and source != UINT64
        if source != target and not (widens and (target == FLOAT64 or is_integer(target)) and is_number(target)):
            raise NotCovered
        operand: Operand = self.value(expr.operand, guard)
        if source == target or target != FLOAT64:
            return operand
        return self.add("FLOAT_OF_INT", self.number(), a=operand)

    def call(self, expr: Call, guard: Boolean | None) -> Operand:
        """Write a call of a function that is covered."""
        name, args = expr.function.name, expr.args
        if any(arg.dtype == NULL for arg in args) or has_scales(expr):
            raise NotCovered
        if name.upper() in COMPARISONS:
            left, right = args
            return self.comparison(name.upper(), left, right, guard)
        if name in PARTS:
            return self.part(expr, guard)
        write: dict[str, Callable[[Call, Boolean | None], Operand]] = {
            "and": self.logic, "or": self.logic, "not": self.negated, "in": self.member, "is_null": self.null,
            "case": self.case, "coalesce": self.coalesce, "like": self.search, "starts_with": self.search,
            "ends_with": self.search, "contains": self.search,
        }  # fmt: skip
        return write.get(name, self.arithmetic)(expr, guard)

    def logic(self, expr: Call, guard: Boolean | None) -> Boolean:
        """Combine conditions by AND or OR."""
        operation = "ALL_TRUE" if expr.function.name == "and" else "ANY_TRUE"
        return self.together(operation, [self.value(arg, guard) for arg in expr.args])

    def negated(self, expr: Call, guard: Boolean | None) -> Boolean:
        """Negate a condition."""
        return self.add("NOT", self.boolean(), a=self.value(expr.args[0], guard))

    def member(self, expr: Call, guard: Boolean | None) -> Boolean:
        """Compare with each value."""
        operand, *values = expr.args
        return self.together("ANY_TRUE", [self.comparison("EQUAL", operand, value, guard) for value in values])

    def null(self, expr: Call, guard: Boolean | None) -> Boolean:
        """Return whether the argument is null."""
        return self.is_null(self.value(expr.args[0], guard))

    def part(self, expr: Call, guard: Boolean | None) -> Number:
        """Compute a part of a date, or of a timestamp without a zone."""
        (timestamp,) = expr.args
        if getattr(timestamp.dtype, "tz", None) is not None:
            raise NotCovered
        operands = {"a": self.value(timestamp, guard), "value": int(timestamp.dtype != DATE)}
        return self.add(PARTS[expr.function.name], self.number(), **operands)

    def comparison(self, name: str, left: Expr, right: Expr, guard: Boolean | None) -> Boolean:
        """Compare two values of one type."""
        if left.dtype != right.dtype or left.dtype == BOOL:
            raise NotCovered
        to = self.boolean()
        if left.dtype == STRING:
            places = self.pair(self.value(left, guard), self.value(right, guard))
            return self.add(f"TEXT_{name}", to, value=places)
        prefix = "FLOAT_" if left.dtype == FLOAT64 else ""
        return self.add(prefix + name, to, a=self.value(left, guard), **self.second(right, guard))

    def second(self, expr: Expr, guard: Boolean | None) -> dict[str, Any]:
        """Return a second operand: a constant is in the instruction itself."""
        if isinstance(expr, Literal) and expr.value is not None and is_number(expr.dtype):
            return {"b": NONE, "value": constant(expr)}
        return {"b": self.value(expr, guard)}

    def pair(self, left: StringPlace, right: StringPlace) -> int:
        """Return two places of strings as one value: `code` puts in where they are."""
        return left.place | right.place << 16

    def together(self, operation: str, values: Iterable[Boolean]) -> Boolean:
        """Combine booleans by Kleene's logic."""
        return self.add(operation, self.boolean(), value=signed(sum({1 << value.place for value in values})))

    def is_null(self, operand: Operand) -> Boolean:
        """Return whether a value is null."""
        to = self.boolean()
        if isinstance(operand, StringPlace):
            return self.add("TEXT_IS_NULL", to, value=operand.place)
        return self.add("BOOLEAN_IS_NULL" if isinstance(operand, Boolean) else "IS_NULL", to, a=operand)

    def guarded(self, guard: Boolean | None, condition: Boolean, expected: bool) -> Boolean:
        """Return where the guard is true and the condition is as expected; one that is null counts as false."""
        outer = NONE if guard is None else guard
        return self.add("GUARD", self.boolean(), a=condition, guard=outer, value=int(expected))

    def case(self, expr: Call, guard: Boolean | None) -> Operand:
        """Compute all branches, and select; what can fail is computed where its branch is taken."""
        fails, branches_so_far = can_fail(expr), list[tuple[Boolean, Any]]()
        otherwise: Expr = Literal(None, expr.dtype)
        for condition, branch in branches_of(expr):
            branch_value = Literal(None, expr.dtype) if branch is None or branch.dtype == NULL else branch
            if condition is None:
                otherwise = branch_value
                break
            test = self.value(condition, guard)
            branches_so_far.append(
                (test, self.value(branch_value, self.guarded(guard, test, True) if fails else guard))
            )
            guard = self.guarded(guard, test, False) if fails else guard
        result: Register = self.value(otherwise, guard)
        select = "SELECT_BOOLEAN" if expr.dtype == BOOL else "SELECT"
        for test, value in reversed(branches_so_far):
            result = self.add(select, self.register(expr.dtype), a=value, b=result, guard=test)
        return result

    def coalesce(self, expr: Call, guard: Boolean | None) -> Operand:
        """Take the first value that is not null."""
        first, *others = expr.args
        result: Register = self.value(first, guard)
        if not isinstance(result, Number | Boolean):
            raise NotCovered
        for other in others:
            if can_fail(other):
                guard = self.guarded(guard, self.is_null(result), True)
            choose = "FIRST_VALID_BOOLEAN" if expr.dtype == BOOL else "FIRST_VALID"
            result = self.add(choose, self.register(expr.dtype), a=result, b=self.value(other, guard))
        return result

    def search(self, expr: Call, guard: Boolean | None) -> Boolean:
        """Look for a text in another one."""
        name, text = expr.function.name.upper(), self.value(expr.args[0], guard)
        if name != "LIKE":
            return self.add(name, self.boolean(), value=self.pair(text, self.value(expr.args[1], guard)))
        if not has_pattern(expr):
            raise NotCovered
        match parts_of(expr):
            case []:
                form, data = "TEXT_EQUAL", b""
            case [str(part)]:
                form, data = "TEXT_EQUAL", part.encode()
            case [str(part), Wildcard.ANY]:
                form, data = "STARTS_WITH", part.encode()
            case [Wildcard.ANY, str(part)]:
                form, data = "ENDS_WITH", part.encode()
            case [Wildcard.ANY, str(part), Wildcard.ANY]:
                form, data = "CONTAINS", part.encode()
            case parts:
                points = [
                    p for part in parts for p in (map(ord, part) if isinstance(part, str) else [WILDCARD_CODES[part]])
                ]
                form, data = "LIKE", struct.pack(f"<{len(points)}I", *points)
        return self.add(form, self.boolean(), value=self.pair(text, self.constant_text(data)))

    def arithmetic(self, expr: Call, guard: Boolean | None) -> Number:
        """Calculate with two integers or two floats."""
        name, types = expr.function.name.upper(), {arg.dtype for arg in expr.args}
        if name not in ("ADD", "SUBTRACT", "MULTIPLY", "DIVIDE") or types not in ({INT64}, {FLOAT64}):
            raise NotCovered
        left, right = self.value(expr.args[0], guard), self.second(expr.args[1], guard)
        to = self.number()
        if types == {FLOAT64} or name == "DIVIDE":
            return self.add(name if types == {INT64} else f"FLOAT_{name}", to, a=left, **right)
        if len(self.sites) > NONE:
            raise NotCovered
        self.sites.append(expr)
        own = NONE if guard is None else guard
        return self.add(name, to, a=left, guard=own, site=len(self.sites) - 1, **right)

    def store(self, expr: Expr, data: Any, valid: Any, place: int) -> None:
        """Write an output's values, and its validity words where there are some."""
        source = self.value(expr)
        if not isinstance(source, Number | Boolean) or place >= OUTPUTS:
            raise NotCovered
        of_boolean = "_BOOLEAN" if isinstance(source, Boolean) else ""
        size = {"float64": "INT64"}.get(stored := storage_type(expr.dtype), stored.upper().lstrip("U"))
        self.do(f"STORE{of_boolean or '_' + size}", a=source, value=self.address(data))
        if valid is not None:
            self.add(f"STORE_VALID{of_boolean}", Boolean(place), a=source, value=self.address(valid))

    def code(self) -> Struct:
        """Return the words that the kernel takes."""
        starts, end = list[int](), 2 * len(self.instructions)
        for words in self.data:
            starts.append(end)
            if not words[0]:
                words[1] = end + 5  # a constant's bytes
            end += len(words)
        if end > WORDS:
            raise NotCovered
        registers, coded = self.allocated(), list[int]()
        for each in self.instructions:
            word, value = each.encoded(registers)
            if each.operation == "TEXT_IS_NULL":
                value = starts[value]
            elif each.operation in TEXT_PAIRS:
                value = starts[value & 0xFFFF] | starts[value >> 16] << 16
            coded += [word, value]
        whole = [*coded, *(word for words in self.data for word in words)]
        return Struct(np.array([*whole, *[0] * (WORDS - len(whole))], np.int64))

    def allocated(self) -> dict[Number, int]:
        """Give each number one of the kernel's registers, which is free again behind its last use."""
        last = {
            operand: place
            for place, each in enumerate(self.instructions)
            for operand in (each.to, each.a, each.b)
            if isinstance(operand, Number)
        }
        free, found = list(range(NUMBERS))[::-1], dict[Number, int]()
        for place, each in enumerate(self.instructions):
            ended = {o for o in (each.a, each.b) if isinstance(o, Number) and last[o] == place}
            free += sorted((found[operand] for operand in ended), reverse=True)
            if isinstance(each.to, Number):
                if not free:
                    raise NotCovered
                found[each.to] = free.pop()
        return found


class Code(NamedTuple):
    """What a launch of `interpret` takes: how many instructions, and the words.  `sites` may fail, in this order."""

    instructions: int
    words: Struct
    sites: Sequence[Expr]


def assembled(results: Mapping[Expr, Vector], columns: Mapping[str, Vector], address: Address) -> Code | None:
    """Return what computes expressions into their columns; None where the kernel `interpret` does not cover them."""
    assembler = Assembler(columns, address)
    try:
        for place, (expr, vector) in enumerate(results.items()):
            assembler.store(expr, vector.data, vector.valid, place)
        return Code(len(assembler.instructions), assembler.code(), assembler.sites)
    except NotCovered:
        return None


def is_covered(outputs: Sequence[Expr], columns: Mapping[str, Vector]) -> bool:
    """Return whether expressions over columns of these kinds can be computed by instructions."""
    no_words = cast("Buffer", np.empty(0, np.uint32))  # an output may have nulls
    results = {expr: Vector(expr.dtype, 0, NO_DATA, no_words) for expr in outputs}
    return assembled(results, columns, lambda _: 0) is not None


def is_number(dtype: DataType) -> bool:
    """Return whether values of a type are held in 64 bits and compared as those are, or are floats of 64 bits."""
    if dtype in (BOOL, NULL, UINT64) or has_bytes(dtype) or is_nested(dtype) or is_opaque(dtype):
        return False
    if is_decimal(dtype):
        return bool(dtype.precision <= 18)
    return bool(dtype == FLOAT64 or not is_floating(dtype))


def constant(literal: Literal) -> int:
    """Return the 64 bits of a constant."""
    if is_decimal(literal.dtype):
        return unscaled(literal.value, literal.dtype)
    return word_of(literal.value, literal.dtype)


def signed(word: int) -> int:
    """Return the signed integer of the same 64 bits."""
    return word - (1 << 64) if word >= 1 << 63 else word
