"""The language as a page: `python -m gpuetl.spec.document_language docs/language.md` writes it from the steps' keys."""

from __future__ import annotations

import sys
from dataclasses import MISSING, Field
from inspect import cleandoc
from pathlib import Path
from typing import Any

from gpuetl.expressions.types import NAMED
from gpuetl.spec.fields import keys_of
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.steps import STEPS
from gpuetl.spec.steps.step import Step

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

`${{params.x}}`, `${{env.X:-default}}` and `${{run.id}}` stand in paths.  Relative paths, of data, kernels and sinks
alike, begin at the pipeline file's folder.  YAML is read by its 1.2 core rules: `NO` is a text; anchors, merge
keys, tags and duplicate keys are refused.

## Types

{", ".join(f"`{name}`" for name in NAMED if name != "boolean")}, `decimal(p,s)` to 38 digits,
`timestamp[Zone]` such as `timestamp[Europe/Berlin]`, `list<T>`.  Times are in microseconds.  A naive and a zoned
timestamp are different types.  SQL's names are taken too, in either case, and mean the same in a schema, a parameter
and a CAST: `int` is int32, `bigint` int64, `double` float64, `text` string, `decimal` decimal(18,3), `decimal(p)`
decimal(p,0), `timestamptz` timestamp[UTC].  Dictionary columns of a file are read as their values.  A schema is
known before a row is read.

## Rules

- Null is not NaN.  Logic is three-valued; a filter keeps the rows where its predicate is true, and null is not.
- Integer arithmetic is done in int64, that of decimals exactly; what leaves the type is an error that names the
  column, the row and the values.  `/` is float64; `//` and `%` truncate toward zero, and are null where the divisor
  is 0.
- A cast is exact or an error; TRY_CAST gives null in its place.  What it reads of a text is below.
- NaN is the greatest value: in order, in min and max, in quantiles.  NaN equals NaN and -0.0 equals 0.0 in keys,
  and in keys only.
- Null is a group of its own; as a join key it matches nothing, unless `nulls_equal: true`.
- The sum of nothing is null, a count is 0.  Variances have ddof 1.  Quantiles are exact and linear.
- The mean of integers or decimals is the float64 nearest to their exact sum divided by their count: of 0.05 and 0.07 it
  is 0.06.  The mean of durations is a duration, rounded half to even to the microsecond.
- Sorts are stable, nulls come last unless `nulls first`, texts compare by their UTF-8 bytes.
- An order that does not tell rows apart is noted in the report: what depends on it may differ from engine to
  engine.
- A window's frame is the current row and those before it; what accumulates skips nulls, and is null where x is.

## Casts of texts

What CAST reads is the same on every engine; any other text is an error, and null in TRY_CAST: other digits than 0 to 9,
other bases, separators, spaces, the empty text.  A CSV file's values are read so too, and there spaces and tabs around
them do not count.

| type | texts, as a regular expression | |
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

`extern "C" __global__ void entry(const T* input…, U* output…, args by value…, long long n_rows)`, one thread a row,
where `T` and `U` are the columns' types.  A kernel over groups (`kind: groups`, or `by`) gets rows sorted by group
and order, and `const int* offsets, int n_groups` before `n_rows`: `offsets[g]` is the first row of group g,
`offsets[n_groups]` the number of rows.  With `nulls: propagate` it sees only rows whose inputs are all valid, and
the others get null; `forbid` makes a null an error; with `masks` each array is followed by its validity words.  The
twin takes the inputs as NumPy arrays in the same order (offsets first; masks as truth values after each array),
args by keyword, and returns a dict of arrays.  The grid has a thread for each row, or a block for each group, which
also serves kernels of a thread a group; `block` is the threads of a block.  Outputs must be written in every row.

Of an `elementwise` kernel only the statements for one row are written; the kernel around them is generated, and reads
and writes rows and nulls.  Inputs, outputs and args have their names, outputs begin as 0, `return` ends the row:

    - kernel: {{body: y = x * scale;, inputs: x, outputs: {{y: float64}}, args: {{scale: 2.0}}, reference: k.py:scaled}}

With `masks` there are truth values `x_valid` and `y_valid` beside `x` and `y`; an output is valid unless its own is set
to false.  A `reduction` gives one row a group, as `aggregate` does, of the columns `by` and its one output:

    - kernel: {{map: x * x, reduce: a + b, identity: 0, post: sqrt(a), inputs: x, outputs: {{norm: float64}}, by: k,
               reference: k.py:norm}}

`map` makes a value of the output's type of a row's inputs (of one input it may be left out), `reduce` one of two such
values `a` and `b`, in any order and grouping, `identity` is what changes no value, and `post` makes the result of `a`.
Args reach `map` and `post`.  Rows with a null input do not count; a group without any other row gets null.  The twin
takes `offsets` first, where each group begins and the number of rows, and returns a value for each group; no group is
empty, but there may be none.

A `scan` adds to each row what the rows of its group up to it come to, in the order of `order_by`; its texts are
statements, as of `body`:

    - kernel: {{state: {{total: float64, n: int64}}, identity: total = 0; n = 0;, map: total = x; n = 1;,
               combine: total = a.total + b.total; n = a.n + b.n;, post: mean = total / n;, inputs: x,
               outputs: {{mean: float64}}, by: k, order_by: t, reference: k.py:running_mean}}

`state` has the fields of what rows come to: by default the outputs, which then need no `post`.  `map` sets them of a
row's inputs (of one input and one field it may be left out), `combine` of the state `a` of earlier rows and the state
`b` of the rows after them, in any grouping and never in another order, and `post` sets the outputs of the row's state.
`identity` sets what changes no state; in `map` and `combine` the fields begin as that.  Args are constants in all
texts.  Rows with a null input get null and change no state; with `masks`, `map` sees `x_valid` and `post` may set
`mean_valid`.  The twin gets what that of a kernel over groups gets, and may scan without a loop over rows, by a
function of whole arrays:

    from gpuetl.kernels.scan import scan_groups

    def running_mean(offsets, x):
        def combine(a, b):
            return a[0] + b[0], a[1] + b[1]

        total, n = scan_groups(offsets, combine, x, np.ones(len(x), np.int64))
        return {{"mean": total / n}}

A sum of n floats is within 4·n·ε·Σ|x| of the exact one on every engine, and each gives the same bits in every run.
`gpuetl kernel check` compares every kernel with its twin on a GPU.
"""

SOURCES = """\
## Sources

Of a folder all files are read, at any depth.  Parquet files state their columns, of which the first file's count; a
`schema` says which to read instead, with types that the files' fit into.  A CSV file states no types: it needs a
`schema`, begins with a line of column names, and may have others besides.  `nulls` are the texts that stand for null,
by default the empty one (write `nulls: ["", NA]` to add another); a quoted text is never null.

Folders such as `year=2024/month=3` are columns where `partitions` declares them, and files that a filter on them
rules out are not read:

    orders: {parquet: lake/orders, partitions: {year: int32, month: int32}}
    returns: {csv: lake/returns/*.csv, delimiter: ";", nulls: ["", NA], schema: {id: int64, paid: "decimal(12,2)"}}
"""
SINKS = """\
## Sinks

A path with a suffix is one file, which takes all rows into one place; a folder gets a file a partition.  With
`partition_by` rows go to folders such as `month=3`, and files leave these columns out: a source declares them as
`partitions`.  `sort_by` sorts the rows first.  Where the target exists, `error` ends the run before it changes
anything, `overwrite` puts the new files in the place of all that are there, `append` adds files to a folder, and
`replace_partitions` replaces those folders of `partition_by` that get rows, and leaves the others.  A folder that
also holds other files than the format's is not overwritten.
"""


def language_markdown() -> str:
    """Return the page."""
    parts = [HEAD, SOURCES, _table(SourceSpec, {"parquet, csv": "the path: a file, a glob, or a folder"})]
    parts += ["## Steps\n", *(_step(verb, step) for verb, step in STEPS.items())]
    parts += [SINKS, _table(SinkSpec, {"parquet, csv": "the path: a file where it has a suffix, else a folder"})]
    return "\n".join(parts)


def _step(verb: str, step: type[Step]) -> str:
    return f"### {verb}\n\n{cleandoc(str(step.__doc__))}\n\n{_table(step, {})}"


def _table(cls: type[Any], given: dict[str, str]) -> str:
    """Return the keys as a table; `given` are those that no field declares."""
    rows = [f"| {name} | {what} | |" for name, what in given.items()]
    rows += [f"| {name} | {field.metadata['form'].what} | {_default(field)} |" for name, field in keys_of(cls).items()]
    return "\n".join(["| key | takes | default |", "|---|---|---|", *rows, ""])


def _default(field: Field[Any]) -> str:
    if field.default is MISSING:
        return "" if field.default_factory is MISSING else "none"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    return "none" if field.default in ("", (), None) else f"`{field.default}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(language_markdown(), encoding="utf-8")
