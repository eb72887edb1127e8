"""Expressions written as CUDA statements for one row; values of parameters are arguments of the kernel."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import singledispatchmethod
from typing import Any

import numpy as np

from gpuetl.engines.cudf.codegen.casts import cast_device
from gpuetl.engines.cudf.codegen.cuda_types import c_constant, c_type, whole_number
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, Device
from gpuetl.engines.cudf.columns.vector import has_bytes
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, children
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL, STRING, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_nested, is_struct

# Constants as arguments of kernels: what is compiled for one value serves for all others.


MOST = 128
"""Arguments of one kernel that are constants, or a few more: it takes 4 KB of all kinds on older drivers."""
Constant = int | bytes
"""A word of 64 bits, or the bytes of a text."""


@dataclass
class Constants:
    """The arguments of a kernel's text, `k0` and so on, and how its parameters are declared.

    Values of the pipeline's parameters are arguments.  So are the strings of kernels that write `strings`: there it
    gains little to compile them in, and a pipeline in which a separator is edited has its kernel already.
    """

    strings: bool = False
    parameters: list[str] = field(default_factory=list)
    values: list[Constant] = field(default_factory=list)

    def pass_constant(self, literal: Literal) -> str | None:
        """Pass a constant; return its C++ code, or None for one that is written where it is used.

        These are nulls, decimals, lists, what would be too many arguments, and other constants of the text, with which
        the compiler may calculate.
        """
        wanted = literal.declared or (self.strings and literal.dtype == STRING)
        if not wanted or literal.value is None or len(self.values) >= MOST:
            return None
        if is_decimal(literal.dtype) or is_nested(literal.dtype):
            return None
        if literal.dtype == STRING:
            data = literal.value.encode()
            return f"String{{{self.add('const char*', data)}, {self.add('int64_t', len(data))}}}"
        word = self.add("int64_t", word_of(literal.value, literal.dtype))
        bits = f"double_of_bits({word})" if is_floating(literal.dtype) else word
        return f"{c_type(literal.dtype)}({bits})"

    def add(self, c_type: str, value: Constant) -> str:
        """Add an argument; return its name."""
        name = f"k{len(self.values)}"
        self.parameters.append(f"{c_type} {name}")
        self.values.append(value)
        return name

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [f"k{place}" for place in range(len(self.values))]


def word_of(value: Any, dtype: DataType) -> int:
    """Return the 64 bits of a number, a boolean or a time, as a signed integer; of a float those of its double."""
    if is_floating(dtype):
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])
    word = whole_number(value, dtype)
    return word - (1 << 64) if word >= 1 << 63 else word


def arguments(constants: list[Constant], machine: Machine) -> list[Any]:
    """Return constants as a launch takes them: strings are on the device."""
    return [
        machine.arrays.asarray(np.frombuffer(value or b"\0", np.uint8)) if isinstance(value, bytes) else value
        for value in constants
    ]


# Expressions written as CUDA statements for one row.
#
# Every node becomes a value and, where it can be null, a boolean beside it.  The statements are the same whether
# or
# not the columns that are read have nulls: `Value.null_with` says which columns' nulls make a value null.  Calls whose
# function propagates nulls are made only where no argument is null; CASE and coalesce become branches, so what can
# fail
# is computed only where it is wanted.  Equal expressions are computed once within a branch.


ALWAYS = ""
"""Stands among the names of columns for a value that can be null even if no column has nulls."""
NEVER = frozenset[str]()
CAN_BE = frozenset([ALWAYS])
MOST_AHEAD = 16
"""Columns that are loaded before the first statement that uses one.  Each takes up to 5 registers until it is used."""


@dataclass(frozen=True)
class Value:
    """C++ codes of a value and of whether it is valid: `true`, `false` or a variable.

    It can be null if one of the columns `null_with` has nulls, or if `ALWAYS` is among them; if none is named it is
    valid in every row.
    """

    text: str
    valid: str = "true"
    null_with: frozenset[str] = NEVER

    def maybe(self, dtype: DataType) -> str:
        """Return the text of a `Maybe`; a list's type is its column's."""
        if is_nested(dtype) and not is_struct(dtype):
            return f"only_if({self.valid}, {self.text})"
        return f"Maybe<{c_type(dtype)}>{{{self.text}, {self.valid}}}"


@dataclass
class Emitter:
    """Writes statements; `columns` are the names of those that are read, in the order of their accessors.

    `loads` are the statements that read what every row needs, by the text of the value.  They stand before `lines`, so
    that all loads are under way before a statement waits for one.  `hold_statements` keep loads there.  They are
    written for values that every valid row uses.  Values of parameters are arguments of the kernel where it takes
    `constants`.
    """

    columns: Sequence[str]
    constants: Constants | None = None
    loads: dict[str, str] = field(default_factory=dict)
    hold_statements: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    sites: list[Expr] = field(default_factory=list)
    scopes: list[dict[Expr, Value]] = field(default_factory=lambda: [{}])
    names: int = 0

    def line(self, text: str) -> None:
        """Write a line, indented as its branch."""
        self.lines.append("    " * (len(self.scopes) + 1) + text)

    def round(self) -> str:
        """Return what has been written, loads first, and begin anew behind it."""
        ahead = ["        " + text for text in (*self.loads.values(), *self.hold_statements.values())]
        text = "\n".join([*ahead, *self.lines])
        self.loads, self.hold_statements, self.lines = {}, {}, []
        return text

    def name(self) -> str:
        """Return a number for new variables."""
        self.names += 1
        return str(self.names)

    @contextmanager
    def branch(self, head: str) -> Iterator[None]:
        """Write a block; what is computed in it is not known after it."""
        self.line(f"{head} {{")
        self.scopes.append({})
        yield
        self.scopes.pop()
        self.line("}")

    def site(self, expr: Expr) -> None:
        """Open the place where an expression tells of rows without a result: `at`."""
        self.line(f"const Fault at{{faults + {len(self.sites)}, row}};")
        self.sites.append(expr)

    def value(self, expr: Expr) -> Value:
        """Return an expression's value, computed before or now."""
        if isinstance(expr, Literal):  # two parameters may have one value today
            return self.literal(expr)
        for scope in reversed(self.scopes):
            if expr in scope:
                return scope[expr]
        value = self.computed(expr)
        self.scopes[-1][expr] = value
        return value

    def variable(self, dtype: DataType, valid: str, null_with: frozenset[str] = CAN_BE) -> Value:
        """Declare a variable of zero, and its validity where it is not known."""
        number = self.name()
        self.line(f"{c_type(dtype)} x{number}{{}};")
        if valid == "true":
            return Value(f"x{number}")
        self.line(f"bool v{number} = {valid or 'false'};")
        return Value(f"x{number}", f"v{number}", null_with)

    @singledispatchmethod
    def computed(self, expr: Expr) -> Value:
        """Write the statements that compute an expression."""
        raise NotImplementedError(f"the cudf backend cannot evaluate {type(expr).__name__}")

    @computed.register
    def column(self, expr: Column) -> Value:
        """Read the row of a column."""
        number, index = self.name(), self.columns.index(expr.name)
        text = f"const auto m{number} = c{index}[row];"
        if len(self.scopes) == 1 and len(self.loads) < MOST_AHEAD:
            self.loads[f"m{number}.value"] = text
        else:
            self.line(text)
        return Value(f"m{number}.value", f"m{number}.valid", frozenset([expr.name]))

    @computed.register
    def literal(self, expr: Literal) -> Value:
        """Write a constant."""
        if expr.value is None:
            return null_of(expr.dtype)
        pass_constant = self.constants.pass_constant(expr) if self.constants else None
        return Value(pass_constant or c_constant(expr.value, expr.dtype))

    @computed.register
    def cast(self, expr: Cast) -> Value:
        """Convert; a column without a type is null in any."""
        operand = self.value(expr.operand)
        if expr.operand.dtype == NULL:
            return null_of(expr.dtype)
        device = cast_device(expr)
        return operand if device is None else self.strict(expr, device, [operand])

    @computed.register
    def call(self, expr: Call) -> Value:
        """Call the function; CASE and coalesce choose what is computed."""
        name = expr.function.name
        if name == "case":
            return self.case(expr)
        if name == "coalesce":
            return self.coalesce(expr)
        device = DEVICE_FUNCTIONS[name]
        assert isinstance(device, Device), f"{name} is prepared as a column"
        if expr.function.nulls == "own":
            return self.call_with_nulls(expr, device)
        if any(arg.dtype == NULL for arg in expr.args):
            return null_of(expr.dtype)
        return self.strict(expr, device, [self.value(arg) for arg in expr.args])

    def strict(self, expr: Call | Cast, device: Device, values: Sequence[Value]) -> Value:
        """Call with plain values where none of them is null."""
        guard = all_valid(values)
        maybe = device.result_form == "maybe"
        null_with = CAN_BE if maybe else NEVER.union(*(value.null_with for value in values))
        result = self.variable(expr.dtype, "" if maybe else guard, null_with)
        if guard == "false":
            return result
        text = device.text(expr, [value.text for value in values])
        if len(self.scopes) == 1:
            self.hold_statements |= {value.text: f"hold({value.text});" for value in values if value.text in self.loads}
        with self.branch("" if guard == "true" else f"if ({guard})"):
            if device.can_fail(expr):
                self.site(expr)
            self.line(f"assign({result.text}, {result.valid}, {text});" if maybe else f"{result.text} = {text};")
        return result

    def call_with_nulls(self, expr: Call, device: Device) -> Value:
        """Call with values that may be null."""
        values = [self.value(arg) for arg in expr.args]
        result = self.variable(expr.dtype, "" if device.result_form == "maybe" else "true")
        text = device.text(expr, [value.maybe(arg.dtype) for value, arg in zip(values, expr.args, strict=True)])
        self.line(
            f"assign({result.text}, {result.valid}, {text});"
            if device.result_form == "maybe"
            else f"{result.text} = {text};"
        )
        return result

    def case(self, expr: Call) -> Value:
        """Take the first branch whose condition is true."""
        result, null_with = self.variable(expr.dtype, ""), set[str]()
        branches = branches_of(expr)
        self.choose(branches, lambda branch: null_with.update(self.take(result, branch)))
        if branches[-1][0] is not None:
            null_with.add(ALWAYS)
        return replace(result, null_with=frozenset(null_with)) if null_with else Value(result.text)

    def choose(self, branches: Sequence[tuple[Expr | None, Expr | None]], take: Callable[[Expr | None], None]) -> None:
        """Write the branches; each condition is computed where the ones before it are not true."""
        (condition, branch), *rest = branches
        if condition is None:
            take(branch)
            return
        value = self.value(condition)
        with self.branch(f"if ({value.valid} && {value.text})"):
            take(branch)
        if rest:
            with self.branch("else"):
                self.choose(rest, take)

    def coalesce(self, expr: Call) -> Value:
        """Take the first value that is not null; later ones are computed where it is still missing."""
        first, *others = expr.args
        value = self.value(first) if first.dtype != NULL else None
        if value and value.valid == "true":
            return value
        result = self.variable(expr.dtype, "", value.null_with if value else CAN_BE)
        self.take(result, first)
        for operand in others:
            with self.branch(f"if (!{result.valid})"):
                if not self.take(result, operand):
                    break
        else:
            return result
        return Value(result.text)

    def take(self, result: Value, expr: Expr | None) -> frozenset[str]:
        """Give a variable the value of an expression; None, and a null without a type, leave it null.

        Return which columns' nulls make it null.
        """
        if expr is None or expr.dtype == NULL:
            return CAN_BE
        value = self.value(expr)
        self.line(f"{result.text} = {value.text}; {result.valid} = {value.valid};")
        return value.null_with

    def text(self, expr: Expr | None, valid: str) -> None:
        """Write a text into `out`, and set `valid` where there is one; None is null."""
        if expr is None or expr.dtype == NULL:
            return
        if isinstance(expr, Call) and expr.function.name == "case":
            self.choose(branches_of(expr), lambda branch: self.text(branch, valid))
        elif isinstance(expr, Call) and expr.function.name == "coalesce":
            for operand in expr.args:
                with self.branch(f"if (!{valid})"):
                    self.text(operand, valid)
        elif (device := writer_of(expr)) is not None:
            self.write_text(expr, device, valid)
        else:
            value = self.value(expr)
            self.line(f"{valid} = {value.valid};")
            self.line(f"if ({valid}) out.put({value.text});")

    def write_text(self, expr: Expr, device: Device, valid: str) -> None:
        """Call a function that writes."""
        assert isinstance(expr, Call | Cast)
        operands = children(expr)
        values = [self.value(operand) for operand in operands]
        own = isinstance(expr, Call) and expr.function.nulls == "own"
        guard = "true" if own else all_valid(values)
        argument_codes = [
            value.maybe(operand.dtype) if own else value.text for value, operand in zip(values, operands, strict=True)
        ]
        self.line(f"{valid} = {guard};")
        with self.branch(f"if ({valid})"):
            if device.can_fail(expr):
                self.site(expr)
            call = device.text(expr, argument_codes)
            self.line(f"{valid} = {call};" if device.result_form == "maybe_text" else f"{call};")


def writer_of(expr: Expr) -> Device | None:
    """Return the device function of a call or cast that writes a text."""
    if isinstance(expr, Cast) and has_bytes(expr.dtype) and expr.operand.dtype not in (expr.dtype, NULL):
        return cast_device(expr)
    if isinstance(expr, Call) and expr.function.name not in ("case", "coalesce"):
        device = DEVICE_FUNCTIONS[expr.function.name]
        return device if isinstance(device, Device) and device.writes else None
    return None


def null_of(dtype: DataType) -> Value:
    """Return the null of a type."""
    return Value(f"{c_type(dtype)}{{}}", "false", CAN_BE)


def all_valid(values: Sequence[Value]) -> str:
    """Return the condition that no value is null."""
    valid = dict.fromkeys(value.valid for value in values if value.valid != "true")
    return "false" if "false" in valid else " && ".join(valid) or "true"


def branches_of(case: Call) -> list[tuple[Expr | None, Expr | None]]:
    """Return the conditions and branches of CASE; the last one has no condition, and None is null."""
    pairs: list[tuple[Expr | None, Expr | None]] = list(zip(case.args[0::2], case.args[1::2], strict=False))
    return [*pairs, (None, case.args[-1])] if len(case.args) % 2 else pairs
