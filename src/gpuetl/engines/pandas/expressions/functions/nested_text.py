"""Lists, structs and maps as text, read as DuckDB reads them: quotes, brackets and backslashes keep what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from gpuetl.engines.no_result import not_valid
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import STRING, parse_type
from gpuetl.types.nested_types import field_names, is_list, is_map

SPACES, QUOTES, CLOSING = " \t\n\v\f\r", "'\"", {"{": "}", "[": "]", "(": ")"}
MOST_LEVELS = 32


class NoForm(ValueError):
    """A text that is not of the form of a nested type."""


class TextReader:
    """Reads a text from its beginning."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.escaped = text, 0, False

    def sees(self, characters: str) -> bool:
        """Return whether the next character is one of these."""
        return self.at < len(self.text) and self.text[self.at] in characters

    def skip_spaces(self) -> None:
        """Go on to what is no space."""
        while self.sees(SPACES):
            self.at, self.escaped = self.at + 1, False

    def takes(self, character: str) -> None:
        """Read a character, and spaces behind it."""
        if not self.sees(character):
            raise NoForm
        self.at += 1
        self.skip_spaces()

    def skip_quotes(self) -> None:
        """Go on to the quote that closes the one here."""
        quote, escaped = self.text[self.at], False
        for place in range(self.at + 1, len(self.text)):
            if self.text[place] == quote and not escaped:
                self.at = place
                return
            escaped = self.text[place] == "\\" and not escaped
        raise NoForm

    def skip_brackets(self) -> None:
        """Go on to the bracket that closes the one here."""
        brackets = list[str]()
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in QUOTES:
                if not self.escaped:
                    self.skip_quotes()
            elif character in CLOSING:
                brackets.append(CLOSING[character])
                if len(brackets) > MOST_LEVELS:
                    raise NoForm
            elif character == brackets[-1]:
                brackets.pop()
                if not brackets:
                    return
            self.escaped = character == "\\"
            self.at += 1
        raise NoForm

    def part(self, stops: str, name: bool = False) -> str | None:
        """Read up to one of `stops`; None where there are only spaces.  Names have no brackets in them."""
        start, end = -1, -1
        while self.at < len(self.text) and self.text[self.at] not in stops:
            character, here = self.text[self.at], self.at
            backslash = False
            if character not in SPACES or (name and self.escaped):
                start = here if start < 0 else start
                if name and self.escaped:
                    pass
                elif character in QUOTES:
                    if not self.escaped:
                        self.skip_quotes()
                elif character in CLOSING and not name:
                    self.skip_brackets()
                else:
                    backslash = character == "\\"
                end = self.at
            self.escaped = backslash
            self.at += 1
        if self.at == len(self.text):
            raise NoForm
        return None if start < 0 else self.text[start : end + 1]

    def ends(self) -> None:
        """Raise `NoForm` unless all has been read."""
        if self.at < len(self.text):
            raise NoForm


def is_null(part: str) -> bool:
    """Return whether a part is NULL, in either case."""
    return len(part) == 4 and part.isascii() and part.lower() == "null"


def elements(text: str) -> list[str]:
    """Return the elements of a list as they are written."""
    reader, found = TextReader(text), list[str]()
    reader.skip_spaces()
    reader.takes("[")
    while True:
        part = reader.part(",]")
        last = reader.sees("]")
        if not last or part is not None or found:
            found.append(part or "")
        reader.takes(",]")
        if last:
            reader.ends()
            return found


def entries(text: str, sign: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of a map, or those of a struct, as they are written; `sign` is between them."""
    reader = TextReader(text)
    reader.skip_spaces()
    reader.takes("{")
    last = reader.sees("}")
    if last:
        reader.takes("}")
    while not last:
        key = reader.part(sign, sign == ":")
        if (key is None and sign == ":") or is_null(key or ""):
            raise NoForm
        reader.takes(sign)
        value = reader.part(",}")
        last = reader.sees("}")
        reader.takes(",}")
        yield key or "", value or ""
    reader.ends()


def plain(part: str, name: bool = False) -> str:
    """Return a part without quotes and escapes; what is in brackets stays as it is, but not in names."""
    written, brackets, quote, escaped = list[str](), list[str](), "", False
    for place, character in enumerate(part):
        if not escaped:
            if not brackets and character == "\\" and (quote or part[place + 1 : place + 2] in ("'", '"')):
                escaped = True
                continue
            if not brackets and character in QUOTES and quote in ("", character):
                quote = "" if quote else character
                continue
            if not quote and brackets and len(brackets) <= MOST_LEVELS and character == brackets[-1]:
                brackets.pop()
            if not quote and character in CLOSING and not name:
                brackets.append(CLOSING[character])
        escaped = False
        written.append(character)
    return "".join(written)


def check(text: str, type_name: str) -> None:
    """Raise `NoForm` unless a text has the form of a type, with fields that a struct has, each once."""
    dtype = parse_type(type_name)
    if is_list(dtype):
        elements(text)
    elif is_map(dtype):
        list(entries(text, "="))
    else:
        names = [plain(key, name=True) for key, _ in entries(text, ":")]
        if len(set(names)) < len(names) or not set(names) <= {*field_names(dtype)}:
            raise NoForm


def checked(text: str, type_name: str) -> str:
    """Return a text of the form of a type."""
    try:
        check(text, type_name)
    except NoForm:
        raise EvaluationError(not_valid("text of this type")) from None
    return text


def try_checked(text: str, type_name: str) -> str | None:
    """Return a text of the form of a type, None for others."""
    try:
        check(text, type_name)
    except NoForm:
        return None
    return text


def parts(text: str, what: str) -> list[str | None]:
    """Return the parts of a text that was checked."""
    if what == "keys":
        return [key for key, _ in entries(text, "=")]
    found = elements(text) if what == "elements" else [value for _, value in entries(text, "=")]
    return [None if is_null(part) else part for part in found]


def field(text: str, name: str) -> str | None:
    """Return a field of a text that was checked."""
    value = next((value for key, value in entries(text, ":") if plain(key, name=True) == name), "null")
    return None if is_null(value) else value


HANDLERS: dict[str, Callable[..., Any]] = {
    "checked_text": by_row(checked, STRING),
    "try_checked_text": by_row(try_checked, STRING),
    "text_parts": by_row(parts, pa.list_(STRING)),
    "text_field": by_row(field, STRING),
    "plain_text": by_row(plain, STRING),
}
