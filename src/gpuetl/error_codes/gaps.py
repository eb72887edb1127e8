"""Gaps of time series that are filled."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1851",
        title="there is no such grid",
        cause="The column, the interval, the bounds and the origin of a fill_gaps step have types that do not fit.  Examples: an "
        "interval for a column of numbers, or parts of days for dates.  Floats have no exact grid, because sums are rounded.",
        fix="Write an interval for times and dates, and a number for integers and decimals.  Cast floats to a decimal.",
        example="- fill_gaps: {on: day, every: 6 hours}",
        message="""\
example.yaml:9:25: stage 'result', step 1: every is 6:00:00, and 'day' is date  [GE1851]
    - fill_gaps: {on: day, every: 6 hours}
                      ^^^
Write whole days, or cast it to timestamp.""",
        fixed="""\
- cast: {day: timestamp}
- fill_gaps: {on: day, every: 6 hours}""",
    ),
    ErrorPage(
        code="GE1852",
        title="breaks and labels make no bins",
        cause="`cut` takes breaks, a list of constants that ascend, and one label more than there are breaks.  Values below "
        "the first break and above the last one have bins, too.  `qcut` takes a number of bins, or shares from 0 to 1 that ascend.",
        fix="Put the breaks in order, and give each bin a label.",
        example='- with_columns: {size: "cut(amount, [10, 5])"}',
        message="""\
example.yaml:9:48: stage 'result', step 1: breaks of cut ascend, and 5 comes after 10  [GE1852]
    - with_columns: {size: "cut(amount, [10, 5])"}
                                             ^
Put them in order.""",
        fixed='- with_columns: {size: "cut(amount, [5, 10])"}',
    ),
)
