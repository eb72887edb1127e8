"""The NumPy twin of a kernel step, looked for in its source, which is not run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from gpuetl.errors import have_hint
from gpuetl.messages import coded
from gpuetl.spec.steps.step import Context

MOST_KEPT = 16
"""Twins whose syntax is kept by their text and path: nothing changes it."""


def twin_of(context: Context, reference: str, arguments: Iterable[str]) -> tuple[Path, str, bytes | None]:
    """Return the twin's file and function, of which `reference` is `file.py:function`, and the text of the file.

    What is wrong is a problem; without a text, the file cannot be read.
    """
    file, _, function = reference.rpartition(":")
    path, text = Path(context.folder / file), None
    if not file or not function.isidentifier():
        context.problem(coded("GE1303", f"reference '{reference}' is not file.py:function"), "", reference)
    elif not path.is_file():
        context.problem(
            coded("GE1303", f"the kernel's twin {path} does not exist"), "Write the kernel in NumPy there.", reference
        )
    else:
        text = check_twin(context, path, function, reference, arguments)
    return path, function, text


def check_twin(context: Context, path: Path, function: str, reference: str, arguments: Iterable[str]) -> bytes | None:
    """Look for the twin and its arguments; return the text of the file, if it is Python."""
    try:
        text = path.read_bytes()
        tree = syntax_tree(text, path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = getattr(error, "msg", None) or getattr(error, "strerror", None) or "it cannot be read"
        context.problem(coded("GE1303", f"the kernel's twin {path}{line}: {reason}"), "Write it in Python.", reference)
        return None
    if not {function, "*"} & {name for item in ast.walk(tree) if (name := _bound_name(item))}:
        defined = [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]
        context.problem(
            coded("GE1303", f"{path.name} has no function '{function}'"),
            have_hint(function, defined, noun="Functions"),
            reference,
        )
    for item in tree.body:
        if isinstance(item, ast.FunctionDef) and item.name == function:
            check_arguments(context, item.args, arguments)
    return text


def check_arguments(context: Context, takes: ast.arguments, arguments: Iterable[str]) -> None:
    """The twin takes the arguments by name."""
    names = [argument.arg for argument in (*takes.args, *takes.kwonlyargs)]
    for name in arguments:
        if name not in names and takes.kwarg is None:
            context.problem(
                coded("GE1303", f"the twin has no argument '{name}'"), have_hint(name, names, noun="Arguments"), name
            )


@lru_cache(MOST_KEPT)
def syntax_tree(text: bytes, path: Path) -> ast.Module:
    """Parse and compile the text of a Python file, of which nothing is run; raise as `compile` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # loading it warns
        tree = ast.parse(text, str(path))
        compile(tree, str(path), "exec", dont_inherit=True)
    return tree


def _bound_name(item: ast.AST) -> str | None:
    """Return the name that a function, an import or an assignment makes."""
    if isinstance(item, ast.FunctionDef):
        return item.name
    if isinstance(item, ast.alias):
        return item.asname or item.name
    return item.id if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) else None
