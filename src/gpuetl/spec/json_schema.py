"""The language as a JSON Schema, for editors: `python -m gpuetl.spec.json_schema FILE` writes it.

It is made of the tables that read the language: keys, forms, steps, rules and formats, with those of plugins that are
installed.  It says what a file may look like.  Names, types and expressions are checked by `gpuetl validate`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import Field
from inspect import cleandoc
from pathlib import Path
from typing import Any, cast

from gpuetl.errors import Problems
from gpuetl.format_options import JsonSchema
from gpuetl.formats.registry import FORMATS, format_named
from gpuetl.places.storage import OPTIONS, PREFIXES, SYNONYMS
from gpuetl.spec.alerts import ALERTS
from gpuetl.spec.deferred import REFERENCE
from gpuetl.spec.document import plain_data, read_document
from gpuetl.spec.expect.rules import RULES, Rule
from gpuetl.spec.fields import form_of, is_required, key_doc, keys_of, required_keys
from gpuetl.spec.files.defaults import ENTRIES, RULE_KEYS, default_keys
from gpuetl.spec.format_keys import Entry, formats_of, options_of
from gpuetl.spec.language_page.example import Example
from gpuetl.spec.language_page.step_examples import STEP_EXAMPLES
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.profile import ProfileSpec
from gpuetl.spec.read import KEYS, STAGE_KEYS
from gpuetl.spec.state import STATE
from gpuetl.spec.steps import STEPS
from gpuetl.spec.steps.fit import TRANSFORMS
from gpuetl.spec.steps.step import Step
from gpuetl.spec.telemetry import TELEMETRY
from gpuetl.spec.tests import EXPECT_KEYS, given_keys
from gpuetl.types.data_types import NAMED

FILE = Path(__file__).parents[1] / "schema" / "pipeline.schema.json"
"""The schema that is published with the package, without plugins."""
DRAFT = "http://json-schema.org/draft-07/schema#"
IDENTIFIER = "^[A-Za-z_][A-Za-z0-9_]*$"
MORE_TYPES = ("decimal(18,2)", "timestamp[UTC]", "list<string>", "struct<a: int64, b: string>", "map<string, float64>")
SECTION_DOCS = {
    "gpuetl": "The version of the language.",
    "name": "The name of the pipeline.",
    "description": "What the pipeline is for.",
    "include": "Other files, whose parameters, storage, sources, stages and profiles the pipeline has, too.",
    "defaults": "Keys for all sources, sinks and rules of this file that do not have them.",
    "params": "Typed parameters: `$name` in expressions and in the places of constants, `${params.name}` in paths.",
    "storage": "Options of object stores, which sources and sinks name by `storage`.",
    "profiles": "What differs between places where the pipeline runs; `--profile NAME` applies one.",
    "state": "The folder of what the pipeline remembers between its runs, or a prefix of an object store.",
    "on_failure": "Commands and webhooks that get the manifest of a run that failed.",
    "on_success": "Commands and webhooks that get the manifest of a run that succeeded.",
    "telemetry": "Where runs report to: traces, metrics and lineage.",
    "sources": "Where rows come from.",
    "stages": "Named sequences of steps. A stage begins with a source or another stage.",
    "sinks": "Where rows go. All sinks of a run are written, or none changes.",
    "tests": "Rows given for sources, and rows expected of stages: `gpuetl test FILE`.",
}
STAGE_DOCS = {
    "from": "The source or stage that the stage begins with.",
    "steps": "The steps, in order.",
    "expect": "Rules for the rows of the stage. A run writes no sink if a rule with `on_fail: fail` is broken.",
    "checkpoint": "Keep the rows of the stage in the state folder, so that `gpuetl run --resume` reads them.",
}
ANY_MAP: JsonSchema = {"type": ["object", "null"]}


def pipeline_schema() -> dict[str, Any]:
    """Return the JSON Schema of a pipeline's file."""
    sections: dict[str, JsonSchema] = {
        "gpuetl": {"const": 1},
        "name": {"type": "string"},
        "description": {"type": "string"},
        "include": include(),
        "defaults": defaults(),
        "params": named({"$ref": "#/definitions/parameter"}),
        "storage": named({"$ref": "#/definitions/storage_options"}),
        "profiles": named(profile()),
        "state": STATE.schema or {},
        "on_failure": dict(ALERTS.schema or {}),
        "on_success": dict(ALERTS.schema or {}),
        "telemetry": {**(TELEMETRY.schema or {}), "type": ["object", "null"]},
        "sources": named({"$ref": "#/definitions/source"}),
        "stages": named({"$ref": "#/definitions/stage"}),
        "sinks": named({"$ref": "#/definitions/sink"}),
        "tests": {"type": ["array", "null"], "items": {"$ref": "#/definitions/test"}},
    }
    assert tuple(sections) == KEYS, "a section is missing"
    return {
        "$schema": DRAFT,
        "title": "gpuetl pipeline",
        "type": "object",
        "required": ["gpuetl"],
        "properties": {name: described(SECTION_DOCS[name], schema) for name, schema in sections.items()},
        "additionalProperties": False,
        "definitions": {
            "reference": {
                "type": "string",
                "pattern": f"^{REFERENCE.pattern}$",
                "description": "A parameter: `$name`.",
            },
            "type": type_names(),
            "parameter": parameter(),
            "storage_options": storage_options(),
            "source": located(SourceSpec, "The path: a file, a glob, or a folder."),
            "stage": stage(),
            "step": steps(),
            "transform": transforms(),
            "rule": rules(),
            "sink": located(SinkSpec, "The path: a file where it has a suffix, else a folder."),
            "rows": rows(("columns", "rows", *EXPECT_KEYS, *given_keys())),
            "test": test(),
        },
    }


def schema_with_plugins() -> str:
    """Return the schema with the steps, checks and formats of installed plugins, if these can be used."""
    for table in (STEPS, RULES, FORMATS):
        for _ in table.load_all():
            pass
    return schema_text()


def schema_text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(pipeline_schema(), indent=1, ensure_ascii=False) + "\n"


# Shapes.


def described(doc: str, schema: JsonSchema) -> dict[str, Any]:
    """Return a schema with a description, also where it is a reference."""
    if "$ref" in schema:  # draft 7 ignores what stands next to a reference
        return {"description": doc, "allOf": [schema]}
    return {"description": doc, **schema}


def named(values: JsonSchema) -> dict[str, Any]:
    """Return the schema of a section: entries by name."""
    return {"type": ["object", "null"], "propertyNames": {"pattern": IDENTIFIER}, "additionalProperties": values}


def closed(properties: Mapping[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """Return the schema of a map of known keys."""
    needs = {"required": required} if required else {}
    return {"type": "object", "properties": dict(properties), "additionalProperties": False, **needs}


def key_schema(field: Field[Any]) -> dict[str, Any]:
    """Return the schema of a key: what its form says, and a parameter where it takes constants."""
    form = form_of(field)
    schema: dict[str, Any] = dict(form.schema or {})
    kinds = schema.get("type", ())
    if form.constant and schema and kinds != "string" and "string" not in kinds:
        schema = {"anyOf": [schema, {"$ref": "#/definitions/reference"}]}
    text = key_doc(field)
    if not is_required(field) and (default := shown_default(field)) is not None:
        text = f"{text} Default: `{default}`."
    return described(text.strip(), schema)


def shown_default(field: Field[Any]) -> str | None:
    """Return the default of a key as it is written; None for one that stands for nothing."""
    if field.default in (None, "", ()) or not isinstance(field.default, str | int | float | bool):
        return None
    return str(field.default).lower() if isinstance(field.default, bool) else str(field.default)


def object_schema(cls: Any) -> dict[str, Any]:
    """Return the schema of a map of a dataclass's keys."""
    return closed({name: key_schema(field) for name, field in keys_of(cls).items()}, required_keys(cls))


# Sections.


def include() -> dict[str, Any]:
    """Return the schema of `include`."""
    path = {"type": "string", "description": "The path of a file; it begins at this file's folder."}
    stages = {
        "type": ["string", "array"],
        "items": {"type": "string"},
        "description": "The stages to take, with what they read; by default all that the file has.",
    }
    entry = {"anyOf": [path, closed({"file": path, "stages": stages}, ["file"])]}
    return {"anyOf": [*entry["anyOf"], {"type": "array", "items": entry}]}


def defaults() -> dict[str, Any]:
    """Return the schema of `defaults`."""
    sections: dict[str, Any] = {}
    for section, entry in ENTRIES.items():
        keys = entry_keys(entry)
        sections[section] = closed({name: keys[name] for name in default_keys(section)})
    sections["expect"] = closed({name: key_schema(keys_of(Rule)[name]) for name in RULE_KEYS})
    return closed(sections)


def parameter() -> dict[str, Any]:
    """Return the schema of a parameter."""
    keys = {
        "type": described(
            "The type of the value, such as `int64`, `date` or `list<string>`.", {"$ref": "#/definitions/type"}
        ),
        "required": {"type": "boolean", "description": "A value must be given."},
        "default": {"description": "The value where none is given."},
        "description": {"type": "string", "description": "What the parameter is for."},
    }
    return closed(keys, ["type"])


def storage_options() -> dict[str, Any]:
    """Return the schema of a store's options."""
    value = {
        "anyOf": [
            {"type": ["string", "number", "boolean"]},
            closed({"env": {"type": "string", "description": "The environment variable that has the value."}}, ["env"]),
        ]
    }

    def schemes(name: str) -> str:
        option = OPTIONS[SYNONYMS.get(name, name)]
        secret = " A secret: write `{env: NAME}`." if option.secret else ""
        return f"For {', '.join(f'{scheme}://' for scheme in option.schemes)}.{secret}"

    properties = {name: described(schemes(name), value) for name in (*OPTIONS, *SYNONYMS)}
    prefixes = "|".join(PREFIXES)
    return {**closed(properties), "patternProperties": {f"^({prefixes})": value}, "minProperties": 1}


def profile() -> dict[str, Any]:
    """Return the schema of a profile."""
    schema = object_schema(ProfileSpec)
    storage = named({"$ref": "#/definitions/storage_options"})
    schema["properties"] |= {
        "params": described("Values of parameters, in place of their defaults.", ANY_MAP),
        "storage": described("Options of stores, in place of those of the same name.", storage),
    }
    return schema


def choices(*schemas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of a key that several formats have, each once."""
    found = list[dict[str, Any]]()
    for schema in schemas:
        plain = {name: value for name, value in schema.items() if name != "description"}
        found += [one for one in plain.get("anyOf", [plain]) if one not in found]
    return found


def entry_keys(entry: Entry) -> dict[str, Any]:
    """Return the schemas of the keys of sources or sinks of all formats, and of the formats' paths."""
    keys = {name: key_schema(field) for name, field in keys_of(entry).items()}
    for name in formats_of(entry):
        for key, field in keys_of(options_of(entry, name)).items():
            schema = key_schema(field)
            if key in keys and keys[key] != schema:
                schema = {"description": keys[key]["description"], "anyOf": choices(keys[key], schema)}
            keys[key] = schema
    return keys


def located(entry: Entry, path: str) -> dict[str, Any]:
    """Return the schema of a source or sink: its path under the name of its format, and keys."""
    formats = formats_of(entry)
    paths = {name: {"type": "string", "description": f"{format_named(name).title}. {path}"} for name in formats}
    keys = entry_keys(entry)
    schema = closed({**paths, **keys}, required_keys(entry))
    needs: dict[str, list[str]] = {}
    for name in formats:
        for key in keys_of(options_of(entry, name)):
            needs.setdefault(key, []).append(name)
    schema["dependencies"] = {
        key: {"required": names} if len(names) == 1 else {"anyOf": [{"required": [name]} for name in names]}
        for key, names in needs.items()
    }
    schema["anyOf"] = [{"required": [name]} for name in formats]
    return schema


def stage() -> dict[str, Any]:
    """Return the schema of a stage."""
    keys: dict[str, JsonSchema] = {
        "from": {"type": "string"},
        "steps": {"type": "array", "items": {"$ref": "#/definitions/step"}},
        "expect": {"type": ["array", "null"], "items": {"$ref": "#/definitions/rule"}},
        "checkpoint": {"type": "boolean"},
    }
    assert tuple(keys) == STAGE_KEYS, "a key of stages is missing"
    return closed({name: described(STAGE_DOCS[name], schema) for name, schema in keys.items()}, ["from", "steps"])


def steps() -> dict[str, Any]:
    """Return the schema of a step: one verb, and its arguments."""
    properties = {verb: step_schema(verb, step) for verb, step in STEPS.items()}
    return {**closed(properties), "minProperties": 1, "maxProperties": 1}


def step_schema(verb: str, step: type[Step]) -> dict[str, Any]:
    """Return the schema of what stands under a step's verb, with its documentation and its examples."""
    doc = cleandoc(str(step.__doc__))
    whole = object_schema(step)
    if step.one_of:
        whole = {**whole, "anyOf": [{"required": [name]} for name in step.one_of]}
    if step.main:
        main = {key: value for key, value in key_schema(keys_of(step)[step.main]).items() if key != "description"}
        takes_null = [] if step.main in required_keys(step) else [{"type": "null"}]
        whole = main if step.bare else {"anyOf": [main, whole, *takes_null]}
    shown = examples(verb, doc)
    return {"description": doc, **whole, **({"examples": shown} if shown else {})}


def transforms() -> dict[str, Any]:
    """Return the schema of a transform of `fit`: one name, and its arguments."""
    properties = {}
    for verb, transform in TRANSFORMS.items():
        whole: dict[str, Any] = object_schema(transform)
        if transform.main:
            main = key_schema(keys_of(transform)[transform.main])
            whole = {"anyOf": [{name: value for name, value in main.items() if name != "description"}, whole]}
        properties[verb] = {"description": cleandoc(str(transform.__doc__)), **whole}
    return {**closed(properties), "minProperties": 1, "maxProperties": 1}


def examples(verb: str, doc: str) -> list[Any]:
    """Return the arguments of a verb in its example, and in its documentation."""
    found = [step[verb] for step in steps_of(STEP_EXAMPLES[verb]) if verb in step] if verb in STEP_EXAMPLES else []
    for text in re.findall(rf"`({verb}: .*?)`", doc):
        tree = read_document(text, "example", Problems())
        if tree is not None:
            found.append(plain_data(tree)[verb])  # type: ignore[index,call-overload]
    return found


def steps_of(example: Example) -> list[dict[str, Any]]:
    """Return the steps of an example as plain data."""
    tree = read_document(example.steps, "example", Problems())
    return [] if tree is None else cast("list[dict[str, Any]]", plain_data(tree))


def rules() -> dict[str, Any]:
    """Return the schema of a rule: one verb, and the keys that all rules have."""
    properties: dict[str, Any] = {}
    for verb, rule in RULES.items():
        doc = cleandoc(str(rule.__doc__))
        keys = keys_of(rule)
        schema = {key: value for key, value in key_schema(keys[verb]).items() if key != "description"}
        properties[verb] = {"description": doc, **schema}
    properties |= {name: key_schema(field) for name, field in keys_of(Rule).items()}
    return {**closed(properties), "anyOf": [{"required": [verb]} for verb in RULES]}


def rows(keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of rows in a test."""
    known: dict[str, Any] = {
        "columns": {"type": ["string", "array"], "description": "The columns of rows that are lists."},
        "rows": {"type": "array", "description": "The rows: maps, or lists with `columns`."},
        "ordered": {"type": "boolean", "description": "Compare row by row."},
        "tolerance": {"type": "number", "minimum": 0, "description": "How far floats may differ."},
    }
    paths = {name: {"type": "string", "description": "A file with the rows."} for name in keys if name not in known}
    return {"anyOf": [{"type": "array", "items": {"type": "object"}}, closed({**known, **paths})]}


def test() -> dict[str, Any]:
    """Return the schema of a test."""
    of_rows = {"type": ["object", "null"], "additionalProperties": {"$ref": "#/definitions/rows"}}
    keys = {
        "name": {"type": "string", "description": "What the test shows."},
        "params": described("Values of parameters.", ANY_MAP),
        "given": described("Rows of sources.", of_rows),
        "expect": described("Rows of stages.", of_rows),
        "expect_failure": {"type": "string", "description": "Words of the error with which the run must fail."},
    }
    return closed(keys, ["name"])


def type_names() -> dict[str, Any]:
    """Return the schema of a type: names to complete, and any other that gpuetl parses."""
    names = [*(name for name in NAMED if name != "boolean"), *MORE_TYPES]
    return {"description": "A type.", "anyOf": [{"enum": names}, {"type": "string"}]}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
