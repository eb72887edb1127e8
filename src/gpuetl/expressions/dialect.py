"""The SQL dialect of expressions: sqlglot's parser, narrowed, with limits and with errors in our words.

Its function classes and special forms are taken out of the dialect, so that every call arrives by the name that
the user wrote, and our closed table alone decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar, cast

import sqlglot
from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.foreign import missing_word, refuse_signs, refused_word
from gpuetl.expressions.interval_text import spelled_out
from gpuetl.expressions.syntax import MAX_OPERATORS
from gpuetl.messages import coded

MAX_CHARACTERS = 20_000
SPLIT = "Compute parts of it in columns of earlier steps."
MAX_DEPTH = 32  # of brackets: sqlglot spends some 20 frames of the stack on each


class ZonedTypes(set[str]):
    """The names `timestamp[ZONE]`, also of lists: in quotes they stay as they are, whatever operators a zone has."""

    def __contains__(self, name: object) -> bool:
        return str(name).lower().startswith(("timestamp[", "list<timestamp["))


def _matched(reader: Any, text: exp.Expr) -> exp.Expr:
    """Read the pattern of `text ~ pattern`."""
    return cast("exp.Expr", reader.expression(exp.RegexpLike(this=text, expression=reader._parse_bitwise())))


class Language(Dialect):
    """sqlglot's own dialect, narrowed: it loads no other database's, and `$x` is a word there, with its place."""

    NULL_ORDERING = "nulls_are_last"
    SUPPORTS_FIXED_SIZE_ARRAYS = True

    def tokenize(self, sql: str, *args: Any, **options: Any) -> list[Any]:
        """Split a text into words, with the times in intervals spelled out: the parser keeps `1 day` of `1 day 2:00`.

        Raises
        ------
        InvalidExpression
            For an interval of which the parser would take only a part.
        """
        words = list(super().tokenize(sql, *args, **options))
        for before, word in pairwise(words):
            if before.token_type == TokenType.INTERVAL and word.token_type == TokenType.STRING:
                word.text = _spelled_interval(word)
        return words

    class Tokenizer(tokens.Tokenizer):
        """Arrow's type names beside SQL's; `//` divides integers; `all` is a function, no word before an argument."""

        KEYWORDS: ClassVar = {
            **{word: kind for word, kind in tokens.Tokenizer.KEYWORDS.items() if word not in ("ALL", "DIV")},
            "//": TokenType.DIV, "**": TokenType.DSTAR, "!~": TokenType.IRLIKE,
            "INT8": TokenType.TINYINT, "INT16": TokenType.SMALLINT, "INT32": TokenType.INT, "INT64": TokenType.BIGINT,
            "UINT8": TokenType.UTINYINT, "UINT16": TokenType.USMALLINT, "UINT32": TokenType.UINT,
            "UINT64": TokenType.UBIGINT,
            "FLOAT32": TokenType.FLOAT, "FLOAT64": TokenType.DOUBLE,
        }  # fmt: skip

    class Parser(parser.Parser):
        """Calls stay calls."""

        EXPONENT: ClassVar[dict[Any, Any]] = {TokenType.DSTAR: exp.Pow}
        QUOTED_TYPES_TO_PRESERVE: ClassVar = ZonedTypes()
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        LAMBDAS: ClassVar = {
            sign: read for sign, read in parser.Parser.LAMBDAS.items() if sign != TokenType.ARROW
        }  # `->` takes a part of JSON
        COLUMN_OPERATORS: ClassVar = {
            **parser.Parser.COLUMN_OPERATORS,
            TokenType.ARROW: lambda self, this, path: self.expression(exp.JSONExtract(this=this, expression=path)),
            TokenType.DARROW: lambda self, this, path: self.expression(
                exp.JSONExtractScalar(this=this, expression=path)
            ),
        }
        RANGE_PARSERS: ClassVar = {
            **parser.Parser.RANGE_PARSERS,
            TokenType.TILDE: _matched,
            TokenType.IRLIKE: lambda self, this: exp.Not(this=_matched(self, this)),
        }
        PLACEHOLDER_PARSERS: ClassVar[dict[Any, Any]] = {}  # `list[:n]` is a slice
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        ODBC_DATETIME_LITERALS: ClassVar[dict[str, Any]] = {}  # `{d: 1}` is a struct
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CASE": parser.Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parser.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")
        }

        def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
            """Read `lambda x, i: body` as an argument; sqlglot has the form with an arrow alone."""
            if not self._curr or self._curr.text.lower() != "lambda" or self._curr.token_type != TokenType.VAR:
                return super()._parse_lambda(alias)
            self._advance()
            names = self._parse_csv(self._parse_id_var)
            if not self._match(TokenType.COLON):
                self.raise_error("Expecting :")
            return self.expression(exp.Lambda(this=self._parse_disjunction(), expressions=names))

        def _parse_column_reference(self) -> exp.Expr | None:
            return self._read_path(super()._parse_column_reference)

        def _parse_bitwise(self) -> exp.Expr | None:
            return self._read_path(super()._parse_bitwise)

        def _read_path(self, read: Callable[[], exp.Expr | None]) -> exp.Expr | None:
            """Read what may be the path behind an arrow: sqlglot takes a call there for one of a column's methods."""
            before, path = self._prev, read()
            is_path = before is not None and before.token_type in (TokenType.ARROW, TokenType.DARROW)
            return self.expression(exp.Paren(this=path)) if is_path and isinstance(path, exp.Func) else path

        def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
            """Read `MAP {key: value}` too, whose keys are expressions."""
            before, word = self._prev, self._curr
            if not (before and word and word.token_type == TokenType.L_BRACE and before.text.upper() == "MAP"):
                return super()._parse_bracket(this)
            self._advance()
            entries = self._parse_csv(self._parse_entry)
            if not self._match(TokenType.R_BRACE):
                self.raise_error("Expected }")
            return super()._parse_bracket(self.expression(exp.ToMap(this=exp.Struct(expressions=entries))))

        def _parse_slice(self, this: exp.Expr | None) -> exp.Expr | None:
            """Read `first:last:step`; sqlglot allows no operators in a step.  `-` is the default end."""
            if not self._match(TokenType.COLON):
                return this
            if self._match_pair(TokenType.DASH, TokenType.COLON, advance=False):
                self._advance()
                last = None
            else:
                last = self._parse_assignment()
            step = self._parse_assignment() if self._match(TokenType.COLON) else None
            return self.expression(exp.Slice(this=this, expression=last, step=step))

        def _parse_entry(self) -> exp.Expr | None:
            """Read a key and its value."""
            key = self._parse_disjunction()
            if key is None:
                return None
            if not self._match(TokenType.COLON):
                self.raise_error("Expecting :")
            return self.expression(exp.PropertyEQ(this=key, expression=self._parse_disjunction()))


def parse_tree(text: str) -> exp.Expr:
    """Parse one expression into sqlglot's tree.

    Raises
    ------
    InvalidExpression
        With the span of what is wrong: text that does not parse, or that is beyond the limits.
    """
    words = _refuse_bombs(text)
    try:
        tree = sqlglot.parse_one(text, dialect=Language)
    except SqlglotError as error:
        raise _syntax_error(text, words, error) from None
    except RecursionError:
        raise InvalidExpression(coded("GE1114", "this expression nests too deeply")) from None
    _refuse_depth(tree)
    return tree


def refused_word_in(text: str) -> InvalidExpression | None:
    """Return the error of a word that belongs to another clause or language, in a text that the language lacks."""
    return refused_word(_tokens(text))


def is_plain_name(name: str) -> bool:
    """Return whether `name` stands for a column without quotes: one word that is not a keyword."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return False
    words = _tokens(name)
    return len(words) == 1 and words[0].token_type == TokenType.VAR


def span_of(node: exp.Expr) -> Span | None:
    """Return where a node of the tree stood in its text; None where no part of it is known."""
    if "span" not in node.meta:
        spans = [span for child in node.iter_expressions() if (span := span_of(child))]
        if "start" in node.meta:
            spans.append(Span(node.meta["start"], node.meta["end"] + 1))
        node.meta["span"] = Span(min(s.start for s in spans), max(s.stop for s in spans)) if spans else None
    return cast("Span | None", node.meta["span"])


def whole_span(text: str, span: Span | None) -> Span:
    """Return the span with the brackets and the quote that close it; all of the text where it is not known.

    The parser keeps no place of them.
    """
    if span is None:
        return Span(0, len(text))
    start, stop = span.start, span.stop
    opened: list[str] = []
    for sign in text[start:stop]:
        if sign in _PAIRS:
            opened.append(_PAIRS[sign])
        elif opened and sign == opened[-1]:
            opened.pop()
    while opened and text[stop:].lstrip().startswith(opened[-1]):
        stop = text.index(opened.pop(), stop) + 1
    return Span(start, stop)


_PAIRS = {"(": ")", "[": "]", "{": "}"}


def bracketed_span(text: str, span: Span | None) -> Span:
    """Return the span with the brackets around it."""
    whole = whole_span(text, span)
    before, after = text[: whole.start].rstrip(), text[whole.stop :].lstrip()
    if not before or not after or _PAIRS.get(before[-1]) != after[0]:
        return whole
    return Span(len(before) - 1, text.index(after[0], whole.stop) + 1)


def shortened(text: str, span: Span, most: int = 40) -> str:
    """Return what stands in a span, on one line; of a long text the first characters."""
    part = " ".join(text[span.start : span.stop].split())
    return part if len(part) <= most else f"{part[: most - 1]}…"


def _refuse_depth(tree: exp.Expr) -> None:
    level = [tree]
    for _ in range(MAX_OPERATORS):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return
    raise InvalidExpression.too_deep(MAX_OPERATORS)


def _refuse_bombs(text: str) -> list[Any]:
    """Return the words of a text, which is within the limits and has no sign that the parser would misread."""
    if not text.strip():
        raise InvalidExpression(
            coded("GE1101", "this expression is empty"), None, "Write a string in single quotes: \"'text'\"."
        )
    if len(text) > MAX_CHARACTERS:
        raise InvalidExpression(
            coded("GE1114", f"this expression has {len(text):,} characters; {MAX_CHARACTERS:,} are allowed")
        )
    open_at: list[Any] = []
    words = _tokens(text)
    refuse_signs(text, words)
    for token in words:
        if token.token_type in _CLOSING.values():
            open_at.append(token)
        elif (opened := _CLOSING.get(token.token_type)) and (not open_at or open_at.pop().token_type != opened):
            raise InvalidExpression(
                coded("GE1101", f"this '{token.text}' closes nothing"), _span(token), "Take it out."
            )
        if len(open_at) > MAX_DEPTH:
            raise InvalidExpression(coded("GE1114", f"parentheses nest deeper than {MAX_DEPTH}"), _span(token), SPLIT)
    if open_at:
        kind, closing = {"[": ("bracket", "]"), "{": ("brace", "}")}.get(open_at[-1].text, ("parenthesis", ")"))
        raise InvalidExpression(coded("GE1101", f"this {kind} is not closed"), _span(open_at[-1]), f"Write {closing}.")
    return words


_CLOSING = {
    TokenType.R_PAREN: TokenType.L_PAREN,
    TokenType.R_BRACKET: TokenType.L_BRACKET,
    TokenType.R_BRACE: TokenType.L_BRACE,
}


def _spelled_interval(word: Any) -> str:
    try:
        short = re.search(r"[:@]|ago\s*$", word.text, re.IGNORECASE)
        text = spelled_out(word.text) if short else str(word.text)
    except ValueError as error:
        raise InvalidExpression(str(error), _span(word), "Write interval '90 minutes'.") from None
    if not re.fullmatch(r"(\s*-?\d+(\.\d+)?\s*([A-Za-z]+\s*)?)+", text):
        message = coded("GE1112", f"'{word.text}' is not a valid interval")
        raise InvalidExpression(message, _span(word), "Write interval '90 minutes'.")
    return text


def _span(token: Any) -> Span:
    return Span(token.start, token.end + 1)


def _tokens(text: str) -> list[Any]:
    try:
        return list(Language().tokenize(text))
    except SqlglotError:
        raise _unclosed(text) from None


_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_OPENING = re.compile(r"""['"]|/\*""")


def _unclosed(text: str) -> InvalidExpression:
    """Word a quote, or a comment, that is opened and not closed."""
    blank = _QUOTED.sub(lambda match: " " * len(match[0]), text)
    opening = _OPENING.search(blank)
    if opening is None:
        return InvalidExpression(coded("GE1101", "gpuetl cannot read this expression"), Span(0, len(text)))
    if opening[0] == "/*":
        return InvalidExpression(
            coded("GE1101", "this comment is not closed"), Span(*opening.span()), "Close it with */."
        )
    hint = "Close it; write a quote inside a string twice: 'it''s'."
    return InvalidExpression(coded("GE1101", "this quote is not closed"), Span(*opening.span()), hint)


def _syntax_error(text: str, words: list[Any], error: SqlglotError) -> InvalidExpression:
    details: list[dict[str, Any]] = getattr(error, "errors", None) or []
    if refused := refused_word(words):
        return refused
    if not details or details[0].get("col") is None:
        return InvalidExpression(
            coded("GE1101", "gpuetl cannot read this expression"), Span(0, len(text)), missing_word(words, "")
        )
    word = str(details[0].get("highlight") or "")
    lines_before = text.splitlines(keepends=True)[: int(details[0]["line"]) - 1]
    stop = sum(map(len, lines_before)) + int(details[0]["col"])
    span = Span(max(0, stop - max(1, len(word))), stop)
    if stop >= len(text.rstrip()) and _UNFINISHED.match(str(details[0]["description"])):
        side = "before" if word in {")", "]", "}"} else "after"
        return InvalidExpression(
            coded("GE1101", "the expression ends too early"), span, f"Write what comes {side} '{word}'."
        )
    return InvalidExpression(coded("GE1101", f"unexpected '{word}'"), span, missing_word(words, word))


_UNFINISHED = re.compile("Required keyword: '(expression|high)'|Expected END")
