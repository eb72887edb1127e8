"""YAML text: the reader, commas of expressions in `{ }`, and what is wrong with text that is not YAML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node, ScalarNode
from ruamel.yaml.scanner import Scanner, ScannerError

from gpuetl.errors import Place
from gpuetl.messages import coded

# Commas of expressions in `{ }`: YAML ends a value at each of them; here the pieces are put together again.


Entry = tuple[Node, Node]
HINT = "Quote the expression, or write it on a separate line."


def whole_entries(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Give the entries of a map in `{ }` as they are meant, each with what YAML took for its value where it cut that.

    `{x: coalesce(a, b)}` has the keys `x`, of the value `coalesce(a`, and `b)`, of none.  A plain value that leaves a
    parenthesis or quote open takes the keys without a value that follow, up to the one that closes it.
    """
    index = 0
    while index < len(entries):
        key, value = entries[index]
        pieces = _pieces(entries, index)
        yield (key, _joined(pieces)) if pieces else (key, value), pieces[0].value if pieces else ""
        index += max(1, len(pieces))


def _pieces(entries: Sequence[Entry], index: int) -> list[ScalarNode]:
    """Return the scalars of which the value of an entry is made; none where it was not cut."""
    first = entries[index][1]
    if not isinstance(first, ScalarNode) or first.style:
        return []
    pieces, opened = [first], _Opened().after(first)
    for place in range(index + 1, len(entries)) if opened else ():
        key, value = entries[place]
        if not (isinstance(key, ScalarNode) and isinstance(value, ScalarNode)) or value.value or value.style:
            return []
        pieces.append(key)
        opened = opened.after(key)
        if not opened:
            return pieces
    return []


class _Opened(NamedTuple):
    """What a text leaves open: so many parentheses, and a quote."""

    parentheses: int = 0
    quote: str = ""

    def __bool__(self) -> bool:
        return self.parentheses > 0 or bool(self.quote)

    def after(self, piece: ScalarNode) -> _Opened:
        """Return what is open after a further piece."""
        parentheses, quote = self
        for mark in re.findall(r"""[()'"]""", _written(piece)):
            if quote or mark in "'\"":
                quote = (quote if mark != quote else "") if quote else mark
            else:
                parentheses += 1 if mark == "(" else -1
        return _Opened(parentheses, quote)


def _written(piece: ScalarNode) -> str:
    quote = piece.style or ""
    return f"{quote}{piece.value}{quote}"


def _joined(pieces: Sequence[ScalarNode]) -> ScalarNode:
    first, last = pieces[0], pieces[-1]
    text = _written(first)
    for before, piece in pairwise(pieces):
        gap = piece.start_mark.column - before.end_mark.column - 1  # so that places in it are those of the file
        text += "," + " " * (gap if piece.start_mark.line == before.end_mark.line else 1) + _written(piece)
    return ScalarNode("tag:yaml.org,2002:str", text, first.start_mark, last.end_mark)


# The YAML reader of the language: ruamel's, which stops at text that nests too deeply.


MAX_DEPTH = 64


class ShallowScanner(Scanner):
    """Stops at text that nests too deeply, before anything recurses into it."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803
        """Begin a list or map in brackets."""
        super().fetch_flow_collection_start(TokenClass, to_push)
        self.check_depth()

    def add_indent(self, column: int) -> bool:
        """Begin an indented list or map."""
        self.check_depth()
        return bool(super().add_indent(column))

    def check_depth(self) -> None:
        """Raise where brackets and indents are more than anyone writes."""
        if len(self.flow_context) + len(self.indents) > MAX_DEPTH:
            raise ScannerError(None, None, f"it nests deeper than {MAX_DEPTH}", self.reader.get_mark())


def new_yaml() -> YAML:
    """Return a reader of one text: it keeps what it has read."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = ShallowScanner
    return yaml


# What is wrong with text that is not YAML, in a user's words: quotes, colons, brackets, indentation.


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
    inside = " Write a quote inside the string twice: 'it''s'." if begun.sign == "'" else ""
    return begun.mistake("this quote is not closed", f"Close it with {begun.sign}.{inside}")


def _brackets(found: re.Match[str], at: _At, begun: _At) -> Mistake:
    """Word a list or a map in brackets that is not closed, or that a sign inside a value ends."""
    closing = {"{": "}", "[": "]"}.get(begun.sign, "")
    if "stream end" in found[0] or (found[1] == ":" and at.line > begun.line):
        return begun.mistake(f"this '{begun.sign}' is not closed", f"Close it with '{closing}'.")
    if found[1] == ":":
        return at.mistake("a value in brackets ends at a colon", QUOTE)
    hint = f"In {begun.sign} {closing}, commas and quotes end an expression.  {HINT}"
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
    return at.mistake(f"this {what} is not indented like the others above it", ALIKE)


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
        _at("'\\{}' is not an escape in double quotes", "Write the string in single quotes."),
    ),
    (r"flow (?:mapping|sequence): .*but got '(<stream end>|.*?)'", _brackets),
    (r"mapping values are not allowed", _colon),
    (r"expected <block end>.*", _indentation),
    (r"could not find expected ':'", _at("this line is not a key and a value", "Write key: value.", begun_there=True)),
    (r"sequence entries", _at("a list cannot begin here", "Begin it on the next line, or write [a, b].")),
    (r"scanning a block scalar", lambda found, at, begun: begun.mistake(f"unexpected '{begun.sign}'", QUOTE)),
    (
        r"another document",
        _at("a file has one pipeline", "Write the second one to a separate file.", code="GE1004"),
    ),
    (r"<document start>", _at("this line is indented less than the first", "Begin all its keys in one column.")),
    (
        r"it nests deeper than (\d+)",
        _at("it nests deeper than {}", "Write what is inside as a separate stage.", code="GE1002"),
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
