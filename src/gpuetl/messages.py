"""How messages are worded: codes, printable and redacted text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self

# Texts for people: without control characters, not too long, errors with the code that `gpuetl explain` describes.


SHOWN_CHARACTERS = 200
"""Of a name, a value or an expression of the user's in a message."""
LINE_CHARACTERS = 1_000
"""Of a line of a message."""
LONG = re.compile(rf"'(?P<quoted>[^'\n]{{{SHOWN_CHARACTERS}}})[^'\n]{{9,}}'|(?P<word>\S{{{SHOWN_CHARACTERS}}})\S{{9,}}")
"""What a message quotes, or a word, that is too long; one that is cut, with the mark and a few signs, is not."""


CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal takes for commands, ends a line, turns the direction of text, or is half of a character."""
NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def one_line(text: str) -> str:
    r"""Return a text with escapes such as `\x1b` and `\n` for its control characters: a name, a path, a value."""
    return CONTROLS.sub(_escape, text)


def printable(text: str) -> str:
    """Return a text of several lines with escapes for all other control characters."""
    return "\n".join(map(one_line, text.split("\n"))) if CONTROLS.search(text) else text


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return NAMED.get(found[0]) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")


def cut(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return the beginning of a text that is longer than `most` characters, with a mark that it goes on."""
    return text if len(text) <= most else f"{text[:most]}…"


def readable(text: str) -> str:
    """Return a message that a reader can take in: long words and quotes are cut, and what is left of long lines."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    lines = (LONG.sub(_beginning, line) for line in "".join(text).split("\n"))
    return "\n".join(cut(line, LINE_CHARACTERS) for line in lines)


def _beginning(found: re.Match[str]) -> str:
    return f"'{found['quoted']}…'" if found["quoted"] else f"{found['word']}…"


class Message(str):
    """The text of an error or warning, which remembers its code; equal to the plain string."""

    code: str
    __slots__ = ("code",)

    def __new__(cls, code: str, text: str) -> Self:
        """Keep the code beside the text."""
        self = super().__new__(cls, text)
        self.code = code
        return self

    def __str__(self) -> str:
        """Return the text with its code: an exception's `str` is that of its first argument."""
        return self

    def __reduce__(self) -> tuple[type[Message], tuple[str, str]]:
        return Message, (self.code, "".join(self))


def coded(code: str, text: str) -> Message:
    """Return the text of an error with its code, such as GE1003, which has a page in `error_codes/`."""
    return Message(code, text)


def code_of(text: object) -> str:
    """Return the code of a text, or of the exception whose text it is; nothing where it has none."""
    if isinstance(text, BaseException):
        text = text.args[0] if text.args else ""
    return getattr(text, "code", "")


def recoded(text: str, like: object) -> str:
    """Return a longer text with the code of the one, or of the exception, that it was made of."""
    code = code_of(like)
    return Message(code, text) if code else text


def with_code(text: str, message: object) -> str:
    """Return what users see: a text with the code of its message at the end of the first line."""
    code = code_of(message)
    if not code:
        return text
    first, *rest = "".join(text).split("\n")
    return "\n".join([f"{first}  [{code}]", *rest])


# Values of environment variables in paths, which messages and reports show as `${env.NAME}`.
#
# A path such as `s${env.TOKEN}/x` may hold a secret.  The value is needed to open files, and nowhere else: so each
# text
# for people or for files of reports goes through `redacted`.


LEAST_CHARACTERS = 8
"""Shorter values are hidden only as a part of their path: elsewhere they would match by chance."""

BOUNDARY = r"(?![\w.-])"
_references: dict[str, str] = {}


def remember_value(value: str, reference: str) -> None:
    """Show a variable's value as a reference from now on, if it is long enough."""
    if len(value) >= LEAST_CHARACTERS:
        for written in {value, repr(value)[1:-1], str(Path(value))}:  # as libraries and the system write a path
            _references[re.escape(written)] = reference


def remember_path(path: str, rest: str, text: str) -> None:
    """Show the beginning of a path, up to the end of a variable's value, as it is written in the pipeline.

    `rest` is what follows in the path.
    """
    if len(path) > 1:
        _references[re.escape(path) + ("" if rest and not rest.startswith("/") else BOUNDARY)] = text


def redacted(text: str) -> str:
    """Return a text without the values of environment variables that stand in paths."""
    for pattern in sorted(_references, key=len, reverse=True):
        reference = _references[pattern]
        text = re.sub(pattern, lambda _, reference=reference: reference, text)  # type: ignore[misc]
    return text


SECRET_NAMES = (
    "access_key_id", "secret_access_key", "session_token", "service_account_key", "account_key", "sas_token", "sas_key",
    "client_secret", "bearer_token",
)  # fmt: skip
"""Options of object stores whose values no line of a file may show."""
SECRET_VALUE = re.compile(rf"""((?:{"|".join(SECRET_NAMES)})["']?\s*[:=]\s*)("[^"]*"?|'[^']*'?|[^\s,{{}}$][^,}}]*)""")


_lines: dict[str, str] = {}


def hide_in_line(line: str, start: int, width: int) -> None:
    """Show a line of a file with signs in place of some characters from now on, and of those hidden in it before."""
    shown = _lines.get(line, line)
    _lines[line] = shown[:start] + "*" * len(shown[start : start + width]) + shown[start + width :]


def without_secrets(line: str) -> str:
    """Return a line of a file or script with signs of the same width in place of secrets of object stores."""
    line = _lines.get(line, line)
    return SECRET_VALUE.sub(lambda found: found[1] + "*" * len(found[2]), line)


def without_secrets_in(text: str) -> str:
    """Return the text of a file without secrets: those of object stores, and values of environment variables."""
    return redacted("\n".join(map(without_secrets, text.split("\n"))))
