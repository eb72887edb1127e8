"""Rules of plugins: a condition in SQL for each of some columns.

@dataclass(frozen=True, kw_only=True)
class Iban(Check):
\"\"\"The columns hold account numbers: `iban: [account]`.\"\"\"

verb: ClassVar[str] = "iban"
columns: tuple[str, ...] = key(SOME_NAMES, name="iban", doc="columns with account numbers")

def condition(self, column: str) -> str:
return f"regexp_full_match({column}, '[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{11,30}}')"
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.unparse import quote_name
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plugin_discovery import Plugin, label_of
from gpuetl.records import dataclass
from gpuetl.spec.expect.rules import Rule
from gpuetl.spec.expect.terms import RowTerm, Term, is_broken
from gpuetl.spec.fields import keys_of
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import Formula, node_of
from gpuetl.types.data_types import BOOL, NULL, UNKNOWN

HINT = "Tell the author of the package: docs/plugins.md says what a check may give."


@dataclass(frozen=True, kw_only=True)
class Check(Rule):
    """A rule that is a condition for each of its `columns`, the key of the rule's verb.  Null passes."""

    @abstractmethod
    def condition(self, column: str) -> str:
        """Return the condition that no row may break, as SQL; `column` is a column as SQL names it."""

    def terms(self, context: Context, source: Node) -> Iterator[Term]:
        """Break where the condition of a column is false."""
        from gpuetl.expressions.parse import parse_expression

        columns = getattr(self, keys_of(type(self))[self.verb].name)
        for name in (each for each in columns if context.known([each], source.schema)):
            label = label_of("check", self.verb)
            try:
                text = self.condition(quote_name(str(name)))
                formula = Formula(parse_expression(text), node_of(name))
            except InvalidExpression as error:
                context.problem(coded("GE1043", f"{label} gives {text!r}: {error.message}"), HINT, name)
                continue
            except Exception as error:  # whatever the code of others raises
                message = f"{label} failed: {type(error).__name__}: {error}"
                context.problem(coded("GE1043", message), HINT, name)
                continue
            condition = context.expression(formula, source.schema)
            if condition.dtype not in (BOOL, NULL, UNKNOWN):
                message = f"{label} gives {text!r}, which is no condition"
                context.problem(coded("GE1043", message), HINT, name)
                continue
            yield RowTerm(*self.of_column(context, source, name, columns), is_broken(condition))


def check_of(plugin: Plugin, made: object) -> type[Rule]:
    """Return the rule of a plugin.

    Raises
    ------
    PluginProblem
        For an object that is no class of a check.
    """
    if not (isinstance(made, type) and issubclass(made, Check)):
        raise plugin.refused("is not a class that derives from Check")
    if getattr(made, "verb", None) != plugin.name:
        raise plugin.refused(f"has the verb {getattr(made, 'verb', None)!r}")
    if "__dataclass_fields__" not in vars(made) or plugin.name not in keys_of(made):
        raise plugin.refused(f"is not a dataclass with the key '{plugin.name}'")
    return made
