"""Reads regular expressions; what does not mean the same on all engines is refused, with its place."""

from __future__ import annotations

import re

from gpuetl.expressions.regex.characters import CharacterReader, InvalidPattern, one
from gpuetl.expressions.regex.tree import (
    DOT,
    Anchor,
    Characters,
    Choice,
    Group,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
    size,
)

MAX_SIZE = 1000
"""Of a pattern with its repetitions written out: each character is a state that a GPU thread keeps."""
MAX_DEPTH = 32

_REFUSED = {
    "(?=": "a look-ahead", "(?!": "a look-ahead", "(?<=": "a look-behind", "(?<!": "a look-behind",
    "(?>": "an atomic group", "(?#": "a comment", "(?P=": "a back reference", "(?P<": "a named group",
    "(?<": "a named group",
}  # fmt: skip
_HINTS = {
    "a named group": "Write (…): groups are counted from 1.",
    "a flag": "Match lower(text) where case does not matter; (.|\\n) is any character.",
}
_COUNTED = re.compile(r"\{(\d{1,9})(,(\d{0,9}))?\}")


class Parser(CharacterReader):
    """A recursive descent over the pattern's characters."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.groups, self.depth = 0, 0

    def pattern(self) -> tuple[Node, int]:
        """Return the whole pattern's tree, and how many groups it has."""
        if "\0" in self.text:  # libcudf's pattern ends there
            raise self.broken("the character 0 cannot stand in a pattern", self.text.index("\0"))
        root = self.choice()
        if not self.at_end():
            raise self.broken("')' has no '('", self.at, "Write \\) for the character.")
        if size(root) > MAX_SIZE:
            message = f"it is {size(root):,} characters long with its repetitions written out; {MAX_SIZE:,} are allowed"
            raise InvalidPattern(message, "Repeat less often, or test length(text) beside it.")
        return root, self.groups

    def choice(self) -> Node:
        """Read sequences between `|`."""
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        return Choice(tuple(options)) if len(options) > 1 else options[0]

    def sequence(self) -> Node:
        """Read items up to `|`, `)` or the end; there has to be one."""
        start, items = self.at, []
        while not self.at_end() and not self.peek("|", ")"):
            items.append(self.repeated())
        if not items:
            raise self.broken("there is nothing to match", start, "Write (…)? for what may be absent.")
        return Sequence(tuple(items)) if len(items) > 1 else items[0]

    def repeated(self) -> Node:
        """Read an item, and its quantifier if there is one."""
        start = self.at
        item = self.item()
        found = self.text[start : self.at]
        counts = self.counts()
        if counts is None:
            return item
        if can_be_empty(item):  # libcudf would go round for ever
            problem = f"'{found}' can match the empty text and cannot be repeated"
            raise self.broken(problem, start, "Take one of the quantifiers away.")
        node = Repeat(item, *counts, lazy=self.take("?"))
        if self.peek("*", "+", "?") or _COUNTED.match(self.text, self.at):
            self.at += 1
            raise self.refused("a second quantifier", self.at - 1, "Write one; a ? after it takes the shortest match.")
        return node

    def counts(self) -> tuple[int, int | None] | None:
        """Read a quantifier: the least and the greatest number."""
        for sign, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(sign):
                return low, high
        if not (hit := _COUNTED.match(self.text, self.at)):
            return None
        start, self.at = self.at, hit.end()
        low = int(hit[1])
        high = low if not hit[2] else int(hit[3]) if hit[3] else None
        if high is not None and not 0 < high >= low:
            raise self.broken(f"'{hit[0]}' repeats nothing", start, "Write {least,most}, such as {1,3}.")
        return low, high

    def item(self) -> Node:
        """Read one item: a character, a class, an anchor or a group."""
        start = self.at
        character = self.text[start]
        self.at += 1
        match character:
            case "(":
                return self.group(start)
            case "[":
                return Characters(self.bracketed(start))
            case ".":
                return Characters(DOT)
            case "^" | "$":
                return Anchor(end=character == "$")
            case "\\" if self.peek("A", "z"):
                self.at += 1
                return Anchor(end=self.text[start + 1] == "z")
            case "\\":
                return Characters(self.escaped(start))
            case "*" | "+" | "?":
                raise self.broken(f"'{character}' repeats nothing", start, f"Write \\{character} for the character.")
            case "{" if self.peek(*"0123456789,"):
                hint = "Write {least,most} after an item, or \\{ for the character."
                raise self.broken("'{' is no repetition", start, hint)
        return Characters(one(character))

    def group(self, start: int) -> Node:
        """Read a group after its bracket at `start`."""
        number = None
        if not self.take("?:"):
            if self.peek("?"):
                raise self.special_group(start)
            self.groups += 1
            number = self.groups
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.broken(f"groups nest deeper than {MAX_DEPTH}", start)
        body = self.choice()
        self.depth -= 1
        if not self.take(")"):
            raise self.broken("this '(' is not closed", start, "Write \\( for the character.")
        return Group(body, number)

    def special_group(self, start: int) -> InvalidPattern:
        """Word a group that begins with `(?`."""
        sign = next((sign for sign in _REFUSED if self.text.startswith(sign, start)), self.text[start : start + 3])
        what = _REFUSED.get(sign, "a flag")
        self.at = start + len(sign)
        return self.refused(what, start, _HINTS.get(what, "Test for one pattern after the other."))
