"""YAML text of plain data, with the characters that ruamel.yaml writes, in a tenth of its time.

Every run of a pipeline that was built in Python writes its text into the report. What is rare, such as texts of several
lines, is left to ruamel.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml.resolver import implicit_resolvers

LONGEST_KEY, LONGEST_LIST = 100, 1 << 19
"""Characters: ruamel.yaml breaks lines somewhere beyond."""
PRINTABLE = re.compile(r"[ -~]*")
QUOTED_IN_BLOCKS = re.compile(r"""[#,\[\]{}&*!|>'"%@` ]|---|\.\.\.|[?:-](?: |$)|.*(?:: | #|[: ]$)|$""")
"""Texts that cannot stand without quotes after a key or a dash."""
QUOTED_IN_LISTS = re.compile(rf"{QUOTED_IN_BLOCKS.pattern}|\?|:(?: |$)|.*[,\[\]{{}}]")
USUAL_FLOAT = re.compile(r"-?[0-9]+\.[0-9]+")
OTHER_TYPES = [(firsts, pattern) for versions, _, pattern, firsts in implicit_resolvers if (1, 2) in versions]
"""Texts that YAML takes for numbers, times and such where they have no quotes: first characters, and a pattern."""


class _Rare(Exception):
    """Data that is left to ruamel.yaml."""


def emitted(data: Any) -> str | None:
    """Return maps, lists and scalars as YAML text; None for what is left to ruamel.yaml."""
    try:
        return "".join(_map(data, 0)) if type(data) is dict and data else None
    except _Rare:
        return None


def _map(data: dict[Any, Any], indent: int, start: str = "") -> Iterator[str]:
    """Yield the lines of a map. The first one begins with `start` instead of spaces."""
    margin = " " * indent
    for key, value in data.items():
        name = _scalar(key, QUOTED_IN_BLOCKS)
        if len(name) > LONGEST_KEY or type(key) is not str:
            raise _Rare
        yield f"{start or margin}{name}:"
        yield from _value(value, indent + 2)
        start = ""


def _value(value: Any, indent: int) -> Iterator[str]:
    """Yield what stands behind a key: on its line, or with `indent` on the lines below."""
    if type(value) is dict and value:
        yield "\n"
        yield from _map(value, indent)
    elif type(value) is list and any(type(item) is dict for item in value):
        yield "\n"
        dash = f"{' ' * indent}- "
        for item in value:
            if type(item) is dict and item:
                yield from _map(item, indent + 2, dash)
            else:
                yield f"{dash}{_in_line(item)}\n"
    else:
        yield "\n" if value is None else f" {_in_line(value)}\n"


def _in_line(value: Any) -> str:
    """Return a scalar or a list without maps as it stands on a line of its own."""
    if type(value) is not list:
        return "{}" if value == {} else _scalar(value, QUOTED_IN_BLOCKS)
    text = _list(value)
    if len(text) > LONGEST_LIST:
        raise _Rare
    return text


def _list(value: list[Any]) -> str:
    return f"[{', '.join(_list(item) if type(item) is list else _scalar(item, QUOTED_IN_LISTS) for item in value)}]"


def _scalar(value: Any, quoted: re.Pattern[str]) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int or (type(value) is float and USUAL_FLOAT.fullmatch(repr(value))):
        return repr(value)
    if type(value) is not str or not PRINTABLE.fullmatch(value):
        raise _Rare
    if not quoted.match(value) and not any(value[0] in firsts and it.match(value) for firsts, it in OTHER_TYPES):
        return value
    if "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
