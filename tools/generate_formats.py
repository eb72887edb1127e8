"""Write the methods that declare sources and sinks, with the keys of each format as typed keywords.

python tools/generate_formats.py            write src/gpuetl/source_methods.py and src/gpuetl/sink_methods.py
python tools/generate_formats.py --check    fail if they are not what would be written
"""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from gpuetl.errors import InvalidPipeline
from gpuetl.formats.compression import LEVELS
from gpuetl.formats.registry import FORMATS
from gpuetl.spec.fields import Field, form_of, keys_of, read_plain
from gpuetl.spec.format_keys import Entry, options_of
from gpuetl.spec.model import SinkSpec, SourceSpec

PACKAGE = Path(__file__).parents[1] / "src" / "gpuetl"
SOURCES, SINKS = PACKAGE / "source_methods.py", PACKAGE / "sink_methods.py"
WIDTH = 120

TYPES = {
    "a map of columns to types, or infer": "Mapping[str, str]", "a map of columns to types": "Mapping[str, str]",
    "a name or a list of names": "Names", "a column or a list of columns, each with asc or desc": "OrderBy", "a name": "str",
    "an SQL expression": "Expression", "a map of options of a store": "Mapping[str, object]", "true or false": "bool",
    "one character": "str", "one character, or null for none": "str", "a whole number": "int",
    "a string or a list of strings": "Names", "a range such as B3:F20": "str",
    "a string or a list of strings, or a map of columns to such": "Names | Mapping[str, Names]",
    "a format such as '%d.%m.%Y', or a map of columns to such": "str | Mapping[str, str]",
    "a format such as '%d.%m.%Y %H:%M', or a map of columns to such": "str | Mapping[str, str]",
    "a point or a comma": 'Literal[".", ","]', "one of . , ' _ or a space, or null for none": """Literal[".", ",", "'", "_", " ", ""]""",
    "the name of a sheet, or its number from 1": "str | int",
    "a map of new_files, or of watermark and lateness": "NewFilesKeys | WatermarkKeys",
}  # fmt: skip
"""The type in Python, by what the form of a key says that it takes."""
INFERRED = frozenset(["csv"])
"""Formats whose sources need a `schema`, or `schema="infer"`."""
EXTRAS = {"avro": "; it needs the extra `gpuetl[avro]`", "excel": "; it needs the extra `gpuetl[excel]`"}

DOCS = {
    "schema": "the types of the columns, by name", "partitions": "the types of columns in the path (`year=2024/`), by name",
    "columns": "the columns to read, by default all", "exclude": "columns that are not read",
    "filename": "the name of a column for the paths of the files", "filter": "the rows to read: a condition",
    "extra_columns": "what becomes of columns that the schema lacks", "missing_columns": "what becomes of columns that a file lacks",
    "storage": "the name of options that `Pipeline.storage` declares", "storage_options": "options of an object store",
    "partition_by": "columns whose values become folders", "sort_by": "the order of the rows in each file, as of `sort`",
    "mode": "what becomes of files that are there", "on_empty": "what a run without rows writes",
    "run_key": "columns that tell runs apart: a run again replaces its own rows",
    "keep_foreign": "leave files alone that gpuetl has not written",
}  # fmt: skip

HEAD = '''"""{what}

Written by `make docs` (tools/generate_formats.py) from the keys that the formats declare: do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Never
'''
SOURCE_HEAD = (
    HEAD.format(what="Sources of a pipeline: a method for each format of files.")
    + '''
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.operands import Names

if TYPE_CHECKING:
    from gpuetl.spec.incremental import NewFilesKeys, WatermarkKeys
    from gpuetl.table import Table


class SourceMethods:
    """The part of a `Pipeline` that declares sources of files.

    Every method takes the name of the source and its path: a file, a glob, a folder, or one of them in a store.  A key
    of None is not given, but where None has a meaning of its own, as in YAML.
    """

    if TYPE_CHECKING:

        def _source(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, object]) -> Table: ...

'''
)
SINK_HEAD = (
    HEAD.format(what="Sinks of a pipeline: a method for each format of files.")
    + '''
from gpuetl.expressions.operands import Names, OrderBy


class SinkMethods:
    """The part of a `Table` that declares sinks of files.

    Every method takes the name of the sink and its path: a file, or a folder.  A key of None is not
    given, but where None has a meaning of its own, as in YAML.
    """

    if TYPE_CHECKING:

        def _sink(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, object]) -> None: ...

'''
)


def python_type(entry: Entry, name: str, key: str, what: str) -> str:
    """Return the type of a key in Python; a name that is one of a few is a Literal."""
    if key == "schema" and name in INFERRED:
        return 'Mapping[str, str] | Literal["infer"]'
    names, levels, _ = what.removeprefix("one of ").partition(", or a level such as ")
    if what.startswith("one of ") and what not in TYPES:
        choices = names.split(", ")
        if levels:
            choices += [f"{c}({n})" for c in choices if c in LEVELS for n in range(LEVELS[c][0], LEVELS[c][1] + 1)]
        return "Literal[" + ", ".join(f'"{choice}"' for choice in choices) + "]"
    return TYPES[what]


class Key(NamedTuple):
    """A key of a format: its type and default in Python, and whether None is a value of it."""

    name: str
    dtype: str
    default: str
    takes_null: bool
    doc: str

    @property
    def parameter(self) -> str:
        """The parameter of a method."""
        nothing = " | None" * (self.takes_null or self.default == "None")
        return f"{self.name}: {self.dtype}{nothing} = {self.default}"


def keys_in(entry: Entry, name: str) -> list[Key]:
    """Return the keys of sources or sinks of a format."""
    own = keys_of(options_of(entry, name))
    found = []
    for key, field in {**keys_of(entry), **own}.items():
        form = form_of(field)
        takes_null = key == "missing_columns" or (key in own and takes(form, None))
        default = form.write(field.default) if key in own or takes_null else None
        plain = written(default) if isinstance(default, str | int) and takes(form, default) else "None"
        dtype = python_type(entry, name, key, form.what)
        if key != "from":
            found.append(Key(key, dtype, plain, takes_null, field.metadata.get("doc") or DOCS[key]))
    return found


def written(default: str | int) -> str:
    """Return a default as Python's source has it."""
    return f'"{default}"' if isinstance(default, str) and '"' not in default else repr(default)


def takes(form: Field[Any], value: object) -> bool:
    """Return whether a key takes a value."""
    try:
        read_plain(form, value, "")
    except InvalidPipeline:
        return False
    return True


def method(entry: Entry, name: str) -> str:
    """Return the method of a format."""
    keys, reads = keys_in(entry, name), entry is SourceSpec
    first = [key for key in keys if reads and key.name == "schema" and name in INFERRED]
    parameters = ["self", "name: str", "path: str | os.PathLike[str]", *(f"{key.name}: {key.dtype}" for key in first)]
    parameters += ["*", *(key.parameter for key in keys if key not in first), "**unknown: Never"]
    lines = "\n".join(f"        {parameter}," for parameter in parameters)
    title = FORMATS[name].title
    article = "an" if title[0] in "AEIO" else "a"
    what = f"Declare {article} {title} {'source' if reads else 'sink'}{EXTRAS.get(name, '') if reads else ''}."
    docs = "\n".join(f"        {key.name}\n{wrapped(key.doc[0].upper() + key.doc[1:] + '.')}" for key in keys)
    given = "\n".join(f'            "{key.name}": {key.name},' for key in keys)
    nulls = [key.name for key in keys if key.takes_null]
    kept = f" or key in {tuple(nulls)!r}".replace("'", '"') if nulls else ""
    return f'''    def {"read" if reads else "write"}_{name}(
{lines}
    ) -> {"Table" if reads else "None"}:
        """{what}

        Parameters
        ----------
{docs}
        """
        keys: dict[str, object] = {{
{given}
        }}
        given = {{key: value for key, value in keys.items() if value is not None{kept}}}
        {"return " if reads else ""}self._{"source" if reads else "sink"}(name, "{name}", path, given | unknown)
'''


def wrapped(text: str) -> str:
    """Return the lines of a description."""
    return fill(text, WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12)


def sources() -> dict[Path, str]:
    """Return the text of each file."""
    sinks = [name for name, one in FORMATS.items() if one.writes]
    return {
        SOURCES: SOURCE_HEAD + "\n".join(method(SourceSpec, name) for name in FORMATS),
        SINKS: SINK_HEAD + "\n".join(method(SinkSpec, name) for name in sinks),
    }


def main(check: bool) -> int:
    """Write the files, or compare them."""
    texts = sources()
    old = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in old:
        if check:
            print(f"{path} is not what the formats give: run make docs")
        else:
            path.write_text(texts[path], encoding="utf-8")
    return int(check and bool(old))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
