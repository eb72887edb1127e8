"""Reads what stands for one character in a pattern: itself, an escape, a class in brackets."""

from __future__ import annotations

import re

from gpuetl.expressions.regex.tree import Ranges, complement, merged
from gpuetl.messages import coded

_DIGIT: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((9, 13), (32, 32))
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE,
            "D": complement(_DIGIT), "W": complement(_WORD), "S": complement(_SPACE)}  # fmt: skip
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_HEXADECIMAL = re.compile(r"x(?!00)([0-7][0-9A-Fa-f])")

_WHOLE_WORD = "Write what may stand beside the word, such as (^|[^A-Za-z0-9_])word([^A-Za-z0-9_]|$)."
_REFUSED = {
    **dict.fromkeys("bB", ("a word boundary", _WHOLE_WORD)),
    **dict.fromkeys("pP", ("a Unicode property", "Write a class of ranges, such as [A-Za-zÀ-ÿ].")),
    **dict.fromkeys("123456789", ("a back reference", "A pattern cannot refer to its own groups.")),
    "0": ("an octal escape", "Write the character itself."),
    "Z": ("the anchor", "Write $: it is the very end of the text."),
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

    def broken(self, problem: str, at: int, hint: str = "") -> InvalidPattern:
        """Word what is malformed."""
        return InvalidPattern(f"{problem}, at character {at + 1}", hint)

    def refused(self, what: str, start: int, hint: str = "") -> InvalidPattern:
        """Word what other regular expressions have; it stands from `start` to here."""
        return self.broken(f"{what} '{self.text[start : self.at]}' does not mean the same on all engines", start, hint)

    def at_end(self) -> bool:
        """Tell whether nothing is left."""
        return self.at >= len(self.text)

    def peek(self, *words: str) -> bool:
        """Tell whether one of the words is next."""
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
            what, hint = _REFUSED.get(
                character, ("the escape", "Write the character itself; \\ stands before a special one.")
            )
            raise self.refused(what, start, hint)
        return one(character)

    def bracketed(self, start: int) -> Ranges:
        """Read a class after its bracket at `start`."""
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        if self.peek("]"):
            raise self.broken("this class is empty", start, "Write \\] for the character.")
        while not self.take("]"):
            if self.at_end():
                raise self.broken("this '[' is not closed", start, "Write \\[ for the character.")
            ranges += self.member(first=not ranges)
        found = complement(tuple(ranges)) if negated else merged(tuple(ranges))
        if not found:
            raise self.broken("this class has no character", start)
        return found

    def member(self, first: bool) -> Ranges:
        """Read one character, range or shorthand of a class; `-` stands for itself where it is first or last."""
        start = self.at
        if self.peek("[:", "[.", "[="):
            self.at += 2
            raise self.refused("the named class", start, "Write its ranges, such as [A-Za-z].")
        low = self.class_character()
        if self.text[start] == "-" and not first and not self.peek("]"):
            raise self.broken("'-' stands between no two characters", start, "Write \\- for the character.")
        if self.peek("-]") or not self.take("-") or self.at_end():
            return low
        high = self.class_character()
        if len(low + high) > 2 or low[0][0] != low[0][1] or high[0][0] != high[0][1] or low > high:
            found = self.text[start : self.at]
            raise self.broken(f"'{found}' is no range of characters", start, "Write \\- for the character.")
        return ((low[0][0], high[0][0]),)

    def class_character(self) -> Ranges:
        """Read one character or shorthand of a class."""
        start = self.at
        self.at += 1
        return self.escaped(start) if self.text[start] == "\\" else one(self.text[start])


def one(character: str) -> Ranges:
    """Return the class of that character alone."""
    return ((ord(character), ord(character)),)
