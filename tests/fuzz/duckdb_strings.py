"""Strings, regular expressions, digests and lists in DuckDB's SQL."""

from collections.abc import Callable

from fuzz.duckdb_casts import guarded
from fuzz.duckdb_text import Text, constant_of, text_literal
from gpuetl.expressions.ir import Call, Literal
from gpuetl.types.data_types import BINARY, INT64, is_floating

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
CREATE MACRO is_json(x) AS json_valid(x) AND NOT regexp_matches(x, '(?i)\\bnan|\\binf');
CREATE MACRO is_path(x) AS CASE x[1] WHEN '$' THEN
    regexp_full_match(x, '(?s)\\$(\\.("([^"\\\\]|\\\\.)*"|[^."\\[*][^.\\[]*)|\\[(-?[0-9]{{1,18}}|#|#-[0-9]{{1,18}})\\])*')
    WHEN '/' THEN NOT regexp_matches(x, '~([^01]|$)') ELSE true END;
CREATE MACRO path_of(x) AS CASE WHEN x = '' OR x[1] IN ('$', '/') THEN x
    ELSE '$."' || replace(replace(x, '\\', '\\\\'), '"', '\\"') || '"' END;
CREATE MACRO clipped(x, size) AS CASE WHEN x IS NOT NULL THEN CAST(greatest(least(x, size), 0) AS BIGINT) END;
CREATE MACRO count_of(x) AS CASE WHEN x IS NOT NULL THEN greatest(x, -4294967295) END;
CREATE MACRO points_between(x, low, high) AS substring(x, low + 1, high - low);
CREATE MACRO substring_from(x, place, count) AS points_between(x, clipped(place + least(count * 0, count), length(x)),
    clipped(place + greatest(count * 0, count), length(x)));
CREATE MACRO substring_of(x, start, count) AS substring_from(x, CASE WHEN start > 0 THEN start::HUGEINT - 1
    WHEN start < 0 THEN length(x)::HUGEINT + start ELSE -1::HUGEINT END, count::HUGEINT);
"""


def concatenated(call: Call, *args: str) -> str:
    """Null if any is."""
    return f"({' || '.join(args)})"


def trimmed(function: str) -> Text:
    """White space of ASCII, or the characters given."""
    return lambda call, x, characters=SPACE: f"{function}({x}, {characters})"


MOST_COPIES = 1_000_000


def repeated(call: Call, text: str, count: str) -> str:
    """A row's count has a limit."""
    return guarded(f"{count} <= {MOST_COPIES}", f"repeat({text}, {count})", lenient=False)


def padded(side: str) -> Text:
    """Longer text is kept whole; DuckDB cuts it."""

    def text(call: Call, x: str, length: str, fill: str = "' '") -> str:
        filled = (
            f"(CASE WHEN length({x}) >= {length} THEN {x} ELSE {side}pad({x}, CAST({length} AS INTEGER), {fill}) END)"
        )
        nulls = f"{x} IS NULL OR {length} IS NULL OR {fill} IS NULL"
        return f"(CASE WHEN NOT ({nulls}) THEN {guarded(f'{length} <= {MOST_COPIES}', filled, lenient=False)} END)"

    return text


def like(change: str) -> Text:
    """LIKE, of both in lower case for ILIKE."""

    def text(call: Call, x: str, pattern: str, *escape: str) -> str:
        escaped = f" ESCAPE {escape[0]}" if escape else ""
        return f"({change.format(x)} LIKE {change.format(pattern)}{escaped})"

    return text


def matched(text: str, place: int = 2) -> Callable[..., str]:
    """A text with {p}, the pattern, and {o}, the options at a place."""

    def made(call: Call, *args: str) -> str:
        options = constant_of(call, place) if len(call.args) > place else ""
        is_constant = isinstance(call.args[1], Literal)
        pattern = text_literal(constant_of(call, 1)) if is_constant else args[1]
        return text.format(*args, p=pattern, o=text_literal(options))

    return made


def by_group(function: str) -> Callable[..., str]:
    """DuckDB takes the group as a constant: those of rows are chosen among three."""

    def made(call: Call, *args: str) -> str:
        if len(call.args) < 3 or isinstance(call.args[2], Literal):
            group = constant_of(call, 2) if len(call.args) > 2 else 0
            return matched(f"{function}({{0}}, {{p}}, {group}, {{o}})", 3)(call, *args)
        choices = (f"WHEN {args[2]} = {group} THEN {function}({{0}}, {{p}}, {group}, {{o}})" for group in range(3))
        return matched(f"(CASE {' '.join(choices)} END)", 3)(call, *args)

    return made


def extracted(call: Call, *args: str) -> str:
    """Null without a match; DuckDB gives an empty text."""
    test = matched("regexp_matches({0}, {p}, {o})", 3)(call, *args)
    return f"(CASE WHEN {test} THEN {by_group('regexp_extract')(call, *args)} END)"


def of_json(function: str) -> Text:
    """A function of JSON, an error for other text, and for a path of a column that is none; a number is a place."""

    def text(call: Call, x: str, path: str = "'$'") -> str:
        if len(call.args) < 2 or isinstance(call.args[1], Literal):
            return guarded(f"is_json({x})", function.format(x, path), lenient=False)
        path = (
            f"CASE WHEN {path} IS NOT NULL THEN concat('$[', {path}, ']') END" if call.args[1].dtype == INT64 else path
        )
        found = guarded(f"is_json({x}) AND is_path({path})", function.format(x, f"path_of({path})"), lenient=False)
        return f"(CASE WHEN {x} IS NOT NULL AND {path} IS NOT NULL THEN {found} END)"

    return text


def formatted(call: Call, form: str, *args: str) -> str:
    """An error for floats from 10^38."""
    floats = [text for text, arg in zip(args, call.args[1:], strict=True) if is_floating(arg.dtype)]
    small = " AND ".join(f"({x} IS NULL OR abs({x}) < 1e38 OR NOT isfinite({x}))" for x in floats) or "true"
    return guarded(small, f"{call.function.name}({form}, {', '.join(args)})", lenient=False)


BASE64 = "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"


STRINGS: dict[str, Text] = {
    "concat": concatenated,
    "concat_ws": lambda call, *args: f"concat_ws({', '.join(args)})",
    "length": "length({0})",
    "byte_length": lambda call, x: f"{'octet_length' if call.args[0].dtype == BINARY else 'strlen'}({x})",
    "upper": "upper_each({0})",
    "lower": "lower_each({0})",
    "initcap": "capitals({0})",
    "trim": trimmed("trim"),
    "ltrim": trimmed("ltrim"),
    "rtrim": trimmed("rtrim"),
    "substring": lambda call, *args: (
        f"(CASE WHEN {' AND '.join(f'{arg} IS NOT NULL' for arg in args[1:])} "
        f"THEN substring_of({', '.join((*args, '4294967296')[:3])}) END)"
    ),
    "text_slice": "({0})[{1}:{2}]",
    "left": "left({0}, count_of({1}))",
    "right": "right({0}, count_of({1}))",
    "replace": "replace({0}, {1}, {2})",
    "translate": "translate({0}, {1}, {2})",
    "remove_prefix": "(CASE WHEN starts_with({0}, {1}) THEN substring({0}, length({1}) + 1) ELSE {0} END)",
    "remove_suffix": "(CASE WHEN ends_with({0}, {1}) THEN left({0}, length({0}) - length({1})) ELSE {0} END)",
    "repeat": repeated,
    "split_part": "(CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL AND {2} IS NOT NULL "
    "THEN coalesce(string_split({0}, {1})[{2}], '') END)",
    "strpos": "strpos({0}, {1})",
    "reverse": "array_to_string(list_reverse(regexp_extract_all({0}, '(?s).')), '')",
    "lpad": padded("l"),
    "rpad": padded("r"),
    "starts_with": "starts_with({0}, {1})",
    "ends_with": "ends_with({0}, {1})",
    "contains": "contains({0}, {1})",
    "like": like("{0}"),
    "ilike": like("lower_each({0})"),
    "regexp_like": matched("regexp_matches({0}, {p}, {o})"),
    "regexp_full_match": matched("regexp_full_match({0}, {p}, {o})"),
    "regexp_extract": extracted,
    "regexp_extract_all": by_group("regexp_extract_all"),
    "regexp_split_to_array": matched("regexp_split_to_array({0}, {p}, {o})"),
    "regexp_replace": matched("regexp_replace({0}, {p}, {2}, 'g' || {o})", 3),
    "regexp_count": matched("(strlen(regexp_replace({0}, {p}, '\\0#', 'g' || {o})) - strlen({0}))"),
    "ascii": "CAST(ascii({0}) AS BIGINT)",
    "unicode": "CAST(unicode({0}) AS BIGINT)",
    "chr": lambda call, x: guarded(
        f"{x} BETWEEN 0 AND 1114111 AND {x} NOT BETWEEN 55296 AND 57343", f"chr(CAST({x} AS INTEGER))", lenient=False
    ),
    "levenshtein": "levenshtein({0}, {1})",
    "hamming": lambda call, x, y: guarded(f"length({x}) = length({y})", f"hamming({x}, {y})", lenient=False),
    "jaccard": lambda call, x, y: guarded(f"{x} <> '' AND {y} <> ''", f"jaccard({x}, {y})", lenient=False),
    "url_encode": "url_encode({0})",
    "url_decode": "url_decode({0})",
    "strip_accents": "strip_accents({0})",
    "regexp_escape": "regexp_escape({0})",
    "json_valid": "is_json({0})",
    "json_contains": lambda call, x, part: guarded(
        f"is_json({x}) AND is_json({part})", f"json_contains({x}, {part})", lenient=False
    ),
    "json_exists": of_json("json_exists({0}, {1})"),
    "json_type": of_json("json_type({0}, {1})"),
    "json_array_length": of_json("CAST(json_array_length({0}, {1}) AS BIGINT)"),
    "json_keys": of_json("json_keys({0}, {1})"),
    "damerau_levenshtein": "damerau_levenshtein({0}, {1})",
    "jaro_similarity": "jaro_similarity({0}, {1})",
    "jaro_winkler_similarity": "jaro_winkler_similarity({0}, {1})",
    **{
        f"parse_{part}": lambda call, *args, part=part: f"parse_{part}({', '.join(args)})"
        for part in ("filename", "dirpath", "dirname", "path")
    },
    "format": formatted,
    "printf": formatted,
    "sha1": "sha1({0})",
    "md5": "md5({0})",
    "sha256": "sha256({0})",
    "list_extract": "(CASE WHEN {1} <> 0 THEN {0}[{1}] END)",
    "hex": "hex({0})",
    "bit_length": lambda call, x: f"8 * {'octet_length' if call.args[0].dtype == BINARY else 'strlen'}({x})",
    "unhex": lambda call, x: guarded(f"regexp_full_match({x}, '([0-9a-fA-F]{{2}})*')", f"unhex({x})", lenient=False),
    "to_base64": lambda call, x: f"to_base64({x if call.args[0].dtype == BINARY else f'encode({x})'})",
    "from_base64": lambda call, x: guarded(f"regexp_full_match({x}, '{BASE64}')", f"from_base64({x})", lenient=False),
    "encode": "encode({0})",
    "decode": "decode({0})",
    "list_contains": "(CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN coalesce(list_contains({0}, {1}), false) END)",
    "list_get": "(CASE WHEN {1} < 0 THEN {0}[{1}] WHEN {1} < len({0}) THEN {0}[{1} + 1] END)",
    "split": "(CASE WHEN {1} IS NOT NULL THEN string_split({0}, {1}) END)",
}
