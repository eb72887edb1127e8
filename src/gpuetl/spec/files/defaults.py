"""`defaults`: keys for all sources, sinks and rules of a file that do not have them.

    defaults:
      sources: {storage: lake, nulls: ["", NA]}
      sinks: {mode: overwrite}
      expect: {on_fail: warn}

An entry's own key comes first.  A key of a format is for the entries of that format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpuetl.errors import Problems
from gpuetl.messages import coded
from gpuetl.places.paths import Scheme
from gpuetl.spec.document import Node
from gpuetl.spec.expect.rules import REMOVES
from gpuetl.spec.format_keys import Entry, formats_of, keys_in
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.synonyms import keys_hint

KEYS = ("sources", "sinks", "expect")
RULE_KEYS = ("on_fail",)
ENTRIES: Mapping[str, Entry] = {"sources": SourceSpec, "sinks": SinkSpec}
NO_DEFAULTS = (
    "from", "schema", "columns", "filename", "partitions", "partition_by", "sort_by", "run_key", "on", "filter",
    "incremental",
)  # fmt: skip
"""Keys that belong to one source or sink: the names of its columns."""
APART = {"storage": "storage_options", "storage_options": "storage", "exclude": "columns"}
"""Keys that do not go together."""


def default_keys(section: str) -> list[str]:
    """Return the keys that the defaults of a section take."""
    if section == "expect":
        return list(RULE_KEYS)
    entry = ENTRIES[section]
    keys = dict.fromkeys(key for name in formats_of(entry) for key in keys_in(entry, name))
    return [key for key in keys if key not in NO_DEFAULTS]


def with_defaults(root: Node, problems: Problems) -> Node:
    """Return a file's tree in which its defaults stand in all entries that do not have these keys."""
    node = root.value.get("defaults")
    if node is None or node.value is None:
        return root
    given = dict(checked(node, KEYS, problems, "defaults"))
    values = dict(root.value)
    for section in ("sources", "sinks"):
        own = (
            dict(checked(given[section], default_keys(section), problems, f"defaults, {section}"))
            if section in given
            else {}
        )
        if own and section in values and isinstance(values[section].value, dict):
            entries = {
                name: filled(ENTRIES[section], one, given[section], own) for name, one in values[section].items()
            }
            values[section] = replace(values[section], value=entries)
    rules = dict(checked(given["expect"], RULE_KEYS, problems, "defaults, expect")) if "expect" in given else {}
    if rules and "stages" in values and isinstance(values["stages"].value, dict):
        stages = {name: with_rules(stage, given["expect"], rules) for name, stage in values["stages"].items()}
        values["stages"] = replace(values["stages"], value=stages)
    return replace(root, value=values)


def checked(
    node: Node, known: tuple[str, ...] | list[str], problems: Problems, within: str
) -> Iterator[tuple[str, Node]]:
    """Yield the entries of a map whose keys are known; others are problems."""
    if not isinstance(node.value, dict):
        problems.add(coded("GE1008", f"takes a map of {', '.join(known)}, got {node.kind}"), "", node.place(), within)
        return
    for name, value in node.items():
        if name in known:
            yield name, value
        else:
            problems.add(coded("GE1006", f"unknown key '{name}'"), keys_hint(name, known), node.keys[name], within)


def filled(entry: Entry, node: Node, given: Node, defaults: Mapping[str, Node]) -> Node:
    """Return a source or sink with the defaults that its format takes and it does not have."""
    if not isinstance(node.value, dict):
        return node
    format_ = next((name for name in formats_of(entry) if name in node.value), None)
    if format_ is None:
        return node
    takes = keys_in(entry, format_)
    path = node.value[format_].value
    local = not isinstance(path, str) or not (Scheme.of(path).name or path.startswith("${"))
    new = {
        name: value
        for name, value in defaults.items()
        if name in takes
        and name not in node.value
        and APART.get(name) not in node.value
        and not (local and name in ("storage", "storage_options"))
    }
    keys = {**node.keys, **{name: given.keys[name] for name in new}}
    return replace(node, value={**node.value, **new}, keys=keys)


def with_rules(stage: Node, given: Node, defaults: Mapping[str, Node]) -> Node:
    """Return a stage whose rules have the defaults; a rule for all rows removes none."""
    rules = stage.value.get("expect") if isinstance(stage.value, dict) else None
    if rules is None or not isinstance(rules.value, tuple):
        return stage

    def with_keys(rule: Node) -> Node:
        if not isinstance(rule.value, dict):
            return rule
        new = {
            name: value
            for name, value in defaults.items()
            if name not in rule.value and not ("rows" in rule.value and value.value in REMOVES)
        }
        return replace(
            rule, value={**rule.value, **new}, keys={**rule.keys, **{name: given.keys[name] for name in new}}
        )

    filled_rules = replace(rules, value=tuple(map(with_keys, rules.value)))
    return replace(stage, value={**stage.value, "expect": filled_rules})
