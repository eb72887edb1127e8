"""Sizes that a kernel step states as arithmetic, such as `8 * block` bytes and `4 * input` rows."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Container, Mapping
from functools import cached_property
from typing import Any

from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.user_kernels.contract import KernelMismatch

OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Any]] = {"min": min, "max": max}
WHAT = "Sizes take whole numbers, names, + - * / // % and min(a, b), max(a, b)"


@dataclass(frozen=True)
class SizeExpression:
    """Arithmetic of numbers and names; `key` is the step's key that has it."""

    key: str
    text: str

    @cached_property
    def tree(self) -> ast.expr:
        """The parsed text; raises `KernelMismatch` for what is no arithmetic."""
        try:
            tree = ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.refused() from None
        if not all(map(is_arithmetic, ast.walk(tree))):
            raise self.refused()
        return tree

    def refused(self) -> KernelMismatch:
        """Return the error of a text that is no arithmetic."""
        return KernelMismatch(coded("GE1901", f"{self.key} '{self.text}' is not a size.  {WHAT}"))

    def check_names(self, known: Container[str], shown: str) -> None:
        """Raise `KernelMismatch` for a name that is not among the known ones, which are `shown` to the user."""
        for name in sorted(self.names):
            if name not in known:
                raise KernelMismatch(
                    coded("GE1901", f"{self.key} '{self.text}' has an unknown name '{name}'.  It can use {shown}")
                )

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that need values."""
        calls = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        found = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and id(node) not in calls)
        return frozenset(node.id for node in found)

    def value(self, values: Mapping[str, Any]) -> int:
        """Return the size, rounded up; raise `KernelMismatch` where it is negative or no number."""
        try:
            found: int = math.ceil(_value(self.tree, values))
        except (ZeroDivisionError, OverflowError, ValueError, TypeError):
            raise KernelMismatch(
                coded("GE1901", f"{self.key} '{self.text}' has no value{self.given(values)}")
            ) from None
        if found < 0:
            raise KernelMismatch(coded("GE1901", f"{self.key} '{self.text}' is {found:,}{self.given(values)}"))
        return found

    def given(self, values: Mapping[str, Any]) -> str:
        """Return the values of the names, for messages."""
        text = ", ".join(f"{name} = {values[name]}" for name in sorted(self.names) if name in values)
        return f", where {text}" if text else ""


def is_arithmetic(node: ast.AST) -> bool:
    """Return whether a node of the syntax may be in a size."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        return known and len(node.args) > 1 and not node.keywords
    plain = ast.BinOp | ast.UnaryOp | ast.Name | ast.Load | ast.USub | ast.UAdd
    return isinstance(node, plain) or type(node) in OPERATORS


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp):
        found = _value(node.operand, values)
        return -found if isinstance(node.op, ast.USub) else found
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return FUNCTIONS[node.func.id](*(_value(one, values) for one in node.args))
