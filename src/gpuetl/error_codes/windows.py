"""Frames of window functions."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1830",
        title="a frame has no such rows",
        cause="A frame has two ends: `rows => [-2, 2]` counts rows from the current one, and `range => [-5, 5]` compares the "
        "first key of order_by.  The first end is not after the last one, and one of them may be NULL for the end of the "
        "group.  `centered` is for a number of rows.",
        fix="Write both ends, the first one first.  For the whole group, write an aggregate.",
        example="- window: {order_by: id, columns: {near: 'rolling_sum(amount, rows => [2, -2])'}}",
        message="""\
example.yaml:9:49: stage 'result', step 1: rolling_sum takes rows whose first end is not after the last  [GE1830]
    - window: {order_by: id, columns: {near: 'rolling_sum(amount, rows => [2, -2])'}}
                                              ^^^^^^^^^^^
The first number is where the frame begins; rows before the current one are negative.""",
        fixed="- window: {order_by: id, columns: {near: 'rolling_sum(amount, rows => [-2, 2])'}}",
    ),
)
