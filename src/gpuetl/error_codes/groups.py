"""Groups, pivots and orders by expressions."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1820",
        title="a key reads no column",
        cause="A key of a sort or of a window is an expression without a column, such as the place of a column in SQL's ORDER BY 1.  All rows "
        "would be equal in it.",
        fix="Name the column, or write an expression of columns.",
        example="- sort: 1 desc",
        message="""\
example.yaml:9:15: stage 'result', step 1: a key reads a column, and 1 reads none  [GE1820]
    - sort: 1 desc
            ^^^^^^
Name a column: SQL's places of columns, as in ORDER BY 1, are not supported.""",
        fixed="- sort: id desc",
    ),
    ErrorPage(
        code="GE1821",
        title="grouping takes keys of the groups",
        cause="grouping(a, b) says by which keys of an aggregate step a row is not grouped.  An argument is not a key.",
        fix="Name keys of by, or names that by gives to expressions.",
        example="- aggregate: {by: day, group_sets: rollup, columns: {n: count(*), level: grouping(id)}}",
        message="""\
example.yaml:9:80: stage 'result', step 1: grouping(id): grouping takes keys of the groups  [GE1821]
    - aggregate: {by: day, group_sets: rollup, columns: {n: count(*), level: grouping(id)}}
                                                                             ^^^^^^^^
Keys: day.""",
        fixed="- aggregate: {by: day, group_sets: rollup, columns: {n: count(*), level: grouping(day)}}",
    ),
    ErrorPage(
        code="GE1822",
        title="sets of keys do not fit the keys",
        cause="group_sets needs by.  A set of keys has a name that is not in by, no set has some key of by, or there are "
        "more than 64 sets.",
        fix="Name keys of by in the sets, and each key in one set or more.",
        example="- aggregate: {by: day, group_sets: [[day], [month]], columns: {n: count(*)}}",
        message="""\
example.yaml:9:51: stage 'result', step 1: 'month' is not in by  [GE1822]
    - aggregate: {by: day, group_sets: [[day], [month]], columns: {n: count(*)}}
                                                ^^^^^
Keys: day.""",
        fixed="""\
- aggregate:
    by: [day, {month: "date_trunc('month', day)"}]
    group_sets: [[day], [month]]
    columns: {n: count(*)}""",
    ),
    ErrorPage(
        code="GE1823",
        title="columns of unpivot have no common type",
        cause="An unpivot step puts the values of several columns into one, and no type holds them all.",
        fix="Cast a column in a step before, or leave it out of columns.",
        example="- unpivot: [amount, day]",
        message="""\
example.yaml:9:27: stage 'result', step 1: 'day' is date, and columns before it are float64  [GE1823]
    - unpivot: [amount, day]
                        ^^^
Cast it in a step before, or leave it out.""",
        fixed="""\
- cast: {amount: string, day: string}
- unpivot: [amount, day]""",
    ),
    ErrorPage(
        code="GE1824",
        title="a pivot step does not fit its columns",
        cause="A value in columns is not of the type of the column in names, or is listed twice.  Or names is also in by, "
        "or an aggregate in values is a list, struct or map.",
        fix="List each value once, as the column holds it.  Replace nulls in a step before.",
        example="- pivot: {names: day, values: count(*), columns: [monday]}",
        message="""\
example.yaml:9:57: stage 'result', step 1: 'monday' is not a valid date  [GE1824]
    - pivot: {names: day, values: count(*), columns: [monday]}
                                                      ^^^^^^
'day' is date.""",
        fixed="- pivot: {names: day, values: count(*), columns: [2026-01-01, 2026-01-02]}",
    ),
    ErrorPage(
        code="GE1825",
        title="a value has no column in a pivot",
        cause="A row has a value, or null, that columns of a pivot step does not list.  The row would be in no column.",
        fix="Add the value to columns.  With others: ignore such rows count for no column.",
        example="- pivot: {names: id, values: sum(amount), columns: [1, 2]}",
        message="""\
example.yaml:9:9: stage 'result', step 1: column 'id': id = 3 is not in columns of the pivot  [GE1825]
    - pivot: {names: id, values: sum(amount), columns: [1, 2]}
      ^^^^^
Add it to columns, or set others: ignore.""",
        fixed="- pivot: {names: id, values: sum(amount), columns: [1, 2], others: ignore}",
    ),
)
