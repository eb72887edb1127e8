"""Signs and words of other languages in an expression: what was typed, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from sqlglot.tokenizer_core import TokenType

from gpuetl.errors import InvalidExpression, Span
from gpuetl.messages import coded

CONDITION = "Write CASE WHEN condition THEN a ELSE b END, or if(condition, a, b)."
PARAMETER = "A parameter is written $name."
NO_COLON = "Write s.a for the field of a struct, or text ->> '$.a' for a part of JSON."

SIGNS = {
    "&&": "Write AND.", "!": "Write NOT, or <> between two values.", "??": "Write coalesce(a, b).",
    "===": "Write =.", "!==": "Write <>.", "=!": "Write <>.", ":=": "Write = to compare.", "=>": "Write >= to compare.",
    "^": "Databases differ on what it is: write a ** b for the power, or xor(a, b).",
    "~*": "Write regexp_like(text, pattern, 'i').", "!~*": "Write NOT regexp_like(text, pattern, 'i').",
    "~~": "Write LIKE.", "!~~": "Write NOT LIKE.",
    "#": "Write a comment after --.", "\\": "Write / to divide.", "@": PARAMETER,
    "`": 'Write a name with spaces in double quotes: "a b".',
    "≥": "Write >=.", "≤": "Write <=.", "≠": "Write <>.", "×": "Write *.", "÷": "Write /.", "·": "Write *.",
    "–": "Write -.", "—": "Write -.", "−": "Write -.",
}  # fmt: skip
"""By what is typed, of one sign or of several without a space between them: what to write."""

FOREIGN_WORDS = {
    "SELECT": "Make the query a stage, and join it: how: semi stands for IN.",
    "FROM": "Write commas between the arguments of a function: substring(text, start, length).",
    "WHERE": "Write the condition alone, in a filter step.",
    "HAVING": "Write the condition under having, in an aggregate step.",
    "ORDER BY": "Write a sort step.", "GROUP BY": "Write an aggregate step.", "PARTITION BY": "Write a window step.",
    "OVER": "Write a window step: by and order_by stand there once.", "LIMIT": "Write a limit step.",
    "UNION": "Write a union step.", "JOIN": "Write a join step.", "DISTINCT": "Write a distinct step.",
    "WITHIN GROUP": "Write quantile(x, q) in an aggregate step.", "INSERT": "Write a sink.", "WITH": "Write a stage.",
    "XOR": "Write a <> b between conditions.", "DIV": "Write a // b.", "MOD": "Write a % b.",
    "LAMBDA": "Write the expression alone; list_transform(x, lambda e: e + 1) takes a lambda.",
    "SYMMETRIC": "Write x BETWEEN least(a, b) AND greatest(a, b).", "COLLATE": "Texts are compared by code points.",
    "SIMILAR TO": "Write text SIMILAR TO pattern without ESCAPE: the pattern is a regular expression.",
    "PLACING": "Write concat(left(x, n), text, substring(x, m)).",
}  # fmt: skip
"""Words of SQL's other clauses, and of other dialects, by what to write."""

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_QUOTES = dict.fromkeys("“”„‘’«»")
_REFERENCE = re.compile(r"\$\{\s*(params|run|env)\.([A-Za-z_]\w*)[^}]*\}")


def refuse_signs(text: str, tokens: Sequence[Any]) -> None:
    """Refuse signs that the parser passes over, or reads otherwise than they look.

    Raises
    ------
    InvalidExpression
        For the first of them.
    """
    if reference := reference_in(text, tokens):
        raise reference
    for index, word in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if error := _wrong_sign(text, tokens, index) or (after and _wrong_pair(text, word, after)):
            raise error


def refused_word(tokens: Sequence[Any]) -> InvalidExpression | None:
    """Return the error of the first word that belongs to another clause or language, in text that does not parse."""
    names = [" ".join(word.text.upper().split()) if word.token_type not in _QUOTED else "" for word in tokens]
    branched = "CASE" not in names and bool({"THEN", "ELSE"} & {*names})
    for word, name in zip(tokens, names, strict=True):
        if branched and name in ("IF", "WHEN", "THEN", "ELSE"):
            return _unsupported(word.text, _span(word), CONDITION)
        if name in FOREIGN_WORDS:
            return _unsupported(word.text, _span(word), FOREIGN_WORDS[name])
    return None


def missing_word(tokens: Sequence[Any], unexpected: str) -> str:
    """Return what to write where a word is not expected: the form that a text begins and does not go on with."""
    names = [word.text.upper() for word in tokens if word.token_type not in _QUOTED]
    for name, needed, hint in FORMS:
        if name in names and needed not in names:
            return hint
    commas = "Write one expression for each column, without a comma between them."
    return SIGNS.get(unexpected, commas if unexpected == "," else CONDITION if "CASE" in names else "")


FORMS = (
    ("CAST", "AS", "Write CAST(x AS int64)."), ("TRY_CAST", "AS", "Write TRY_CAST(x AS int64)."),
    ("EXTRACT", "FROM", "Write extract(hour FROM x)."), ("CASE", "WHEN", CONDITION),
    ("BETWEEN", "AND", "Write x BETWEEN a AND b."),
)  # fmt: skip
"""Words that another one must follow, and how both are written."""


def reference_in(text: str, tokens: Sequence[Any]) -> InvalidExpression | None:
    """Return the error of a reference `${…}`, which stands in paths only."""
    for index, word in enumerate(tokens):
        if word.text != "$" or not text.startswith("${", word.start):
            continue
        if found := _REFERENCE.match(text, word.start):
            return _path_reference(found, Span(*found.span()))
        end = next((w.end for w in tokens[index:] if w.text == "}"), len(text) - 1)
        shown = text[word.start : end + 1]
        return InvalidExpression(
            coded("GE1109", f"'{shown}' stands in paths only"), Span(word.start, end + 1), PARAMETER
        )
    return None


def reference_in_text(constant: str, span: Span | None) -> InvalidExpression | None:
    """Return the error of a reference `${…}` in a constant text, which would stay as it is written."""
    found = _REFERENCE.search(constant)
    return _path_reference(found, span) if found else None


def reference_hint(scope: str, name: str) -> str:
    """Return what to write for `params.x` or `$run.id`, as references are called in paths; nothing for a column."""
    scope = scope.removeprefix("$")
    return f"Write ${name}." if scope == "params" else "Write run_id()." if (scope, name) == ("run", "id") else ""


def _path_reference(match: re.Match[str], span: Span | None) -> InvalidExpression:
    scope, name = match[1], match[2]
    value = f"${name}" if scope == "params" else "run_id()" if (scope, name) == ("run", "id") else ""
    joined = "" if match[0] == match.string else f"; to join it with a string, 'text' || {value}"
    hint = f"Write {value}{joined}." if value else "Declare a parameter, and write $name."
    return InvalidExpression(coded("GE1109", f"'{match[0]}' stands in paths only"), span, hint)


NAMING = ("struct_pack", "struct", "struct_insert", "struct_update")
"""Functions in which `:=` names a field."""


def _wrong_sign(text: str, tokens: Sequence[Any], index: int) -> InvalidExpression | None:
    word = tokens[index]
    if word.token_type in (*_QUOTED, TokenType.NUMBER):
        return None
    signs = [w.text for w in _touching(tokens, index)]
    if signs[0] == ":=" and any(w.text.lower() in NAMING for w in tokens[:index]):
        return None
    typed = next((sign for count in (3, 2, 1) if _is_foreign(sign := "".join(signs[:count]))), "")
    if typed:
        return _unsupported(typed, Span(word.start, word.start + len(typed)), SIGNS[typed])
    if word.text == "?" and any(w.text == ":" for w in tokens[index:]):
        return _unsupported("? :", _span(word), CONDITION)
    if word.text == ":" and _is_colon(tokens[:index]):
        return None
    if word.text in ("?", ":"):
        return InvalidExpression(coded("GE1101", f"unexpected '{word.text}'"), _span(word), _colon_hint(tokens, index))
    if word.text == "{" and not _is_brace(tokens, index):
        return InvalidExpression(coded("GE1101", "unexpected '{'"), _span(word), PARAMETER)
    if any(mark in _QUOTES for mark in word.text):
        plain = "".join(mark for mark in word.text if mark not in _QUOTES)
        return _unsupported(f"quotes such as {word.text[0]}", _span(word), f"Write straight quotes: '{plain}'.", "")
    if word.token_type == TokenType.SEMICOLON:
        return InvalidExpression(
            coded("GE1101", "unexpected ';'"), _span(word), "Write one expression, without a semicolon."
        )
    return None


def _is_brace(tokens: Sequence[Any], index: int) -> bool:
    """Return whether a brace opens a struct or a map: `{'a': 1}`, `MAP {…}`."""
    of_map = index > 0 and tokens[index - 1].text.upper() == "MAP"
    return of_map or (len(tokens) > index + 2 and tokens[index + 2].text == ":")


def _is_colon(words_before: Sequence[Any]) -> bool:
    """Return whether a colon stands there: of a type's field, of a slice, `list[1:2]`, of a lambda, or behind a key."""
    names = [word.text.upper() for word in words_before]
    if "LAMBDA" in names[1:]:
        return True
    return any(pair == ("STRUCT", "<") for pair in pairwise(names)) or _is_slice(words_before)


def _is_slice(words_before: Sequence[Any]) -> bool:
    """Return whether the innermost bracket that is open is a square one or a brace: `list[1:2]`, `{'a': 1}`."""
    opened: list[str] = []
    for word in words_before:
        if word.token_type in _QUOTED:
            continue
        if word.text in ("(", "[", "{"):
            opened.append(word.text)
        elif opened and word.text in (")", "]", "}"):
            opened.pop()
    return opened[-1:] in (["["], ["{"])


def _colon_hint(tokens: Sequence[Any], index: int) -> str:
    """Return what to write for a colon: a part of a text, a part of a column, or a parameter of another database."""
    words_before = [word.text.upper() for word in tokens[:index]]
    if words_before[:1] == ["LAMBDA"]:
        return FOREIGN_WORDS["LAMBDA"]
    if "[" in words_before:
        return "Write substring(text, start, length), counted from 1."
    return NO_COLON if words_before and (words_before[-1][0].isalnum() or words_before[-1] in ")]") else PARAMETER


def _is_foreign(sign: str) -> bool:
    """Return whether the language lacks a sign; `f(a => b)` names an argument."""
    return sign in SIGNS and sign != "=>"


def _touching(tokens: Sequence[Any], index: int) -> Iterator[Any]:
    """Yield the word, and up to two signs that follow it without a space."""
    yield tokens[index]
    for before, word in zip(tokens[index : index + 2], tokens[index + 1 : index + 3], strict=False):
        if word.start != before.end + 1 or word.text[:1].isalnum() or word.text[:1] in "('\"$_":
            return
        yield word


def _wrong_pair(text: str, word: Any, after: Any) -> InvalidExpression | None:
    """Refuse two words that touch each other, or that have nothing between them."""
    span = Span(word.start, after.end + 1)
    empty = word.token_type in (TokenType.L_PAREN, TokenType.COMMA)
    if empty and after.token_type == TokenType.COMMA:
        return InvalidExpression(
            coded("GE1101", "unexpected ','"), _span(after), "Write a value before the comma, or take it out."
        )
    if word.token_type == TokenType.COMMA and after.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET):
        return InvalidExpression(coded("GE1101", "unexpected ','"), _span(word), "Take out the last comma.")
    if after.start != word.end + 1:
        if word.text == after.text and word.text in ("<", ">") and word.token_type not in _QUOTED:
            return InvalidExpression(
                coded("GE1101", f"unexpected '{after.text}'"), _span(after), "Take one of them out."
            )
        return None
    if word.token_type == TokenType.NUMBER and after.token_type == TokenType.VAR and word.text != "":
        return _wrong_number(text[span.start : span.stop], span)
    if after.token_type in _QUOTED and word.token_type == TokenType.VAR and len(word.text) == 1:
        return _unsupported(f"the prefix {word.text} of a string", span, f"Write '{after.text}'.", "")
    return None


def _wrong_number(typed: str, span: Span) -> InvalidExpression:
    plain = typed.replace("_", "")
    hint = f"Write {plain}." if plain.isdecimal() else "Write a number with digits and a decimal point, such as 1.5."
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", typed):
        hint = f"Write {int(typed, 16)}."
    return InvalidExpression(coded("GE1112", f"'{typed}' is not a number"), span, hint)


def _unsupported(what: str, span: Span, hint: str, quote: str = "'") -> InvalidExpression:
    return InvalidExpression(coded("GE1102", f"gpuetl does not support {quote}{what}{quote}"), span, hint)


def _span(word: Any) -> Span:
    return Span(word.start, word.end + 1)
