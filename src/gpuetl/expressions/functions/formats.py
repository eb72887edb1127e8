"""Formats: dates and times as text.

A format is a constant: literal text and specifiers.  Most specifiers stand for a fixed number of digits, or for a name:

- `%Y` year (4 digits), `%y` year of 1969 to 2068 (2), `%m` month, `%d` day (2 each), `%j` day of the year (3)
- `%H` hour, `%M` minute, `%S` second (2 each), `%f` microsecond (6), `%I` hour of 12 (2) with `%p` AM or PM
- `%b` and `%B` name of the month (Jan, January), `%a` and `%A` name of the day (Mon, Monday)
- `%G` ISO year (4), `%V` ISO week (2), `%u` ISO day (1, Monday is 1), `%w` day (1, Sunday is 0)
- `%U` week that begins on Sunday, `%W` on Monday (2; days before the first are in week 00)
- `%g` millisecond (3), `%n` nanosecond (9)
- `%-d`, `%-m`, `%-y`, `%-j`, `%-H`, `%-I`, `%-M`, `%-S`: the same without zeros in front, which may stand there when read
- `%x` is `%Y-%m-%d`, `%X` is `%H:%M:%S`, and `%c` both
- `%z` offset of a zoned timestamp (+0200), `%%` a percent sign

CAST reads and writes ISO forms:

- A date is `2013-03-09`; CAST also reads `2013/3/9` and `2013 3 9`.
- A timestamp may have a time after a space or `T`: `2013-03-09T17:05:30.25`.  Minutes, seconds and a fraction can be left out.
  CAST writes `2013-03-09 17:05:30.250000`.
- A zoned timestamp needs a time, and `Z`, ` UTC`, `+02`, `+0200` or `+02:00` at the end.  CAST writes the clock of the zone with its
  offset: `2013-03-09 18:05:30.250000+0100`, or `Z` in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa

from gpuetl.expressions.functions.calendar import A_TIMESTAMP, with_clock
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.timestamps import timestamp_type
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.text_rules import check_readable, letters_of
from gpuetl.messages import coded
from gpuetl.types.data_types import DATE, STRING, TIMESTAMP, type_name

LETTERS = "docs/functions.md lists the specifiers."


def strftime_types(args: Sequence[Expr]) -> Typing:
    """A date, as its midnight, or a timestamp; and a format."""
    if args[0].dtype == STRING:
        raise TypeMismatch(
            "takes a date or a timestamp, got string", "Write strftime(x, '%Y-%m-%d'), the format behind x."
        )
    dtype = timestamp_type(args[0])
    if "z" in _letters(args[1]) and dtype in (DATE, TIMESTAMP):
        raise TypeMismatch(coded("GE1111", f"takes a zoned timestamp for '%z', got {type_name(dtype)}"))
    return [TIMESTAMP if dtype == DATE else dtype, STRING], STRING


def read(args: Sequence[Expr]) -> Typing:
    """A text and a format; with an offset the result is an instant, in UTC."""
    fixed(STRING, STRING, returns=STRING)(args)
    letters = _letters(args[1])
    try:
        if isinstance(args[1], Literal):
            check_readable(args[1].value)
    except ValueError as error:
        raise TypeMismatch(str(error), LETTERS) from None
    return [STRING, STRING], pa.timestamp("us", tz="UTC") if "z" in letters else TIMESTAMP


def _letters(form: Expr) -> Sequence[str]:
    """Return the letters of a format; none where it is a parameter without a value."""
    if form.dtype != STRING:
        raise TypeMismatch(f"takes a string as format, got {type_name(form.dtype)}")
    try:
        return letters_of(form.value) if isinstance(form, Literal) else ()
    except ValueError as error:
        raise TypeMismatch(str(error), LETTERS) from None


FUNCTIONS = (
    Function("strftime", "x format!", with_clock(strftime_types), "x as text; the year must have 4 digits.",
             f"strftime({A_TIMESTAMP}, '%d.%m.%Y %H:%M')", "09.03.2013 17:05", can_fail=True),
    Function("strptime", "text format!", read,
             "The timestamp that `strftime` writes as exactly this text, in UTC with %z; an error if there is none.  "
             "Parts that the format lacks are 0; `to_date` takes the day.  Of a list of formats, "
             "`strptime(x, ['%d.%m.%Y', '%Y-%m-%d'])`, the first one that the text has counts.",
             "strptime('09.03.2013 17:05', '%d.%m.%Y %H:%M')", datetime(2013, 3, 9, 17, 5), can_fail=True),
    Function("try_strptime", "text format!", read, "As `strptime`, but null if there is none.",
             "try_strptime('29.02.2013', '%d.%m.%Y')", None),
)  # fmt: skip
