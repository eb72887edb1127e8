"""The language as a page: `python -m gpuetl.spec.document_language docs/language.md` writes it from the steps' keys."""

from __future__ import annotations

import json
import sys
from dataclasses import MISSING, Field
from inspect import cleandoc
from pathlib import Path
from typing import Any

from gpuetl.formats.registry import format_named, sink_formats, source_formats
from gpuetl.spec.document_storage import storage_markdown
from gpuetl.spec.expect.rules import RULES, Rule
from gpuetl.spec.fields import form_of, keys_of
from gpuetl.spec.format_keys import Entry, formats_of, options_of
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.steps import STEPS
from gpuetl.spec.steps.step import Step
from gpuetl.types.data_types import NAMED

HEAD = f"""\
# The language

A pipeline is one YAML file, or the same calls in Python: `Pipeline.to_yaml()` and `gpuetl.load()` go from one to
the other.  This page is written from the tables that read the language; [functions.md](functions.md) has the
functions.

    gpuetl: 1                        the version of the language
    name: daily
    description: …
    params:                          typed, bound as values and never as text: $run_date in expressions
      run_date:   {{type: date, required: true}}
      min_amount: {{type: float64, default: 0.5}}
    sources:                         where rows come from
      txns: {{parquet: "${{env.LAKE:-data}}/txns/day=${{params.run_date}}/*.parquet"}}
    stages:                          named sequences of steps; a stage begins with a source or another stage
      clean:
        from: txns
        steps:
          - filter: amount >= $min_amount
    sinks:                           where rows go: all are written, or none changes
      out: {{from: clean, parquet: out/clean, mode: overwrite}}
    tests:                           rows given for sources, rows expected of stages: gpuetl test FILE
      - name: small amounts are left out
        params: {{run_date: 2026-11-01}}
        given: {{txns: [{{txn_id: 1, amount: 10.0}}, {{txn_id: 2, amount: 0.1}}]}}
        expect: {{clean: [{{txn_id: 1}}]}}

`${{params.x}}`, `${{env.X:-default}}` and `${{run.id}}` stand in paths; in expressions write `$x` and `run_id()`.
`$x` also stands for any constant: `limit: $n`, `range: {{amount: [$least, null]}}`, `delimiter: $mark`.  It is a value
of the parameter's type, and is checked as a written one is.  Write `$$x` for the string `$x`.  A parameter may be a
list, struct or map: [projects.md](projects.md#parameters).
Relative paths, of data, kernels and sinks
alike, begin at the folder of the file that has them.  `include`, `defaults` and `profiles` are for pipelines of several
files and places: [projects.md](projects.md).  Paths such as `s3://bucket/key` are in object stores: see
[Storage](#storage).  YAML is read by its 1.2 core rules: `NO` is a string; anchors, merge
keys, tags and duplicate keys are refused.

## Types

{", ".join(f"`{name}`" for name in NAMED if name != "boolean")}, `decimal(p,s)` to 38 digits,
`timestamp[Zone]` such as `timestamp[Europe/Berlin]`, `binary(n)`, `list<T>`, `struct<a: T, b: U>`, `map<K, V>`.  Times
are in microseconds.  A naive and a zoned timestamp are different types.  SQL's names are taken too, in either case,
and mean the same in a schema, a parameter and a CAST: `int` is int32, `bigint` int64, `double` float64, `text` string,
`decimal` decimal(18,3), `decimal(p)` decimal(p,0), `timestamptz` timestamp[UTC].  Dictionary columns of a file are read
as their values.  A schema is known before a row is read.

A struct has named fields: `s.a` is one, also of a struct in a struct, `s.a.b`.  A name that is not a word stands in
double quotes, in a type as in an expression: `struct<"first name": string>`, `s."first name"`.
`struct_pack(a := x)` or `struct(x AS a)` makes a struct.  An unnest step puts its fields in columns in the place of the
struct, and `select: [id, s.*]` in the order of the list.  `x[1]` is the first element of a list, and `m['key']` the
value of a map's key.  An explode step gives each element of a list a row, and each entry of a map, with its `key` and
its `value`.  Structs, lists and maps are not compared: they cannot be keys, and most functions take their parts only.

`binary` holds bytes, `binary(n)` n bytes, and `uuid` is `binary(16)`.  They compare by their bytes, also as keys.
`time` is a time of day.  `timestamp_ns` counts nanoseconds: a schema that names it keeps them, and a CAST to
`timestamp` is exact or an error.  Files may have other types, such as intervals and decimals of more than 38 digits:
these columns only pass.

## Rules

- Null is not NaN.  Logic is three-valued; a filter keeps the rows where its predicate is true, and null is not.
- A comparison with a written null, `x = NULL` or `x IN (NULL)`, is an error: write `x IS NULL`.  So is `NOT IN` with a
  null in its list.  A filter that is false or null for every row is a warning.
- Integer arithmetic is done in int64, that of decimals exactly; what leaves the type is an error that names the
  column, the row and the values.  `/` is float64; `//` and `%` truncate toward zero, and are null where the divisor
  is 0.
- A cast is exact or an error; TRY_CAST gives null instead.  What it reads from strings is below.
- NaN is the greatest value: in order, in min and max, in quantiles.  NaN equals NaN and -0.0 equals 0.0 in keys,
  and in keys only.
- Null is a group of its own; as a join key it matches nothing, unless `nulls_equal: true`.
- The sum of nothing is null, a count is 0.  Variances have ddof 1.  Quantiles are exact and linear.
- The mean of integers or decimals is the float64 nearest to their exact sum divided by their count: of 0.05 and 0.07 it
  is 0.06.  The mean of durations is a duration, rounded half to even to the microsecond.
- Sorts are stable, nulls come last unless `nulls first`, strings compare by their UTF-8 bytes.
- The report notes an order in which rows tie: results that depend on it may differ from engine to engine.
- A window's frame is the current row and those before it; what accumulates skips nulls, and is null where x is.

## Numbers in expressions

`0.06 + 0.01` is exactly 0.07.  A number that you write has the digits that you write, up to 38, and arithmetic of such
numbers is exact.  The column next to it decides its type:

| next to | a number is | example |
|---|---|---|
| a decimal | a decimal of just its digits | `p BETWEEN 0.06 - 0.01 AND 0.06 + 0.01` |
| an integer: comparison, `//`, `%` | an integer, or a decimal if it has a fraction | `i < 1.5 + 1.5` is `i < 3` |
| an integer: `+`, `-`, `*` | an integer, or a float64 if it has a point | `i * 0.5` is a float64 |
| a float64 | the nearest float64 | `f < 0.1 + 0.2` is `f < 0.3` |
| a float32: comparison | the nearest float32 | `f32 = 2.675` |
| a float32: arithmetic | the nearest float64 | `f32 * 2.5` is a float64 |
| nothing else | an int64, or a float64 if it has a point | `x: 0.1 + 0.2` is the float64 0.3 |

- For decimals of integers write `CAST(i AS decimal(19,0)) * 0.5`.
- `f32 = 2.675` is true for rows that were read from 2.675.  Next to a float64 as well, all of them are float64.
- `p * (1 / 4)` is a decimal, since 0.25 ends within 38 digits.  `p * (1 / 3)` is a float64.
- `round`, `floor`, `ceil`, `trunc`, `abs`, `sign`, `least` and `greatest` of numbers are exact: `round(2.675, 2)` is
  2.68.
- `p * CASE WHEN reduced THEN 0.07 ELSE 0.19 END` is a decimal.  It is one for CASE and coalesce if all their values are
  numbers.
- An integer beyond int64 is a decimal.  Of more than 38 digits, an integer is an error, a number with a point the
  nearest float64.
- Parameters and casts have the type that they name: `p * CAST(0.19 AS float64)` is a float64.
- A plain number of the file, such as `fill_null: {{p: 0.12345678901234567891}}`, keeps all of its digits.
- A Python float is the shortest decimal that reads back as it: `col("p") * 1.19` is exact.  `Decimal("1.10")` is a
  decimal(3,2).
- Decimals of any scales compare exactly: `sum(x) > sum(x) * 0.0001`.  `coalesce` and its like need one type of 38
  digits for all values; without one, the pipeline is refused.
- `round` of a float32 gives the float32 nearest to the exactly rounded value.  The float32 of 2.675 is 2.67499995…, so
  `round(f32, 2)` is 2.67.

## Casts of strings

CAST reads the same strings on every engine.  Any other string is an error, and null in TRY_CAST: digits other than
0 to 9, other bases, separators, spaces, the empty string.  Values of CSV files are read by the same rules, but spaces
and tabs around them do not count.

| type | strings, as a regular expression | |
|---|---|---|
| integers | `[-+]?[0-9]+` | what the type holds; `-0` is 0 |
| floats | `[-+]?([0-9]+\\.?[0-9]*\\|\\.[0-9]+)([eE][-+]?[0-9]+)?` | the nearest; beyond the type is an error |
| | `[-+]?(inf\\|infinity\\|nan)`, in either case | |
| decimals | as the numbers of floats | exact: what needs more digits is an error |
| bool | `true\\|false\\|1\\|0`, in either case | |
| date | `[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}` | a day of the calendar |
| timestamp | date `([ T][0-9]{{2}}(:[0-9]{{2}}(:[0-9]{{2}}(\\.[0-9]{{1,6}})?)?)?)?` | to 23:59:59.999999 |
| timestamp[Zone] | timestamp with hours `(Z\\|[-+][0-9]{{2}}(:?[0-9]{{2}})?)` | the offset to UTC, hours to 23 |

## Kernels

A kernel step runs a CUDA kernel of yours.  The form of a kernel in a file is:

    extern "C" __global__ void entry(const T* input…, U* output…, args by value…, long long n_rows)

One thread computes one row.  `T` and `U` are the types of the columns.  The kernel must write every row of its outputs.

- A kernel over groups (`kind: groups`, or `by`) gets rows sorted by group and order.  It has two more parameters before
  `n_rows`: `const int* offsets, int n_groups`.  `offsets[g]` is the first row of group g, and `offsets[n_groups]` is
  the number of rows.
- `nulls: propagate` passes only rows whose inputs are all valid; the other rows get null.  `nulls: forbid` makes a null
  an error.  `nulls: masks` adds the validity words of each array after that array.
- The grid has a thread for each row, or a block for each group.  `block` is the number of threads in a block.
- The twin is a NumPy function that computes the same.  It takes the inputs as arrays in the same order: offsets first,
  and masks as booleans after each array.  It takes args by keyword, and returns a dict of arrays.

`#include "own.cuh"` reads a header next to the file that includes it, or next to the kernel's file.  gpuetl reads
headers together with the kernel when it plans the pipeline, and sends them to workers.  A missing header is an error,
even where `#if` leaves it out.  Write `#include <cuda_fp16.h>` for headers of the CUDA toolkit.

**Elementwise kernels.**  You write only the statements for one row.  gpuetl generates the kernel around them, which
reads and writes rows and nulls:

    - kernel: {{body: y = x * scale;, inputs: x, outputs: {{y: float64}}, args: {{scale: 2.0}}, reference: k.py:scaled}}

Inputs, outputs and args are variables of these names.  Outputs start as 0, and `return` ends the row.  With `masks` the
booleans `x_valid` and `y_valid` exist as well.  An output is valid unless you set its own to false.

**Reductions.**  A `reduction` gives one row per group, as `aggregate` does: the columns `by` and one output.

    - kernel: {{map: x * x, reduce: a + b, identity: 0, post: sqrt(a), inputs: x, outputs: {{norm: float64}}, by: k,
               reference: k.py:norm}}

| key | computes | can be left out |
|---|---|---|
| `map` | a value of the output's type from a row's inputs | with one input |
| `reduce` | one value from two, `a` and `b`, in any order and grouping | |
| `identity` | the value that changes no other | |
| `post` | the result from the last value, `a` | yes |

`map` and `post` can use args.  Rows with a null input do not count, and a group without any other row gets null.  The
twin takes `offsets` first: the start of each group, then the number of rows.  It returns one value per group.  No group
is empty, but there may be no group.

**Scans.**  A `scan` adds to each row the result over the rows of its group up to that row, in the order of `order_by`.
Its code consists of statements, as in `body`:

    - kernel: {{state: {{total: float64, n: int64}}, identity: total = 0; n = 0;, map: total = x; n = 1;,
               combine: total = a.total + b.total; n = a.n + b.n;, post: mean = total / n;, inputs: x,
               outputs: {{mean: float64}}, by: k, order_by: t, reference: k.py:running_mean}}

| key | sets | can be left out |
|---|---|---|
| `state` | the fields of the state and their types | yes: the outputs are the fields |
| `identity` | a state that changes no other; fields start as this in `map` and `combine` | |
| `map` | the state of one row, from its inputs | with one input and one field |
| `combine` | the state of earlier rows, `a`, and later rows, `b`; grouping varies, order does not | |
| `post` | the outputs of a row, from its state | without `state` |

All code can use args, which are constants.  Rows with a null input get null and change no state.  With `masks`, `map`
can read `x_valid`, and `post` can set `mean_valid`.  The twin takes what the twin of a kernel over groups takes.  It
can scan whole arrays without a loop over rows:

    from gpuetl.kernels.scan import scan_groups

    def running_mean(offsets, x):
        def combine(a, b):
            return a[0] + b[0], a[1] + b[1]

        total, n = scan_groups(offsets, combine, x, np.ones(len(x), np.int64))
        return {{"mean": total / n}}

A sum of n floats is within 4·n·ε·Σ|x| of the exact sum on every engine.  Each engine gives the same bits in every run.

**Check and build.**  `gpuetl kernel check` compares every kernel with its twin on a GPU.  `gpuetl kernel build`
compiles kernels before a run, without a GPU: docs/kernels.md.

**Faults.**  A kernel that writes a little outside of its outputs may go unnoticed: the GPU only detects accesses to
memory that is not allocated.  To find such writes, run with guard values before and after each output:

    gpuetl run FILE --sanitize

The error names the kernel.  The check costs time, and memory for one more copy of the outputs.  An access to memory
that is not allocated stops the GPU.  The run ends with the kernel's name, and no sink changes.  `--kernel-timeout 60`
ends a run whose kernel takes longer than 60 seconds.  Without it such a run lasts until you press Ctrl-C.  In Python
write `RunOptions(sanitize=True, kernel_timeout_s=60)`.  After a fault or a timeout the process cannot use the GPU any
more: start Python again.  A worker of a cluster starts again by itself.
"""

SOURCES = """\
## Sources

A source is a file, a glob, or a folder with its subfolders:

    txns:    {parquet: data/txns.parquet}
    orders:  {parquet: lake/orders, partitions: {year: int32, month: int32}}
    returns: {csv: lake/returns/*.csv, delimiter: ";", nulls: ["", NA], schema: {id: int64, paid: "decimal(12,2)"}}

**Which files.**  Of a folder gpuetl reads the files whose names end in `.parquet` or `.csv`.  Other files that look
like data are counted in a warning.  A glob reads exactly the files that it matches.  `*` and folders leave out names
that begin with `.` or `_`.  To read such files, write the path out (`lake/_x.csv`), or begin that part of the glob
with the character (`lake/_*.csv`).  Links to files are read.  Links to folders are followed where the path names
them, as `lake/*/a.csv` does, but not below a folder or by `**`: a link that leads elsewhere is a warning (GE1725),
and so is a file that a source reads by two paths (GE1726).  Paths are local: a scheme
other than `file://`, such as `s3://…`, is an error (GE1409).

**What gpuetl checks of files.**  The plan notes the size, modification time and inode of each file.  They are
compared whenever the file is opened, on workers too, and once more after it was read.  A file that was replaced,
changed, moved or deleted meanwhile ends the run with its name (GE1420), and no sink changes.  Files that are added
during a run are not read.  A change that keeps size, time and inode is not noticed.  Workers on other machines compare
size and time.  A folder that cannot be listed (GE1422), a pipe, a device, and a link that leads nowhere (GE1421) are
errors.  So is a sink that reaches a file of a source, through a link or a mount, too (GE1502).

**Partitions.**  Folders such as `year=2024/month=3` are columns where `partitions` declares them.  gpuetl does not
read files that a filter on these columns rules out.  A folder whose value is not of the declared type is an error.
If files have a column of the same name, the folder's value counts.

**All columns but some, and the path.**  `exclude: [payload]` reads all columns but these, whatever their type.
`filename: file` adds a string column with the path of each file.  Files that a filter on it rules out are not read.

    events: {parquet: lake/events, exclude: [payload], filename: file}

[Formats](formats.md) has the other formats: JSON lines, ORC, Arrow IPC, Avro and workbooks.

**Columns of Parquet files.**  The first file defines the columns.  To choose them yourself, name them in `columns`,
or add a `schema`, whose types the files' types must widen to.  A type that gpuetl does not support (such as structs,
binary, or a time of day) is an error unless the column is left out.  So is a value that does not fit: nanoseconds
that are not whole microseconds, or text that is not UTF-8.

**Damaged Parquet files.**  gpuetl trusts nothing that a file declares.  A file whose metadata contradicts itself, or
that is encrypted, is an error with the file's name.  A column whose name is not UTF-8 is an error unless the source
names other `columns`.  Timestamps that are stored as INT96 are read exactly, also beyond the years 1677 to 2262.

    lake: {parquet: lake/events, verify_checksums: true}

`verify_checksums` compares each page with its checksum, if the file has checksums.  The run stops at a page that
differs.  By default checksums are not compared: many writers, Arrow and gpuetl among them, write none.

On a GPU, libcudf reads pages and does not check everything in them: it may give wrong values for a damaged page that
Arrow refuses.  `verify_pages: true` lets Arrow decode and check all pages of the source on the CPU, as the engine
`pandas` always does.  This takes longer; use it for files that you do not trust.

On a GPU, Arrow reads some columns on the CPU, because libcudf reads them wrongly or does not check them: INT96
timestamps, pages of several gzip members, delta encodings of other writers, and rare codecs.  The report names them.

**Columns of CSV files.**  A CSV source needs a `schema`, or `schema: infer`.  A file begins with a line of column
names, which are compared with their case.  [File formats](formats.md#csv) explains inference, compression, encodings
and other dialects.  Columns that the schema does not name are not read, also the nameless one that a delimiter at the
line's end makes.  A name of the schema that stands twice in a header is an error.  An empty file is an error; a header
alone is zero rows.  `nulls` are the strings that stand for null; the default is the empty string.  A quoted string is
never null.  Spaces and tabs around a value do not count, except in strings.  A field of spaces alone is not empty, and
not a number.  Empty lines are skipped, but are nulls in a file of one column.

**The text of CSV files.**  It is UTF-8, with or without a byte order mark, unless `encoding` says otherwise.  A line
ends with `\\n`, `\\r\\n` or `\\r`, and one file may mix them.  A NUL byte is a character like others.  A field that
begins with a quote ends with one, and may hold delimiters and line ends; a quote inside of it is written twice.  Text
after the closing quote makes a bad row.  In a field that does not begin with a quote, quotes are characters: `5" pipe`.

**Files whose columns differ.**  If a later file lacks a column, or has one that the first does not have, the run
stops.  That is before it reads a row, and the error names the file and the column:

| key | value | meaning |
|---|---|---|
| `extra_columns` | `error` | refuse a column that the schema, or else the first file, does not have |
| | `ignore` | leave such columns out |
| | `add` | read the columns of all files, in order of first appearance; a file without one has null there |
| `missing_columns` | `error` | refuse a file that lacks a column |
| | `null` | read null for the columns that a file lacks |

    lake: {parquet: lake/events, extra_columns: add}

Without the key `extra_columns`, extra columns are an error, unless the source has a `schema` or `columns`: then they
are left out, and a warning names those that the first file does not have either.  With `add`, types widen as in
expressions, and two types that do not meet are an error that names both files.  Added columns of CSV files are
strings.

**Bad rows of CSV files.**  A value is bad if CAST does not read it or if text follows its closing quote.  A row is bad
if it has too few or too many fields:

    txns: {csv: in/*.csv, schema: {id: int64, amount: "decimal(12,2)"}, on_bad_row: quarantine}

| on_bad_row | bad value | too few fields | too many fields |
|---|---|---|---|
| `fail` | the run stops, with file, line, column and value | the run stops | the run stops |
| `null` | null | the missing fields are null | the fields after the last column are left out |
| `quarantine` | the row goes to `txns.rejected` | the same | the same |

`null` counts what it changed in a warning, with the first lines.  `fail` and `null` look at the columns that the
pipeline uses, `quarantine` at all columns of the schema.  Stages and sinks read `txns.rejected` by that name, in
Python `table.rejected`; if nothing does, the pipeline is invalid.  Its columns:

| column | type | holds |
|---|---|---|
| `file` | string | the path of the file |
| `line` | int64 | the line, from 1, in which the row begins |
| `text` | string | the row as it is written; after 2,000 characters it is cut |
| `_rule` | string | what is wrong: `amount: '12,5' is not a valid decimal(12,2)`, or `5 fields, expected 4` |
| `_run` | string | the id of the run |

A quote that is not closed is always an error: where its row ends is not known.

**All keys.**
"""
EXPECTATIONS = """\
## Expectations

A stage says what it expects of its rows.  A run counts the rows that break each rule, and looks at the counts before a
sink changes:

    stages:
      clean:
        from: txns
        steps: [...]
        expect:
          - not_null: [txn_id, card_id]
          - unique: [txn_id]
          - in: {status: [OK, SETTLED]}
          - range: {amount: [0, null], day: ["2026-01-01", "2026-12-31"]}
          - matches: {country: '[A-Z]{2}'}
          - references: {merchant_id: merchants.merchant_id}
          - rows: {min: 1, max: 1000000000}
          - {name: plausible, that: amount < 1e6, on_fail: quarantine}
          - {name: known, that: mcc IS NOT NULL, on_fail: warn, max_fraction: 0.01}
    sinks:
      rejects: {from: clean.rejected, parquet: out/rejects, partition_by: [_rule], mode: append}

The same in Python, where `expect` ends a stage:

    clean = (
        txns.expect(not_null=["txn_id", "card_id"], unique="txn_id", rows=(1, None))
        .expect(in_={"status": ["OK", "SETTLED"]}, range={"amount": (0, None)}, on_fail="drop")
        .expect(name="plausible", that=col("amount") < 1e6, on_fail="quarantine")
        .stage("clean")
    )
    clean.rejected.write_parquet("rejects", "out/rejects", mode="append")

| on_fail | rows that break the rule | the run |
|---|---|---|
| `fail` | are shown, the first five | ends with exit code 4 (`ContractBroken`); no sink has changed |
| `warn` | stay | warns |
| `drop` | leave the stage | goes on |
| `quarantine` | leave the stage, for `<stage>.rejected` | goes on |

- A rule is broken where its condition is **false**.  Null is not false: it breaks `not_null` alone.  NaN is within no
  range.
- Every rule looks at all rows that the steps give, whatever the other rules do with them.
- To put rows in quarantine, and to fail where they are too many, write the rule twice, once with `max_fraction`.
- A list or map of columns is a rule for each of them, but for `unique`, whose columns are compared together.
- Every row of a value that repeats breaks `unique`.
- `matches` is a regular expression of the language that must match the whole text.
- Constants of `in` and `range` have the type of the column, and are written as a parameter's value is.
- `references` names a column of a stage or source, or of rows in quarantine.  Types meet as in a join.
- `rows` counts the rows that others read, after `drop` and `quarantine`.
- `max_fraction`, for `fail` and `warn`: a share of the rows up to this one passes.
- A rule's name is `not_null(txn_id)` and the like, unless `name` gives another; of several columns, `name(column)`.

`<stage>.rejected` has the stage's columns, `_rule`, the names of all rules that the row breaks, and `_run`, the run's
id.  Stages and sinks read it; one of them must.  A row that breaks a rule with `drop` and one with `quarantine` is in
quarantine.  The order that a sort gave to the other rows stays.

`partition_by: [_rule]` makes folders such as `_rule=plausible`.  gpuetl and DuckDB read them.  PyArrow leaves out names
that begin with `_`: call `pq.read_table("out/rejects", ignore_prefixes=["."])`.

All counts are in the summary, in the report (`run.report.checks`), and on its page.  A run that fails computes the rows
that it shows again, from the sources.  A run whose rules hold pays for the counts only.  `gpuetl verify` compares
`<stage>.rejected` as a stage, and enforces no rule.
"""
SINKS = """\
## Sinks

A path with a suffix is one file, for which all rows are gathered; a folder gets one file per partition.  With
`partition_by` rows go to folders such as `month=3`, and files leave these columns out: a source declares them as
`partitions`.  `sort_by` sorts the rows first.  `mode` says what happens if the target exists:

| mode | what happens |
|---|---|
| `error` | the run ends before it changes anything |
| `overwrite` | the new files replace all files that are there |
| `append` | the new files are added to the folder |
| `replace_partitions` | the folders of `partition_by` that get rows are replaced; the others stay |

Only files that gpuetl wrote are removed.  If a folder that is replaced holds others, hidden ones too, the run stops and
names them.  `keep_foreign: true` keeps them in place:

    daily: {from: clean, parquet: out/daily, mode: overwrite, keep_foreign: true}

All sinks of a run change together, also when the process is killed: docs/commits.md.

`on_empty` is what a sink does when it gets no rows:

    daily: {from: clean, parquet: out/daily, mode: overwrite, on_empty: error}

| on_empty | what happens to the target | what the run reports |
|---|---|---|
| `write` | becomes empty; `append` and `replace_partitions` change no rows | a warning |
| `keep` | stays as it is; the other sinks are written | a note |
| `error` | stays as it is, and so do all other sinks | an error, exit code 1 |

With `replace_partitions`, no rows change no folder, whatever `on_empty` says.

`run_key` makes `append` safe to repeat.  It names the parameters that identify a run:

    facts: {from: clean, parquet: out/facts, mode: append, run_key: [run_date]}

A second run with the same `run_date` replaces the files that the first one appended; other files stay.  Null is a value
too.  The names of the pipeline and of the sink are part of the key, so pipelines that append to one folder do not
replace each other's files.  The key is a digest in the files' names: `part-<key>-<run>-00000.parquet`.  Without
`run_key`, a run warns where the same pipeline has already appended files with the same parameters.
"""
TESTS = """\
## Tests

    tests:
      - name: small amounts are left out
        params: {run_date: 2026-11-01}
        given:
          txns:
            - {txn_id: 1, card_id: 7, ts: 2026-11-01T10:00:00, amount: 10.0}
            - {txn_id: 2, card_id: 7, amount: 0.1}
        expect:
          features: {columns: [card_id, spend], rows: [[7, 10.0]]}
          clean.rejected: []
      - name: a card may not be there twice
        given: {cards: [{card_id: 7}, {card_id: 7}]}
        expect_failure: many_to_one

`gpuetl test FILE` runs each test on its given rows in place of the sources.  It writes no sink.  It compares the rows
of the stages that the test expects, shows what differs, and ends with exit code 5 if a test fails:

    FAILED  small amounts are left out  (0.012 s)
            features: 2 rows expected, 2 found: 1 with another value in spend, 1 missing, 1 unexpected
                          card_id  spend
              expected    7        10.0
              actual      7        10.5
                                   ^^^^
              missing     8        1.0
              unexpected  9        1.0

`--test NAME` chooses tests by name or pattern (`--test 'late *'`), and `--engine` the engine.  `--junit FILE` writes
the results as JUnit XML for a CI system, and `--json` prints them as JSON.  `gpuetl validate` checks
names and values of the tests without a run.  In Python, `pipeline.test()` returns the report, and
`pipeline.add_test(name, given=…, expect=…)` declares a test.

| key | takes |
|---|---|
| name | what the test shows; no two tests have the same name |
| params | values of parameters; they come before those of the command line |
| given | rows of sources: a list of maps, `{columns: [a, b], rows: [[1, 2]]}`, `{csv: PATH}`, or `{parquet: PATH}` |
| expect | rows of stages, of sources, or of what they reject: the first two forms, with `ordered` and `tolerance` |
| expect_failure | words of the error with which the run must fail, such as a rule's name; instead of `expect` |

- A value is read in the type of its column, as a parameter is.  `2026-11-01` is a date, `2026-11-01T10:00:00Z` a
  timestamp with a zone, and `8 hours` a duration.  Decimals take their digits as written.
- A column that a given row leaves out is null.  A source without given rows has none.  The source's `filter` and
  `columns` apply to the given rows; its `partitions` are given as columns.
- The types of a source are those of its `schema`, or of its files.  Without either, they follow from the given values,
  and a note says so.  true and false are bool, whole numbers int64, numbers with a point float64.  Texts are date,
  timestamp or timestamp[UTC] if all values of a column are, else string.  Declare a `schema` for sources without files.
- Only the columns that a test names are compared.  `[]` expects no row.
- The order of rows counts where the stage is sorted, in the columns of the sort.  `ordered: true` compares row by row,
  `ordered: false` takes any order.
- Floats are equal within 1e-9 of their size, or 1e-12 of the largest value of their column (float32: 2^-22).
  `tolerance: 0.01` also allows a difference of 0.01.  NaN equals NaN; all other types compare exactly.
- A test computes the stages that it expects, and those that they read; with `expect_failure` it computes all.  It
  checks the rules (`expect`) of the stages that it computes.

`gpuetl test FILE --from-run STAGE --rows 20` writes a test from real rows, as a start.  It samples the sources, keeps
the rows that the stage needs, and prints them with at most 20 rows of the stage.  `--write` adds the test to the file.
"""


def language_markdown() -> str:
    """Return the page."""
    parts = [HEAD, SOURCES, _table(SourceSpec, {", ".join(source_formats()): "the path: a file, a glob, or a folder"})]
    parts += _options(SourceSpec)
    parts += ["## Steps\n", *(_step(verb, step) for verb, step in STEPS.items())]
    parts += [EXPECTATIONS, *(_rule(verb, rule) for verb, rule in RULES.items()), _common()]
    sink_path = "the path: a file where it has a suffix, else a folder"
    parts += [SINKS, _table(SinkSpec, {", ".join(sink_formats()): sink_path})]
    parts += _options(SinkSpec)
    return "\n".join([*parts, storage_markdown(), TESTS])


def _step(verb: str, step: type[Step]) -> str:
    return f"### {verb}\n\n{cleandoc(str(step.__doc__))}\n\n{_table(step, {})}"


def _rule(verb: str, rule: type[Rule]) -> str:
    """Return the line of a rule."""
    form = next(field.metadata["form"] for name, field in keys_of(rule).items() if name == verb)
    return f"- **{verb}** takes {form.what}: {cleandoc(str(rule.__doc__)).splitlines()[0]}"


def _common() -> str:
    """Return the keys that all rules have as a table."""
    return "\n" + _table(Rule, {})


def _table(cls: type[Any], given: dict[str, str]) -> str:
    """Return the keys as a table; `given` are those that no field declares."""
    rows = [f"| {name} | {what} | | |" for name, what in given.items()]
    rows += [
        f"| {name} | {form_of(field).what} | {_default(field)} | {field.metadata['doc']} |"
        for name, field in keys_of(cls).items()
    ]
    return "\n".join(["| key | takes | default | meaning |", "|---|---|---|---|", *rows, ""])


def _options(entry: Entry) -> list[str]:
    """Return a table of options for each format that has some."""
    parts = list[str]()
    kind = "sources" if entry is SourceSpec else "sinks"
    for name in formats_of(entry):
        keys = keys_of(options_of(entry, name))
        rows = [
            f"| {key} | {form_of(field).what} | {_default(field)} | {field.metadata['doc']} |"
            for key, field in keys.items()
        ]
        if rows:
            head = [f"Only {format_named(name).title} {kind} take these:\n", "| key | takes | default | meaning |"]
            parts.append("\n".join([*head, "|---|---|---|---|", *rows, ""]))
    return parts


def _default(field: Field[Any]) -> str:
    if field.default is MISSING:
        return "" if field.default_factory is MISSING else "none"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if field.default in ("", (), None):
        return "none"
    plain = form_of(field).write(field.default)
    return "none" if plain in (None, "") else f"`{json.dumps(plain) if isinstance(plain, list) else plain}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(language_markdown(), encoding="utf-8")
