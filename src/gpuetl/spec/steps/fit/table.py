"""The transforms of `fit`, by their names, and how a list of them is read and written."""

from __future__ import annotations

from typing import Any

from gpuetl.errors import Problems
from gpuetl.messages import coded
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.document import plain_node
from gpuetl.spec.fields import Field, read_keys
from gpuetl.spec.steps.fit.categories import Categorify, Cross, OneHot
from gpuetl.spec.steps.fit.numbers import Bucketise, Clip, Fill, Log, MinMax, Normalise
from gpuetl.spec.steps.fit.target_encoding import TargetEncode
from gpuetl.spec.steps.fit.transform import Transform
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.values import BadValue, BadValues, KeyPlace

TRANSFORMS: dict[str, type[Transform]] = {
    one.verb: one for one in (Fill, Clip, Log, Normalise, MinMax, Bucketise, Categorify, TargetEncode, OneHot, Cross)
}


def read_transforms(node: TextNode) -> tuple[Transform, ...]:
    """Read a list of transforms, each a map with one key."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    if not nodes:
        raise BadValue(coded("GE1880", "takes at least one transform"), node, f"Transforms: {', '.join(TRANSFORMS)}.")
    problems = Problems()
    found = [read_transform(one, problems) for one in nodes]
    if problems.found:
        raise BadValues(
            [BadValue(one.message, KeyPlace(one.place) if one.place else node, one.hint) for one in problems.found]
        )
    return tuple(one for one in found if one is not None)


def read_transform(node: TextNode, problems: Problems) -> Transform | None:
    """Read one transform; returns None, with its problems kept, where it is wrong."""
    names = f"Transforms: {', '.join(TRANSFORMS)}."
    if not isinstance(node.value, dict) or len(node.value) != 1:
        what = f"a map with {len(node.value)} keys" if isinstance(node.value, dict) else node.kind
        problems.add(coded("GE1880", f"a transform is a map with one key, got {what}"), names, node.place())
        return None
    verb, value = next(iter(node.items()))
    if verb not in TRANSFORMS:
        hint = keys_hint(verb, TRANSFORMS).replace("Keys:", "Transforms:")
        problems.add(coded("GE1880", f"unknown transform '{verb}'"), hint, node.keys[verb])
        return None
    cls = TRANSFORMS[verb]
    if cls.main and not isinstance(value.value, dict):
        value = TextNode(
            {cls.main: value}, value.document, value.line, value.column, value.width, keys={cls.main: value.place()}
        )
    return read_keys(cls, value, problems, verb)


def transforms_of(data: Any) -> tuple[Transform, ...]:
    """Return the transforms that plain data states.

    Raises
    ------
    BadValue
        For what is no list of transforms.
    """
    return read_transforms(plain_node(data))


def write_transforms(transforms: tuple[Transform, ...]) -> list[Any]:
    """Write a list of transforms as plain data."""
    return [one.written() for one in transforms]


TRANSFORM_LIST: Field[Any] = Field(
    "a list of transforms",
    read_transforms,
    write_transforms,
    schema={"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/transform"}},
)
