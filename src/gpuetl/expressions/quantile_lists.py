"""Several quantiles in one call: `quantile(x, [0.25, 0.5])` is a list of the quantiles of one."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.syntax import Apply, Syntax
from gpuetl.messages import coded

QUANTILES = ("quantile", "quantile_disc", "approx_quantile")
LIST = "list_value"


def quantile_list(syntax: Apply) -> Apply | None:
    """Return the list that a call stands for, null where a group has no values; None where it asks for one quantile.

    Raises
    ------
    InvalidExpression
        For an empty list.
    """
    named = dict(syntax.keywords)
    q = named.pop("q", None) or (syntax.args[1] if len(syntax.args) == 2 else None)
    x = named.pop("x", None) or (syntax.args[0] if syntax.args else None)
    if not isinstance(q, Apply) or q.function != LIST or x is None or named:
        return None
    if not q.args:
        message = coded("GE1106", f"{syntax.function} takes at least one q, got an empty list")
        raise InvalidExpression(message, q.span or syntax.span, "Write [0.25, 0.5, 0.75], or another list.")

    def one(quantile: Syntax) -> Apply:
        return replace(syntax, args=(x, quantile), keywords=())

    found = Apply("not", (Apply("is_null", (one(q.args[0]),), span=syntax.span),), span=syntax.span)
    return Apply("case", (found, Apply(LIST, tuple(map(one, q.args)), span=syntax.span)), span=syntax.span)
