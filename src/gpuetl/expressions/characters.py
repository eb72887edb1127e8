"""What single characters are: white space, their upper and lower case, parts of words.  The same on every engine.

An engine's own tables differ in the version of Unicode and in what they do where one character becomes several
(`ß`); these are Python's, and a character whose other case is not one character stays as it is.
"""

from __future__ import annotations

import unicodedata

WHITE_SPACE = " \t\n\v\f\r"


def to_upper(character: str) -> str:
    """Return the character's upper case where that is one character, else itself."""
    upper = character.upper()
    return upper if len(upper) == 1 else character


def to_lower(character: str) -> str:
    """Return the character's lower case where that is one character, else itself."""
    lower = character.lower()
    return lower if len(lower) == 1 else character


def in_word(character: str) -> bool:
    """Tell whether the character is a letter, a digit, or a mark on one."""
    return character.isalnum() or unicodedata.category(character).startswith("M")
