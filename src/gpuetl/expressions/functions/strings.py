"""Strings: UTF-8, counted in code points, compared by bytes."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.binary import of_bytes
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, beyond, check_between, fixed
from gpuetl.expressions.ir import Expr, Literal, Parameter
from gpuetl.expressions.text_rules import InvalidLike, parse_like
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, INT64, STRING

text = fixed(STRING, STRING, STRING, returns=STRING)
tested = fixed(STRING, STRING, returns=BOOL)
counted = fixed(STRING, STRING, returns=INT64)

MOST_PLACES = 2**31 - 1
"""No text has more bytes."""
MOST_CHARACTERS = 1_000_000
"""The greatest length of `lpad` and `rpad`, and the most copies of `repeat`: a column of longer texts fills any memory."""


def concat_type(args: Sequence[Expr]) -> Typing:
    """Any number of strings."""
    return fixed(*[STRING] * len(args), returns=STRING)(args)


def cut(args: Sequence[Expr]) -> Typing:
    """A text, a start and a length, which may be negative."""
    typing = fixed(STRING, INT64, INT64, returns=STRING)(args)
    check_between(args[1], "start", -MOST_PLACES, MOST_PLACES)
    for length in args[2:]:
        check_between(length, "length", -MOST_PLACES, MOST_PLACES)
    return typing


def ended(args: Sequence[Expr]) -> Typing:
    """A text, and how many code points at an end are kept, or, if negative, taken away at the other."""
    typing = fixed(STRING, INT64, returns=STRING)(args)
    check_between(args[1], "count", -MOST_PLACES, MOST_PLACES)
    return typing


def padded(args: Sequence[Expr]) -> Typing:
    """A text, the length that it is filled to, and what fills it."""
    typing = fixed(STRING, INT64, STRING, returns=STRING)(args)
    check_between(args[1], "length", 0, MOST_CHARACTERS)
    if len(args) > 2 and isinstance(args[2], Literal) and args[2].value == "":
        raise TypeMismatch(coded("GE1106", "takes at least one character as fill, got ''"))
    return typing


def may_lack_fill(args: Sequence[Expr]) -> bool:
    """Return whether a length may be too great, or a fill empty."""
    return too_many(args) or (len(args) > 2 and not (isinstance(args[2], Literal) and args[2].value != ""))


too_many = beyond(1, -(1 << 63), MOST_CHARACTERS)


def repeated(args: Sequence[Expr]) -> Typing:
    """A text, and how many times it stands in the result."""
    typing = fixed(STRING, INT64, returns=STRING)(args)
    check_between(args[1], "count", 0, MOST_CHARACTERS)
    return typing


def divided(args: Sequence[Expr]) -> Typing:
    """A text, a separator, and a place from 1, or from -1 at the end."""
    typing = fixed(STRING, STRING, INT64, returns=STRING)(args)
    if isinstance(args[2], Literal) and args[2].value == 0:
        raise TypeMismatch(coded("GE1106", "counts parts from 1, and from -1 at the end; got 0"))
    return typing


def wildcarded(args: Sequence[Expr]) -> Typing:
    """A text, a pattern, and the character that takes the meaning of a wildcard away."""
    typing = fixed(STRING, STRING, STRING, returns=BOOL)(args)
    if len(args) > 2 and not isinstance(args[1], Literal | Parameter):
        message = coded("GE1105", "takes a constant or a $parameter as pattern where it has an escape")
        raise TypeMismatch(message, "Leave ESCAPE out, or write the pattern as a constant.")
    constants = [arg.value for arg in args[1:] if isinstance(arg, Literal)]
    if len(constants) == len(args) - 1 and None not in constants:
        try:
            parse_like(*constants)
        except InvalidLike as error:
            raise TypeMismatch(str(error)) from None
    return typing


FUNCTIONS = (
    Function("concat", "x y more*", concat_type, "`x || y`; null if any is.", "'ab' || 'cd'", "abcd"),
    Function("concat_ws", "separator~ x more*", concat_type, "The strings that are not null, with the separator between them; null only "
             "where the separator is.",
             "concat_ws('-', 'a', NULL, 'b')", "a-b", nulls="own"),
    Function("length", "text", fixed(STRING, returns=INT64), "The number of code points.", "length('añb')", 3),
    Function("byte_length", "text", of_bytes(INT64), "The number of bytes of binary, or of a string in UTF-8.", "byte_length('añb')", 4),
    Function("upper", "text", text, "In upper case, code point by code point; what has no upper case of one code point stays: "
             "`ß`.", "upper('añb')", "AÑB"),
    Function("lower", "text", text, "In lower case, code point by code point; what has no lower case of one code point stays.",
             "lower('AÑB')", "añb"),
    Function("initcap", "text", text, "Each word's first letter in upper case, the rest in lower case; words are runs of letters, "
             "digits and marks.", "initcap('JEAN-luc')", "Jean-Luc"),
    Function("trim", "text characters?~", text, "Without white space (of ASCII) at both ends, or without any of `characters`.",
             "trim('  ab ')", "ab"),
    Function("ltrim", "text characters?~", text, "Without white space, or any of `characters`, at the start.",
             "ltrim('007', '0')", "7"),
    Function("rtrim", "text characters?~", text, "Without white space, or any of `characters`, at the end.",
             "rtrim('1.500', '0')", "1.5"),
    Function("substring", "text start~ length?~", cut, "`length` code points (all) from the 1-based `start`; a negative one counts from the "
             "end.  Positions before the text count, but hold nothing.  A negative `length` takes those before `start`.",
             "substring('gpuetl', 2, 3)", "pue"),
    Function("text_slice", "text first last", fixed(STRING, INT64, INT64, returns=STRING), "`text[first:last]`: the code points from "
             "the 1-based place first to last, both included, from the end where negative; empty where there are none.",
             "text_slice('gpuetl', -3, -2)", "et"),
    Function("left", "text count~", ended, "The first `count` code points; all but the last -`count` where it is negative.", "left('gpuetl', 3)", "gpu"),
    Function("right", "text count~", ended, "The last `count` code points; all but the first -`count` where it is negative.", "right('gpuetl', 3)", "etl"),
    Function("replace", "text old~ new~", text, "Every `old` replaced by `new`, from the left.",
             "replace('a-b-c', '-', '+')", "a+b+c"),
    Function("translate", "text old~ new~", text, "Each character of `old` replaced by the one in its place in `new`, or taken out "
             "where `new` is shorter.", "translate('1.234,5', ',.', '.')", "1234.5"),
    Function("remove_prefix", "text prefix~", text, "Without `prefix`, where text begins with it.",
             "remove_prefix('ORD-7', 'ORD-')", "7"),
    Function("remove_suffix", "text suffix~", text, "Without `suffix`, where text ends with it.",
             "remove_suffix('a.csv', '.csv')", "a"),
    Function("repeat", "text count~", repeated, f"The text `count` times in a row, {MOST_CHARACTERS:,} at most; empty where it is negative.",
             "repeat('ab', 3)", "ababab", fails=too_many),
    Function("split_part", "text separator~ index~", divided, "The part at `index` between separators: from 1, or from -1 at the "
             "end; empty where there is none.  An empty separator parts all characters.", "split_part('a/b/c', '/', 2)", "b"),
    Function("strpos", "text part~", counted, "Where `part` begins, in code points from 1; 0 where it is not found.",
             "strpos('añb', 'b')", 3),
    Function("reverse", "text", text, "The code points in reverse order.", "reverse('abc')", "cba"),
    Function("lpad", "text length~ fill?~", padded,
             f"Filled at the start (with spaces) to `length` code points, {MOST_CHARACTERS:,} at most; longer text is kept whole, and a longer `fill` is repeated.",
             "lpad('7', 3, '0')", "007", fails=may_lack_fill),
    Function("rpad", "text length~ fill?~", padded,
             f"Filled at the end (with spaces) to `length` code points, {MOST_CHARACTERS:,} at most; longer text is kept whole, and a longer `fill` is repeated.",
             "rpad('7', 3, '0')", "700", fails=may_lack_fill),
    Function("starts_with", "text prefix~", tested, "Whether text begins with `prefix`.", "starts_with('gpuetl', 'gpu')", True),
    Function("ends_with", "text suffix~", tested, "Whether text ends with `suffix`.", "ends_with('gpuetl', 'etl')", True),
    Function("contains", "text part~", tested, "Whether text contains `part`.", "contains('gpuetl', 'ue')", True),
    Function("like", "text pattern~ escape?!", wildcarded, "`text LIKE pattern`: % is any text, _ one code point; after `ESCAPE "
             "'!'`, !% and !_ are themselves.", "'gpuetl' LIKE 'g%l'", True),
    Function("ilike", "text pattern~ escape?!", wildcarded, "`text ILIKE pattern`: LIKE of both in lower case.",
             "'GPUetl' ILIKE 'g%L'", True),
)  # fmt: skip
