"""Expressions."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1101",
        title="not a valid expression",
        cause="The text is not a complete SQL expression.  A quote or a parenthesis is not closed, an operator or an "
        "operand is missing, or a sign stands where none can.",
        fix="Correct the text at the caret.  Strings take single quotes and column names take none.  One key holds one "
        "expression.",
        example="- filter: (amount > 0 OR id = 3",
        message="""\
example.yaml:9:17: stage 'result', step 1: this parenthesis is not closed  [GE1101]
    - filter: (amount > 0 OR id = 3
              ^
Write ).""",
        fixed="- filter: (amount > 0 OR id = 3)",
    ),
    ErrorPage(
        code="GE1102",
        title="syntax that gpuetl does not support",
        cause="The expression uses an operator, a keyword or a form of another language or database: `&&`, a "
        "subquery, `table.column`, `x.method()`, `now()`.",
        fix="Write what the last line of the message says.  docs/language.md describes expressions, and "
        "docs/functions.md lists all functions.",
        example="- filter: amount > 0 && id < 3",
        message="""\
example.yaml:9:28: stage 'result', step 1: gpuetl does not support '&&'  [GE1102]
    - filter: amount > 0 && id < 3
                         ^^
Write AND.""",
        fixed="- filter: amount > 0 AND id < 3",
    ),
    ErrorPage(
        code="GE1103",
        title="types that do not fit",
        cause="An operator or a function does not take the types of its arguments.  gpuetl does not convert between "
        "strings, numbers, booleans and dates by itself.",
        fix="Write the constant in the type of the column, or convert one side with CAST.",
        example="- filter: day >= '2026-01-02'",
        message="""\
example.yaml:9:17: stage 'result', step 1: cannot compare date and string  [GE1103]
    - filter: day >= '2026-01-02'
              ^^^^^^^^^^^^^^^^^^^
Write DATE '2026-01-02'.""",
        fixed="- filter: day >= DATE '2026-01-02'",
    ),
    ErrorPage(
        code="GE1104",
        title="wrong number or names of arguments",
        cause="A function is called with too few or too many arguments, or with a named argument that it does not "
        "have.",
        fix="Call the function as the last line of the message shows it.  An argument with `?` is optional, and one "
        "with `…` can repeat.",
        example='- with_columns: {due: "add_days(day)"}',
        message="""\
example.yaml:9:30: stage 'result', step 1: add_days got 1 argument  [GE1104]
    - with_columns: {due: "add_days(day)"}
                           ^^^^^^^^
It is add_days(x, n).""",
        fixed='- with_columns: {due: "add_days(day, 30)"}',
    ),
    ErrorPage(
        code="GE1105",
        title="argument must be a constant",
        cause="The function needs this argument before it sees any row: a pattern, a format, a unit or a time zone.  A "
        "column cannot give it, and it cannot be NULL.",
        fix="Write a constant or a parameter such as `$unit`.  For one of several constants, use CASE with a call in "
        "each branch.",
        example="""\
- with_columns: {unit: "'month'"}
- with_columns: {start: "date_trunc(unit, day)"}""",
        message="""\
example.yaml:10:43: stage 'result', step 2: date_trunc takes a constant or a $parameter as unit  [GE1105]
    - with_columns: {start: "date_trunc(unit, day)"}
                                        ^^^^""",
        fixed="- with_columns: {start: \"date_trunc('month', day)\"}",
    ),
    ErrorPage(
        code="GE1106",
        title="argument out of range",
        cause="A constant argument has a value that the function does not take: a unit that does not exist, a frame "
        "of 0 rows, a quantile above 1.",
        fix="Choose one of the values in the message.  docs/functions.md describes the arguments of each function.",
        example="- with_columns: {start: \"date_trunc('fortnight', day)\"}",
        message="""\
example.yaml:9:32: stage 'result', step 1: date_trunc takes one of millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond, got 'fortnight'  [GE1106]
    - with_columns: {start: "date_trunc('fortnight', day)"}
                             ^^^^^^^^^^""",
        fixed="- with_columns: {start: \"date_trunc('week', day)\"}",
    ),
    ErrorPage(
        code="GE1107",
        title="aggregate or window function in the wrong place",
        cause="Aggregate functions such as `mean` stand in aggregate and window steps only, and window functions such as "
        "`lag` in window steps only.  Neither stands inside another one, and FILTER belongs to aggregates.",
        fix="Compute the value in a step of that kind before, and use its column.  To compare each row with an "
        "aggregate, write a window step.",
        example="- filter: amount > lag(amount)",
        message="""\
example.yaml:9:26: stage 'result', step 1: lag is a window function and cannot stand here  [GE1107]
    - filter: amount > lag(amount)
                       ^^^
Use it directly in a window step.""",
        fixed="""\
- window: {order_by: id, columns: {before: lag(amount)}}
- filter: amount > before""",
    ),
    ErrorPage(
        code="GE1108",
        title="comparison with NULL",
        cause="NULL is an unknown value, so a comparison with it is never true.  The filter would drop every row.  "
        "NULL among other values of IN matches no row, which is a warning.",
        fix="Test for NULL with IS NULL or IS NOT NULL.",
        example="- filter: amount = NULL",
        message="""\
example.yaml:9:17: stage 'result', step 1: 'amount = NULL' is true for no row  [GE1108]
    - filter: amount = NULL
              ^^^^^^
Write amount IS NULL.""",
        fixed="- filter: amount IS NULL",
    ),
    ErrorPage(
        code="GE1109",
        title="${...} in an expression",
        cause="`${params.name}`, `${run.id}` and `${env.NAME}` stand in paths only.  In an expression they would stay as "
        "they are written.",
        fix="Write `$name` for a parameter, without quotes, and `run_id()` for the id of the run.",
        example="- with_columns: {run: \"'${run.id}'\"}",
        message="""\
example.yaml:9:30: stage 'result', step 1: '${run.id}' stands in paths only  [GE1109]
    - with_columns: {run: "'${run.id}'"}
                           ^^^^^^^^^^^
Write run_id().""",
        fixed="- with_columns: {run: run_id()}",
    ),
    ErrorPage(
        code="GE1110",
        title="no cast between these types",
        cause="CAST does not convert between the two types.  For example, a number is not a date.",
        fix="Use the function that gives the number a meaning, such as `from_epoch` for seconds, or cast to a type "
        "between the two.",
        example='- with_columns: {time: "CAST(amount AS timestamp)"}',
        message="""\
example.yaml:9:36: stage 'result', step 1: cannot cast float64 to timestamp  [GE1110]
    - with_columns: {time: "CAST(amount AS timestamp)"}
                                 ^^^^^^
Write from_epoch(x) for seconds since 1970.""",
        fixed='- with_columns: {time: "from_epoch(amount)"}',
    ),
    ErrorPage(
        code="GE1111",
        title="naive and zoned timestamps",
        cause="A date and a naive timestamp are what a clock shows.  A zoned timestamp is an instant.  gpuetl does not "
        "mix them, because the answer depends on the time zone.",
        fix="Convert one of them with `x AT TIME ZONE 'Europe/Berlin'`, or write the constant in the type of the column.",
        example="- filter: day >= TIMESTAMPTZ '2026-01-02 00:00:00+00:00'",
        message="""\
example.yaml:9:17: stage 'result', step 1: cannot compare date and timestamp[UTC]  [GE1111]
    - filter: day >= TIMESTAMPTZ '2026-01-02 00:00:00+00:00'
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Write DATE '2026-01-02'.""",
        fixed="- filter: day >= DATE '2026-01-02'",
    ),
    ErrorPage(
        code="GE1112",
        title="constant that is not valid",
        cause="A constant cannot be read as its type: a day that does not exist, a number beyond float64, half "
        "a month as an interval, a Python value of another kind.",
        fix="Correct the constant.  Dates are written `DATE '2026-01-31'` and intervals `INTERVAL '90 minutes'`.",
        example="- filter: day >= DATE '2026-02-30'",
        message="""\
example.yaml:9:29: stage 'result', step 1: '2026-02-30' is not a valid date  [GE1112]
    - filter: day >= DATE '2026-02-30'
                          ^^^^^^^^^^^^
Write it like DATE '2026-01-31'.""",
        fixed="- filter: day >= DATE '2026-02-28'",
    ),
    ErrorPage(
        code="GE1113",
        title="pattern or format that is not supported",
        cause="A regular expression, a LIKE pattern or a format of dates is malformed, or uses a part that gpuetl does "
        "not support.  Regular expressions are those of RE2, which have no look-around and no back references.  A run "
        "stops with this code where a column has such a pattern.  It also stops where a replacement, or a number, names a "
        "group that the pattern of the row does not have.",
        fix="Write the pattern without the part in the message, or leave the row out.  docs/functions.md describes "
        "regular expressions and lists the specifiers of formats.",
        example="- filter: regexp_like(CAST(id AS string), '^(?!1)')",
        message="""\
example.yaml:9:17: stage 'result', step 1: regexp_like cannot take the pattern '^(?!1)': gpuetl does not support a look-ahead '(?!', at character 2  [GE1113]
    - filter: regexp_like(CAST(id AS string), '^(?!1)')
              ^^^^^^^^^^^
Test for one pattern after the other.""",
        fixed="- filter: NOT regexp_like(CAST(id AS string), '^1')",
    ),
    ErrorPage(
        code="GE1114",
        title="expression too long or deep",
        cause="An expression has more than 20,000 characters, more than 32 parentheses inside each other, or more than "
        "200 operators that build on each other.  Generated expressions can reach these limits.",
        fix="Compute parts in columns of earlier steps.  Replace a chain of `x = 1 OR x = 2` by `x IN (1, 2)`.",
        example=f"- filter: {'(' * 33}amount{')' * 33} > 0",
        message="""\
example.yaml:9:49: stage 'result', step 1: parentheses nest deeper than 32  [GE1114]
    - filter: (((((((((((((((((((((((((((((((((amount))))))))))))))))))))))))))))))))) > 0
                                              ^
Compute parts of it in columns of earlier steps.""",
        fixed="- filter: amount > 0",
    ),
    ErrorPage(
        code="GE1115",
        title="lists, structs and maps are not taken here",
        cause="Most functions do not take nested values: there is no arithmetic of them.  Comparisons take them, and so "
        "do keys of groups, joins, orders, samples, kernels and expectations; but not the names of a pivot, the keys of "
        "an upsert, and partitions of a sink.",
        fix="Take something of a list with `list_get`, `list_contains` or `list_length`, or use an explode step for "
        "one row per element.  Take a field of a struct, `s.a`, or a value of a map, `m['key']`.",
        example="- filter: upper(split(CAST(day AS string), '-')) = '2026'",
        message="""\
example.yaml:9:17: stage 'result', step 1: upper does not take lists  [GE1115]
    - filter: upper(split(CAST(day AS string), '-')) = '2026'
              ^^^^^
Explode the list in a step before, or take list_get, list_contains or list_length of it.""",
        fixed="- filter: list_contains(split(CAST(day AS string), '-'), '2026')",
    ),
    ErrorPage(
        code="GE1116",
        title="more than 38 digits",
        cause="A decimal has at most 38 digits.  The constant, or the exact result of the two types, needs more.",
        fix="Cast one of the operands to a decimal with fewer digits, or to float64 where the last digits do not matter.",
        example='- with_columns: {square: "CAST(amount AS decimal(38,20)) * CAST(amount AS decimal(38,20))"}',
        message="""\
example.yaml:9:38: stage 'result', step 1: '*' of decimal(38,20) and decimal(38,20) has more than 38 digits after the point  [GE1116]
    - with_columns: {square: "CAST(amount AS decimal(38,20)) * CAST(amount AS decimal(38,20))"}
                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
A decimal has 38 digits at most: CAST one of them to fewer digits, or to float64.""",
        fixed='- with_columns: {square: "CAST(amount AS decimal(18,2)) * CAST(amount AS decimal(18,2))"}',
    ),
    ErrorPage(
        code="GE1118",
        title="no such field",
        cause="`x.field` names a field that the struct does not have, or x is not a struct.",
        fix="Choose one of the fields in the message.  Upper and lower case differ.",
        example="""\
- with_columns: {place: "struct_pack(id := id, day := day)"}
- filter: place.date > DATE '2026-01-01'""",
        message="""\
example.yaml:10:17: stage 'result', step 2: struct_extract finds no field 'date' in struct<id: int64, day: date>  [GE1118]
    - filter: place.date > DATE '2026-01-01'
              ^^^^^^^^^^
Fields: day, id.""",
        fixed="""\
- with_columns: {place: "struct_pack(id := id, day := day)"}
- filter: place.day > DATE '2026-01-01'""",
    ),
    ErrorPage(
        code="GE1850",
        title="months have no fixed length",
        cause="An interval of months or years is 28 to 366 days and more, so it is no duration.  It can only be added to "
        "a date or a timestamp, or subtracted, and be the width of `time_bucket`.  Beside a zoned timestamp it has no "
        "days and hours, because these could come first or last.",
        fix="Write `day + INTERVAL '1 month'`, or days in place of months.  Add months and days one after the other: "
        "`ts + INTERVAL '1 month' + INTERVAL '1 day'`.",
        example="- filter: day - DATE '2026-01-01' < INTERVAL '1 month'",
        message="""\
example.yaml:9:17: stage 'result', step 1: an interval of months has no fixed length  [GE1850]
    - filter: day - DATE '2026-01-01' < INTERVAL '1 month'
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Add it to a date or a timestamp, ts + INTERVAL '1 month'; elsewhere write days: INTERVAL '30 days'.""",
        fixed="- filter: day < DATE '2026-01-01' + INTERVAL '1 month'",
    ),
    ErrorPage(
        code="GE1117",
        title="not a condition",
        cause="Filters, AND, OR, NOT and WHEN need a condition, which is true, false or NULL.  gpuetl does not take a "
        "number or a string for one.",
        fix="Compare the value with something: `id > 0`, `name <> ''`, `x IS NOT NULL`.",
        example="- filter: amount > 0 AND id",
        message="""\
example.yaml:9:17: stage 'result', step 1: AND takes bool, got int64  [GE1117]
    - filter: amount > 0 AND id
              ^^^^^^^^^^^^^^^^^
Compare it with something: id > 0.""",
        fixed="- filter: amount > 0 AND id > 0",
    ),
    ErrorPage(
        code="GE1840",
        title="ORDER BY in a call that has no such order",
        cause="ORDER BY in a call is for aggregates whose result depends on the order of rows: first, last, array_agg and "
        "string_agg.  Its keys are expressions over columns.  Values of DISTINCT are ordered by themselves.",
        fix="Leave ORDER BY out, or change its keys.",
        example="- aggregate: {by: day, columns: {total: sum(amount ORDER BY id)}}",
        message="""\
example.yaml:9:67: stage 'result', step 1: sum does not take ORDER BY  [GE1840]
    - aggregate: {by: day, columns: {total: sum(amount ORDER BY id)}}
                                                                ^^
Leave it out.""",
        fixed="- aggregate: {by: day, columns: {total: sum(amount)}}",
    ),
)
