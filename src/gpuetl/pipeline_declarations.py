"""Declare the parts of a pipeline in Python: parameters, sources, stages, sinks and tests, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Never

from gpuetl.declarations import Declarations, is_same, note_replaced, with_unnamed, without
from gpuetl.entry_keys import sink_keys, source_keys
from gpuetl.errors import InvalidPipeline, Problems
from gpuetl.expressions.build import param
from gpuetl.expressions.expression import Expression
from gpuetl.formats.frames import to_table
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.source_methods import SourceMethods
from gpuetl.spec.alerts import alert_of, with_alert
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.document import plain_node
from gpuetl.spec.expect.rules import Rule
from gpuetl.spec.fields import check_keys, read_plain, with_parameters
from gpuetl.spec.format_keys import check_entry_names, made_entry
from gpuetl.spec.forms import PARAMETER_TYPE
from gpuetl.spec.model import FrameSpec, ParameterSpec, SinkSpec, SourceSpec, StageSpec
from gpuetl.spec.parameters import parse_value
from gpuetl.spec.places import caller
from gpuetl.spec.state import StateSpec
from gpuetl.spec.steps import Step
from gpuetl.spec.storage import STORAGE_OPTIONS
from gpuetl.spec.tests import read_tests
from gpuetl.spec.values import Located, Text, is_identifier

if TYPE_CHECKING:
    from gpuetl.table import Table


class PipelineDeclarations(PipelineDefinition, SourceMethods):
    """The part of a `Pipeline` that declares: parameters, sources, stages, sinks, storage, alerts and tests, by name.

    A name that is declared again stands for the later declaration.
    """

    if TYPE_CHECKING:

        def table(self, name: str) -> Table:
            """Return the table of a source or stage that is declared."""
            ...

    def __init__(
        self, name: str, description: str = "", root: str | FilePath = ".", *, state: str | os.PathLike[str] = ""
    ) -> None:
        super().__init__(name, description, root)
        if state:
            self.spec = replace(self.spec, state=StateSpec(Text(os.fspath(state), caller())))
        self._numbers: dict[str, Iterator[int]] = {}
        self._unnamed: dict[str, StageSpec] = {}

    def _declared(self) -> dict[str, Mapping[str, Any]]:
        spec = self.spec
        return {"source": spec.sources, "stage": spec.stages, "sink": spec.sinks}

    @property
    def sources(self) -> Declarations[Table]:
        """The sources by name, as tables; `del pipeline.sources["orders"]` removes one."""
        return Declarations("source", lambda: self.spec.sources, self.table, partial(self._remove, "sources"))

    @property
    def stages(self) -> Declarations[Table]:
        """The stages by name, as tables; `del pipeline.stages["clean"]` removes one."""
        return Declarations("stage", lambda: self.spec.stages, self.table, partial(self._remove, "stages"))

    @property
    def sinks(self) -> Declarations[SinkSpec]:
        """The sinks by name; `del pipeline.sinks["out"]` removes one."""
        return Declarations(
            "sink", lambda: self.spec.sinks, lambda n: self.spec.sinks[n], partial(self._remove, "sinks")
        )

    def param(self, name: str, dtype: str, default: Any = None, *, required: bool = False) -> Expression:
        """Declare a typed parameter; without a default it is null, unless it is required."""
        kind = read_plain(PARAMETER_TYPE, dtype, f"parameter '{name}'")
        try:
            value = parse_value(default, kind)
        except ValueError as error:
            message = coded("GE1017", f"default: {error}")
            raise InvalidPipeline.because(message, within=f"parameter '{name}'") from None
        self._declare("parameters", name, ParameterSpec(kind, required, value))
        return param(name)

    def storage(self, name: str, /, **options: Any) -> None:
        """Declare the options of an object store, which sources and sinks name by `storage=name`.

        Give secrets as `{"env": "NAME"}`: such a pipeline can be written as YAML.
        """
        within = f"storage '{name}'"
        self._declare("storage", name, read_plain(STORAGE_OPTIONS, options, within))

    def on_failure(self, *, command: Sequence[str] | None = None, webhook: str | None = None) -> None:
        """Tell somebody of each run that fails: a command gets the manifest on stdin, a webhook by POST.

        Parameters
        ----------
        command
            A program and its arguments, which no shell reads.
        webhook
            A URL; write a secret one as `${env.HOOK_URL}`.
        """
        alert = alert_of(command, webhook, "on_failure")
        self.spec = replace(self.spec, on_failure=with_alert(self.spec.on_failure, alert), files=())

    def on_success(self, *, command: Sequence[str] | None = None, webhook: str | None = None) -> None:
        """Tell somebody of each run that succeeds, as `on_failure` does of others."""
        alert = alert_of(command, webhook, "on_success")
        self.spec = replace(self.spec, on_success=with_alert(self.spec.on_success, alert), files=())

    def from_frame(self, name: str, frame: Any) -> Table:
        """Declare rows in memory as a source: an Arrow table, or a frame of pandas, Polars or cuDF.

        Raises
        ------
        InvalidPipeline
            For what is no frame, and for a column that has no type of the language.
        """
        self._declare("sources", name, FrameSpec(to_table(frame, f"source '{name}'"), node=caller()))
        return self.table(name)

    def _source(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, Any]) -> Table:  # noqa: A002
        within = f"source '{name}'"
        check_entry_names(SourceSpec, format, keys, within)
        source = made_entry(SourceSpec, format, Text(os.fspath(path), caller()), source_keys(format, keys, within))
        source = with_parameters(source, within)
        check_keys(source, within)
        self._declare("sources", name, source)
        return self.table(name)

    def add_stage(
        self,
        name: str,
        origin: str,
        steps: tuple[Step, ...],
        expect: tuple[Rule, ...] = (),
        nodes: tuple[Located | None, ...] = (),
        checkpoint: bool = False,
    ) -> None:
        """Declare a stage; `nodes` say where its steps stand, and `checkpoint` has runs keep its rows."""
        self._declare("stages", name, StageSpec(Text(origin, caller()), steps, expect, nodes, checkpoint))

    def add_sink(self, name: str, format: str, path: str, origin: str, **keys: Any) -> None:  # noqa: A002
        """Declare a sink."""
        within = f"sink '{name}'"
        check_entry_names(SinkSpec, format, keys, within)
        keys = sink_keys(format, keys, within)
        sink = made_entry(SinkSpec, format, Text(os.fspath(path), caller()), {"from_": Text(origin, caller()), **keys})
        sink = with_parameters(sink, within)
        check_keys(sink, within)
        self._declare("sinks", name, sink)

    def unused_name(self, origin: str) -> str:
        """Return a stage name that nothing has yet."""
        origin = origin.replace(".", "_")  # of rows in quarantine
        numbers = self._numbers.setdefault(origin, count(1))  # goes on where the last name was found
        names = (f"{origin}_{i}" for i in numbers)
        taken = (self.spec.stages, self.spec.sources, self._unnamed)
        return next(name for name in names if not any(name in others for others in taken))

    def add_unnamed(
        self, origin: str, steps: tuple[Step, ...], expect: tuple[Rule, ...], nodes: tuple[Located | None, ...]
    ) -> str:
        """Return the name of a stage that has none of the user's: the one of the same steps, or a new one.

        It leaves the pipeline when what reads it is declared anew and reads it no more.
        """
        stage = StageSpec(Text(origin, caller()), steps, expect, nodes)
        name = next((name for name, known in self._unnamed.items() if is_same(known, stage)), "")
        name = name or self.unused_name(origin)
        self._unnamed[name] = stage
        self.spec = replace(self.spec, stages={**self.spec.stages, name: stage})
        return name

    def add_test(
        self,
        name: str,
        *,
        params: Mapping[str, object] | None = None,
        given: Mapping[str, object] | None = None,
        expect: Mapping[str, object] | None = None,
        expect_failure: str | None = None,
        **unknown: Never,
    ) -> None:
        """Declare a test: `params`, `given`, `expect` and `expect_failure` as in YAML, of Python's own values.

        Raises
        ------
        InvalidPipeline
            For what a test in a file may not say; columns and types are checked by `validate` and `test`.
        """
        found = {"params": params, "given": given, "expect": expect, "expect_failure": expect_failure}
        keys = {key: value for key, value in found.items() if value is not None} | unknown
        problems = Problems()
        read = read_tests(plain_node([{"name": name, **keys}]), problems)
        problems.check()
        kept = tuple(test for test in self.spec.tests if test.name != name)
        if any(test.name == name and not is_same(test, read[0]) for test in self.spec.tests):
            note_replaced("tests", name)
        self.spec = replace(self.spec, tests=(*kept, *read))

    def _declare(self, section: str, name: str, value: Any) -> None:
        if not is_identifier(name):
            message = coded("GE1012", f"'{name}' is not a valid name for {section}")
            raise InvalidPipeline.because(message, "Use letters, digits and _.")
        other = {"sources": "stages", "stages": "sources"}.get(section)
        if other and name in getattr(self.spec, other):
            hint = f'Choose another name, or remove it: del pipeline.{other}["{name}"].'
            raise InvalidPipeline.because(coded("GE1013", f"'{name}' is declared already, in {other}"), hint)
        before = getattr(self.spec, section)
        differs = name in before and not is_same(before[name], value)
        if differs and name not in self._unnamed:
            note_replaced(section, name)
        self.spec = replace(self.spec, files=())  # no file has all of it any more
        if section == "stages":
            self._unnamed.pop(name, None)
        changed: dict[str, Any] = {section: {**before, name: value}}
        self.spec = with_unnamed(replace(self.spec, **changed), self._unnamed, prunes=differs)

    def _remove(self, section: str, name: str) -> None:
        self._unnamed.pop(name, None)
        self.spec = replace(self.spec, files=())
        self.spec = with_unnamed(without(self.spec, section, name), self._unnamed, prunes=True)
