"""The manifest of a run as a JSON Schema: `python -m gpuetl.report.manifest_schema FILE` writes it.

It is made of the fields of `RunReport` and of what they hold: their names, types and documentation.  Objects may have
more fields than it names, since later versions may add some.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gpuetl.report.run_report import NOT_IN_JSON, SCHEMA_VERSION, STATUSES, RunReport

FILE = Path(__file__).parents[1] / "schema" / "manifest.schema.json"
"""The schema that is published with the package."""
DRAFT = "https://json-schema.org/draft/2020-12/schema"
PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
ADDED: dict[str, tuple[str, dict[str, Any]]] = {
    "schema_version": ("The version of this form.", {"const": SCHEMA_VERSION}),
    "status": ("How the run ended.", {"enum": list(STATUSES)}),
    "started_at": ("When the run began, in UTC.", {"type": "string"}),
    "ended_at": ("When the run ended, in UTC.", {"type": "string"}),
}
"""Fields that the report as JSON has beside those of its class."""


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest."""
    definitions: dict[str, Any] = {}
    problems = schema_of(get_type_hints(RunReport)["failure"], definitions)
    assert "$ref" in problems["anyOf"][0]
    listed = definitions["Failure"]["properties"].pop("problems")
    definitions["Failure"]["required"].remove("problems")
    report = object_schema(RunReport, definitions)
    check = definitions["CheckReport"]
    check["properties"]["share"] = {"type": "number", "description": "The part of the rows that break the rule."}
    check["required"].append("share")
    added = {name: {"description": doc, **schema} for name, (doc, schema) in ADDED.items()}
    properties = {**added, **report["properties"], "problems": listed}
    return {
        "$schema": DRAFT,
        "title": "gpuetl run manifest",
        "description": "What a run did: `gpuetl run` writes it to the pipeline's state folder, whatever ends the run.",
        **report,
        "properties": properties,
        "required": [*added, *report["required"], "problems"],
        "$defs": dict(sorted(definitions.items())),
    }


def object_schema(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a class's fields; the classes that these hold become definitions."""
    hints, docs = get_type_hints(cls), field_docs(cls)
    properties: dict[str, Any] = {}
    for one in fields(cls):
        if (cls, one.name) not in NOT_IN_JSON:
            schema = schema_of(hints[one.name], definitions)
            properties[one.name] = {"description": docs[one.name], **schema} if one.name in docs else schema
    return {"type": "object", "properties": properties, "required": list(properties)}


def schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type."""
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if kind is Any:
        return {}
    if is_dataclass(kind):
        name = str(getattr(kind, "__name__", kind))
        if name not in definitions:
            definitions[name] = {}  # a class may hold itself
            definitions[name] = {"description": head_of(kind), **object_schema(kind, definitions)}
        return {"$ref": f"#/$defs/{name}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (UnionType, Union):
        return {"anyOf": [schema_of(one, definitions) for one in arguments]}
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [schema_of(one, definitions) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is tuple:
        return {"type": "array", "items": schema_of(arguments[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1], definitions)}
    raise TypeError(f"{kind} has no JSON Schema")


def head_of(cls: Any) -> str:
    """Return the first paragraph of a class's documentation."""
    return " ".join(cleandoc(str(cls.__doc__)).partition("\n\n")[0].split())


def field_docs(cls: Any) -> dict[str, str]:
    """Return the documentation of fields: the section `Parameters` of the class's."""
    _, _, section = cleandoc(str(cls.__doc__)).partition("Parameters\n----------\n")
    found: dict[str, str] = {}
    for names, text in re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?|\n)+)", section, re.MULTILINE):
        found |= dict.fromkeys(re.split(r", ?", names), " ".join(text.split()))
    return found


def schema_text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(manifest_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
