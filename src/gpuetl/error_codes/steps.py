"""Steps."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1201",
        title="join keys do not fit",
        cause="A join has no keys, a key has another type on the other side, or two left columns have the same right "
        "column.  A cross join takes no keys.",
        fix="Name the keys with on.  Cast a key in a step before if the types differ.",
        example="- join: {with: sales, on: {id: day}, suffix: _other}",
        message="""\
example.yaml:9:34: stage 'result', step 1: cannot join 'id' (int64) with 'day' (date)  [GE1201]
    - join: {with: sales, on: {id: day}, suffix: _other}
                               ^^
Cast one of them first.""",
        fixed="- join: {with: sales, on: id, suffix: _other}",
    ),
    ErrorPage(
        code="GE1202",
        title="nothing for validate to check in a join",
        cause="Joins of the kinds semi, anti and cross cannot repeat rows by a key, so validate has nothing to check.",
        fix="Remove validate, or choose another kind of join.",
        example="- join: {with: sales, on: id, how: semi, validate: many_to_one}",
        message="""\
example.yaml:9:22: stage 'result', step 1: how: semi gives a left row at most once, whatever repeats: there is nothing to validate  [GE1202]
    - join: {with: sales, on: id, how: semi, validate: many_to_one}
                   ^^^^^
Leave validate out.""",
        fixed="- join: {with: sales, on: id, how: semi}",
    ),
    ErrorPage(
        code="GE1203",
        title="columns of a union, intersect or except differ",
        cause="One input lacks a column that another input has, or a column has two types that do not fit.",
        fix="Set missing: null to fill such columns with null, drop them from the others, or cast them to one type.",
        example="""\
- drop: day
- union: sales""",
        message="""\
example.yaml:10:16: stage 'result', step 2: the rows before the union lack day  [GE1203]
    - union: sales
             ^^^^^
Set missing: null to fill them with null, or drop them from the others.""",
        fixed="""\
- drop: day
- union: {with: sales, missing: null}""",
    ),
    ErrorPage(
        code="GE1204",
        title="window needs order_by",
        cause="A window function needs to know the order of the rows in a group.  A window over an interval needs an "
        "order_by that begins with an ascending date or timestamp.",
        fix="Add order_by with the columns that order the rows.",
        example="- window: {by: day, columns: {place: row_number()}}",
        message="""\
example.yaml:9:37: stage 'result', step 1: row_number needs order_by  [GE1204]
    - window: {by: day, columns: {place: row_number()}}
                                  ^^^^^
Add order_by: the columns that order a group's rows.""",
        fixed="- window: {by: day, order_by: id, columns: {place: row_number()}}",
    ),
    ErrorPage(
        code="GE1205",
        title="order_by of an aggregate is missing or has no use",
        cause="first and last depend on the order of the rows, so an aggregate with one of them needs order_by.  So does "
        "array_agg of structs, lists and maps, which have no order of their own.  Without first, last, array_agg and "
        "string_agg, order_by has no effect there and is refused.  A window step that has only aggregates, which are over the "
        "whole group, refuses it too.",
        fix="Add order_by, or an order of the call: first(x ORDER BY ts).  To order the result, add a sort step after the "
        "aggregate.  For the rows so far, write cum_sum in a window step.",
        example="- aggregate: {by: day, columns: {opening: first(amount)}}",
        message="""\
example.yaml:9:40: stage 'result', step 1: first needs order_by  [GE1205]
    - aggregate: {by: day, columns: {opening: first(amount)}}
                                     ^^^^^^^
Add order_by: the columns that order a group's rows.""",
        fixed="- aggregate: {by: day, order_by: id, columns: {opening: first(amount)}}",
    ),
    ErrorPage(
        code="GE1206",
        title="column neither grouped nor aggregated",
        cause="An output of an aggregate step uses a column that may have several values in one group.",
        fix="Put the column into an aggregate function such as max, or add it to by.",
        example="- aggregate: {by: day, columns: {amount: amount}}",
        message="""\
example.yaml:9:48: stage 'result', step 1: column 'amount' has many values in a group  [GE1206]
    - aggregate: {by: day, columns: {amount: amount}}
                                             ^^^^^^
Aggregate it, as in max(amount), or add it to by.""",
        fixed="- aggregate: {by: day, columns: {amount: max(amount)}}",
    ),
    ErrorPage(
        code="GE1207",
        title="no column left",
        cause="A drop step removes every column of its input.",
        fix="Keep at least one column.",
        example="- drop: [id, amount, day]",
        message="""\
example.yaml:9:16: stage 'result', step 1: drop leaves no column  [GE1207]
    - drop: [id, amount, day]
             ^^
Keep at least one.""",
        fixed="- drop: [id, amount]",
    ),
    ErrorPage(
        code="GE1208",
        title="keys of distinct do not fit together",
        cause="keep: first needs order_by to say which row is first, and order_by needs keep: first.  Both need on.",
        fix="Give on, keep: first and order_by together, or leave out keep and order_by.",
        example="- distinct: {on: day, keep: first}",
        message="""\
example.yaml:9:24: stage 'result', step 1: distinct with keep: first needs order_by, and order_by needs keep: first  [GE1208]
    - distinct: {on: day, keep: first}
                     ^^^
Add order_by: the columns that order a key's rows.""",
        fixed="- distinct: {on: day, keep: first, order_by: id}",
    ),
    ErrorPage(
        code="GE1209",
        title="size of a sample",
        cause="A sample step takes either a fraction or a number of rows.  It has both, or neither.",
        fix="Give one of fraction and rows.",
        example="- sample: {fraction: 0.5, rows: 2}",
        message="""\
example.yaml:9:9: stage 'result', step 1: sample takes either fraction or rows  [GE1209]
    - sample: {fraction: 0.5, rows: 2}
      ^^^^^^
Write sample: {fraction: 0.1}, or sample: {rows: 1000}.""",
        fixed="- sample: {rows: 2}",
    ),
    ErrorPage(
        code="GE1210",
        title="explode needs a list or map column",
        cause="An explode step names a column that is not a list or a map, or has a prefix for a list.",
        fix="Name a list column.  split makes a list of strings from a string.",
        example="- explode: day",
        message="""\
example.yaml:9:18: stage 'result', step 1: explode takes a list or a map, and 'day' is date  [GE1210]
    - explode: day
               ^^^
split(text, ',') makes a list of strings.""",
        fixed="""\
- with_columns: {part: "split(CAST(day AS string), '-')"}
- explode: part""",
    ),
    ErrorPage(
        code="GE1211",
        title="unnest and .* need a struct",
        cause="An unnest step names a column that is not a struct, or a select has `.*` behind one.",
        fix="Name a struct column.  An explode step gives each element of a list a row.",
        example="- unnest: day",
        message="""\
example.yaml:9:17: stage 'result', step 1: unnest takes a struct, and 'day' is date  [GE1211]
    - unnest: day
              ^^^""",
        fixed="""\
- with_columns: {place: "struct_pack(id := id, day := day)"}
- unnest: {column: place, prefix: place_}""",
    ),
)
