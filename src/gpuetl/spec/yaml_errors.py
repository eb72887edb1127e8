"""What is wrong with text that is not YAML, in a user's words: quotes, colons, brackets, indentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from gpuetl.errors import Place
from gpuetl.messages import coded
from gpuetl.spec import flow_commas

QUOTE = "Write the value in quotes."
ALIKE = "Indent what belongs together with the same number of spaces."


class Mistake(NamedTuple):
    """What is wrong, what to do, and where: the line and column, from 0."""

    message: str
    hint: str
    line: int
    column: int

    def place(self, name: str, lines: Sequence[str]) -> Place:
        """Return the place in the file of that name."""
        source = lines[self.line] if self.line < len(lines) else ""
        return Place(name, self.line + 1, self.column + 1, source)


def mistake_of(error: YAMLError, lines: Sequence[str]) -> Mistake:
    """Word an error of the YAML reader."""
    if not isinstance(error, MarkedYAMLError):
        return _of_character(error, lines)
    mark = error.problem_mark or error.context_mark
    at = _At(mark.line, mark.column, lines)
    begun = _At(error.context_mark.line, error.context_mark.column, lines) if error.context_mark else at
    for pattern, word in _WORDED:
        if found := re.search(pattern, f"{error.context or ''}: {error.problem or ''}"):
            return word(found, at, begun)
    return at.mistake("this is not YAML", "Look at the indentation, the quotes and the colons of this line.")


class _At(NamedTuple):
    """A place in the text, from 0."""

    line: int
    column: int
    lines: Sequence[str]

    @property
    def text(self) -> str:
        """The line."""
        return self.lines[self.line] if self.line < len(self.lines) else ""

    @property
    def sign(self) -> str:
        """The character there."""
        return self.text[self.column : self.column + 1]

    def before(self) -> _At:
        """Return the beginning of the last line before that is not empty."""
        line = next((n for n in range(self.line - 1, -1, -1) if self.lines[n].strip()), self.line)
        return _At(line, len(self.lines[line]) - len(self.lines[line].lstrip()), self.lines)

    def mistake(self, message: str, hint: str, code: str = "GE1001") -> Mistake:
        """Return the mistake at this place."""
        return Mistake(coded(code, message), hint, self.line, self.column)


def _unclosed_quote(found: re.Match[str], at: _At, begun: _At) -> Mistake:
    inside = " A quote inside the text is written twice: 'it''s'." if begun.sign == "'" else ""
    return begun.mistake("this quote is not closed", f"Close it with {begun.sign}.{inside}")


def _brackets(found: re.Match[str], at: _At, begun: _At) -> Mistake:
    """Word a list or a map in brackets that is not closed, or that a sign inside a value ends."""
    closing = {"{": "}", "[": "]"}.get(begun.sign, "")
    if "stream end" in found[0] or (found[1] == ":" and at.line > begun.line):
        return begun.mistake(f"this '{begun.sign}' is not closed", f"Close it with '{closing}'.")
    if found[1] == ":":
        return at.mistake("a value in brackets ends at a colon", QUOTE)
    hint = f"In {begun.sign} {closing}, commas and quotes end an expression.  {flow_commas.HINT}"
    return at.mistake(f"a value in {begun.sign} {closing} ends here", hint)


def _colon(found: re.Match[str], at: _At, begun: _At) -> Mistake:
    """Word a colon in a value, after a line without one, or on a line that is indented wrongly."""
    ahead = at.text[: at.column]
    if re.search(r":\s", ahead):
        return at.mistake("a value without quotes cannot have a colon and a space", QUOTE)
    before = at.before()
    written = before.text.strip()
    if before.line < at.line and not re.search(r":([ \t]|$)", written) and not written.startswith("-"):
        space = "plain space" if re.search(r":\s", written) else "space"
        hint = f"Write a {space} after the colon." if ":" in written else "Write key: value."
        return before.mistake(f"'{written[:40]}' is not a key and a value", hint)
    start = _At(at.line, len(ahead) - len(ahead.lstrip()), at.lines)
    return start.mistake("this line is indented more than the one before it", ALIKE)


def _indentation(found: re.Match[str], at: _At, begun: _At) -> Mistake:
    if "<scalar>" in found[0]:
        hint = "Write the whole value in quotes; a quote inside it is written twice: 'it''s'."
        return at.mistake("there is text after the closing quote", hint)
    listed = at.text.strip().startswith("-")
    what = "list item" if listed else "key"
    return at.mistake(f"this {what} is not indented as the others above it", ALIKE)


def _first_sign(found: re.Match[str], at: _At, begun: _At) -> Mistake:
    shown = at if at.sign.strip() else begun
    if not shown.sign.strip():  # the text ends
        last = _At(len(at.lines), 0, at.lines).before()
        end = last._replace(column=max(len(last.text.rstrip()) - 1, 0))
        hint = "Close each '[' with ']' and each '{' with '}'."
        return end.mistake("the file ends in the middle of a list or map", hint)
    return shown.mistake(f"a value cannot begin with '{shown.sign}'", QUOTE)


def _at(
    message: str, hint: str, begun_there: bool = False, code: str = "GE1001"
) -> Callable[[re.Match[str], _At, _At], Mistake]:
    """Return what words an error by its place alone; `{}` is what the pattern found."""

    def word(found: re.Match[str], at: _At, begun: _At) -> Mistake:
        text = message.format(*found.groups()) if found.groups() else message
        return (begun if begun_there else at).mistake(text, hint, code)

    return word


_WORDED: tuple[tuple[str, Callable[[re.Match[str], _At, _At], Mistake]], ...] = (
    (r"character '\\t'|character '\t'", _at("this line is indented with a tab", "Indent with spaces.")),
    (r"quoted scalar: found unexpected end", _unclosed_quote),
    (
        r"unknown escape character '(.)'",
        _at("'\\{}' is not an escape in double quotes", "Write the text in single quotes."),
    ),
    (r"flow (?:mapping|sequence): .*but got '(<stream end>|.*?)'", _brackets),
    (r"mapping values are not allowed", _colon),
    (r"expected <block end>.*", _indentation),
    (r"could not find expected ':'", _at("this line is not a key and a value", "Write key: value.", begun_there=True)),
    (r"sequence entries", _at("a list cannot begin here", "Begin it on the next line, or write [a, b].")),
    (r"scanning a block scalar", lambda found, at, begun: begun.mistake(f"unexpected '{begun.sign}'", QUOTE)),
    (
        r"another document",
        _at("a file has one pipeline", "Write the second one to a file of its own.", code="GE1004"),
    ),
    (r"<document start>", _at("this line is indented less than the first", "Begin all its keys in one column.")),
    (
        r"it nests deeper than (\d+)",
        _at("it nests deeper than {}", "Write what is inside as a stage of its own.", code="GE1002"),
    ),
    (r"cannot start any token|expected the node content|an alias|an anchor|undefined alias|parsing a tag", _first_sign),
    (r"YAML document|directive", _at("'%' begins a directive", "Take the line out.", code="GE1004")),
)  # fmt: skip
"""What words an error, by a pattern of the reader's."""


def _of_character(error: Any, lines: Sequence[str]) -> Mistake:
    """Word a character that no text has."""
    character = getattr(error, "character", None)
    if not isinstance(character, int):
        return Mistake(coded("GE1001", "this is not text that can be read"), "Write the file as UTF-8.", 0, 0)
    found = ((n, line.index(chr(character))) for n, line in enumerate(lines) if chr(character) in line)
    message = coded("GE1001", f"the character U+{character:04X} is not text")
    return Mistake(message, "Take it out.", *next(found, (0, 0)))
