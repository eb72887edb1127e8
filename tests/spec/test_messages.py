"""What users mistype, as they type it: the first line of the message, and the one thing to write instead."""

import re

import pytest

import gpuetl as ge
from gpuetl import col, expr, lit
from gpuetl.errors import InvalidPipeline
from spec.pipelines import HEAD, problems, problems_after_head, stage
from tables import table

COLUMNS = "{a: int64, b: int64, x: float64, s: string, ok: bool, d: date, ts: timestamp, tz: 'timestamp[UTC]', l: list<int64>}"
NAMES = "a, b, d, l, ok, s, ts, tz, x"
FILE = f"""\
gpuetl: 1
name: typed
params: {{lim: {{type: int64, default: 3}}, none: {{type: int64, default: null}}}}
sources: {{t: {{parquet: t/*.parquet, schema: {COLUMNS}}}}}
stages:
  s:
    from: t
    steps:
"""
PARSER = re.compile(
    r"SQL's|sqlglot|ruamel|pyarrow|Arrow|CUDA|<block|<stream|<scalar>|Token|\bexp\.|Paren\b|Anonymous|JSONExtract|"
    r"Struct|Bracket|Tuple|Coalesce\b|Bitwise|Subquery|cannot start any token|flow (mapping|sequence)|not part of the language"
)
"""Words of the libraries that read the text: none may be in a message."""

CASE = "Write CASE WHEN condition THEN a ELSE b END, or if(condition, a, b)."
JSON = "Write s.a for the field of a struct, or text ->> '$.a' for a part of JSON."
OVER = "Write a window step: by and order_by stand there once."
QUERY = "Make the query a stage, and join it: how: semi stands for IN."
PRESENT = "Pass it as a parameter, such as $run_date: a run can then be repeated with the same answer."
MISTYPED = [
    # text and names
    ('s = "AA"', "unknown column 'AA'", f"Columns: {NAMES}. Text is written in single quotes: 'AA'."),
    ("s = “AA”", "gpuetl does not support quotes such as “", "Write straight quotes: 'AA'."),
    ("`a` > 1", "gpuetl does not support '`'", 'Write a name with spaces in double quotes: "a b".'),
    ("f'x'", "gpuetl does not support the prefix f of a string", "Write 'x'."),
    ("s = 'abc", "this quote is not closed", "Close it; write a quote inside a string twice: 'it''s'."),
    ("s = 'it's'", "this quote is not closed", "Close it; write a quote inside a string twice: 'it''s'."),
    ("t.a > 1", "'t.a': columns have plain names", "Write a: after a join, columns have no prefix."),
    ("s.upper()", "'s.upper()': SQL has no methods", "Write upper(s)."),
    ("a == None", "unknown column 'None'", f"Columns: {NAMES}. Write NULL, and x IS NULL to look for it."),
    ("x > nan", "unknown column 'nan'", f"Columns: {NAMES}. Write CAST('nan' AS float64), and is_nan(x) to look for it."),
    # operators
    ("a ?? b", "gpuetl does not support '??'", "Write coalesce(a, b)."),
    ("a > 1 && ok", "gpuetl does not support '&&'", "Write AND."),
    ("a > 1 || ok", "'||' takes string, got int64", "|| joins strings. Write CAST(1 AS string) for a string, or OR between conditions."),
    ("a > 1 | ok", "bit_or takes integers, got bool", "Write AND, OR and NOT between conditions."),
    ("!ok", "gpuetl does not support '!'", "Write NOT, or <> between two values."),
    ("a === 1", "gpuetl does not support '==='", "Write =."),
    ("a ^ 2", "gpuetl does not support '^'", "Databases differ on what it is: write a ** b for the power, or xor(a, b)."),
    ("-a ** 2 > 1", "languages differ on what is computed first here", "Write (-x) ** y, or -(x ** y)."),
    ("a ≥ 2", "gpuetl does not support '≥'", "Write >=."),
    ("s ~* 'a'", "gpuetl does not support '~*'", "Write regexp_like(text, pattern, 'i')."),
    ("s:a", "unexpected ':'", JSON),
    ("a > 1 ? 1 : 2", "gpuetl does not support '? :'", CASE),
    ("IF a > 1 THEN 1 ELSE 2 END", "gpuetl does not support 'IF'", CASE),
    ("a if ok else b", "gpuetl does not support 'if'", CASE),
    ("a xor b", "gpuetl does not support 'xor'", "Write a <> b between conditions."),
    ("a IS 5", "gpuetl does not support 'a IS 5'", "Write = 5, or <> 5 for IS NOT."),
    ("a is None", "gpuetl does not support 'a is None'", "Write IS NULL."),
    # lists and brackets
    ("a[1] = 'a'", "list_extract takes a list, got int64", ""),
    ("a = (1, 2)", "cannot compare int64 and struct<element1: int64, element2: int64>",
     "Brackets with several values are a row(x, y).  Write x IN (1, 2) to look for a value."),
    ("a in ()", "IN has no values", "Write x IN (1, 2)."),
    ("a in l", "IN takes a list of values", "Write x IN (1, 2), or list_contains(list, x) for a column of lists."),
    ("coalesce(a, b,)", "unexpected ','", "Take out the last comma."),
    ("a, b", "unexpected ','", "Write one expression for each column, without a comma between them."),
    ("(a + 1", "this parenthesis is not closed", "Write )."),
    ("a + 1)", "this ')' closes nothing", "Take it out."),
    ("a +", "the expression ends too early", "Write what comes after '+'."),
    ("(a -)", "the expression ends too early", "Write what comes before ')'."),
    ("a b", "there is no operator before 'b'", "Write an operator, or one expression for each column."),
    ("a AS b", "unexpected 'AS b'", "The key of the map names the column."),
    ("a;", "unexpected ';'", "Write one expression, without a semicolon."),
    ("1_000", "'1_000' is not a number", "Write 1000."), ("0x1F", "'0x1F' is not a number", "Write 31."),
    ("*", "gpuetl does not support '*'", "Name the columns: an expression gives one."),
    # other clauses
    ("a IN (SELECT 1)", "IN takes a list of values", "Write a join step with how: semi, or how: anti for NOT IN."),
    ("a = (SELECT max(b) FROM t)", "gpuetl does not support 'SELECT'", QUERY),
    ("sum(a) OVER (PARTITION BY b)", "gpuetl does not support 'OVER'", OVER),
    ("a > 1 ORDER BY a", "gpuetl does not support 'ORDER BY'", "Write a sort step."),
    ("sum(a) > 1", "sum is an aggregate function and cannot stand here", "Use it directly in an aggregate step."),
    ("lag(a) > 1", "lag is a window function and cannot stand here", "Use it directly in a window step."),
    ("count(*) > 1", "count is an aggregate function and cannot stand here", "Use it directly in an aggregate step."),
    # functions of other dialects
    ("safe_cast(s AS int64)", "unknown function 'safe_cast'", "Write TRY_CAST(x AS int64)."),
    ("datediff(d, d)", "date_diff got 2 arguments", "It is date_diff(unit, a, b)."),
    ("iif(ok, 1, 2)", "unknown function 'iif'", "Write if(condition, a, b)."), ("nvl2(a, 1, 2)", "unknown function 'nvl2'", "Write if(x IS NOT NULL, a, b)."),
    ("position('a' IN s)", "unknown function 'position'", "Write strpos(text, part)."),
    ("cast(a int64)", "unexpected 'int64'", "Write CAST(x AS int64)."), ("extract(hour ts)", "unexpected 'hour'", "Write extract(hour FROM x)."),
    ("cast(a AS itn64)", "unknown type 'itn64'", "Types: bool, boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, string, date, timestamp, duration, timestamp_ns, time, binary, uuid, decimal(p,s). Did you mean 'int64'?"),
    ("getdate()", "gpuetl does not support the current time, 'getdate'", PRESENT), ("now() > ts", "gpuetl does not support the current time, 'now'", PRESENT),
    ("substring(s from 2)", "gpuetl does not support 'from'", "Write commas between the arguments of a function: substring(text, start, length)."),
    ("roud(x)", "unknown function 'roud'", "Did you mean 'round'?"),
    # parameters and references of paths
    ("a > $lmi", "unknown parameter '$lmi'", "Parameters: $lim, $none. Did you mean '$lim'?"),
    ("$a > 1", "unknown parameter '$a'", "'a' is a column: write a without $."),
    ("a > lim", "unknown column 'lim'", f"Columns: {NAMES}. 'lim' is a parameter: write $lim."),
    ("a > ${params.lim}", "'${params.lim}' stands in paths only", "Write $lim; to join it with a string, 'text' || $lim."),
    ("s = '${run.id}'", "'${run.id}' stands in paths only", "Write run_id()."),
    ("s = 'of ${params.lim}'", "'${params.lim}' stands in paths only", "Write $lim; to join it with a string, 'text' || $lim."),
    ("a > {{ lim }}", "unexpected '{'", "A parameter is written $name."), ("a > :lim", "unexpected ':'", "A parameter is written $name."), ("a > ?", "unexpected '?'", "A parameter is written $name."),
    # types
    ("ts > '2026-01-01'", "cannot compare timestamp and string", "Write TIMESTAMP '2026-01-01 00:00:00'."),
    ("ts > 2026-01-01", "cannot compare timestamp and int64", "Write TIMESTAMP '2026-01-31 10:00:00' for a constant."),
    ("d = '2026-01-01'", "cannot compare date and string", "Write DATE '2026-01-01'."),
    ("tz > date '2026-01-01'", "cannot compare timestamp[UTC] and date", "Write TIMESTAMPTZ '2026-01-01 00:00:00+00:00'."),
    ("tz > timestamp '2026-01-01 10:00:00'", "cannot compare timestamp[UTC] and timestamp", "Write TIMESTAMPTZ '2026-01-01 10:00:00+00:00'."),
    ("ts < timestamptz '2026-01-01 10:00:00+00:00'", "cannot compare timestamp and timestamp[UTC]", "Write TIMESTAMP '2026-01-01 10:00:00'."),
    ("a = '5'", "cannot compare int64 and string", "Write 5 without quotes."),
    ("s > 5", "cannot compare string and int64", "Write '5' in quotes, or CAST(s AS int64)."),
    ("a > s", "cannot compare int64 and string", "Write CAST(s AS int64)."),
    ("s + 'x' = s", "cannot add string and string", "Write s || 'x' to join strings."),
    ("ok = 1", "cannot compare bool and int64", "'ok' is a boolean: write ok, or NOT ok."),
    ("s = 'a' OR 'b'", "OR takes bool, got string", "Write s = 'a' OR s = 'b'."),
    ("1 < a < 5", "cannot compare bool and int64", "Write a < x AND x < b, or x BETWEEN a AND b."),
    ("a", "a filter takes a condition, and a is int64", "Compare it with something."),
    # nulls
    ("a = NULL", "'a = NULL' is true for no row", "Write a IS NULL."), ("NULL = a", "'NULL = a' is true for no row", "Write a IS NULL."),
    ("a <> NULL", "'a <> NULL' is true for no row", "Write a IS NOT NULL."), ("lower(s) = CAST(NULL AS string)", "'lower(s) = CAST(NULL AS string)' is true for no row", "Write lower(s) IS NULL."),
    ("a IN (NULL)", "'a IN (NULL)' is true for no row", "Write a IS NULL."),
    ("a NOT IN (1, NULL)", "NOT IN with NULL in its list is true for no row", "Take NULL out of the list: NOT a IN (1)."),
    ("CASE a WHEN NULL THEN ok END", "'a = NULL' is true for no row", "Write a IS NULL."),
]  # fmt: skip


def problem_parts(step):
    """Return the problems of a file with that step, as first line and hint."""
    with pytest.raises(InvalidPipeline) as error:
        ge.loads(FILE + "".join(f"      - {line}\n" for line in step)).plan()
    return [(problem.message, problem.hint, problem.place) for problem in error.value.problems]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize(("typed", "message", "hint"), MISTYPED, ids=[row[0] for row in MISTYPED])
def test_what_is_mistyped_is_reported_with_what_to_write(typed, message, hint):
    ((first, second, place),) = problem_parts([f"filter: {quoted(typed)}"])
    assert (first, second) == (message, hint)
    assert place.line == 9
    assert not PARSER.search(first)


NOT_YAML = [
    ("a:\n  b: 1\n c: 2\n", 3, "this key is not indented like the others above it", "Indent what belongs together with the same number of spaces."),
    ("a:\n  b: 1\n   c: 2\n", 3, "this line is indented more than the one before it", "Indent what belongs together with the same number of spaces."),
    ("steps:\n  - filter: a > 1\n    - limit: 3\n", 3, "this list item is not indented like the others above it", "Indent what belongs together with the same number of spaces."),
    ("  a: 1\nb: 2\n", 2, "this line is indented less than the first", "Begin all its keys in one column."),
    ("a:\n\tb: 1\n", 2, "this line is indented with a tab", "Indent with spaces."),
    ("a: 'x\nb: 1\n", 1, "this quote is not closed", "Close it with '. Write a quote inside the string twice: 'it''s'."),
    ('a: "x\nb: 1\n', 1, "this quote is not closed", 'Close it with ".'),
    ("a: 'it's'\n", 1, "there is text after the closing quote", "Write the whole value in quotes; a quote inside it is written twice: 'it''s'."),
    ('a: "\\d+"\n', 1, "'\\d' is not an escape in double quotes", "Write the string in single quotes."),
    ("a: s = 'x: y'\n", 1, "a value without quotes cannot have a colon and a space", "Write the value in quotes."),
    ("a: {x: y: z}\n", 1, "a value in brackets ends at a colon", "Write the value in quotes."),
    ("a: [\n", 1, "the file ends in the middle of a list or map", "Close each '[' with ']' and each '{' with '}'."),
    ("a: 1\nb: {c:\n\n", 2, "the file ends in the middle of a list or map", "Close each '[' with ']' and each '{' with '}'."),
    ("a: [1, 2\nb: 3\n", 1, "this '[' is not closed", "Close it with ']'."), ("a: {b: 1\nc: 2\n", 1, "this '{' is not closed", "Close it with '}'."),
    ("a: `x`\n", 1, "a value cannot begin with '`'", "Write the value in quotes."), ("a: *x\n", 1, "a value cannot begin with '*'", "Write the value in quotes."),
    ("a: > 3\n", 1, "unexpected '>'", "Write the value in quotes."),
    ("a: x\nb\nc: 1\n", 2, "this line is not a key and a value", "Write key: value."), ("key:value\nb: 1\n", 1, "'key:value' is not a key and a value", "Write a space after the colon."),
    ("a: - b\n", 1, "a list cannot begin here", "Begin it on the next line, or write [a, b]."),
    ("a: 1\n---\nb: 1\n", 2, "a file has one pipeline", "Write the second one to a separate file."),
    ("a: \x01\n", 1, "the character U+0001 is not text", "Take it out."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message", "hint"), NOT_YAML, ids=[row[2] for row in NOT_YAML])
def test_text_that_is_not_yaml_is_reported_in_plain_words(text, line, message, hint):
    with pytest.raises(InvalidPipeline) as error:
        ge.loads(text)
    (problem,) = error.value.problems
    assert (problem.message, problem.hint, problem.place.line) == (message, hint, line)
    assert not PARSER.search(problem.message)


def test_no_message_has_a_word_of_the_parser():
    """Also of texts that nobody means: every sign and every keyword after, before and between names."""
    words = [*"+-*/%<>=!~^&|?:;,.()[]{}@#$\\`'\"", "::", "->", "||", "&&", "//", "=>", "<=>", ":=", "..", "\x00"]
    words += [
        "select",
        "from",
        "where",
        "group",
        "order",
        "by",
        "limit",
        "union",
        "all",
        "distinct",
        "case",
        "when",
        "then",
        "else",
        "end",
        "over",
        "partition",
        "rows",
    ]
    words += [
        "exists",
        "any",
        "some",
        "in",
        "is",
        "not",
        "null",
        "like",
        "similar",
        "glob",
        "between",
        "and",
        "or",
        "cast",
        "interval",
        "date",
        "extract",
        "array",
        "struct",
        "map",
    ]
    words += [
        "lateral",
        "unnest",
        "table",
        "values",
        "insert",
        "update",
        "delete",
        "create",
        "with",
        "as",
        "using",
        "on",
        "join",
        "pivot",
        "filter",
        "within",
        "collate",
    ]
    found = set()
    for word in words:
        for typed in (
            word,
            f"a {word}",
            f"{word} a",
            f"a {word} b",
            f"f({word} a)",
            f"a + ({word} b)",
            f"{word}(a, b)",
            f"{word} {word} a",
        ):
            try:
                ge.expr(typed)
            except ge.InvalidExpression as error:
                found.add(error.message)
    assert len(found) > 100
    assert not [message for message in found if PARSER.search(message)]


# every mistake at once, and each of them once


def test_a_wrong_expression_hides_no_other_mistake():
    steps = [
        'with_columns: {r: a +, q: amuont + bb * amuont, w: s + 1 > a + ok, v: "coalesce(aa, uper(bbb))"}',
        "filter: r > 1 AND q > 2 AND zz > 3",
        "select: {n: r + q, m: nope}",
    ]
    body = FILE + "".join(f"      - {line}\n" for line in steps) + "  late:\n    from: t\n    steps: [filter: a >]\n"
    with pytest.raises(InvalidPipeline) as error:
        ge.loads(body).plan()
    assert [(p.place.line, p.place.column, p.message) for p in error.value.problems] == [
        (9, 29, "the expression ends too early"),
        (9, 35, "unknown column 'amuont'"),
        (9, 44, "unknown column 'bb'"),
        (9, 60, "cannot add string and int64"),
        (9, 68, "cannot add int64 and bool"),
        (9, 89, "unknown column 'aa'"),
        (9, 93, "unknown function 'uper'"),
        (9, 98, "unknown column 'bbb'"),
        (10, 37, "unknown column 'zz'"),
        (11, 31, "unknown column 'nope'"),
        (14, 23, "the expression ends too early"),
    ]


@pytest.mark.parametrize(
    ("steps", "mistakes"),
    [
        (["join: {with: u, on: kye}", "filter: key > 1"], ["unknown column 'kye'"]),
        (["join: {with: u, on: {a: kye}}", "filter: a > 1"], ["unknown column 'kye' in 'u'"]),
        (["join: {with: u, on: {aa: key}, suffix: _u}", "filter: a > 1"], ["unknown column 'aa'"]),
        (["select: [amuont, s]", "filter: amount > 1", "with_columns: {y: amuont + 1}"], ["unknown column 'amuont'"]),
        (["select: [zzzz, s]", "filter: a > 1"], ["unknown column 'zzzz'"]),
        (["select: [amuont, s]", "union: {with: v, missing: error}"], ["unknown column 'amuont'"]),
        (["rename: {amuont: paid}", "filter: paid > 1 AND amount > 1"], ["unknown column 'amuont'"]),
        (["cast: {amuont: string}", "filter: amount || 'x' = 'y'"], ["unknown column 'amuont'"]),
        (["drop: amuont", "filter: amount > 1"], ["unknown column 'amuont'"]),
        (["aggregate: {by: amuont, columns: {n: count(*)}}", "filter: amount > 1"], ["unknown column 'amuont'"]),
        (["aggregate: {by: amuont, columns: {n: count(*), m: amount}}"], ["unknown column 'amuont'"]),
        (["explode: ll", "with_columns: {y: l + 1}"], ["unknown column 'll'"]),
        (["with_columns: {y: lower(a)}", "explode: y", "join: {with: u, on: {y: key}, suffix: _u}", "sort: y"], ["lower takes string, got int64"]),
        (["with_columns: {y: lower(a)}", "select: [y, s]", "fill_null: {y: 1}", "union: w", "cast: {y: date}"], ["lower takes string, got int64"]),
        (["filter: ts BETWEEN '2026-01-01' AND '2026-01-02'"], ["cannot compare timestamp and string"]),
        (["filter: amuont > 1 AND amuont < 5 OR amuont = 7"], ["unknown column 'amuont'"]),
        (["fill_null: {aa: bb, a: cc}"], ["unknown column 'aa'", "unknown column 'bb'", "unknown column 'cc'"]),
        (["cast: {a: itn64, b: flot64}"], ["unknown type 'itn64'", "unknown type 'flot64'"]),
        (["sort: [a ascending, b descending]"], ["takes a column, then asc or desc, got 'a ascending'", "takes a column, then asc or desc, got 'b descending'"]),
    ],
)  # fmt: skip
def test_each_mistake_is_reported_and_reported_once(steps, mistakes):
    body = FILE.replace("l: list", "amount: float64, l: list").replace(
        "}}\nstages",
        "}, u: {parquet: u, schema: {key: int64, amount: float64}}, v: {parquet: v, schema: {amount: float64, s: string}}, "
        "w: {parquet: w, schema: {y: date, s: string}}}\nstages",
    )
    assert body != FILE
    with pytest.raises(InvalidPipeline) as error:
        ge.loads(body + "".join(f"      - {line}\n" for line in steps)).plan()
    found = [problem.message for problem in error.value.problems]
    assert found == mistakes


def test_a_misspelt_source_is_reported_once_with_all_its_lines():
    body = "stages:\n" + "".join(f"  {name}: {{from: tnxs, steps: [limit: 1]}}\n" for name in "abc")
    (problem,) = problems_after_head(body)
    assert problem.splitlines()[0] == "daily.yaml:10:13: stage 'a': unknown source or stage 'tnxs'"
    assert problem.splitlines()[-1] == (
        "Sources and stages: a, b, c, txns. Did you mean 'txns'? It is named on lines 11, 12, too."
    )


def test_a_stage_without_a_beginning_is_checked_too():
    found = [problem.splitlines()[0] for problem in problems_after_head("stages:\n  a: {steps: [filter: amount >]}\n")]
    assert [line.split("stage 'a'")[1] for line in found] == [
        ": the key 'from' is missing",
        ", step 1: the expression ends too early",
    ]


@pytest.mark.parametrize(
    "step",
    [
        "with_columns: {new: amount + 1, twice: new * 2}",
        "select: {new: amount + 1, twice: new * 2}",
        "aggregate: {columns: {new: sum(amount), twice: new * 2}}",
        "window: {order_by: ts, columns: {new: cum_sum(amount), twice: new * 2}}",
    ],
)
def test_an_output_of_the_same_step_is_reported_as_one(step):
    (problem,) = problems_after_head(stage(step))
    assert "step 1: 'new' is computed in this same step\n" in problem
    assert problem.endswith("Compute what needs 'new' in a with_columns step after this one.")


def test_a_bare_word_may_be_a_string():
    (problem,) = problems(HEAD + stage("with_columns: {country: NO}"))
    assert problem.endswith("Columns: amount, status, ts, user_id. To mean a string, write \"'NO'\".")


def test_a_listed_name_is_no_string():
    (problem,) = problems(HEAD + stage("select: [NO]"))
    assert problem.endswith("Columns: amount, status, ts, user_id.")


# filters that keep no row


@pytest.mark.parametrize(
    ("predicate", "message", "marked"),
    [
        ("1 = 2", "1 = 2 is false for every row", "1 = 2"),
        ("false", "it is false for every row", "false"),
        ("a > 1 AND 'x' = 'y' AND ok", "'x' = 'y' is false for every row", "'x' = 'y'"),
        ("a > 1 AND (date '2026-01-01' > date '2026-02-01')", "DATE '2026-01-01' > DATE '2026-02-01' is false for every row", "'2026-01-01' > date '2026-02-01'"),
        ("a > $none", "a > NULL is null for every row", "a > $none"),
        ("a + $none > 1 AND ok", "a + NULL > 1 is null for every row", "a + $none > 1"),
    ],
)  # fmt: skip
def test_a_filter_that_keeps_no_row_is_a_warning(predicate, message, marked):
    plan = ge.loads(FILE + f"      - filter: {predicate}\n").plan()
    (warning,) = plan.warnings
    assert warning.message == f"this filter keeps no row: {message}"
    source, place = f"      - filter: {predicate}", warning.place
    assert place.line == 9
    assert source[place.column - 1 :].startswith(marked)


def test_a_null_among_others_in_a_list_is_a_warning():
    (warning,) = ge.loads(FILE + "      - filter: a IN (1, NULL) OR a > 5\n").plan().warnings
    assert (warning.message, warning.hint) == (
        "NULL in this list matches no row",
        "Write a IS NULL OR … to keep rows without a value.",
    )


@pytest.mark.parametrize(
    "predicate", ["ok", "a > $lim", "1 = 1", "a IN (1, 2)", "a IS NULL", "a IS DISTINCT FROM NULL"]
)
def test_a_filter_that_may_keep_rows_is_none(predicate):
    assert ge.loads(FILE + f"      - filter: {predicate}\n").plan().warnings == ()


def test_a_run_reports_that_a_filter_keeps_no_row(source, engine):
    rows = source(table({"k": "int64"}, (1,), (2,)))
    run = rows.filter(expr("k > 0 AND 1 = 2")).stage("s").pipeline.run(engine=engine, keep="s")
    assert run["s"].to_arrow().num_rows == 0
    assert any("this filter keeps no row: 1 = 2 is false for every row" in warning for warning in run.report.warnings)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda t: t.filter(col("k") == lit(None)), "'k = NULL' is true for no row\nWrite k IS NULL."),
        (lambda t: t.filter(~col("k").is_in([1, None])), "NOT IN with NULL in its list is true for no row"),
        (lambda t: t.with_columns(x=col("kk") + col("ll")), "unknown column 'kk'\nColumns: k. Did you mean 'k'?\n\n"),
        (lambda t: t.with_columns(x=col("kk") + col("ll")), "unknown column 'll'\nColumns: k."),
    ],
)
def test_python_has_the_same_messages(source, problem, step, message):
    assert message in problem(step(source(table({"k": "int64"}, (1,)))))
