"""Selectors: expressions that stand for each of the columns that they select, by name and type."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from gpuetl.expressions.expression import Expression
from gpuetl.expressions.operands import IntoExpression
from gpuetl.expressions.syntax import Selected
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType


@dataclass(frozen=True, eq=False)
class Selector(Expression):
    """Columns of a table by name and type; `|`, `&`, `-` and `~` of selectors are selectors."""

    syntax: Selected

    @classmethod
    def of(cls, text: str, matches: Callable[[str, DataType], bool]) -> Selector:
        """Return the selector that is written as `text`, of the columns whose name and type `matches` takes."""
        return cls(Selected(matches, text))

    def __invert__(self) -> Selector:
        own = self.syntax.matches
        return Selector.of(f"~{self.syntax.text}", lambda name, dtype: not own(name, dtype))

    @overload
    def __or__(self, other: Selector) -> Selector: ...

    @overload
    def __or__(self, other: IntoExpression) -> Expression: ...

    def __or__(self, other: IntoExpression) -> Expression:
        if isinstance(other, Selector):
            return self._combined("|", other, lambda one, two: one or two)
        return super().__or__(other)

    @overload
    def __and__(self, other: Selector) -> Selector: ...

    @overload
    def __and__(self, other: IntoExpression) -> Expression: ...

    def __and__(self, other: IntoExpression) -> Expression:
        if isinstance(other, Selector):
            return self._combined("&", other, lambda one, two: one and two)
        return super().__and__(other)

    @overload
    def __sub__(self, other: Selector) -> Selector: ...

    @overload
    def __sub__(self, other: IntoExpression) -> Expression: ...

    def __sub__(self, other: IntoExpression) -> Expression:
        if isinstance(other, Selector):
            return self._combined("-", other, lambda one, two: one and not two)
        return super().__sub__(other)

    def _combined(self, sign: str, other: Selector, both: Callable[[bool, bool], bool]) -> Selector:
        one, two = self.syntax.matches, other.syntax.matches
        text = f"({self.syntax.text} {sign} {other.syntax.text})"
        return Selector.of(text, lambda name, dtype: both(one(name, dtype), two(name, dtype)))
