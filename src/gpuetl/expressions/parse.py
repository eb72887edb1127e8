"""Lower SQL text to written expressions.

sqlglot parses.  Everything the language does not have is refused here.
"""

from __future__ import annotations

from collections import OrderedDict

from sqlglot import exp

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.dialect import parse_tree
from gpuetl.expressions.lowering import calls, casts, conditions, lists, references
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.syntax import Syntax, Unreadable
from gpuetl.messages import coded

MOST_KEPT, LONGEST_KEPT = 1024, 1000
_SOUND: OrderedDict[str, Syntax] = OrderedDict()
"""The last expressions that had no error, by text: of a file that is edited and read again, most stay as they are."""

HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Paren: lambda lowering, node: lowering.lower(node.this),
    **references.HANDLERS,
    **calls.HANDLERS,
    **lists.HANDLERS,
    **conditions.HANDLERS,
    **casts.HANDLERS,
}
"""What lowers a node, by its kind; operators and literals are lowered by tables of their own."""


def parse_expression(text: str) -> Syntax:
    """Parse one SQL scalar expression.

    Raises
    ------
    InvalidExpression
        With the span of what is wrong: text that does not parse, anything outside the language, or a nesting
        deeper than the dialect's limits.
    """
    syntax, errors = read_expression(text)
    if errors:
        raise errors[0]
    return syntax


def read_expression(text: str) -> tuple[Syntax, list[InvalidExpression]]:
    """Parse one SQL scalar expression, and return all that is wrong; a part that is wrong is `Unreadable`."""
    if kept := _SOUND.get(text):
        return kept, []
    lowering = Lowering(text, HANDLERS)
    try:
        syntax = lowering.lower(parse_tree(text))
    except InvalidExpression as error:
        return Unreadable(), [error]
    except RecursionError:
        return Unreadable(), [InvalidExpression(coded("GE1114", "this expression nests too deeply"))]
    if not lowering.errors and len(text) <= LONGEST_KEPT:
        _SOUND[text] = syntax
        if len(_SOUND) > MOST_KEPT:
            _SOUND.popitem(last=False)
    return syntax, lowering.errors
