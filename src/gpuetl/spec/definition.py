"""A pipeline as it is declared, which can be bound to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from gpuetl.errors import InvalidPipeline, Problems
from gpuetl.expressions.ir import Expr
from gpuetl.memory_limits import planned_in_memory
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, ImpossiblePath
from gpuetl.places.registry import folder_of
from gpuetl.spec.alerts import Alert, bound_alerts
from gpuetl.spec.bind import bind, bound_state
from gpuetl.spec.deferred import with_values
from gpuetl.spec.model import PipelineSpec
from gpuetl.spec.parameters import bind_parameters
from gpuetl.spec.unused import NotedParameters

if TYPE_CHECKING:
    from gpuetl.plan.plan import Plan


class PipelineDefinition:
    """A pipeline as it is declared: it can be bound to a plan, and knows nothing of a run.

    Parameters
    ----------
    root
        The folder at which relative paths start: the working folder, or the folder of the file it was loaded from.
    """

    def __init__(self, name: str, description: str = "", root: str | FilePath = ".") -> None:
        self.spec = PipelineSpec(name=name, description=description)
        try:
            self.root = folder_of(root)
        except ImpossiblePath as error:
            raise InvalidPipeline.because(coded("GE1409", str(error)), "Name a folder, or one of a store.") from None
        self._problems = Problems()

    @classmethod
    def from_spec(cls, spec: PipelineSpec, root: str | FilePath, problems: Problems) -> Self:
        """Wrap a model that was read from a file, with the problems met there."""
        pipeline = cls(spec.name, spec.description, root)
        pipeline.spec, pipeline._problems = spec, problems
        return pipeline

    def plan(
        self,
        params: Mapping[str, Any] | None = None,
        *,
        run_id: str = "plan",
        unbound: bool = False,
        files: bool = True,
        begins_anew: bool = False,
    ) -> Plan:
        """Return the logical plan, as it is written; reads no more than footers.

        Parameters
        ----------
        params
            Values of parameters.
        run_id
            What `${run.id}` stands for in paths, and what `run_id()` gives.
        unbound
            Leave required parameters without a value open: enough to check a pipeline, not to run it.
        files
            Whether to look at files for the columns that a source does not state; they are open where not.
        begins_anew
            Do without the state of earlier runs where it is damaged: the run replaces it.

        Raises
        ------
        InvalidPipeline
            With everything that is wrong.
        OutOfMemory
            Where what files say of themselves does not fit memory.
        """
        parameters = bind_parameters(self.spec.parameters, params or {}, need_all=not unbound)
        problems = Problems(list(self._problems.found))
        noted = NotedParameters(parameters)
        spec = self.completed(with_values(self.spec, noted, problems))
        return planned_in_memory(lambda: bind(spec, noted, self.root, run_id, problems, files, begins_anew))

    def state_folder(self, params: Mapping[str, Any] | None = None, run_id: str = "plan") -> FilePath | None:
        """Return the folder of what the pipeline remembers, also of one that cannot run; None where there is none."""
        found = bound_state(self.spec, self.known_parameters(params), self.root, run_id)
        if found is None and self.spec.state is not None:  # it is wrong, which binding says
            found = bound_state(replace(self.spec, state=None), {}, self.root, run_id)
        return found

    def alerts(
        self, params: Mapping[str, Any] | None, run_id: str, problems: Problems
    ) -> tuple[tuple[Alert, ...], tuple[Alert, ...]]:
        """Return who is told of a run that failed, and of one that succeeded; what is wrong with them is kept."""
        spec, parameters = self.spec, self.known_parameters(params)
        failed, done = (
            bound_alerts(alerts, parameters, run_id, problems, when, spec.environment)
            for when, alerts in (("on_failure", spec.on_failure), ("on_success", spec.on_success))
        )
        return failed, done

    def known_parameters(self, params: Mapping[str, Any] | None) -> dict[str, Expr]:
        """Return the values of parameters; the defaults where a given value is wrong."""
        try:
            return bind_parameters(self.spec.parameters, params or {}, need_all=False)
        except InvalidPipeline:
            return bind_parameters(self.spec.parameters, {}, need_all=False)

    def completed(self, spec: PipelineSpec) -> PipelineSpec:
        """Return the model to plan, in which parameters have values; a part of a pipeline adds what it lacks."""
        return spec

    @property
    def fingerprint(self) -> str:
        """A digest of what the pipeline computes with its defaults: equal for equal plans."""
        return self.plan(unbound=True).fingerprint
