"""Steps of plugins: sequences of gpuetl's own steps, which every engine runs.

@dataclass(frozen=True)
class Top(MacroStep):
\"\"\"Keep the first rows of each group: `top: {rows: 3, by: region, order_by: amount desc}`.\"\"\"

verb: ClassVar[str] = "top"
rows: int = key(COUNT, doc="rows of each group")
by: tuple[str, ...] = key(NAMES, doc="the columns that make groups")
order_by: tuple[str, ...] = key(NAMES, doc="the order in a group")

def steps(self):
number = {"top_number": "row_number()"}
return [
{"window": {"by": list(self.by), "order_by": list(self.order_by), "columns": number}},
{"filter": f"top_number <= {self.rows}"},
{"drop": "top_number"},
]
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from gpuetl.errors import Problems
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plugin_discovery import Plugin, label_of
from gpuetl.spec.deferred import known
from gpuetl.spec.document import plain_node
from gpuetl.spec.steps.scalar import build_step, scalar_stages
from gpuetl.spec.steps.step import Context, Step, Unknown

HINT = "Tell the author of the package: docs/plugins.md says what a step may give."


class WrongExpansion(Exception):
    """Steps that a plugin gives and that are wrong; worded for the user."""


class MacroStep(Step):
    """A step that is a sequence of gpuetl's own steps."""

    @abstractmethod
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """Return the steps as a pipeline's file has them: `[{"filter": "x > 0"}, {"limit": 10}]`."""

    def expanded(self, table: Mapping[str, type[Step]]) -> list[Step]:
        """Return the steps, read by the table of gpuetl's steps.

        Raises
        ------
        WrongExpansion
            For what is no list of gpuetl's steps.
        """
        try:
            given = list(self.steps())
        except Exception as error:  # whatever the code of others raises
            raise WrongExpansion(f"{label_of('step', self.verb)} failed: {type(error).__name__}: {error}") from error
        problems, steps = Problems(), list[Step]()
        for one in given:
            verb, value = next(iter(one.items())) if isinstance(one, Mapping) and len(one) == 1 else ("", None)
            if verb not in table or issubclass(table[verb], MacroStep):
                raise WrongExpansion(f"{label_of('step', self.verb)} gives {one!r}, which is no step of gpuetl")
            step = table[verb].read(plain_node(value), problems, "")
            if step is not None:
                steps.append(step)
        if problems.found:
            raise WrongExpansion(
                f"{label_of('step', self.verb)} gives a step that is wrong: {problems.found[0].message}"
            )
        return steps

    @property
    def reads(self) -> tuple[str, ...]:
        """The sources and stages that the steps read."""
        from gpuetl.spec.steps import STEPS

        try:
            return tuple(name for step in self.expanded(STEPS) for name in (*step.reads, *scalar_stages(step)))
        except WrongExpansion:  # `build` reports it
            return ()

    def build(self, context: Context, source: Node) -> Node:
        """Build the steps, one after the other."""
        from gpuetl.spec.steps import STEPS

        node = source
        try:
            for step in self.expanded(STEPS):
                bound = known(step, context.parameters, context.problems)
                node = Unknown(source=node, columns={}) if bound is None else build_step(bound, context, node)
        except WrongExpansion as error:
            context.problem(coded("GE1043", str(error)), HINT)
            return Unknown(source=source, columns={}, origin=context.origin)
        return node


def step_of(plugin: Plugin, made: object) -> type[Step]:
    """Return the step of a plugin.

    Raises
    ------
    PluginProblem
        For an object that is no class of a step.
    """
    if not (isinstance(made, type) and issubclass(made, MacroStep)):
        raise plugin.refused("is not a class that derives from MacroStep")
    if getattr(made, "verb", None) != plugin.name:
        raise plugin.refused(f"has the verb {getattr(made, 'verb', None)!r}")
    if "__dataclass_fields__" not in vars(made):
        raise plugin.refused("is not a dataclass")
    return made
