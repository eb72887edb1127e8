r"""Paths of files in strings, taken apart as DuckDB does: nothing is looked for in a file system.

`separator` is 'both_slash' (`/` and `\`, if it is left out), 'forward_slash', 'backslash', or 'system', which is `/`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, STRING, DataType, type_name

SEPARATORS = {"both_slash": "/\\", "forward_slash": "/", "system": "/", "backslash": "\\"}


def separators_of(args: Sequence[Expr]) -> str:
    """Return the characters that separate parts; they stand behind the path, perhaps behind a boolean."""
    named = next((arg.value for arg in args[1:] if isinstance(arg, Literal) and arg.dtype == STRING), "both_slash")
    return SEPARATORS[named]


def is_trimmed(args: Sequence[Expr]) -> bool:
    """Return whether a name loses its extension."""
    return any(isinstance(arg, Literal) and arg.value is True for arg in args[1:])


def of_path(returns: DataType, *, trims: bool = False) -> Rule:
    """A path, whether to leave the extension out, and the name of what separates parts."""

    def rule(args: Sequence[Expr]) -> Typing:
        fixed(STRING, returns=STRING)(args[:1])
        if len(args) > 2 and args[1].dtype != BOOL:
            raise TypeMismatch(f"takes true or false as trim_extension, got {type_name(args[1].dtype)}")
        for arg in args[1:]:
            if isinstance(arg, Literal) and arg.dtype == STRING and arg.value not in SEPARATORS:
                raise TypeMismatch(coded("GE1106", f"takes the separators {', '.join(SEPARATORS)}, got '{arg.value}'"))
            if arg.dtype != STRING and not (trims and arg.dtype == BOOL and arg is args[1]):
                raise TypeMismatch(f"takes the name of a separator, got {type_name(arg.dtype)}")
        return [arg.dtype for arg in args], returns

    return rule


FUNCTIONS = (
    Function("parse_filename", "path trim_extension?! separator?!", of_path(STRING, trims=True), "The name behind the last separator; with `true` without what begins "
             "at its last dot.", "parse_filename('data/2026/sales.csv', true)", "sales"),
    Function("parse_dirpath", "path separator?!", of_path(STRING), "What stands before the last separator.", "parse_dirpath('data/2026/sales.csv')", "data/2026"),
    Function("parse_dirname", "path separator?!", of_path(STRING), "The first folder, or the separator where a path begins with one; empty where there is none.",
             "parse_dirname('data/2026/sales.csv')", "data"),
    Function("parse_path", "path separator?!", of_path(pa.list_(STRING)), "The folders and the name, as list<string>; a separator at the start is one of them.",
             "parse_path('/data/sales.csv')", ["/", "data", "sales.csv"]),
)  # fmt: skip
