"""A tree of nodes to a pipeline's model; every problem is kept, so that one reading tells them all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gpuetl.errors import Place, Problems
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.plugin_discovery import PluginProblem
from gpuetl.spec.alerts import AlertSpecs, read_alerts
from gpuetl.spec.document import Node, read_document, read_text
from gpuetl.spec.expect.rules import Rule, read_rule
from gpuetl.spec.fields import keys_of
from gpuetl.spec.format_keys import Entry, formats_used, read_entry
from gpuetl.spec.forms import BOOLEAN, PARAMETER_TYPE, read_name, read_strings
from gpuetl.spec.model import FileText, ParameterSpec, PipelineSpec, SinkSpec, SourceSpec, StageSpec
from gpuetl.spec.nested_values import parse_node
from gpuetl.spec.profile import ProfileSpec, read_profile
from gpuetl.spec.state import read_state
from gpuetl.spec.steps import STEPS, Step
from gpuetl.spec.storage import STORAGE_OPTIONS, StorageOptions
from gpuetl.spec.synonyms import keys_hint, word_suggestion
from gpuetl.spec.telemetry import TELEMETRY, Telemetry
from gpuetl.spec.tests import read_tests
from gpuetl.spec.values import BadValue, KeyPlace, Located, Text, is_identifier
from gpuetl.types.data_types import NULL
from gpuetl.types.nested_types import is_nested

T = TypeVar("T")
VERSION = 1
KEYS = (
    "gpuetl", "name", "description", "include", "defaults", "params", "storage", "profiles", "state", "on_failure",
    "on_success", "telemetry", "sources", "stages", "sinks", "tests",
)  # fmt: skip
KINDS = {"params": "parameter", "storage": "storage", "sources": "source", "stages": "stage", "profiles": "profile"}
"""What the entries of the sections that an included file brings are called."""
STAGE_KEYS = ("from", "steps", "expect", "checkpoint")
UNNAMED = Text("")
"""Stands for the source or stage that a stage does not name, or not readably: its steps are checked."""


MOST_KEPT, LONGEST_KEPT = 64, 1 << 16
_SOUND: OrderedDict[tuple[str, str], PipelineSpec] = OrderedDict()
"""The last pipelines that had no problem, by text and name; reading one takes longer than planning it."""


def read_pipeline(path: FilePath, problems: Problems, shown_as: str | None = None) -> PipelineSpec | None:
    """Read a pipeline file, and those that it includes; returns None where nothing of it can be used."""
    name = shown_as or str(path)
    text = read_text(path, problems, name)
    return None if text is None else read_pipeline_text(text, name, problems, path.parent, path)


def read_pipeline_text(
    text: str, name: str, problems: Problems, folder: FilePath = Path(), path: FilePath | None = None
) -> PipelineSpec | None:
    """Read a pipeline from text; `name` stands for the file in messages.

    Paths of files that it includes begin at `folder`; `path` is the path of the file, if it has one.
    """
    if kept := _SOUND.get((text, name)):
        return kept
    before = len(problems.found)
    root = read_document(text, name, problems)
    if root is None:
        return None
    if not isinstance(root.value, dict) or not root.value.keys() & {"include", "defaults"}:
        spec = _Reader(problems).pipeline(root)
    else:
        from gpuetl.spec.files.include import Includes  # few pipelines have either

        files = Includes(folder, problems, _Reader(problems).head, lambda tree, found: _Reader(found).pipeline(tree))
        whole = files.whole(root, path)
        if not files.is_complete:  # names that are not there would be unknown in the rest, too
            return None
        spec = _Reader(problems).pipeline(whole)
        named = frozenset((KINDS[section], entry) for section, entry in files.names)
        texts = (FileText(name, text), *files.texts)
        return replace(spec, included=named, files=texts) if spec else None
    spec = spec and replace(spec, files=(FileText(name, text),))
    if spec and len(problems.found) == before and len(text) <= LONGEST_KEPT:
        _SOUND[text, name] = spec
        if len(_SOUND) > MOST_KEPT:
            _SOUND.popitem(last=False)
    return spec


class _Reader:
    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.places: dict[tuple[str, str], Place] = {}

    def pipeline(self, root: Node) -> PipelineSpec | None:
        if not isinstance(root.value, dict):
            message = coded("GE1008", f"a pipeline is a map of {', '.join(KEYS)}, got {root.kind}")
            self.problems.add(message, "", root.place())
            return None
        self.head(root)
        name = root.value.get("name")
        if name is None:
            self.problems.add(coded("GE1007", "the key 'name' is missing"), "Give the pipeline a name.", root.place())
        parameters = self.entries(root, "params", "parameter", self.parameter)
        spec = PipelineSpec(
            name=self.guarded(read_name, name, "") or "pipeline" if name else "pipeline",
            description=self.description(root),
            parameters=parameters,
            profiles=self.entries(root, "profiles", "profile", partial(self.profile, parameters)),
            storage=self.entries(root, "storage", "storage", self.storage),
            sources=self.entries(root, "sources", "source", self.source),
            stages=self.entries(root, "stages", "stage", self.stage),
            sinks=self.entries(root, "sinks", "sink", self.sink),
            tests=read_tests(root.value.get("tests"), self.problems),
            on_failure=self.alerts(root, "on_failure"),
            on_success=self.alerts(root, "on_success"),
            state=self.guarded(read_state, root.value["state"], "state") if "state" in root.value else None,
            telemetry=self.telemetry(root.value.get("telemetry")),
        )
        self.unique_names(root, spec)
        written = self.written(root, "sources", "stages") | {s.from_ for s in spec.stages.values() if not s.from_}
        return replace(spec, unreadable=written - {*spec.sources, *spec.stages}, places=self.places)

    def head(self, root: Node) -> None:
        """Check what every file has, also one that is included."""
        self.known_keys(root, KEYS, "")
        self.version(root)

    def description(self, root: Node) -> str:
        node = root.value.get("description")
        return (self.guarded(read_strings, node, "description") or ("",))[0] if node else ""

    def alerts(self, root: Node, when: str) -> AlertSpecs:
        return (self.guarded(read_alerts, root.value[when], when) if when in root.value else None) or ()

    def telemetry(self, node: Node | None) -> Telemetry:
        if node is None or node.value is None:
            return Telemetry()
        return self.guarded(TELEMETRY.read, node, "telemetry") or Telemetry()

    def written(self, root: Node, *sections: str) -> frozenset[str]:
        """Return the names that stand in the sections, readable or not."""
        nodes = (root.value[section] for section in sections if section in root.value)
        return frozenset(name for node in nodes if isinstance(node.value, dict) for name in node.value)

    def version(self, root: Node) -> None:
        stated = root.value.get("gpuetl")
        if stated is None:
            message = coded("GE1007", "the key 'gpuetl' is missing")
            self.problems.add(message, f"Begin the file with gpuetl: {VERSION}.", root.place())
        elif type(stated.value) is not int or stated.value != VERSION:
            what = f"version {stated.value}" if type(stated.value) is int else f"{stated.kind} as a version"
            message = coded("GE1009", f"{what} of the language is not supported")
            self.problems.add(message, f"This is gpuetl: {VERSION}.", stated.place())

    def known_keys(self, node: Node, keys: tuple[str, ...], within: str) -> None:
        for name in node.value:
            if name not in keys:
                message = coded("GE1006", f"unknown key '{name}'")
                self.problems.add(message, keys_hint(name, keys), node.keys[name], within)

    def unique_names(self, root: Node, spec: PipelineSpec) -> None:
        for name in spec.stages:
            if name in spec.sources:
                message = coded("GE1013", f"'{name}' is a source and a stage")
                self.problems.add(message, "Rename one.", root.value["stages"].keys[name])

    def entries(self, root: Node, section: str, kind: str, read: Callable[[str, Node], T | None]) -> dict[str, T]:
        node = root.value.get(section)
        if node is None or node.value is None:
            return {}
        if not isinstance(node.value, dict):
            message = coded("GE1008", f"{section} takes a map of names, got {node.kind}")
            self.problems.add(message, "", node.place())
            return {}
        for name in node.value:
            if not is_identifier(name):
                message = coded("GE1012", f"'{name}' is not a valid name of a {kind}")
                self.problems.add(message, "Use letters, digits and _.", node.keys[name])
        self.places |= {(kind, name): place for name, place in node.keys.items()}
        read_entries = {name: read(name, entry) for name, entry in node.items()}
        return {name: entry for name, entry in read_entries.items() if entry is not None}

    def guarded(self, read: Callable[[Node], T], node: Node, within: str) -> T | None:
        try:
            return read(node)
        except BadValue as error:
            for one in error.each:
                self.problems.add(one.message, one.hint, (one.node or node).place(), within)
            return None

    def parameter(self, name: str, node: Node) -> ParameterSpec:
        within = f"parameter '{name}'"
        if not isinstance(node.value, dict):
            message = coded("GE1008", f"takes a map, got {node.kind}")
            self.problems.add(message, "Keys: type, required, default.", node.place(), within)
            return ParameterSpec(NULL)  # of no type: what names it is not wrong for that
        self.known_keys(node, ("type", "required", "default", "description"), within)
        if "type" not in node.value:
            self.problems.add(coded("GE1007", "the key 'type' is missing"), "", node.place(), within)
            return ParameterSpec(NULL)
        dtype = self.guarded(PARAMETER_TYPE.read, node.value["type"], within)
        required = self.guarded(BOOLEAN.read, node.value["required"], within) if "required" in node.value else False
        if required is False and "default" not in node.value:
            message = coded("GE1018", "has neither required: true nor a default")
            self.problems.add(message, "Add required: true, or a default.", node.place(), within)
        if dtype is None:
            return ParameterSpec(NULL)
        return ParameterSpec(dtype, bool(required), self.default(node, dtype, within))

    def storage(self, name: str, node: Node) -> StorageOptions:
        return self.options(f"storage '{name}'", node)

    def profile(self, parameters: dict[str, ParameterSpec], name: str, node: Node) -> ProfileSpec | None:
        return read_profile(name, node, parameters, self.problems, self.options)

    def options(self, within: str, node: Node) -> StorageOptions:
        return self.guarded(STORAGE_OPTIONS.read, node, within) or ()

    def default(self, node: Node, dtype: Any, within: str) -> Any:
        if "default" not in node.value:
            return None
        given = node.value["default"]
        if isinstance(given.value, dict | tuple) and not is_nested(dtype):
            message = coded("GE1018", f"default: takes one value, got {given.kind}")
            self.problems.add(message, "", given.place(), within)
            return None
        try:
            return parse_node(given, dtype)
        except ValueError as error:
            self.problems.add(coded("GE1017", f"default: {error}"), "", given.place(), within)
            return None

    def located(self, cls: Entry, node: Node, within: str) -> Any:
        """Read what has a format and a path, under the format's name, beside keys of its own."""
        try:
            formats = formats_used(cls, node)
        except PluginProblem as error:
            self.problems.add(error.message, error.hint, node.place(), within)
            return None
        given = [name for name in formats if isinstance(node.value, dict) and name in node.value]
        if len(given) != 1:
            if not given and isinstance(node.value, dict) and node.value.keys() - keys_of(cls).keys():
                self.known_keys(node, (*formats, *keys_of(cls)), within)
                return None
            keys = ", ".join(keys_of(cls))
            message = coded("GE1007", f"needs exactly one of {', '.join(formats)}: the path")
            self.problems.add(message, f"Other keys: {keys}.", node.place(), within)
            return None
        path = self.guarded(read_name, node.value[given[0]], within)
        rest = {name: value for name, value in node.items() if name != given[0]}
        places = {name: node.keys[name] for name in rest}
        keyed = Node(rest, node.document, node.line, node.column, node.width, keys=places)
        return read_entry(cls, given[0], path or Text(""), keyed, self.problems, within)

    def source(self, name: str, node: Node) -> SourceSpec | None:
        source: SourceSpec | None = self.located(SourceSpec, node, f"source '{name}'")
        return source

    def sink(self, name: str, node: Node) -> SinkSpec | None:
        sink: SinkSpec | None = self.located(SinkSpec, node, f"sink '{name}'")
        return sink

    def stage(self, name: str, node: Node) -> StageSpec | None:
        within = f"stage '{name}'"
        if not isinstance(node.value, dict):
            message = coded("GE1008", f"takes a map, got {node.kind}")
            self.problems.add(message, "Keys: from, steps, expect, checkpoint.", node.place(), within)
            return None
        self.known_keys(node, STAGE_KEYS, within)
        origin = self.guarded(read_name, node.value["from"], within) if "from" in node.value else None
        if "from" not in node.value and not is_misspelt(node, "from"):
            message = coded("GE1007", "the key 'from' is missing")
            self.problems.add(message, "It names a source or another stage.", node.place(), within)
        steps = node.value.get("steps")
        if steps is None or not isinstance(steps.value, tuple):
            if steps or not is_misspelt(node, "steps"):
                verb = next(iter(steps.value), "") if steps and isinstance(steps.value, dict) else ""
                hint = f"Begin each step with a dash: - {verb}: …" if verb in STEPS else "Write steps: [limit: 10]."
                message = coded("GE1007", "needs steps: a list")
                self.problems.add(message, hint, (steps or node).place(), within)
            return None
        built = [self.step(step, f"{within}, step {i}") for i, step in enumerate(steps.value, 1)]
        checkpoint = node.value.get("checkpoint")
        is_kept = self.guarded(BOOLEAN.read, checkpoint, f"{within}, checkpoint") if checkpoint is not None else False
        verbs = tuple(map(verb_of, steps.value))
        return StageSpec(origin or UNNAMED, tuple(built), self.rules(node, within), verbs, bool(is_kept))

    def rules(self, stage: Node, within: str) -> tuple[Rule | None, ...]:
        node = stage.value.get("expect")
        if node is None or node.value is None:
            return ()
        if not isinstance(node.value, tuple):
            message = coded("GE1008", f"expect takes a list of rules, got {node.kind}")
            self.problems.add(message, "", node.place(), within)
            return (None,)
        return tuple(read_rule(rule, self.problems, f"{within}, expect") for rule in node.value)

    def step(self, node: Node, within: str) -> Step | None:
        if not isinstance(node.value, dict) or len(node.value) != 1:
            hint = f"Steps: {', '.join(STEPS)}."
            if isinstance(node.value, str) and node.value in STEPS:
                hint = f"Write {node.value}: {'…' if not STEPS[node.value].alone else '{}'}"
            elif isinstance(node.value, dict) and node.value:
                hint = "Begin each step with its own dash."
            self.problems.add(coded("GE1011", "a step is one verb and its arguments"), hint, node.place(), within)
            return None
        verb, value = next(node.items())
        try:
            found = STEPS.find(verb)
        except PluginProblem as error:
            self.problems.add(error.message, error.hint, node.keys[verb], within)
            return None
        if found is None:
            names = STEPS.names()
            hint = f"Steps: {', '.join(names)}. {word_suggestion(verb, names)}".rstrip()
            self.problems.add(coded("GE1010", f"unknown step '{verb}'"), hint, node.keys[verb], within)
            return None
        return found.read(value, self.problems, within)


def is_misspelt(stage: Node, name: str) -> bool:
    """Return whether an unknown key of a stage means this one, and so has a message already."""
    unknown = (key for key in stage.value if key not in STAGE_KEYS)
    return any(f"'{name}'" in word_suggestion(key, STAGE_KEYS) for key in unknown)


def verb_of(step: Node) -> Located:
    """Return where a step's verb stands."""
    return KeyPlace(next(iter(step.keys.values()))) if step.keys else step
