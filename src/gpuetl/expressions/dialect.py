"""The SQL dialect of expressions: sqlglot's parser, narrowed, with limits and with errors in our words.

Its function classes and special forms are taken out of the dialect, so that every call arrives by the name that
the user wrote, and our closed table alone decides.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, cast

import sqlglot
from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.syntax import MAX_OPERATORS

MAX_CHARACTERS = 20_000
MAX_DEPTH = 32  # of brackets: sqlglot spends some 20 frames of the stack on each


class ZonedTypes(set[str]):
    """The names `timestamp[ZONE]`, also of lists: in quotes they stay as they are, whatever operators a zone has."""

    def __contains__(self, name: object) -> bool:
        return str(name).lower().startswith(("timestamp[", "list<timestamp["))


class Language(Dialect):
    """sqlglot's own dialect, narrowed: it loads no other database's, and `$x` is a word there, with its place."""

    class Tokenizer(tokens.Tokenizer):
        """Arrow's type names beside SQL's; `//` divides integers; `all` is a function, no word before an argument."""

        KEYWORDS: ClassVar = {
            **{word: kind for word, kind in tokens.Tokenizer.KEYWORDS.items() if word not in ("ALL", "DIV")},
            "//": TokenType.DIV,
            "INT8": TokenType.TINYINT, "INT16": TokenType.SMALLINT, "INT32": TokenType.INT, "INT64": TokenType.BIGINT,
            "UINT8": TokenType.UTINYINT, "UINT16": TokenType.USMALLINT, "UINT32": TokenType.UINT,
            "UINT64": TokenType.UBIGINT,
            "FLOAT32": TokenType.FLOAT, "FLOAT64": TokenType.DOUBLE,
        }  # fmt: skip

    class Parser(parser.Parser):
        """Calls stay calls."""

        QUOTED_TYPES_TO_PRESERVE: ClassVar = ZonedTypes()
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CASE": parser.Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parser.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")
        }


def parse_tree(text: str) -> exp.Expr:
    """Parse one expression into sqlglot's tree.

    Raises
    ------
    InvalidExpression
        With the span of what is wrong: text that does not parse, or that is beyond the limits.
    """
    _refuse_bombs(text)
    try:
        tree = sqlglot.parse_one(text, dialect=Language)
    except SqlglotError as error:
        raise _syntax_error(text, error) from None
    except RecursionError:
        raise InvalidExpression("this expression nests too deeply") from None
    _refuse_depth(tree)
    return tree


def is_plain_name(name: str) -> bool:
    """Tell whether `name` stands for a column without quotes: one word that is no keyword."""
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


def _refuse_depth(tree: exp.Expr) -> None:
    level = [tree]
    for _ in range(MAX_OPERATORS):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return
    raise InvalidExpression.too_deep(MAX_OPERATORS)


def _refuse_bombs(text: str) -> None:
    if not text.strip():
        raise InvalidExpression("this expression is empty", None, "A text is written in quotes of its own: \"'text'\".")
    if len(text) > MAX_CHARACTERS:
        raise InvalidExpression(f"this expression has {len(text):,} characters; {MAX_CHARACTERS:,} are allowed")
    open_at: list[int] = []
    words = _tokens(text)
    _refuse_skipped(words)
    for token in words:
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET):
            open_at.append(token.start)
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET) and open_at:
            open_at.pop()
        if len(open_at) > MAX_DEPTH:
            raise InvalidExpression(f"parentheses nest deeper than {MAX_DEPTH}", Span(token.start, token.start + 1))
    if open_at:
        raise InvalidExpression("this parenthesis is not closed", Span(open_at[-1], open_at[-1] + 1))


def _refuse_skipped(words: list[Any]) -> None:
    """Refuse what sqlglot's parser passes over, or reads otherwise than it looks."""
    for before, token in zip([None, *words], words, strict=False):
        kind = token.token_type
        empty = before is not None and before.token_type in (TokenType.L_PAREN, TokenType.COMMA)
        odd = (
            (empty and kind == TokenType.COMMA)
            or (empty and before.token_type == TokenType.COMMA and kind == TokenType.R_PAREN)
            or (kind == TokenType.NOT and token.text == "!")  # it binds as NOT does, looser than `=`
            or (kind == TokenType.SEMICOLON and token is words[-1])
        )
        if odd:
            span = Span(token.start, token.end + 1)
            raise InvalidExpression(f"unexpected '{token.text}': not an SQL expression", span)
        if before is not None and before.token_type == TokenType.INTERVAL and kind == TokenType.STRING:
            _refuse_interval(token)


def _refuse_interval(token: Any) -> None:
    """Refuse an interval's text of which the parser would take a part alone."""
    if not re.fullmatch(r"(\s*-?\d+(\.\d+)?\s*([A-Za-z]+\s*)?)+", token.text):
        message = f"'{token.text}' is not an interval"
        raise InvalidExpression(message, Span(token.start, token.end + 1), "Write interval '90 minutes'.")


def _tokens(text: str) -> list[Any]:
    try:
        return list(Language().tokenize(text))
    except SqlglotError:
        raise InvalidExpression("this is not an SQL expression: a quote is not closed", Span(0, len(text))) from None


def _syntax_error(text: str, error: SqlglotError) -> InvalidExpression:
    details: list[dict[str, Any]] = getattr(error, "errors", None) or []
    if not details or details[0].get("col") is None:
        return InvalidExpression("this is not an SQL expression", Span(0, len(text)))
    word = str(details[0].get("highlight") or "")
    lines_before = text.splitlines(keepends=True)[: int(details[0]["line"]) - 1]
    stop = sum(map(len, lines_before)) + int(details[0]["col"])
    unfinished = stop >= len(text.rstrip()) and _UNFINISHED.match(str(details[0]["description"]))
    found = "the expression ends too early" if unfinished else f"unexpected '{word}'"
    return InvalidExpression(f"{found}: not an SQL expression", Span(max(0, stop - max(1, len(word))), stop))


_UNFINISHED = re.compile("Required keyword: '(expression|high)'|Expected END")
