"""A function in a user's Python file, looked for in its text, which is not run: a kernel's twin, for example."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gpuetl.errors import have_hint
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, ImpossiblePath
from gpuetl.places.registry import path_of, read_small, scheme_problem
from gpuetl.spec.files.based import base_of, joined
from gpuetl.spec.steps.step import Context

MOST_KEPT = 16
"""Files whose syntax is kept by their text and path: nothing changes it."""


class Wording(NamedTuple):
    """How problems name what is looked for.

    Parameters
    ----------
    code
        Of what is wrong.
    key
        The key of the step that names it.
    file, function
        What its file and the function are called.
    missing
        What to do where there is no such file.
    """

    code: str
    key: str
    file: str
    function: str
    missing: str


TWIN = Wording("GE1303", "reference", "the kernel's twin", "the twin", "Write the kernel in NumPy there.")


def function_in_file(
    context: Context, reference: str, arguments: Iterable[str], wording: Wording
) -> tuple[FilePath, str, bytes | None]:
    """Return the file and the function, of which `reference` is `file.py:function`, and the text of the file.

    What is wrong is a problem; without a text, the file cannot be read.
    """
    file, _, function = reference.rpartition(":")
    path, text = kernel_path(context, file, reference), None
    if not file or not function.isidentifier():
        context.problem(coded(wording.code, f"{wording.key} '{reference}' is not file.py:function"), "", reference)
    elif isinstance(path, Path) and not path.is_file():
        context.problem(coded(wording.code, f"{wording.file} {path} does not exist"), wording.missing, reference)
    else:
        text = check_file(context, path, function, reference, arguments, wording)
    return path, function, text


def kernel_path(context: Context, text: str, at: str) -> FilePath:
    """Return the path of a kernel's file; it is relative to the pipeline's folder, or in a store."""
    if scheme_problem(text):  # `check_kind` reports it
        return Path(text)
    try:
        return path_of(joined(base_of(at), text), context.folder)
    except ImpossiblePath as error:
        context.problem(coded("GE1301", str(error)), "", at)
        return Path(text)


def check_file(
    context: Context, path: FilePath, function: str, reference: str, arguments: Iterable[str], wording: Wording
) -> bytes | None:
    """Look for the function and its arguments; return the text of the file, if it is Python."""
    try:
        text = read_small(path)
        tree = syntax_tree(text, path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = getattr(error, "msg", None) or getattr(error, "strerror", None) or "it cannot be read"
        message = coded(wording.code, f"{wording.file} {path}{line}: {reason}")
        context.problem(message, "Write it in Python.", reference)
        return None
    if not {function, "*"} & {name for item in ast.walk(tree) if (name := _bound_name(item))}:
        defined = [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]
        message = coded(wording.code, f"{path.name} has no function '{function}'")
        context.problem(message, have_hint(function, defined, noun="Functions"), reference)
    for item in tree.body:
        if isinstance(item, ast.FunctionDef) and item.name == function:
            check_arguments(context, item.args, arguments, wording)
    return text


def check_arguments(context: Context, takes: ast.arguments, arguments: Iterable[str], wording: Wording) -> None:
    """The function takes the arguments by name."""
    names = [argument.arg for argument in (*takes.args, *takes.kwonlyargs)]
    for name in arguments:
        if name not in names and takes.kwarg is None:
            message = coded(wording.code, f"{wording.function} has no argument '{name}'")
            context.problem(message, have_hint(name, names, noun="Arguments"), name)


@lru_cache(MOST_KEPT)
def syntax_tree(text: bytes, path: FilePath) -> ast.Module:
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
