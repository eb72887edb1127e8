"""`strptime(text, ['%d.%m.%Y', '%Y-%m-%d'])`: the first of several formats that a text has."""

from __future__ import annotations

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.syntax import Apply, Constant
from gpuetl.messages import coded

PARSERS = ("strptime", "try_strptime")


def one_format_each(call: Apply) -> Apply | None:
    """Return the coalesce of a call with each format of its list; None for a call with one format.

    All but the last give null for a text that is not in their format, and the last does what the function does.

    Raises
    ------
    InvalidExpression
        Where the list is empty, or has more than texts.
    """
    formats = call.args[1] if len(call.args) == 2 else dict(call.keywords).get("format")
    if not (isinstance(formats, Apply) and formats.function == "list_value"):
        return None
    if not formats.args or not all(isinstance(one, Constant) and isinstance(one.value, str) for one in formats.args):
        message = coded("GE1106", f"{call.function} takes a format, or a list of formats that are texts")
        raise InvalidExpression(message, formats.span or call.span, "Write strptime(x, ['%d.%m.%Y', '%Y-%m-%d']).")
    names = ["try_strptime"] * (len(formats.args) - 1) + [call.function]
    calls = [Apply(name, (call.args[0], one), span=call.span) for name, one in zip(names, formats.args, strict=True)]
    return calls[0] if len(calls) == 1 else Apply("coalesce", tuple(calls), span=call.span)
