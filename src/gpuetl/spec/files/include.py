"""`include`: parameters, storage, sources, stages and profiles of other files.

    include:
      - shared/sources.yaml
      - {file: shared/cleaning.yaml, stages: [clean]}

The trees of the files become one tree before it is read, so that each value keeps the file, line and column where it
stands.  Sinks and tests of an included file stay its own.  Relative paths in a file begin at its folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gpuetl.errors import InvalidPipeline, Place, Problems, have_hint
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, ImpossiblePath, check_sandbox
from gpuetl.places.registry import path_of, scheme_problem
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox
from gpuetl.spec.document import Node, read_document, read_text
from gpuetl.spec.files.based import joined
from gpuetl.spec.files.defaults import with_defaults
from gpuetl.spec.forms import read_name, read_names
from gpuetl.spec.model import FileText, PipelineSpec
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.values import BadValue, Located, Text

SECTIONS = ("params", "storage", "sources", "stages", "profiles")
"""What a file that is included brings."""
KEYS = ("file", "stages")
MOST_FILES = 256
_REFERENCE = re.compile(r"\$\{\s*params\.([A-Za-z_]\w*)\s*\}|\$([A-Za-z_]\w*)")

ReadSpec = Callable[[Node, Problems], PipelineSpec | None]


@dataclass(frozen=True)
class Entry:
    """One entry of `include`: a file, and the stages that are taken from it; without any, all of it is."""

    file: Text
    stages: tuple[Text, ...]
    node: Node


class Includes:
    """Reads the files that files include, each once.

    Parameters
    ----------
    folder
        The folder of the first file, at which paths of files begin.
    check
        Checks the version and the keys of a file.
    read_spec
        Reads a tree as a pipeline; which stages read which is known from that.
    """

    def __init__(
        self, folder: FilePath, problems: Problems, check: Callable[[Node], None], read_spec: ReadSpec
    ) -> None:
        self.folder, self.problems, self.check, self.read_spec = folder, problems, check, read_spec
        self.trees: dict[FilePath, Node | None] = {}
        self.names: set[tuple[str, str]] = set()
        self.is_complete = True
        self.texts: list[FileText] = []

    def whole(self, root: Node, path: FilePath | None) -> Node:
        """Return a file's tree with what it includes, and with its defaults in the places of keys that are left out.

        `path` is that of the file, if it has one.
        """
        sections = self.merged(root, (path,) if path is not None else ())
        self.names = {
            (section, name)
            for section, node in sections.items()
            for name, place in node.keys.items()
            if place.file != root.document.name
        }
        sinks = {name: node for name, node in self.own.value.items() if name == "sinks"}
        values = {**root.value, **sections, **sinks}
        keys = {**{name: root.place() for name in sections}, **root.keys}
        return replace(root, value=values, keys=keys)

    def merged(self, root: Node, within: tuple[FilePath, ...]) -> dict[str, Node]:
        """Return the sections of a file and of what it includes; `within` are the files that include it."""
        own = with_defaults(root, self.problems)
        sections: dict[str, Node] = {}
        for entry in self.entries(root):
            tree = self.included(entry, within)
            if tree is not None:
                found = {name: node for name in SECTIONS if (node := tree.value.get(name)) is not None}
                self.add(sections, self.chosen(entry, tree, found) if entry.stages else found)
        self.add(sections, {name: node for name in SECTIONS if (node := own.value.get(name)) is not None})
        self.own = own
        return sections

    def add(self, sections: dict[str, Node], found: Mapping[str, Node]) -> None:
        """Add the sections of a file; two entries of one name are a problem, unless they are the same."""
        for section, node in found.items():
            if node.value is None:
                continue
            if not isinstance(node.value, dict) or section not in sections:
                sections[section] = node
                continue
            before = sections[section]
            if not isinstance(before.value, dict):
                continue
            for name in node.value.keys() & before.value.keys():
                if (first := before.keys[name]) != node.keys[name]:
                    message = coded("GE1013", f"'{name}' is declared in {first.file}, too")
                    hint = f"The first is on line {first.line} there. Rename one, or include it once."
                    self.problems.add(message, hint, node.keys[name])
            sections[section] = replace(before, value={**before.value, **node.value}, keys={**before.keys, **node.keys})

    def missing(self, message: str, hint: str, node: Located) -> None:
        """Keep a problem without which names of the pipeline would be unknown, too."""
        self.is_complete = False
        self.problems.add(message, hint, node.place())

    def entries(self, root: Node) -> Iterator[Entry]:
        """Yield the entries of `include`."""
        node = root.value.get("include")
        if node is None or node.value is None:
            return
        for item in node.value if isinstance(node.value, tuple) else (node,):
            try:
                yield self.entry(item)
            except BadValue as error:
                for one in error.each:
                    self.problems.add(one.message, one.hint, (one.node or item).place(), "include")

    def entry(self, node: Node) -> Entry:
        """Read an entry: a path, or a map of a path and names of stages."""
        if not isinstance(node.value, dict):
            return Entry(read_name(node), (), node)
        for name in node.value:
            if name not in KEYS:
                place = node.keys[name]
                self.problems.add(coded("GE1006", f"unknown key '{name}'"), keys_hint(name, KEYS), place, "include")
        if "file" not in node.value:
            raise BadValue(coded("GE1007", "the key 'file' is missing"), node, "It takes the path of a file.")
        stages = read_names(node.value["stages"]) if "stages" in node.value else ()
        return Entry(read_name(node.value["file"]), stages, node.value["file"])

    def included(self, entry: Entry, within: tuple[FilePath, ...]) -> Node | None:
        """Return the tree of a file with what it includes; None, with the problem kept, where it cannot be read."""
        path = self.path(entry)
        if path is None:
            return None
        if path in within:
            names = " → ".join(shown(one) for one in (*within[within.index(path) :], path))
            message = coded("GE1032", f"the files include each other: {names}")
            self.missing(message, "Take one of the includes out.", entry.node)
            return None
        if path not in self.trees:
            if len(self.trees) >= MOST_FILES:
                message = coded("GE1033", f"more than {MOST_FILES} files are included")
                self.missing(message, "Put sources and stages that belong together in one file.", entry.node)
                return None
            self.trees[path] = None
            self.trees[path] = self.read(entry, path, within)
        return self.trees[path]

    def path(self, entry: Entry) -> FilePath | None:
        """Return the path of a file; None, with the problem kept, for one that no file can have."""
        text = str(entry.file)
        wrong, hint = "", "Write the path of one YAML file, relative to this file's folder."
        if "${" in text:
            wrong = f"the path '{text}' has a reference, which include does not take"
        elif "*" in text:
            wrong = f"the path '{text}' has a '*', which only paths of sources have"
        elif problem := scheme_problem(text):
            wrong, hint = problem
        if wrong:
            self.missing(coded("GE1033", wrong), hint, entry.node)
            return None
        try:
            path = path_of(joined(entry.node.document.base, text), self.folder)
            check_sandbox([path])
            return path
        except (ImpossiblePath, OutsideSandbox) as error:
            self.missing(coded("GE1033", str(error)), hint, entry.node)
            return None

    def read(self, entry: Entry, path: FilePath, within: tuple[FilePath, ...]) -> Node | None:
        """Read a file; None, with the problems kept, where nothing of it can be used."""
        folder, document = str(entry.file).rpartition("/")[0], entry.node.document
        name = joined(document.name.rpartition("/")[0], str(entry.file))
        try:
            text = read_text(path, self.problems, name)
        except InvalidPipeline as error:
            message = coded("GE1033", f"include: {error.problems[0].message}")
            self.missing(message, "Check the path: it begins at this file's folder.", entry.node)
            return None
        base = joined(document.base, folder) if folder else document.base
        if text is not None:
            self.texts.append(FileText(name, text))
        tree = None if text is None else read_document(text, name, self.problems, base)
        if tree is None:
            self.is_complete = False
            return None
        if not isinstance(tree.value, dict):
            message = coded("GE1008", f"a file that is included is a map of {', '.join(SECTIONS)}, got {tree.kind}")
            self.missing(message, "", tree)
            return None
        self.check(tree)
        return replace(tree, value={**tree.value, **self.merged(tree, (*within, path))})

    def chosen(self, entry: Entry, tree: Node, sections: Mapping[str, Node]) -> dict[str, Node]:
        """Return the named stages of a file, with the sources and stages that they read, and their parameters."""
        spec = self.read_spec(tree, Problems())  # its problems are told when it is read as a part of the whole
        stages = spec.stages if spec else {}
        missing = [name for name in entry.stages if name not in getattr(sections.get("stages"), "value", {})]
        for name in missing:
            have = have_hint(name, stages, noun="Stages")
            message = coded("GE1034", f"{entry.file} has no stage '{name}'")
            self.missing(message, have, name.node or entry.node)
        wanted, waiting = set[str](), [str(name) for name in entry.stages if name not in missing]
        while waiting:
            read = waiting.pop()
            if read not in wanted:
                wanted.add(read)
                waiting += [one.partition(".")[0] for one in stages[read].reads] if read in stages else []
        kept = {name: only(node, wanted) for name, node in sections.items() if name in ("sources", "stages")}
        named = {name for node in kept.values() for name in references(node)}
        storage = {str(one.value) for node in kept.values() for one in values_of(node, "storage")}
        kept |= {name: only(node, storage) for name, node in sections.items() if name == "storage"}
        named |= {name for node in kept.values() for name in references(node)}
        return kept | {name: only(node, named) for name, node in sections.items() if name == "params"}


def shown(path: FilePath) -> str:
    """Return a path as a message shows it."""
    return path.name


def only(section: Node, names: set[str]) -> Node:
    """Return a section with some of its entries."""
    if not isinstance(section.value, dict):
        return section
    kept = {name: node for name, node in section.items() if name in names}
    places: dict[str, Place] = {name: section.keys[name] for name in kept}
    return replace(section, value=kept, keys=places)


def references(node: Node) -> Iterator[str]:
    """Yield the names of parameters in all strings of a tree, and at most a few words that are none."""
    if isinstance(node.value, dict | tuple):
        for part in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from references(part)
    elif isinstance(node.value, str):
        yield from (found[1] or found[2] for found in _REFERENCE.finditer(node.value))


def values_of(node: Node, key: str) -> Iterator[Node]:
    """Yield what stands under a key, at any depth."""
    if isinstance(node.value, dict):
        for name, part in node.items():
            if name == key:
                yield part
            yield from values_of(part, key)
    elif isinstance(node.value, tuple):
        for part in node.value:
            yield from values_of(part, key)
