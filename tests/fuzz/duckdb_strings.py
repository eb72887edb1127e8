"""Strings, regular expressions, digests and lists in DuckDB's SQL."""

from collections.abc import Callable

from fuzz.duckdb_text import Text, constant_of, text_literal
from gpuetl.expressions.ir import Call

WORD = "[\\p{L}\\p{N}\\p{M}]"
SPACE = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"


def case_macro(name: str, change: str) -> str:
    """Return the macro that changes each code point whose other case is one code point, by Python's tables."""
    points = [chr(i) for i in range(0x20000) if not 0xD800 <= i < 0xE000]  # those above are ideographs
    pairs = [(point, other) for point in points if (other := getattr(point, change)()) != point and len(other) == 1]
    before, after = ("".join(characters) for characters in zip(*pairs, strict=True))
    return f"CREATE MACRO {name}(x) AS translate(x, '{before}', '{after}');\n"


STRING_MACROS = f"""{case_macro("upper_each", "upper")}{case_macro("lower_each", "lower")}
CREATE MACRO capitals(x) AS array_to_string(list_transform(regexp_extract_all(x, '(?s){WORD}+|.'),
    lambda w: upper_each(substring(w, 1, 1)) || lower_each(substring(w, 2))), '');
"""


def concatenated(call: Call, *args: str) -> str:
    """Null if any is."""
    return f"({' || '.join(args)})"


def trimmed(function: str) -> Text:
    """White space of ASCII, or the characters given."""
    return lambda call, x, characters=SPACE: f"{function}({x}, {characters})"


def replaced(call: Call, text: str, old: str, new: str) -> str:
    """Nothing is found by an empty text."""
    return f"replace({text}, {old}, {new})" if constant_of(call, 1) else text


def padded(side: str) -> Text:
    """Longer text is kept whole; DuckDB cuts it."""

    def text(call: Call, x: str, length: str, fill: str = "' '") -> str:
        return (
            f"(CASE WHEN length({x}) >= {length} THEN {x} ELSE {side}pad({x}, CAST({length} AS INTEGER), {fill}) END)"
        )

    return text


def like(change: str) -> Text:
    """LIKE, of both in lower case for ILIKE."""

    def text(call: Call, x: str, pattern: str, *escape: str) -> str:
        escaped = f" ESCAPE {escape[0]}" if escape else ""
        return f"({change.format(x)} LIKE {change.format(pattern)}{escaped})"

    return text


def matched(text: str) -> Callable[..., str]:
    """A text with {p}, the pattern: RE2's, where `.` is all but a newline."""

    def made(call: Call, *args: str) -> str:
        pattern = text_literal(f"(?-s){constant_of(call, 1)}")
        return text.format(*args, p=pattern)

    return made


def extracted(call: Call, text: str, pattern: str, group: str = "0") -> str:
    """Null without a match; DuckDB gives an empty text."""
    place = constant_of(call, 2) if len(call.args) > 2 else 0
    found = f"(CASE WHEN regexp_matches({{0}}, {{p}}) THEN regexp_extract({{0}}, {{p}}, {place}) END)"
    return matched(found)(call, text, pattern)


STRINGS: dict[str, Text] = {
    "concat": concatenated,
    "concat_ws": lambda call, *args: f"concat_ws({', '.join(args)})",
    "length": "length({0})",
    "byte_length": "strlen({0})",
    "upper": "upper_each({0})",
    "lower": "lower_each({0})",
    "initcap": "capitals({0})",
    "trim": trimmed("trim"),
    "ltrim": trimmed("ltrim"),
    "rtrim": trimmed("rtrim"),
    "substring": lambda call, *args: f"substring({', '.join(args)})",
    "left": "left({0}, {1})",
    "right": "right({0}, {1})",
    "replace": replaced,
    "translate": "translate({0}, {1}, {2})",
    "remove_prefix": "(CASE WHEN starts_with({0}, {1}) THEN substring({0}, length({1}) + 1) ELSE {0} END)",
    "remove_suffix": "(CASE WHEN ends_with({0}, {1}) THEN left({0}, length({0}) - length({1})) ELSE {0} END)",
    "repeat": "repeat({0}, {1})",
    "split_part": "(CASE WHEN {0} IS NOT NULL THEN coalesce(string_split({0}, {1})[{2}], '') END)",
    "strpos": "strpos({0}, {1})",
    "reverse": "array_to_string(list_reverse(regexp_extract_all({0}, '(?s).')), '')",
    "lpad": padded("l"),
    "rpad": padded("r"),
    "starts_with": "starts_with({0}, {1})",
    "ends_with": "ends_with({0}, {1})",
    "contains": "contains({0}, {1})",
    "like": like("{0}"),
    "ilike": like("lower_each({0})"),
    "regexp_like": matched("regexp_matches({0}, {p})"),
    "regexp_full_match": matched("regexp_full_match({0}, {p})"),
    "regexp_extract": extracted,
    "regexp_replace": matched("regexp_replace({0}, {p}, {2}, 'g')"),
    "regexp_count": matched("(strlen(regexp_replace({0}, {p}, '\\0#', 'g')) - strlen({0}))"),
    "md5": "md5({0})",
    "sha256": "sha256({0})",
    "list_length": "len({0})",
    "list_contains": "(CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN coalesce(list_contains({0}, {1}), false) END)",
    "list_get": "(CASE WHEN {1} < 0 THEN {0}[{1}] WHEN {1} < len({0}) THEN {0}[{1} + 1] END)",
    "split": "string_split({0}, {1})",
}
