"""YAML text to a tree of nodes, each of which knows where it stands.  YAML 1.2 core; no tags, anchors or merge keys."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path, PurePath
from typing import Any

from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode
from ruamel.yaml.nodes import Node as YamlNode

from gpuetl.errors import InvalidPipeline, Place, Problem, Problems, Span
from gpuetl.format_options import Plain, kind_of
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath, ImpossiblePath, Scheme, StorePath
from gpuetl.places.registry import filesystem_of, path_of, scheme_problem
from gpuetl.records import dataclass
from gpuetl.spec import yaml_text
from gpuetl.spec.yaml_text import QUOTE, mistake_of, new_yaml

MAX_CHARACTERS = 1 << 20
MAX_FILE_BYTES = 4 * MAX_CHARACTERS  # as many as they can take


@dataclass(frozen=True)
class Document:
    """A pipeline file: the name that errors show, and its lines.

    `base` is its folder relative to that of the file that includes it; relative paths begin there.
    """

    name: str
    lines: tuple[str, ...]
    base: str = ""


@dataclass(frozen=True, eq=False)
class Node:
    """One value of the file: a scalar, a tuple of nodes, or a dict of nodes by key.

    `line` and `column` count from 0 and point at the value; `keys` holds the places of a mapping's keys, `written`
    a number or truth value as it stands there, with digits that its value may have lost.
    """

    value: Any
    document: Document
    line: int
    column: int
    width: int
    quoted: bool = False
    keys: dict[str, Place] = field(default_factory=dict)
    written: str = ""

    def place(self, span: Span | None = None) -> Place:
        """Return the place of this value, or of a part of its text."""
        line, column, width = self.line, self.column, self.width
        if span is not None and isinstance(self.value, str) and self.document.lines:
            line, column = self._locate(span.start)
            width = span.stop - span.start
        source = self.document.lines[line] if line < len(self.document.lines) else ""
        return Place(self.document.name, line + 1, column + 1, source, width)

    def _locate(self, offset: int) -> tuple[int, int]:
        """Find where character `offset` of the text stands; a folded or block text is searched word by word."""
        source = self.document.lines[self.line]
        if source[self.column + self.quoted :].startswith(self.value[: offset + 1]):
            return self.line, self.column + self.quoted + offset
        word = self.value[offset:].split(None, 1)[0] if self.value[offset:].split() else ""
        seen = self.value[:offset].count(word) if word else 0
        for line in range(self.line, len(self.document.lines)):
            start = self.column if line == self.line else 0
            text = self.document.lines[line]
            while word and (found := text.find(word, start)) >= 0:
                if seen == 0:
                    return line, found
                seen, start = seen - 1, found + 1
        return self.line, self.column

    def items(self) -> Iterator[tuple[str, Node]]:
        """Iterate over a mapping."""
        yield from self.value.items()

    @property
    def kind(self) -> str:
        """What a user would call this value."""
        return kind_of(self.value)


def plain_node(value: Any) -> Node:
    """Return plain Python data as a node that stands nowhere, for the forms to read."""
    document = Document("", ())
    if isinstance(value, Mapping):
        keys = {str(name): Place("", 1, 1, "") for name in value}
        return Node({str(name): plain_node(item) for name, item in value.items()}, document, 0, 0, 1, keys=keys)
    if isinstance(value, list | tuple):
        return Node(tuple(map(plain_node, value)), document, 0, 0, 1)
    return Node(value, document, 0, 0, 1)


def plain_data(node: Node) -> Plain:
    """Return a node's data without its places."""
    if isinstance(node.value, dict):
        return {name: plain_data(value) for name, value in node.items()}
    if isinstance(node.value, tuple):
        return tuple(map(plain_data, node.value))
    return node.value  # type: ignore[no-any-return]


def read_document(text: str, name: str, problems: Problems, base: str = "") -> Node | None:
    """Parse YAML text; returns None, with the problem kept, where it is no YAML or beyond the limits."""
    document = Document(name, tuple(text.splitlines()), base)
    if len(text) > MAX_CHARACTERS:
        problems.add(coded("GE1002", f"{name} has {len(text):,} characters; {MAX_CHARACTERS:,} are allowed"))
        return None
    try:
        root = new_yaml().compose(io.StringIO(text))
        if root is None:
            problems.add(coded("GE1002", f"{name} is empty"), "See README.md for a first pipeline.")
            return None
        reader = _Reader(document, problems)
        tree = reader.node(root)
        return None if reader.incomplete else tree
    except YAMLError as error:
        mistake = mistake_of(error, document.lines)
        problems.add(mistake.message, mistake.hint, mistake.place(name, document.lines))
    return None


def pipeline_path(path: str | FilePath) -> FilePath:
    """Return the path of a pipeline's file, which may be in a store: `file:///…`, `s3://…`, `https://…`.

    Raises
    ------
    InvalidPipeline
        For a path of a scheme that gpuetl does not support.
    """
    if isinstance(path, StorePath):
        return path
    text = str(path)
    if problem := scheme_problem(text):
        message, hint = problem
        raise InvalidPipeline.because(coded("GE1409", message), hint)
    if not Scheme.of(text).name:
        return Path(path)
    try:
        return path_of(text, Path())
    except ImpossiblePath as error:
        raise InvalidPipeline.because(coded("GE1002", str(error))) from None


def twin_of(file: FilePath) -> str:
    """Return the name of another pipeline's file on this machine that differs in `.yaml` and `.yml` alone, if any."""
    other = {".yaml": ".yml", ".yml": ".yaml"}.get(PurePath(file.name).suffix)
    if other is None or not isinstance(file, Path):
        return ""
    twin = file.with_suffix(other)
    try:
        is_pipeline = twin.is_file() and re.search(r"^gpuetl:", twin.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return ""
    return twin.name if is_pipeline else ""


def read_start(path: FilePath, most: int) -> bytes:
    """Return a file, or the beginning of a longer one, up to a byte more than `most`."""
    if isinstance(path, StorePath):
        with filesystem_of(path).open(path).open() as stream:
            return stream.read(most + 1)
    with path.open("rb") as file:
        return file.read(most + 1)


def read_text(path: FilePath, problems: Problems, name: str) -> str | None:
    """Read a YAML file; one that is not there or no UTF-8 text is an error at once, None one that is too long."""
    try:
        text = read_start(path, MAX_FILE_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError, DatasetError) as error:
        known = error.args[0] if isinstance(error, DatasetError) else getattr(error, "strerror", None)
        reason = known or "it is not UTF-8 text"
        unreadable = coded("GE1002", f"cannot read {path}: {reason}")
        raise InvalidPipeline([Problem(unreadable, "Give the path of a pipeline's YAML file.")]) from None
    if len(text) > MAX_FILE_BYTES:
        message = f"{name} has more than {MAX_FILE_BYTES:,} bytes; {MAX_CHARACTERS:,} characters are allowed"
        problems.add(coded("GE1002", message))
        return None
    return text


_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


def shown_tag(yaml: YamlNode) -> str:
    """Return a node's tag as it is written."""
    return str(yaml.tag).replace("tag:yaml.org,2002:", "!!")


class _Reader:
    """Turns ruamel's nodes into ours, and keeps what the language refuses."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self.document, self.problems = document, problems
        self.seen: set[int] = set()
        self.incomplete = False  # something is refused without which the rest would look wrong
        self.construct = new_yaml().constructor.construct_object

    def node(self, yaml: YamlNode) -> Node:
        base = self.at(yaml, None)
        if id(yaml) in self.seen or yaml.anchor:
            message = coded("GE1004", "gpuetl does not support anchors and aliases")
            self.problems.add(message, "Write it out, or make it a stage.", base.place())
            self.incomplete = True
            return base
        self.seen.add(id(yaml))
        if isinstance(yaml, ScalarNode):
            return self.scalar(yaml)
        if str(yaml.tag) not in _COLLECTIONS:
            self.unsupported_tag(yaml, base)
        if isinstance(yaml, MappingNode):
            return self.mapping(yaml)
        return self.at(yaml, tuple(self.node(item) for item in yaml.value))

    def unsupported_tag(self, yaml: YamlNode, node: Node) -> None:
        self.problems.add(coded("GE1004", f"gpuetl does not support the tag '{shown_tag(yaml)}'"), QUOTE, node.place())

    def scalar(self, yaml: ScalarNode) -> Node:
        node = self.at(yaml, self.text(yaml))
        tag = str(yaml.tag).removeprefix("tag:yaml.org,2002:")
        if tag not in ("str", "int", "float", "bool", "null", "timestamp"):
            self.unsupported_tag(yaml, node)
            return node
        if tag in ("str", "timestamp") or (tag in ("int", "float") and "_" in yaml.value):  # no number in YAML 1.2
            return node
        try:
            value = self.construct(yaml)
        except ValueError:  # a number of thousands of digits
            message = coded("GE1008", f"'{yaml.value[:20]}…' has too many digits for a number")
            self.problems.add(message, QUOTE, node.place())
            return node
        if tag == "float" and math.isinf(value) and "inf" not in yaml.value.lower():
            message = coded("GE1008", f"{yaml.value[:20]} is not a valid float64")
            self.problems.add(message, "Infinity is written .inf.", node.place())
        return replace(self.at(yaml, value), written=str(yaml.value))

    def text(self, yaml: ScalarNode) -> str:
        """Return the text, in which JSON may have written a character as two halves."""
        try:
            return str(yaml.value).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            message = coded("GE1001", "half of a character is not text")
            self.problems.add(message, "Write both halves.", self.at(yaml, None).place())
            return "\N{REPLACEMENT CHARACTER}"

    def mapping(self, yaml: MappingNode) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        for key, value in self.entries(yaml):
            if not isinstance(key, ScalarNode):
                message = coded("GE1004", "gpuetl does not support a list or map as a key")
                self.problems.add(message, "Write the key in quotes.", self.at(key, None).place())
                continue
            name = self.text(key)
            place = self.at(key, name).place()
            if name == "<<":
                message = coded("GE1004", "gpuetl does not support merge keys")
                self.problems.add(message, "Write the keys out.", place)
                self.incomplete = True
            elif name in values:
                message = coded("GE1005", f"the key '{name}' is here twice")
                self.problems.add(message, f"The first is on line {keys[name].line}.", place)
            else:
                values[name], keys[name] = self.node(value), place
        return self.at(yaml, values, keys)

    def entries(self, yaml: MappingNode) -> Iterator[yaml_text.Entry]:
        """Iterate over a mapping's keys and values; an expression that commas have cut is told, and whole again."""
        if not yaml.flow_style:
            yield from yaml.value
            return
        for entry, cut in yaml_text.whole_entries(yaml.value):
            if cut:
                message = coded("GE1015", f"a comma in {{ }} ends the value '{cut}'")
                self.problems.add(message, yaml_text.HINT, self.at(entry[1], None).place())
            yield entry

    def at(self, yaml: YamlNode, value: Any, keys: dict[str, Place] | None = None) -> Node:
        start, end = yaml.start_mark, yaml.end_mark
        same_line = start.line == end.line
        source = self.document.lines[start.line] if start.line < len(self.document.lines) else ""
        width = (end.column if same_line else len(source)) - start.column
        style = getattr(yaml, "style", None)
        line, column = start.line, start.column
        if style in ("|", ">") and isinstance(yaml, ScalarNode) and line + 1 < len(self.document.lines):
            line += 1
            column = len(self.document.lines[line]) - len(self.document.lines[line].lstrip())
        return Node(value, self.document, line, column, max(1, width), style in ("'", '"'), keys or {})
