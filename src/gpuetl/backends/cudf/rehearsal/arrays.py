"""NumPy arrays that tell what is called on them: CuPy compiles a kernel for each function and types, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

METHODS = {
    ("add", "reduce"): "sum", ("maximum", "reduce"): "max", ("minimum", "reduce"): "min",
    ("logical_or", "reduce"): "any", ("logical_and", "reduce"): "all", ("add", "accumulate"): "cumsum",
}  # fmt: skip
"""The functions that methods of NumPy's ufuncs are."""
FREE = {"array", "asarray", "ascontiguousarray", "empty", "empty_like", "zeros"}
"""Functions that run no kernel."""
Tell = Callable[[str, tuple[Any, ...], Mapping[str, Any]], object]


@dataclass(frozen=True)
class ArrayOf:
    """An array of a type in the place of an argument."""

    dtype: str
    dimensions: int


class ToldArray(np.ndarray[Any, Any]):
    """An array that tells of operators, methods and indices."""

    tell: Tell

    def __array_finalize__(self, source: Any) -> None:
        """Tell whom the source tells."""
        self.tell = getattr(source, "tell", ignore)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **keywords: Any) -> Any:
        """Tell of an operator."""
        if out:
            keywords["out"] = tuple(plain(each) for each in out)
        result = getattr(ufunc, method)(*map(plain, inputs), **keywords)
        name = METHODS.get((ufunc.__name__, method), ufunc.__name__)
        kept = {key: keywords[key] for key in ("dtype", "keepdims") if keywords.get(key) and method != "__call__"}
        self.tell(name, described(inputs), kept)
        return out[0] if out else told(result, self.tell)

    def __getitem__(self, index: Any) -> Any:
        """Tell of rows that are taken by an array; slices are views."""
        if isinstance(index, np.ndarray):
            self.tell("getitem", described((self, index)), {})
        return super().__getitem__(plain(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Tell of rows that are set."""
        self.tell("setitem", described((self, index, value)), {})
        super().__setitem__(plain(index), plain(value))

    def astype(self, dtype: Any, **keywords: Any) -> Any:  # type: ignore[override]
        """Tell of a cast."""
        self.tell("astype", described((self, np.dtype(dtype))), {})
        return super().astype(dtype, **keywords)


class ToldArrays:
    """NumPy's functions; memory is zeroed, since what a kernel was to write is used as a number."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell

    def __getattr__(self, name: str) -> Any:
        """Return what NumPy has; functions tell of their calls."""
        found = getattr(np, {"empty": "zeros", "empty_like": "zeros_like"}.get(name, name))
        return partial(self.called, name, found) if callable(found) and not isinstance(found, type) else found

    def called(self, name: str, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Call a function, and tell of it."""
        if name not in FREE:
            self.tell(name, described(arguments), {key: described((each,))[0] for key, each in keywords.items()})
        result = function(*map(plain, arguments), **{key: plain(each) for key, each in keywords.items()})
        return told(result, self.tell)


def ignore(name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
    """Hear of nothing."""


def told(result: Any, tell: Tell) -> Any:
    """Return arrays as such that tell; of several, each."""
    if isinstance(result, tuple):
        return tuple(told(each, tell) for each in result)
    if not isinstance(result, np.ndarray):
        return result
    array = result.view(ToldArray)
    array.tell = tell
    return array


def plain(argument: Any) -> Any:
    """Return an argument whose arrays tell nothing."""
    if isinstance(argument, list | tuple):
        return type(argument)(plain(each) for each in argument)
    return argument.view(np.ndarray) if isinstance(argument, ToldArray) else argument


def described(arguments: Any) -> tuple[Any, ...]:
    """Return arguments with `ArrayOf` in the place of arrays, and small numbers in that of others: they can be keys."""
    return tuple(map(_described, arguments))


def _described(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ArrayOf(argument.dtype.str, argument.ndim)
    if isinstance(argument, list | tuple):
        return described(argument)
    if isinstance(argument, slice):
        return ...
    return min(argument, 2) if type(argument) is int else argument
