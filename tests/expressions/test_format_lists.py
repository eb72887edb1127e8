"""strptime and try_strptime with a list of formats: the first one that a text has counts."""

from datetime import datetime

import pytest

from expressions.evaluation import typed, values
from gpuetl import InvalidExpression, col, expr
from gpuetl.errors import EvaluationError
from tables import table, write_source

TEXTS = ["31.12.2025", "2025-12-31", None, "01.02.03", "2025-12-31 10:30"]


def test_the_first_format_that_fits_counts(pipeline, check):
    """What fits no format is null, or an error of strptime."""
    t = write_source(pipeline, "t", table({"s": "string"}, *((text,) for text in TEXTS)))
    formats = ["%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d"]
    made = t.select(
        a=col("s").try_strptime(formats), b=expr("try_strptime(s, ['%y.%m.%d', '%d.%m.%y', '%Y-%m-%d %H:%M'])"),
        c=expr("strptime(s, ['%d.%m.%Y', '%Y-%m-%d', '%d.%m.%y', '%Y-%m-%d %H:%M'])"), d=expr("strptime('2025-01-01', ['%Y-%m-%d'])"),
    )  # fmt: skip
    day, first, again = datetime(2025, 12, 31), datetime(2003, 2, 1), datetime(2001, 2, 3)
    later, year = datetime(2025, 12, 31, 10, 30), datetime(2025, 1, 1)
    rows = [
        (day, None, day, year), (day, None, day, year), (None, None, None, year), (first, again, first, year),
        (None, later, later, year),
    ]  # fmt: skip
    check(made, table(dict.fromkeys("abcd", "timestamp"), *rows))


def test_what_fits_no_format_is_an_error():
    with pytest.raises(EvaluationError, match="31/12/2025"):
        values("strptime('31/12/2025', ['%d.%m.%Y', '%Y-%m-%d'])")


@pytest.mark.parametrize("formats", ["[]", "[1]", "['%Y', NULL]"])
def test_a_list_has_formats(formats):
    with pytest.raises(InvalidExpression, match="strptime takes a format, or a list of formats that are texts"):
        typed(f"strptime('2025', {formats})")
