"""As-of joins."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1800",
        title="an as-of join of this kind does not exist",
        cause="A join with asof is inner or left, and each left row has one right row at most.  So validate can check that "
        "the right side has each key and time once, and nothing else.",
        fix="Choose how: inner or how: left.  Rows without a match have null in the right columns of a left join.  Set "
        "validate: many_to_one, or remove it.",
        example="- join: {with: sales, how: full, asof: day, suffix: _before}",
        message="""\
example.yaml:9:46: stage 'result', step 1: an as-of join is inner or left, not full  [GE1800]
    - join: {with: sales, how: full, asof: day, suffix: _before}
                                           ^^^
Choose how: left, and filter its rows: those without a match have null in the right columns.""",
        fixed="- join: {with: sales, how: left, asof: day, suffix: _before}",
    ),
    ErrorPage(
        code="GE1801",
        title="columns of an as-of join do not compare",
        cause="asof names a column without distances, such as a string, or two columns of different types.",
        fix="Name columns of timestamps, dates, times, durations or numbers.  Cast one in a step before if the types differ.",
        example="- join: {with: sales, asof: {left: day, right: id}, suffix: _before}",
        message="""\
example.yaml:9:42: stage 'result', step 1: asof: cannot compare 'day' (date) with 'id' (int64)  [GE1801]
    - join: {with: sales, asof: {left: day, right: id}, suffix: _before}
                                       ^^^
Cast one of them first.""",
        fixed="- join: {with: sales, asof: {left: day, right: day}, suffix: _before}",
    ),
    ErrorPage(
        code="GE1802",
        title="options of an as-of join do not fit",
        cause="The tolerance is not a distance of the column: times take an interval, dates one of whole days, and numbers "
        "a number.  Or asof has on, and left or right too.",
        fix="Write tolerance: 5 seconds, tolerance: 2 days, or a number.  Write on for a column of both sides, else left "
        "and right.",
        example="- join: {with: sales, asof: {on: day, tolerance: 5 hours}, suffix: _before}",
        message="""\
example.yaml:9:40: stage 'result', step 1: asof: tolerance interval '5 hours' does not suit 'day', which is date  [GE1802]
    - join: {with: sales, asof: {on: day, tolerance: 5 hours}, suffix: _before}
                                     ^^^
Write an interval of whole days, such as 1 day.""",
        fixed="- join: {with: sales, asof: {on: day, tolerance: 5 days}, suffix: _before}",
    ),
)
