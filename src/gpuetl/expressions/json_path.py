"""Paths into JSON: `$.a.b[0]`, `/a/b/0`, or the key alone, as DuckDB reads them."""

from __future__ import annotations

import re
from functools import cache
from typing import TypeAlias

from gpuetl.messages import coded
from gpuetl.records import dataclass


@dataclass(frozen=True)
class Member:
    """The first member of an object that has a key."""

    key: str


@dataclass(frozen=True)
class Element:
    """The element of an array at a place from 0, from the end where it is negative."""

    place: int


@dataclass(frozen=True)
class MemberOrElement:
    """A number in a pointer: an object's key, or the place of an array's element."""

    key: str


@dataclass(frozen=True)
class Each:
    """All elements of an array, or the values of all members of an object."""

    members: bool


@dataclass(frozen=True)
class Below:
    """All values inside a value, level by level; with steps behind it, the value itself too."""


@dataclass(frozen=True)
class End:
    """The place behind the last element of an array, where no value is."""


@dataclass(frozen=True)
class MemberOrEnd:
    """`-` in a pointer: an object's key, or the place behind the last element of an array."""


Step: TypeAlias = Member | Element | MemberOrElement | MemberOrEnd | Each | Below | End


class InvalidPath(ValueError):
    """A text that is no path, with what to write."""

    def __init__(self, message: str, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


FORMS = "Write '$.a.b[0]', '$.\"a.b\"', '$[#-1]' for the last element, '/a/b/0', or a key alone."
_STEP = re.compile(
    r"""\.(?P<below>\*\*|\.\*|\.(?=\[))(?=[.\[]|$) | \.(?=\.[^.\[*])(?P<inside>)
    | \.(?P<all>\*)(?=[.\[]|$) | \."(?P<quoted>(?:[^"\\]|\\.)*)" | \.(?P<key>[^."\[*][^.\[]*)
    | \[(?P<each>\*)\] | \[(?P<place>-?[0-9]{1,18})\] | \[\#-(?P<last>[0-9]{1,18})\] | \[(?P<end>\#)\]""",
    re.VERBOSE | re.DOTALL,
)


@cache
def parse_path(text: str) -> tuple[Step, ...]:
    """Return the steps of a path.

    Raises
    ------
    InvalidPath
        For what is no path.
    """
    if text.startswith("/"):
        return tuple(map(_pointed, text[1:].split("/")))
    if not text.startswith("$"):
        return (Member(text),) if text else ()
    steps: list[Step] = []
    at = 1
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise InvalidPath(coded("GE1860", f"cannot take the path '{text}', near '{text[at:]}'"), FORMS)
        steps.append(_step(found, text))
        at = found.end()
    return tuple(steps)


def _step(found: re.Match[str], path: str) -> Step:
    if (quoted := found["quoted"]) is not None:
        return Member(re.sub(r'\\(["\\])', r"\1", quoted))
    if found["below"] or found["inside"] is not None:
        return Below()
    if found["end"]:
        return End()
    if found["all"] or found["each"]:
        return Each(bool(found["all"]))
    if found["key"] is not None:
        return Member(found["key"])
    place = found["place"] or f"-{found['last']}"
    if place.startswith("-") and int(place) == 0:
        message = coded("GE1860", f"cannot take the path '{path}': it has no element at '{found[0]}'")
        raise InvalidPath(message, "[#-1] is the last element.")
    return Element(int(place))


def _pointed(token: str) -> Step:
    if wrong := re.search("~(?![01])", token):
        shown = token[wrong.start() : wrong.start() + 2]
        message = coded("GE1860", f"cannot take a path with '{shown}'")
        raise InvalidPath(message, "Write ~0 for ~, and ~1 for /.")
    if token == "-":
        return MemberOrEnd()
    key = token.replace("~1", "/").replace("~0", "~")
    return MemberOrElement(key) if re.fullmatch("0|[1-9][0-9]{0,17}", key) else Member(key)


def finds_many(steps: tuple[Step, ...]) -> bool:
    """Return whether a path finds any number of values, as a list."""
    return any(isinstance(step, Each | Below) for step in steps)


def path_of_key(key: str | int) -> str:
    """Return the path of a place, or a path as it is."""
    return f"$[{key}]" if isinstance(key, int) else key


def path_text(steps: tuple[Step, ...]) -> str:
    """Return the path that begins with `$` and has these steps, none of a pointer."""
    return "$" + "".join(map(_written, steps))


def _written(step: Step) -> str:
    if isinstance(step, Element):
        return f"[{step.place}]"
    if isinstance(step, Each):
        return ".*" if step.members else "[*]"
    if isinstance(step, Below):
        return ".**"
    if isinstance(step, End):
        return "[#]"
    if isinstance(step, MemberOrEnd):
        return '."-"'
    key = step.key.replace("\\", "\\\\").replace('"', '\\"')
    return f'."{key}"'
