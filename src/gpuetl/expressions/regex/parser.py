"""Reads regular expressions, and refuses what does not mean the same on all engines."""

from __future__ import annotations

import re

from gpuetl.expressions.regex.tree import (
    DOT,
    Anchor,
    Characters,
    Choice,
    Group,
    Node,
    Ranges,
    Repeat,
    Sequence,
    can_be_empty,
    complement,
    merged,
    size,
)
from gpuetl.messages import coded

# Reads what stands for one character in a pattern: itself, an escape, a class in brackets.


_DIGIT: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((9, 13), (32, 32))
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE,
            "D": complement(_DIGIT), "W": complement(_WORD), "S": complement(_SPACE)}  # fmt: skip
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_HEXADECIMAL = re.compile(r"x(?!00)([0-7][0-9A-Fa-f])")

_WHOLE_WORD = "Write what can stand next to the word, such as (^|[^A-Za-z0-9_])word([^A-Za-z0-9_]|$)."
_REFUSED_ESCAPES = {
    **dict.fromkeys("bB", ("a word boundary", _WHOLE_WORD)),
    **dict.fromkeys("pP", ("a Unicode property", "Write a class of ranges, such as [A-Za-zÀ-ÿ].")),
    **dict.fromkeys("123456789", ("a back reference", "A pattern cannot refer to its own groups.")),
    "0": ("an octal escape", "Write the character itself."),
    "Z": ("the anchor", "Write $: it matches only the end of the string."),
    "Q": ("a quotation", "Put a \\ before each special character."),
}


class InvalidPattern(ValueError):
    """A pattern or a replacement outside the subset; `hint` is the next step."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(coded("GE1113", message))


class CharacterReader:
    """A place in a pattern, and the reading of characters from there."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def pattern_error(self, problem: str, at: int, hint: str = "") -> InvalidPattern:
        """Word what is malformed."""
        return InvalidPattern(f"{problem}, at character {at + 1}", hint)

    def refused(self, what: str, start: int, hint: str = "") -> InvalidPattern:
        """Word what other regular expressions have; it stands from `start` to here."""
        return self.pattern_error(
            f"{what} '{self.text[start : self.at]}' does not mean the same on all engines", start, hint
        )

    def at_end(self) -> bool:
        """Return whether nothing is left."""
        return self.at >= len(self.text)

    def peek(self, *words: str) -> bool:
        """Return whether one of the words is next."""
        return self.text.startswith(words, self.at)

    def take(self, word: str) -> bool:
        """Go past the word if it is next."""
        found = self.peek(word)
        self.at += len(word) * found
        return found

    def escaped(self, start: int) -> Ranges:
        """Read what follows a backslash at `start`."""
        if hit := _HEXADECIMAL.match(self.text, self.at):
            self.at = hit.end()
            return one(chr(int(hit[1], 16)))
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character in _CLASSES:
            return _CLASSES[character]
        if character in _CONTROLS:
            return one(_CONTROLS[character])
        if not character or not character.isascii() or character.isalnum():
            what, hint = _REFUSED_ESCAPES.get(
                character, ("the escape", "Write the character itself; \\ stands before a special one.")
            )
            raise self.refused(what, start, hint)
        return one(character)

    def bracketed(self, start: int) -> Ranges:
        """Read a class after its bracket at `start`."""
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        if self.peek("]"):
            raise self.pattern_error("this class is empty", start, "Write \\] for the character.")
        while not self.take("]"):
            if self.at_end():
                raise self.pattern_error("this '[' is not closed", start, "Write \\[ for the character.")
            ranges += self.member(first=not ranges)
        found = complement(tuple(ranges)) if negated else merged(tuple(ranges))
        if not found:
            raise self.pattern_error("this class has no character", start)
        return found

    def member(self, first: bool) -> Ranges:
        """Read one character, range or shorthand of a class; `-` stands for itself where it is first or last."""
        start = self.at
        if self.peek("[:", "[.", "[="):
            self.at += 2
            raise self.refused("the named class", start, "Write its ranges, such as [A-Za-z].")
        low = self.class_character()
        if self.text[start] == "-" and not first and not self.peek("]"):
            raise self.pattern_error("'-' stands between no two characters", start, "Write \\- for the character.")
        if self.peek("-]") or not self.take("-") or self.at_end():
            return low
        high = self.class_character()
        if len(low + high) > 2 or low[0][0] != low[0][1] or high[0][0] != high[0][1] or low > high:
            found = self.text[start : self.at]
            raise self.pattern_error(
                f"'{found}' is not a valid range of characters", start, "Write \\- for the character."
            )
        return ((low[0][0], high[0][0]),)

    def class_character(self) -> Ranges:
        """Read one character or shorthand of a class."""
        start = self.at
        self.at += 1
        return self.escaped(start) if self.text[start] == "\\" else one(self.text[start])


def one(character: str) -> Ranges:
    """Return the class of that character alone."""
    return ((ord(character), ord(character)),)


# Reads regular expressions; what does not mean the same on all engines is refused, with its place.


MAX_SIZE = 1000
"""Of a pattern with its repetitions written out: each character is a state that a GPU thread keeps."""
MAX_DEPTH = 32

_REFUSED_GROUPS = {
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
            raise self.pattern_error("the character 0 cannot stand in a pattern", self.text.index("\0"))
        root = self.choice()
        if not self.at_end():
            raise self.pattern_error("')' has no '('", self.at, "Write \\) for the character.")
        if size(root) > MAX_SIZE:
            message = f"it is {size(root):,} characters long with its repetitions written out; {MAX_SIZE:,} are allowed"
            raise InvalidPattern(message, "Repeat less often, or test length(text) as well.")
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
            raise self.pattern_error("there is nothing to match", start, "Write (…)? for what may be absent.")
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
            problem = f"'{found}' can match an empty string and cannot be repeated"
            raise self.pattern_error(problem, start, "Take one of the quantifiers away.")
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
            raise self.pattern_error(f"'{hit[0]}' repeats nothing", start, "Write {least,most}, such as {1,3}.")
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
                raise self.pattern_error(
                    f"'{character}' repeats nothing", start, f"Write \\{character} for the character."
                )
            case "{" if self.peek(*"0123456789,"):
                hint = "Write {least,most} after an item, or \\{ for the character."
                raise self.pattern_error("'{' is not a valid repetition", start, hint)
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
            raise self.pattern_error(f"groups nest deeper than {MAX_DEPTH}", start)
        body = self.choice()
        self.depth -= 1
        if not self.take(")"):
            raise self.pattern_error("this '(' is not closed", start, "Write \\( for the character.")
        return Group(body, number)

    def special_group(self, start: int) -> InvalidPattern:
        """Word a group that begins with `(?`."""
        sign = next(
            (sign for sign in _REFUSED_GROUPS if self.text.startswith(sign, start)), self.text[start : start + 3]
        )
        what = _REFUSED_GROUPS.get(sign, "a flag")
        self.at = start + len(sign)
        return self.refused(what, start, _HINTS.get(what, "Test for one pattern after the other."))
