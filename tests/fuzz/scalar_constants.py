"""Constants for the parameters of scalar functions."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from gpuetl.expressions.syntax import Apply, Constant, Lambda, Variable
from gpuetl.types.calendar_intervals import CalendarInterval

PATTERNS = (
    "a", "^a", "[a-c]+", "\\d+", "b$", "(a)(b)?", "a|bb?", "[^a]", ".", "(?:a|\\s)+", "\\w{2,3}?", "[ñΩ😀]", "\\.",
    "\\\\d", "^[^a-z]+|[^a-z]+$", "-?\\d+(?:\\.\\d+)?", "\\S\\W", "(?i)a|ñ", "\\ba\\w*", "(?m)^.$", "(?s).\\pL", "[[:punct:]]+",
    "(?i:ß|k)\\B",
)  # fmt: skip
"""None matches the empty text: there is nothing between matches."""
EMPTY = ("a*", "", "^|$", "(?:a|b?)*", "\\b")
GROUPS = ("(a)(b)?", "([a-c]+)([^a-c]*)", "^(.)(.?)", "(\\d+)|(x)", "(\\w*?)(\\W)", "(?:a|b)(.)(.)$")
FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%d %b %Y", "%I:%M %p, %B %d %y", "%Y/%j", "%G-W%V-%u", "%Y%m%d%H%M%S%f",
    "%Y-%m-%d %H:%M%z", "%-d/%-m/%Y %X.%g", "%Y-%U-%w",
)  # fmt: skip
ZONES = ("Europe/Berlin", "UTC", "America/New_York", "+05:30")
CHOICES = ("earliest", "latest", "earliest", "latest", "raise")

SCALAR_CONSTANTS: dict[str, tuple[Any, ...]] = {
    "characters": (" ", "a", "ba", "ñ ", "", "😀\u0301"),
    "separator": (",", "a", "-", " ", "ab", "aa", "😀"),
    "concat_ws.separator": ("-", "", ", ", "ñ"),
    "split_part.index": (1, 2, -1, 3, -2, 9),
    "translate.old": ("a", "ab", "", "añb", "aa", "😀.x"),
    "repeat.count": (2, 0, 1, 3),
    "base": (16, 2, 36, 10),
    "to_base.digits": (1, 5, 64),
    "low": (0, -2.5, -100),
    "high": (10, 0.5, 1e6),
    "width_bucket.count": (5, 1, 100),
    "bar.width": (10, 1, 7.5),
    "escape": ("!", "\\"),
    "ilike.pattern": ("A%", "%B", "_", "%", "", "a_%", "%Ñ_", "SS", "%i%"),
    **{f"regexp_{name}.pattern": PATTERNS + EMPTY for name in ("like", "count", "replace")},
    "regexp_split_to_array.pattern": PATTERNS,
    "regexp_extract_all.pattern": ("(a)(b)?", "([a-c]+)([^a-c]*)", "(\\d+)|(x)", "(a*)(x?)", "(?P<n>.)(b)?"),
    "regexp_replace.options": ("g", "gi", "sg", "gl"),
    "options": ("i", "", "s", "l", "ci"),
    "regexp_full_match.pattern": (*PATTERNS, "a*", "(a|b)*?", "^.*$", ".?", ""),
    "regexp_extract.pattern": (*GROUPS, "a*", "^$"),
    "group": (1, 0, 2),
    "replacement": ("", "x", "<\\0>", "\\\\", "ñ\\0\\0"),
    "unit": (
        "decade", "day", "month", "century", "year", "quarter", "week", "hour", "minute", "second", "millisecond", "microsecond",
    ),
    "width": (
        timedelta(hours=1), timedelta(days=1), timedelta(minutes=7), timedelta(days=7), timedelta(microseconds=1),
        timedelta(seconds=1, microseconds=3), CalendarInterval(1), CalendarInterval(36), CalendarInterval(7),
    ),
    "interval": (
        CalendarInterval(1), CalendarInterval(-1), CalendarInterval(12), CalendarInterval(14, -3, 1), CalendarInterval(-25),
        CalendarInterval(2, 0, -3_600_000_000), CalendarInterval(3, 40),
    ),
    "origin": (datetime(2000, 2, 1), datetime(2000, 1, 1, 0, 7), datetime(2000, 1, 1, 0, 7, tzinfo=UTC), date(1969, 7, 20)),
    "format": FORMATS,
    "zone": ZONES,
    "ambiguous": CHOICES,
    "nonexistent": CHOICES,
    "field": ("x", "s"),
    "list_transform.function": (
        Lambda(("e",), Variable("e")), Lambda(("e", "i"), Apply("case", (Apply("greater", (Variable("i"), Constant(1))), Variable("e")))),
    ),
    "list_filter.function": (
        Lambda(("e",), Apply("not", (Apply("is_null", (Variable("e"),)),))), Lambda(("e", "i"), Apply("greater", (Variable("i"), Constant(1)))),
    ),
    "list_reduce.function": (
        Lambda(("a", "e"), Apply("coalesce", (Variable("e"), Variable("a")))),
        Lambda(("a", "e", "i"), Apply("case", (Apply("greater", (Variable("i"), Constant(2))), Variable("a"), Variable("e")))),
    ),
    "list_reverse_sort.nulls": ("nulls first", "nulls last"),
    "list_grade_up.order": ("asc", "desc"),
    "list_grade_up.nulls": ("nulls first", "nulls last"),
    "list_sort.order": ("asc", "desc", "DESC"),
    "list_sort.nulls": ("nulls first", "nulls last"),
    "path": ("$", "$.a", "$.a.b[0]", "$[0]", "$[#-1]", "/a/b", "b"),
    "json_extract.path": ("$", "$.a", "$.a.b[0]", 0, -1, "$[*]", "$.*", "$.a.b[*]", "$..b", "$.**", "$.*[*]"),
    "parse_filename.trim_extension": (True, False, "forward_slash"),
    **{f"parse_{part}.separator": ("both_slash", "forward_slash", "backslash", "system") for part in ("filename", "dirpath", "dirname", "path")},
    "format.format": ("{}", "{:>5}|", "{:05d}", "{:.2f}", "{}-{}", "{1}{0}", "{:,}", "{:*^9.1f}", "{{{:<3}}}", "{:.2}", "{:x}", "{:_}"),
    "printf.format": ("%s", "%d%%", "%.3f", "%-6d|%6s", "%.1f|%s", "%,d", "%+d", "%.1s", "%08x", "%'d"),
    "structure": ("STRUCT(a STRUCT(b VARCHAR[]), b BIGINT)", "VARCHAR[]", '["DOUBLE"]', "int64", "date"),
    "bucket.n": (16, 1, 2, 1_000_003),
}  # fmt: skip
