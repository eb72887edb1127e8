"""Gaps of time series that are filled."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1851",
        title="there is no such grid",
        cause="A fill_gaps step has a column, an interval, bounds and an origin whose types do not go together: an interval "
        "beside a column of numbers, parts of days beside dates, or a column of floats, whose sums are rounded.",
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
)
