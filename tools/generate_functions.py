"""Write the functions of the table as typed Python: methods of expressions, and functions of the module.

python tools/generate_functions.py            write src/gpuetl/expressions/methods.py, src/gpuetl/functions.py,
and the names in src/gpuetl/__init__.py
python tools/generate_functions.py --check    fail if they are not what would be written
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from gpuetl.expressions.functions import MODULES
from gpuetl.expressions.functions.aggregates import ORDERABLE
from gpuetl.expressions.functions.function import Argument, Function
from python_examples import BY_NAME, PYTHON_NAMES, function_example, method_example, value_text

PACKAGE = Path(__file__).parents[1] / "src" / "gpuetl"
METHODS, FUNCTIONS, NAMES = PACKAGE / "expressions" / "methods.py", PACKAGE / "functions.py", PACKAGE / "__init__.py"
WIDTH = 120

CONSTANTS = {
    **dict.fromkeys(("regexp_extract.group", "regexp_extract_all.group"), "int | Sequence[str]"),
    **dict.fromkeys(("strptime.format", "try_strptime.format"), "str | Sequence[str]"),
    "breaks": "Sequence[Scalar]", "quantiles": "int | Sequence[float]", "labels": "Sequence[Scalar]", "left_closed": "bool",
    "ambiguous": "ZoneChoice", "nonexistent": "ZoneChoice", "unit": "DateUnit", "zone": "str", "format": "str",
    "digits": "int", "start": "int", "length": "int", "count": "int", "index": "int", "group": "int", "n": "int",
    "offset": "int", "frame": "int | timedelta", "half_life": "float | timedelta", "span": "float", "alpha": "float", "com": "float", "adjust": "bool", "bias": "bool",
    "gap": "timedelta", "size": "int", "place": "int", "rows": "Rows", "range": "Range", "centered": "bool", "min_periods": "int", "method": "RankMethod",
    "width": "timedelta", "bar.width": "float", "low": "float", "high": "float", "base": "int", "interval": "timedelta", "origin": "date", "q": "float | Sequence[float]", "k": "int", "ignore_nulls": "bool", "order": "str", "function": "Callable[..., IntoExpression]", "nulls": "str", "field": "str",
    **dict.fromkeys(("separator", "characters", "old", "new", "prefix", "suffix", "part", "fill"), "str"),
    **dict.fromkeys(("json_set.path", "json_insert.path", "json_replace.path", "json_remove.path"), "str"),
    "path": "str | int | Sequence[str]", "trim_extension": "bool | str", "structure": "str",
    **dict.fromkeys(("pattern", "escape", "replacement", "options"), "str"),
}  # fmt: skip
"""The types of arguments that are constants, by name; a parameter of the pipeline stands for any."""
BY_HAND = frozenset(["in", "count_rows", "struct_pack", "struct_insert", "struct_update", "list_value", "json_object"])
"""Functions that are written by hand: what they take in Python differs from SQL."""
OPERATORS = frozenset(
    [
        "add", "subtract", "multiply", "divide", "int_divide", "modulo", "negate", "equal", "not_equal", "less",
        "less_equal", "greater", "greater_equal", "and", "or", "not", "struct_extract",
    ]
)  # fmt: skip
"""Functions that have a sign in Python: they are in `gpuetl.functions`, and not in `gpuetl` itself."""
BOTH = frozenset(["first", "last"])
KINDS = {
    "aggregate": "An aggregate: for `aggregate`, `agg`, and `over` of groups.",
    "window": "A window function: for `window`, and `over` of groups in order.",
}
SHOWN = {
    "aggregates": "x = 1, 1, 2, null, in the order of x",
    "moments": "x = 1, 1, 2, null, in the order of x",
    "collecting": "x = 1, 1, 2, null, in the order of x",
    "sketches": "x = 1, 1, 2, null, in the order of x",
    "distributions": "x = 1, 1, 2, null, in the order of x",
    "windows": "x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group",
    "maps": "a map m of 1 for 'a' and 2 for 'b'",
}
"""What the examples of a module are over."""

HEADER = '''"""{what}

Written by `make docs` (tools/generate_functions.py) from the table in `expressions/functions`: do not edit.
"""

from __future__ import annotations
'''
METHODS_HEAD = (
    HEADER.format(what="The functions of the table as methods of an expression.")
    + '''
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from gpuetl.expressions.operands import DateUnit, IntoExpression, OrderBy, Range, Rows, Scalar, ZoneChoice

if TYPE_CHECKING:
    from gpuetl.expressions.expression import Expression


class Methods:
    """The functions of the table; None for an option means that it is not given."""

    if TYPE_CHECKING:

        @staticmethod
        def _call(
            function: str, required: tuple[object, ...], optional: tuple[object, ...] = (), **named: object
        ) -> Expression: ...

'''
)
FUNCTIONS_HEAD = (
    HEADER.format(what="The functions of the table as functions of expressions: `import gpuetl.functions as f`.")
    + '''
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Never

from gpuetl.errors import UnknownMethod
from gpuetl.expressions.build import struct
from gpuetl.expressions.expression import Expression, call, function_call, method_hint
from gpuetl.expressions.operands import DateUnit, IntoExpression, OrderBy, Range, RankMethod, Rows, Scalar, ZoneChoice

__all__ = [
{names}
]  # fmt: skip

if not TYPE_CHECKING:  # to a type checker, what is not here is an error

    def __getattr__(name: str) -> Never:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnknownMethod("gpuetl.functions", name, method_hint(name), "function")


def is_in(x: Expression, values: Iterable[Expression | Scalar | None]) -> Expression:
    """`x IN (…)`: null if x is null, or if it is not found and a value is null."""
    return x.is_in(values)


def count(x: Expression | None = None) -> Expression:
    """The number of values of `x` that are not null; without x, `count(*)`, the number of rows."""
    return call("count_rows", ()) if x is None else function_call("count", (x,))


def list_value(*values: IntoExpression) -> Expression:
    """The list of these values, nulls included: `list_value(col("x"), 1)` is `[x, 1]`."""
    return function_call("list_value", values)


def struct_pack(**fields: IntoExpression) -> Expression:
    """A struct of named values: `struct_pack(a=col("x"))` is `struct_pack(a := x)`."""
    return struct(**fields)


def json_object(**fields: IntoExpression) -> Expression:
    """The JSON object of named values: `json_object(a=col("x"))` is `json_object('a', x)`; never null."""
    return function_call("json_object", tuple(part for pair in fields.items() for part in pair))


def struct_insert(x: Expression, **fields: IntoExpression) -> Expression:
    """The struct with more fields: `struct_insert(col("s"), b=1)` is `struct_insert(s, b := 1)`."""
    return x.struct_insert(**fields)


def struct_update(x: Expression, **fields: IntoExpression) -> Expression:
    """The struct with other values in fields, or with more: `struct_update(col("s"), a=1)` is `struct_update(s, a := 1)`."""
    return x.struct_update(**fields)

'''
)


def entries() -> Iterator[tuple[str, Function]]:
    """Yield the functions that are generated, with the module of the table, each name once."""
    seen = set[str]()
    for module in MODULES:
        for function in module.FUNCTIONS:
            if function.name not in BY_HAND | seen:
                seen.add(function.name)
                yield module.__name__.rpartition(".")[2], function


def receiver(function: Function) -> Argument | None:
    """Return the argument in whose place a method's own expression stands: the first that is no constant."""
    return next((argument for argument in function.arguments if argument.is_receiver), None)


def operand_type(function: Function, argument: Argument) -> str:
    """Return the type of an argument: of aggregates and windows it is an expression, since a constant says nothing."""
    if not argument.is_receiver:
        dtype = CONSTANTS.get(f"{function.name}.{argument.name}", CONSTANTS[argument.name])
        return f"{dtype} | Expression"
    alike = function.kind == "scalar" or argument.name == "default"
    return "IntoExpression" if alike else "Expression"


def signature(function: Function, method: bool) -> tuple[str, str]:
    """Return the parameters in Python, and the arguments of the call that the body makes."""
    own = receiver(function) if method else None
    before, options, named, more = ["self"] if method else [], [], [], ""
    required, optional, keywords = [], [], []
    for argument in function.arguments:
        name, dtype = argument.name, operand_type(function, argument)
        if argument is own:
            required.append("self")
        elif argument.repeats:
            more = f"*{name}: {dtype}"
            required.append(f"*{name}")
        elif argument.name in BY_NAME and argument.optional:
            named.append(f"{name}: {dtype.removesuffix(' | None')} | None = None")
            keywords.append(f"{name}={name}")
        elif argument.optional:
            assert not named, f"{function.name}: {name} would be passed in the place of an option before it"
            options.append(f"{name}: {dtype} | None = None")
            optional.append(name)
        else:
            before.append(f"{name}: {dtype}")
            required.append(name)
    if function.kind == "aggregate" and function.name in ORDERABLE - BOTH:
        named.append("order_by: OrderBy | None = None")
        keywords.append("order_by=order_by")
    stars = [more] if more else ["*"] if named else []
    parameters = ", ".join([*before, *options, *stars, *named]).replace("IntoExpression | None", "IntoExpression")
    parts = [f'"{function.name}"', _tuple(required), *([_tuple(optional)] if optional else []), *keywords]
    return parameters, ", ".join(parts)


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)}{',' * (len(names) == 1)})"


def docstring(module: str, function: Function, example: str, indent: str) -> str:
    """Return a docstring: what the function gives, what nulls do, and an example with its value."""
    text = re.sub(r"\s+", " ", function.doc)
    nulls = "" if function.nulls == "own" or not function.arguments else " Null in any argument gives null."
    over = f", over {SHOWN[module]}" if module in SHOWN else ""
    result = value_text(function.result)
    parts = [text + nulls] if len(text + nulls) + len(indent) + 3 < WIDTH - 3 else [text, nulls.strip()]
    if function.kind != "scalar":
        parts += ["An aggregate, and a window function." if function.name in BOTH else KINDS[function.kind]]
    parts += [f"Example: `{example}` is `{result}`{over}."]
    first = _first_line(parts[0])
    lines = [first[0], *(["", *wrapped(first[1], indent)] if first[1] else [])]
    for part in filter(None, parts[1:]):
        lines += ["", *wrapped(part, indent)]
    body = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'{indent}"""{body}\n{indent}"""'


def _first_line(text: str) -> tuple[str, str]:
    """Return the first sentence, and the rest."""
    for mark in (". ", "; ", ": "):
        first, found, rest = text.partition(mark)
        if found and len(first) < WIDTH - 12:
            return first + ".", rest[:1].upper() + rest[1:]
    return text, ""


def wrapped(text: str, indent: str) -> list[str]:
    """Return lines of a paragraph, below the first."""
    if "Example: " in text:
        return [indent + text]
    return fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent).split("\n")


def methods_source() -> str:
    """Return the module of methods."""
    return METHODS_HEAD + "\n".join(_method(*entry) for entry in entries() if receiver(entry[1])).rstrip() + "\n"


def _method(module: str, function: Function) -> str:
    parameters, arguments = signature(function, method=True)
    name = PYTHON_NAMES.get(function.name, function.name)
    text = docstring(module, function, method_example(function.example), " " * 8)
    return f"    def {name}({parameters}) -> Expression:\n{text}\n        return self._call({arguments})\n"


def functions_source() -> str:
    """Return the module of functions."""
    found = [(module, function) for module, function in entries() if function.name != "count"]
    by_hand = ["count", "is_in", "list_value", "struct_pack", "struct_insert", "struct_update", "json_object"]
    names = sorted([*(PYTHON_NAMES.get(f.name, f.name) for _, f in found), *by_hand])
    head = FUNCTIONS_HEAD.replace("{names}", listed(names, 4))
    return head + "\n".join("\n" + _function(*entry) for entry in found).rstrip() + "\n"


def _function(module: str, function: Function) -> str:
    parameters, arguments = signature(function, method=False)
    name = PYTHON_NAMES.get(function.name, function.name)
    text = docstring(module, function, function_example(function.example, function.name), " " * 4)
    made = "function_call" if receiver(function) else "call"
    return f"def {name}({parameters}) -> Expression:\n{text}\n    return {made}({arguments})\n"


def top_names() -> list[str]:
    """Return the functions that `gpuetl` itself has: no operators, and no names of builtins or of its modules."""
    modules = {path.stem for path in PACKAGE.iterdir()}
    names = [PYTHON_NAMES.get(f.name, f.name) for _, f in entries() if f.name not in OPERATORS]
    names += ["is_in", "list_value", "struct_insert", "struct_update", "json_object"]
    return sorted(name for name in names if not hasattr(builtins, name) and name not in modules)


def listed(names: list[str], indent: int) -> str:
    """Return names in quotes, in lines."""
    text = ", ".join(f'"{name}"' for name in names) + ","
    return fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)


def init_source(text: str) -> str:
    """Return the package's `__init__` with the names of the functions."""
    names = top_names()
    imports = fill(", ".join(names) + ",", WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    text = re.sub(
        r"(    from gpuetl\.functions import \(\n).*?(\n    \))", lambda m: m[1] + imports + m[2], text, flags=re.DOTALL
    )
    listing = f"__all__ += [\n{listed(names, 4)}\n]  # fmt: skip\n"
    return re.sub(r"__all__ \+= \[\n.*?\]  # fmt: skip\n", lambda m: listing, text, flags=re.DOTALL)


def sources() -> dict[Path, str]:
    """Return the text of each file."""
    return {
        METHODS: methods_source(),
        FUNCTIONS: functions_source(),
        NAMES: init_source(NAMES.read_text(encoding="utf-8")),
    }


def main(check: bool) -> int:
    """Write the files, or compare them."""
    old = [path for path, text in sources().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in old:
        if check:
            print(f"{path} is not what the table gives: run make docs")
        else:
            path.write_text(sources()[path], encoding="utf-8")
    return int(check and bool(old))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
