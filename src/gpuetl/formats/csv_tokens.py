"""Fields in quotes, comments and escapes of CSV text, whatever quotes it has: one after the other, by patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gpuetl.formats.csv_options import Dialect
from gpuetl.formats.csv_quotes import (
    NEWLINE,
    RETURN,
)


class QuotedField(NamedTuple):
    """A field that begins with a quote: where the quote stands, the value after it, and where the closing quote ends.

    `closed` tells whether it has one; if not, the value goes to the end of the text.
    """

    opening: int
    value: int
    value_end: int
    end: int
    closed: bool


class Comment(NamedTuple):
    """A line that is no row: where it begins, and where it ends, before its line end."""

    start: int
    end: int


class EscapedText(NamedTuple):
    """A text outside of quotes in which the end of a line is escaped."""

    start: int
    end: int


class Patterns(NamedTuple):
    """The regular expressions of a dialect.

    `tokens` finds fields in quotes and comments, `field` a field with the delimiter before it, `record` a record with
    its line end; a quote that is not closed takes all that follows.
    """

    tokens: re.Pattern[bytes]
    field: re.Pattern[bytes]
    record: re.Pattern[bytes]


@lru_cache
def patterns(dialect: Dialect) -> Patterns:
    """Return the regular expressions of a dialect."""
    mark, quote, escape, comment = (re.escape(one.encode()) for one in dialect)
    escaped = escape + rb"[\s\S]" if escape else b""
    inside = rb"[^%b%b]*" % (quote, escape)
    pair = b"(?:" + b"|".join(filter(None, (quote + quote, escaped))) + b")"
    value = rb"%b(?:%b%b)*" % (inside, pair, inside)
    rest = rb"[^\r\n%b%b]*" % (mark, escape)
    if escape:
        rest = rb"%b(?:%b[\s\S]?%b)*" % (rest, escape, rest)
    in_quotes = rb"%b(?P<value>%b)(?P<end>%b?)" % (quote, value, quote) if quote else rb"(?P<value>(?!))(?P<end>)"
    begins = rb"(?:\A|[\r\n]|%b)" % mark
    tokens = begins + in_quotes
    if escape:  # each field is a token: a delimiter that is escaped begins none
        tokens = rb"(?:\A|\r\n|[\r\n]|%b)(?:%b|)(?P<rest>%b)" % (mark, in_quotes, rest)
    if comment:
        tokens = rb"(?:\A|[\r\n])(?P<comment>%b[^\r\n]*)|%b" % (comment, tokens)
    quoted = rb"(?:%b%b%b?)?" % (quote, value, quote) if quote else b""
    closed = rb"(?:%b%b(?:%b|\Z))?" % (quote, value, quote) if quote else b""
    field = rb"(?:\A|%b)(%b%b)" % (mark, quoted, rest)
    one = closed + rest
    record = rb"%b(?:%b%b)*(?P<end>\r\n|\r|\n|)" % (one, mark, one)
    return Patterns(re.compile(tokens), re.compile(field), re.compile(record))


def tokens(text: bytes, dialect: Dialect) -> Iterator[QuotedField | Comment | EscapedText]:
    """Yield the fields that begin with a quote, the comments, and texts with an escaped line end, in order."""
    escaped = [dialect.escape.encode() + end for end in (b"\r", b"\n")] if dialect.escape else []
    for token in patterns(dialect).tokens.finditer(text):
        if dialect.comment and token["comment"] is not None:
            yield Comment(*token.span("comment"))
        elif token["value"] is not None:
            start, end = token.span("value")
            yield QuotedField(start - 1, start, end, token.end("end"), bool(token["end"]))
        if escaped and any(one in (token["rest"] or b"") for one in escaped):
            yield EscapedText(*token.span("rest"))


def token_lines(token: QuotedField | EscapedText) -> tuple[int, int]:
    """Return between which bytes line ends belong to a token."""
    return (token.value, token.value_end) if isinstance(token, QuotedField) else (token.start, token.end)


def record_end(text: bytes, start: int, dialect: Dialect) -> tuple[int, int]:
    """Return where the record that begins at `start` ends, and where the next one begins."""
    record = patterns(dialect).record.match(text, start)
    return (record.start("end"), record.end()) if record else (start, start)


def quoted_fields(text: bytes, dialect: Dialect) -> Iterator[QuotedField]:
    """Yield the fields that begin with a quote, in order."""
    return (token for token in tokens(text, dialect) if isinstance(token, QuotedField))


def without_comments(text: bytes, dialect: Dialect) -> bytes:
    """Return records without the lines that are comments."""
    if not dialect.comment or text.find(dialect.comment.encode()) < 0:
        return text
    kept, start = list[bytes](), 0
    for token in tokens(text, dialect):
        if isinstance(token, Comment):
            kept.append(text[start : token.start])
            start = token.end + (2 if text[token.end : token.end + 2] == b"\r\n" else 1)
    return b"".join([*kept, text[start:]])


def goes_on(text: bytes, end: int, dialect: Dialect) -> bool:
    """Tell whether a field goes on after its closing quote, which stands before `end`."""
    return end < len(text) and text[end] not in (RETURN, NEWLINE, ord(dialect.delimiter))


def split_fields(record: bytes, dialect: Dialect) -> list[bytes]:
    """Return the fields of a record as they are written, with their quotes; the record has no line end."""
    return [field[1] for field in patterns(dialect).field.finditer(record)]


def fields_with_text_after(fields: list[bytes], dialect: Dialect) -> tuple[int, ...]:
    """Return which of the fields go on after their closing quote, from 0."""
    return tuple(
        place
        for place, field in enumerate(fields)
        for quoted in quoted_fields(field, dialect._replace(comment=""))
        if quoted.opening == 0 and quoted.end < len(field)
    )


def unquoted(field: bytes, dialect: Dialect) -> bytes:
    """Return the value of a field: without its quotes, if it has any, and what escapes characters."""
    quote = dialect.quote.encode()
    if quote and field.startswith(quote):
        field = field[1:-1]
        if not dialect.escape:
            return field.replace(quote + quote, quote)
    if not dialect.escape:
        return field
    escape = re.escape(dialect.escape.encode())
    doubled = rb"|%b(?=%b)" % (re.escape(quote), re.escape(quote)) if quote else b""
    return re.sub(rb"%b([\s\S])%b" % (escape, doubled), lambda found: found[1] or b"", field)
