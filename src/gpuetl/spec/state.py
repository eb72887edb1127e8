"""`state`: the folder of what a pipeline remembers between its runs.

state: s3://shop/state/daily
state: {path: s3://shop/state/daily, storage: lake}
"""

from __future__ import annotations

from typing import Any

from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec.document import Node
from gpuetl.spec.fields import Field
from gpuetl.spec.forms import read_name
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.values import BadValue, Text

KEYS = ("path", "storage")


@dataclass(frozen=True)
class StateSpec:
    """A folder, or a prefix of an object store; `storage` names the options of the store."""

    path: Text
    storage: Text = Text("")


def read_state(node: Node) -> StateSpec:
    """Read a path, or a map of a path and the name of storage."""
    if not isinstance(node.value, dict):
        return StateSpec(read_name(node))
    for name in node.value:
        if name not in KEYS:
            raise BadValue(coded("GE1006", f"unknown key '{name}'"), node.value[name], keys_hint(name, KEYS))
    if "path" not in node.value:
        raise BadValue(coded("GE1007", "the key 'path' is missing"), node, "It takes a folder, or s3://… of a store.")
    return StateSpec(
        read_name(node.value["path"]), read_name(node.value["storage"]) if "storage" in node.value else Text("")
    )


def write_state(state: StateSpec) -> Any:
    """Return the state as plain data."""
    return {"path": str(state.path), "storage": str(state.storage)} if state.storage else str(state.path)


STATE: Field[StateSpec | None] = Field(
    "a folder, or a prefix of an object store",
    read_state,
    lambda state: None if state is None else write_state(state),
    schema={
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"path": {"type": "string"}, "storage": {"type": "string"}},
                "required": ["path"],
                "additionalProperties": False,
            },
        ]
    },
)
