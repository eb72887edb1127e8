"""The sections of the language's page on types, nulls, numbers and casts."""

from gpuetl.spec.language_page.example import Example, Given, Run, shown
from gpuetl.spec.language_page.options_table import table
from gpuetl.types.data_types import NAMED

HOLDS = {
    "bool": "true or false",
    "int8": "whole numbers from -128 to 127",
    "int16": "whole numbers from -32,768 to 32,767",
    "int32": "whole numbers of 32 bits",
    "int64": "whole numbers of 64 bits",
    "uint8": "whole numbers from 0 to 255",
    "uint16": "whole numbers from 0 to 65,535",
    "uint32": "whole numbers of 32 bits, from 0",
    "uint64": "whole numbers of 64 bits, from 0",
    "float32": "floating-point numbers of 32 bits",
    "float64": "floating-point numbers of 64 bits",
    "string": "text in UTF-8",
    "date": "a day",
    "timestamp": "a day and a time, in microseconds, without a time zone",
    "duration": "a length of time, in microseconds",
    "timestamp_ns": "as timestamp, in nanoseconds",
    "time": "a time of day, in microseconds",
    "binary": "bytes",
    "uuid": "16 bytes: the same as `binary(16)`",
}
"""What a value of each named type is."""
PATTERNS = {
    "decimal(p,s)": "exact numbers of p digits, s of them after the point; p is at most 38",
    "timestamp[Zone]": "a point in time, shown in a time zone such as `timestamp[Europe/Berlin]`",
    "binary(n)": "n bytes",
    "list<T>": "any number of values of one type",
    "struct<a: T, b: U>": "named fields, each of its own type",
    "map<K, V>": "keys with their values",
}
TYPES_HEAD = """\
## Types

```yaml
sources:
  users:
    json: users.jsonl
    schema: {id: int64, born: date, address: "struct<city: string, zip: string>", tags: list<string>}
```

"""
TYPES_RULES = """\
SQL's names mean the same, in lower or upper case, in schemas, parameters and CAST:

| SQL | is |
|---|---|
| `int`, `bigint` | `int32`, `int64` |
| `double` | `float64` |
| `text`, `varchar(20)` | `string`; the number of characters counts nothing |
| `blob`, `bytea` | `binary` |
| `decimal`, `decimal(p)` | `decimal(18,3)`, `decimal(p,0)` |
| `hugeint`, `int128` | `decimal(38,0)` |
| `timestamptz` | `timestamp[UTC]` |

- The types of all columns are known before a row is read.
- A timestamp with a zone and one without are different types.
- `timestamp_ns` keeps nanoseconds where a schema or a CAST names it. A CAST to `timestamp` is exact or an error.
- Constants of `timestamp_s` and `timestamp_ms` are a `timestamp`. Columns are a `timestamp` in the first place.
- `binary` and `uuid` compare by their bytes, also as keys. `CAST('\\xC3\\xA9t' AS binary)` has the three bytes C3, A9 and 74.
- A dictionary column of a file is read as its values.
- Files may have other types, such as intervals and decimals of more than 38 digits. gpuetl only passes such columns
  on.

Expressions take nested values apart:

| write | for |
|---|---|
| `s.a`, `s.a.b` | a field of a struct, and a field of a struct in it |
| `s."first name"`, `struct<"first name": string>` | a field whose name is not a word |
| `{'a': x}`, `struct_pack(a := x)`, `struct(x AS a)` | a new struct; in YAML, an expression with braces needs quotes |
| `(x, y)`, `row(x, y)` | a struct of values without names: its fields are `element1` and `element2`, as DuckDB gives to Arrow; `(x, y)[1]` is x, and CAST to another struct goes by place |
| `struct_update(s, a := x)`, `struct_insert(s, b := x)` | the struct with another value in a field, or with one more field |
| `x[1]`, `x[2:3]` | the first element of a list; the second and the third as a list |
| `x[1:9:2]`, `x[:-:-1]` | every second of the first nine elements; all elements from the last to the first |
| `[a, b, 3]` | a new list |
| `list_transform(x, lambda e: e + 1)` | the list of what a lambda gives of each element |
| `list_reduce(x, lambda total, e: total + e, 0)` | one value, made of the elements one after the other; on a GPU, all lists take a step at once, so a list of a million elements takes a million steps |
| `x || y` | the elements of two lists, one list after the other; null where one is null |
| `CAST(x AS FLOAT[3])` | a list of float32, whose length is checked: other lengths are an error, and null with TRY_CAST |
| `list_zip(x, y)` | structs of the elements in the same place: `list_zip([1, 2], ['a', 'b'])[2][1]` is 2 |
| `[e + 1 for e in x if e > 0]` | the same of those elements for which a condition holds |
| `m['key']` | the value of a map's key |
| `MAP {'a': 1, k: v}`, `map(keys, values)` | a new map |
| `CAST(s AS struct<a: int64>)`, `CAST(x AS list<string>)` | the same values with other types; fields meet by name, and a field that s lacks is null |
| `text[1]`, `text[2:3]`, `text[-3:]` | characters of a string, as elements of a list |
| `text -> '$.a.b'`, `text ->> 'a'` | a part of a string that is JSON: as JSON, and a string in it without quotes; the path may be a column |
| `json(text).a.b[0]`, `CAST(text AS json)['a']` | parts of what a call gives as JSON; elements count from 0, and from the end where negative |
| `CAST(x AS json)` | a string that has to be JSON, as it is; any other value as JSON |
| `json_set(text, '$.a.b', x)`, `json_merge_patch(text, other)` | JSON with a value at a path, or changed by other JSON |
| `from_json(text, 'STRUCT(a BIGINT, b VARCHAR[])')` | JSON as values of these types |
"""
TYPES_END = """\
The steps [unnest](#unnest) and [select](#select) make columns of a struct's fields. [explode](#explode) makes rows of
a list's elements, or of a map's entries. Most functions take only the parts of nested values
([GE1115](errors/GE1115.md)).

Lists, structs and maps are compared as in DuckDB: element by element, or field by field. Where one list begins another, the
shorter one is less. Inside of them null equals null and is the greatest value, and NaN equals NaN. A map is compared as the
list of its entries. So `l = [1, NULL]` and `s IN ({'a': 1}, {'a': 2})` are conditions, and nested columns are keys of
`aggregate`, `distinct`, `join`, `sort`, `window`, `intersect`, `except`, `sample`, `fill_gaps` and kernels over groups. Rules
such as `unique: [s]` take them. So do `min`, `max`, `first`, `last`, `min_by`, `max_by`, `mode`, `count(DISTINCT s)`, `hash` and
others. They are no names of a pivot, and no keys of an upsert.
"""
NESTED = Example(
    """\
- select:
    id: id
    city: address.city
    first: tags[1]
    euros: "prices['EUR']"
""",
    {
        "users": Given(
            {
                "id": "int64",
                "address": "struct<city: string, zip: string>",
                "tags": "list<string>",
                "prices": "map<string, float64>",
            },
            [(1, {"city": "Rome", "zip": "00184"}, ["gpu", "etl"], {"EUR": 1.5}), (2, None, [], {"USD": 2.0})],
        )
    },
)
RULES_HEAD = """\
## Rules

"""
DIVIDED = Example(
    '- with_columns: {sum: x + y, ratio: x / y, whole: x // y, large: x > 5, filled: "coalesce(x, 0)"}\n',
    {"numbers": Given({"x": "int64", "y": "int64"}, [(7, 2), (-7, 2), (7, 0), (None, 2)])},
)
RULES = """\
These rules hold on every engine.

| | rule |
|---|---|
| null in conditions | Logic has three values. A filter keeps rows for which its condition is true; null is not true. |
| comparison with NULL | `x = NULL` and `x IN (NULL)` are errors ([GE1108](errors/GE1108.md)). Write `x IS NULL`. The same holds for `NOT IN` with a null in its list. |
| null as a key | Nulls form one group. In a join a null key matches nothing, unless `nulls_equal: true`. |
| null in aggregates | The sum of no values is null, and their count is 0. |
| NaN | NaN is not null. It is the largest value in sorts, min, max and quantiles. |
| NaN and zeros as keys | In keys, and only there, NaN equals NaN and -0.0 equals 0.0. |
| integer arithmetic | It uses int64. A result that does not fit is an error with the column, the row and the values ([GE2001](errors/GE2001.md)). |
| decimal arithmetic | It is exact. A result that does not fit is an error. |
| division | `/` gives a float64. `//` and `%` truncate toward zero, and give null for a divisor of 0. |
| casts | A cast is exact or an error. TRY_CAST gives null instead. |
| mean | The mean of integers or decimals is the float64 nearest to the exact result: of 0.05 and 0.07 it is 0.06. |
| intervals | `INTERVAL '90 minutes'`, `'1h30m'`, `'2:30:00'` and `'1 year 2 months'` are intervals, with DuckDB's names of units: `m` is a minute, `mon` a month. Months follow the calendar: January 31 and one month is the last day of February. |
| mean of durations | It is a duration, rounded half to even to the microsecond. |
| variance, quantile | Variances have ddof 1. Quantiles are exact, with linear interpolation. |
| sort | Sorts are stable. Nulls come last, unless you write `nulls first`. Strings compare by their UTF-8 bytes. |
| ties | The report notes an order in which rows tie. Results that depend on it may differ between engines. |
| aggregates in a window step | They are over the whole group, also next to functions that need an order. In SQL, `sum(x) OVER (… ORDER BY …)` is the sum so far: write `cum_sum(x)`. |
| windows | `rolling_sum(x, 3)` is over the row and the 2 before it, `rolling_sum(x, rows => [-1, 1])` and `range => [-5, 5]` over frames with two ends. Frames over an interval, `rolling_sum(x, INTERVAL '1 hour')`, end at the row; `range` takes rows that tie. NULL is an end of the group. Cumulative functions skip nulls, and give null for a row whose value is null; with `nulls => 'carry'`, `cum_sum(x, nulls => 'carry')`, they repeat the result of the row before. |
"""
NUMBERS_HEAD = """\
## Numbers in expressions

"""
PRICES = Example(
    "- with_columns: {tax: p * 0.19, half: i * 0.5, sum: 0.1 + 0.2, is_tenth: f = 0.05 + 0.05}\n",
    {"prices": Given({"p": "decimal(6,2)", "i": "int64", "f": "float64"}, [("1.10", 3, 0.1), ("20.00", 4, 0.3)])},
)
NUMBERS = """\
`0.06 + 0.01` is exactly 0.07. A number keeps the digits that you write, up to 38, and arithmetic of such numbers is
exact. The column next to a number decides its type:

| next to | a number is | example |
|---|---|---|
| a decimal | a decimal of just its digits | `p BETWEEN 0.06 - 0.01 AND 0.06 + 0.01` |
| an integer: comparison, `//`, `%` | an integer, or a decimal if it has a fraction | `i < 1.5 + 1.5` is `i < 3` |
| an integer: `+`, `-`, `*` | an integer, or a float64 if it has a point | `i * 0.5` is a float64 |
| a float64 | the nearest float64 | `f < 0.1 + 0.2` is `f < 0.3` |
| a float32: comparison | the nearest float32 | `f32 = 2.675` |
| a float32: arithmetic | the nearest float64 | `f32 * 2.5` is a float64 |
| nothing else | an int64, or a float64 if it has a point | `x: 0.1 + 0.2` is the float64 0.3 |

| expression | result |
|---|---|
| `CAST(i AS decimal(19,0)) * 0.5` | a decimal, where `i * 0.5` is a float64 |
| `p * CAST(0.19 AS float64)` | a float64: parameters and casts have the type that they name |
| `p * (1 / 4)`, `p * (1 / 3)` | a decimal, since 0.25 ends within 38 digits; a float64 |
| `p * CASE WHEN reduced THEN 0.07 ELSE 0.19 END` | a decimal; the same for `coalesce`, if all values are numbers |
| `round(2.675, 2)` | 2.68: `round`, `floor`, `ceil`, `trunc`, `abs`, `sign`, `least` and `greatest` of numbers are exact |
| `round(f32, 2)` | 2.67 for the float32 of 2.675, which is 2.67499995…: the nearest float32 to the exact rounding |
| `f32 = 2.675` | true for rows read from 2.675; next to a float64 as well, all are float64 |
| `sum(x) > sum(x) * 0.0001` | an exact comparison, whatever the scales of decimals |
| `fill_null: {p: 0.12345678901234567891}` | a plain number of the file keeps all its digits |

- An integer that int64 cannot hold is a decimal. An integer of more than 38 digits is an error
  ([GE1116](errors/GE1116.md)). A longer number with a point is the nearest float64.
- `coalesce` and similar functions need one type of 38 digits for all values. Without one, the pipeline is refused.
- In Python, a float is the shortest decimal that reads back as it: `col("p") * 1.19` is exact. `Decimal("1.10")` is a
  decimal(3,2).
"""
CASTS_HEAD = """\
## Casts of strings

"""
READ = Example(
    """\
- with_columns:
    int64: TRY_CAST(x AS int64)
    float64: TRY_CAST(x AS float64)
    decimal: TRY_CAST(x AS decimal(9,2))
    bool: TRY_CAST(x AS bool)
    date: TRY_CAST(x AS date)
""",
    {
        "strings": Given(
            {"x": "string"}, [("1",), ("1.5",), ("1e3",), ("0.001",), ("TRUE",), ("2026-11-01",), ("1,000",)]
        )
    },
)
CASTS = r"""
`CAST(x AS date)` reads the same strings on every engine. Any other string is an error ([GE2002](errors/GE2002.md)),
and null in TRY_CAST. Other strings are, for example, digits other than 0 to 9, other bases, separators and
the empty string. Spaces around numbers, dates and times do not count. CSV values follow the same rules, but gpuetl
ignores spaces and tabs around all of them.

| type | strings, as a regular expression | |
|---|---|---|
| integers | `[-+]?[0-9]+` | what the type holds; `-0` is 0 |
| floats | `[-+]?([0-9]+\.?[0-9]*\|\.[0-9]+)([eE][-+]?[0-9]+)?` | the nearest; beyond the type is an error |
| | `[-+]?(inf\|infinity\|nan)`, in either case | |
| decimals | the same numbers as floats | exact: a value that needs more digits is an error |
| bool | `true\|t\|yes\|y\|1`, `false\|f\|no\|n\|0`, in either case | |
| date | `[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`, or `/` or a space for both `-` | a day of the calendar |
| timestamp | date `([ T] *[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?)?` | digits after the sixth of a second must be 0; 24:00:00 is the next midnight |
| time | `[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?` | to 23:59:59.999999 |
| timestamp_ns | as timestamp; digits after the ninth must be 0 | from 1677-09-21 to 2262-04-11 |
| duration | amounts with units, `1 day 2 hours`, `1h30m`, `3 days ago`, a time at the end, `1 day 2:30:00`, or seconds, `47.21` | each to the microsecond; months have no fixed length |
| binary | ASCII, and any byte as `\xAA`; no other `\` | `encode(x)` has the UTF-8 of all strings |
| uuid | `6f9619ff-8b86-d011-b42d-00c04fc964ff`, in either case | |
| timestamp[Zone] | timestamp with hours `(Z\| ?UTC\|[-+][0-9]{2}(:?[0-9]{2})?)` | the offset to UTC, hours to 23 |

Lists, structs and maps are read from DuckDB's text of them:

| write | value |
|---|---|
| `CAST('[1, 2, NULL]' AS list<int32>)` | `[1, 2, NULL]` |
| `CAST('["a, b", c d, ""]' AS list<string>)` | `['a, b', 'c d', '']`: quotes keep commas, brackets and `NULL` |
| `CAST('{a: 1, b: [x]}' AS struct<a: int64, b: list<string>, c: int64>)` | `{'a': 1, 'b': ['x'], 'c': NULL}`: a name that the type lacks is an error |
| `CAST('{k=1, "a=b"=2}' AS map<string, int64>)` | `MAP {'k': 1, 'a=b': 2}`; TRY_CAST does not read maps |

A backslash in quotes takes the next character as it is. Text of more than 32 levels of brackets is not read. JSON text is
read by `from_json`.

A duration is written as DuckDB writes it, in days and a time: `2 days 03:04:05.25`, `-01:00:00`. A constant may have months:
`ts + CAST('3 months' AS interval)`.
"""


def types_markdown(run: Run) -> str:
    """Return the section on types."""
    named = {name: HOLDS[name] for name in NAMED if name != "boolean"}
    rows = [f"| `{name}` | {holds} |" for name, holds in {**named, **PATTERNS}.items()]
    parts = [TYPES_HEAD + table(("type", "holds"), rows), TYPES_RULES, shown(NESTED, run), TYPES_END]
    return "\n".join(parts)


def rules_markdown(run: Run) -> str:
    """Return the section on nulls, arithmetic and order."""
    return f"{RULES_HEAD}{shown(DIVIDED, run)}\n{RULES}"


def numbers_markdown(run: Run) -> str:
    """Return the section on numbers in expressions."""
    return f"{NUMBERS_HEAD}{shown(PRICES, run)}\n{NUMBERS}"


def casts_markdown(run: Run) -> str:
    """Return the section on casts of strings."""
    return f"{CASTS_HEAD}{shown(READ, run)}{CASTS}"
