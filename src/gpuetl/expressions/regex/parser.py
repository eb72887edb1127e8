"""Reads regular expressions, and refuses what RE2 does not have."""

from __future__ import annotations

import re

from gpuetl.expressions.regex.characters import PERL, POSIX, category, in_any_case
from gpuetl.expressions.regex.tree import (
    ALL,
    DOT,
    MAX_POINT,
    Anchor,
    Characters,
    Choice,
    Group,
    Node,
    Place,
    Ranges,
    Repeat,
    Sequence,
    can_be_empty,
    complement,
    has_place,
    merged,
    size,
)
from gpuetl.messages import coded

# Reads what stands for one character in a pattern: itself, an escape, a class in brackets.


_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_PROPERTY = re.compile(r"(?:([A-Z])|\{(\^?)([A-Za-z_]+)\})")
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")

_REFUSED_ESCAPES = {
    **dict.fromkeys("bB", ("a word boundary inside of a class", "Write it outside of the brackets.")),
    **dict.fromkeys("123456789", ("a back reference", "A pattern cannot refer to its own groups.")),
    "Z": ("the anchor", "Write $: it matches only the end of the string."),
    "C": ("a byte", "Write (?s:.) for any character."),
    "Q": ("a quotation inside of a class", "Put a \\ before each special character."),
}


class InvalidPattern(ValueError):
    """A pattern or a replacement that is malformed or not supported; `hint` is the next step."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(coded("GE1113", message))


class CharacterReader:
    """A place in a pattern, the flags that hold there, and the reading of characters."""

    def __init__(self, text: str, flags: str = "") -> None:
        self.text, self.at, self.flags = text, 0, frozenset(flags)

    def pattern_error(self, problem: str, at: int, hint: str = "") -> InvalidPattern:
        """Word what is malformed."""
        return InvalidPattern(f"{problem}, at character {at + 1}", hint)

    def refused(self, what: str, start: int, hint: str = "") -> InvalidPattern:
        """Word what other regular expressions have; it stands from `start` to here."""
        return self.pattern_error(f"gpuetl does not support {what} '{self.text[start : self.at]}'", start, hint)

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
        if hit := _CODE.match(self.text, self.at):
            return self.code(start, hit.end(), int(hit[1] or hit[2], 16))
        if hit := _OCTAL.match(self.text, self.at):
            return self.code(start, hit.end(), int(hit[0], 8))
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character in PERL:
            return self.folded(PERL[character.lower()], negated=character.isupper())
        if character in ("p", "P"):
            return self.unicode_property(start, negated=character == "P")
        if character in _CONTROLS:
            return one(_CONTROLS[character])
        if not character or not character.isascii() or character.isalnum():
            what, hint = _REFUSED_ESCAPES.get(
                character, ("the escape", "Write the character itself; \\ stands before a special one.")
            )
            raise self.refused(what, start, hint)
        return one(character)

    def folded(self, ranges: Ranges, negated: bool) -> Ranges:
        """Return a class in the case of the flags, or all other characters."""
        found = in_any_case(ranges) if "i" in self.flags else ranges
        return complement(found) if negated else found

    def code(self, start: int, end: int, point: int) -> Ranges:
        """Return the character of a number."""
        self.at = end
        if point > MAX_POINT:
            raise self.pattern_error(f"'{self.text[start:end]}' is not a code point of Unicode", start)
        return ((point, point),)

    def unicode_property(self, start: int, negated: bool) -> Ranges:
        r"""Read a general category after `\\p`."""
        hit = _PROPERTY.match(self.text, self.at)
        found = category(hit[1] or hit[3]) if hit else None
        self.at = hit.end() if hit else self.at
        if hit is None or found is None:
            hint = "Write a general category, such as \\p{L} or \\p{Lu}, or a class of ranges, such as [α-ω]."
            raise self.refused("the Unicode property", start, hint)
        return self.folded(found, negated != bool(hit[2]))

    def bracketed(self, start: int) -> Ranges:
        """Read a class after its bracket at `start`."""
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        begin = self.at
        while self.at == begin or not self.take("]"):  # a first ] is the character
            if self.at_end():
                raise self.pattern_error("this '[' is not closed", start, "Write \\[ for the character.")
            ranges += self.member(first=self.at == begin)
        if "i" in self.flags:
            ranges = list(in_any_case(tuple(ranges)))
        found = complement(tuple(ranges)) if negated else merged(tuple(ranges))
        if not found:
            raise self.pattern_error("this class has no character", start)
        return found

    def member(self, first: bool) -> Ranges:
        """Read one character, range or shorthand of a class; `-` stands for itself where it is first or last."""
        start = self.at
        if hit := _POSIX_CLASS.match(self.text, self.at):
            self.at = hit.end()
            if hit[2] not in POSIX:
                raise self.refused("the named class", start, f"There are {', '.join(POSIX)}.")
            return self.folded(POSIX[hit[2]], negated=bool(hit[1]))
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


# Reads regular expressions; what is not supported is refused, with its place.


MAX_SIZE = 1000
"""Of a pattern with its repetitions written out: each character is a state that a GPU thread keeps."""
MAX_DEPTH = 32

_REFUSED_GROUPS = {
    "(?=": "a look-ahead", "(?!": "a look-ahead", "(?<=": "a look-behind", "(?<!": "a look-behind",
    "(?>": "an atomic group", "(?#": "a comment", "(?P=": "a back reference", "(?P>": "a call of a group",
}  # fmt: skip
_HINTS = {
    "a group": "Write (…), (?:…), (?P<name>…), or flags: (?i), (?s), (?m), (?U), (?-i).",
    "a back reference": "A pattern cannot refer to its own groups.",
}
_NAME = re.compile(r"\?P?<(\w+)>")
_FLAGS = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])")
_PLACES = {"A": Place.START, "z": Place.END, "b": Place.WORD_BOUND, "B": Place.NO_WORD_BOUND}
_COUNTED = re.compile(r"\{(\d{1,9})(,(\d{0,9}))?\}")


class Parser(CharacterReader):
    """A recursive descent over the pattern's characters."""

    def __init__(self, text: str, flags: str = "") -> None:
        super().__init__(text, flags)
        self.groups, self.depth = 0, 0
        self.names: dict[str, int] = {}

    def pattern(self) -> tuple[Node, int]:
        """Return the whole pattern's tree, and how many groups it has."""
        root = self.choice()
        if not self.at_end():
            raise self.pattern_error("')' has no '('", self.at, "Write \\) for the character.")
        if has_place(root, Place.NO_WORD_BOUND) and can_be_empty(
            root
        ):  # RE2 would look between the bytes of a character
            at = self.text.index("\\B")
            raise self.pattern_error(
                "'\\B' stands in a pattern that can match an empty string", at, "Write what follows it."
            )
        return self.checked(root)

    def literal(self) -> tuple[Node, int]:
        """Return the tree of a text in which no character is special."""
        return self.checked(self.characters(self.text))

    def characters(self, text: str) -> Node:
        """Return the tree of characters, one after the other."""
        return Sequence(tuple(Characters(self.folded(one(character), negated=False)) for character in text))

    def checked(self, root: Node) -> tuple[Node, int]:
        """Refuse a tree that is too large."""
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
        """Read items up to `|`, `)` or the end."""
        items: list[Node] = []
        while not self.at_end() and not self.peek("|", ")"):
            if self.quotation(items) or self.flagged():
                continue
            items.append(self.repeated())
        return Sequence(tuple(items)) if len(items) != 1 else items[0]

    def quotation(self, items: list[Node]) -> bool:
        r"""Read `\\Q…\\E`; a quantifier after it is one of its last character."""
        if not self.take("\\Q"):
            return False
        end = self.text.find("\\E", self.at)
        quoted = self.text[self.at : end if end >= 0 else len(self.text)]
        self.at = len(self.text) if end < 0 else end + 2
        if quoted:
            items += [self.characters(quoted[:-1])] * (len(quoted) > 1)
            items.append(self.quantified(self.characters(quoted[-1]), self.at - len(quoted)))
        return True

    def flagged(self) -> bool:
        """Read flags that hold to the end of the group."""
        hit = _FLAGS.match(self.text, self.at + 1) if self.peek("(?") else None
        if hit is None or hit[3] != ")" or hit[0] == "?)":
            return False
        self.flags = (self.flags | set(hit[1])) - set(hit[2] or "")
        self.at = hit.end()
        return True

    def repeated(self) -> Node:
        """Read an item, and its quantifier if there is one."""
        start = self.at
        return self.quantified(self.item(), start)

    def quantified(self, item: Node, start: int) -> Node:
        """Read a quantifier of an item if there is one."""
        counts = self.counts()
        if counts is None:
            return item
        node = Repeat(item, *counts, lazy=self.take("?") != ("U" in self.flags))
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
                return Characters(ALL if "s" in self.flags else DOT)
            case "^":
                return Anchor(Place.LINE_START if "m" in self.flags else Place.START)
            case "$":
                return Anchor(Place.LINE_END if "m" in self.flags else Place.END)
            case "\\" if self.peek(*_PLACES):
                self.at += 1
                return Anchor(_PLACES[self.text[start + 1]])
            case "\\":
                return Characters(self.escaped_in_case(start))
            case "*" | "+" | "?":
                raise self.pattern_error(
                    f"'{character}' repeats nothing", start, f"Write \\{character} for the character."
                )
            case "{" if self.peek(*"0123456789,"):
                hint = "Write {least,most} after an item, or \\{ for the character."
                raise self.pattern_error("'{' is not a valid repetition", start, hint)
        return Characters(self.folded(one(character), negated=False))

    def escaped_in_case(self, start: int) -> Ranges:
        """Read what follows a backslash; one character is one in any case where flags say so."""
        found = self.escaped(start)
        return self.folded(found, negated=False) if len(found) == 1 and found[0][0] == found[0][1] else found

    def group(self, start: int) -> Node:
        """Read a group after its bracket at `start`."""
        number, flags = None, self.flags
        if hit := _NAME.match(self.text, self.at):
            self.at = hit.end()
            if hit[1] in self.names:
                raise self.pattern_error(f"two groups are named '{hit[1]}'", start, "Rename one.")
            number = self.groups = self.groups + 1
            self.names[hit[1]] = number
        elif (hit := _FLAGS.match(self.text, self.at)) and hit[3] == ":":
            self.at = hit.end()
            self.flags = (self.flags | set(hit[1])) - set(hit[2] or "")
        elif self.peek("?"):
            raise self.special_group(start)
        else:
            number = self.groups = self.groups + 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.pattern_error(f"groups nest deeper than {MAX_DEPTH}", start)
        body = self.choice()
        self.depth -= 1
        self.flags = flags
        if not self.take(")"):
            raise self.pattern_error("this '(' is not closed", start, "Write \\( for the character.")
        return Group(body, number)

    def special_group(self, start: int) -> InvalidPattern:
        """Word a group that begins with `(?`."""
        sign = next(
            (sign for sign in _REFUSED_GROUPS if self.text.startswith(sign, start)), self.text[start : start + 3]
        )
        what = _REFUSED_GROUPS.get(sign, "a group")
        self.at = start + len(sign)
        return self.refused(what, start, _HINTS.get(what, "Test for one pattern after the other."))
