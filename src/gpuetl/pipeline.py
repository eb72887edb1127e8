"""`Pipeline`: load → bind → optimize → lower → run.  Built in Python or loaded from YAML, it is the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Never

from gpuetl.declarations import Declarations, in_notebook, is_same, note_replaced, with_unnamed, without
from gpuetl.errors import GpuetlError, InvalidPipeline, Problems, have_hint
from gpuetl.expressions.build import param
from gpuetl.expressions.expression import Expression, as_syntax
from gpuetl.formats.frames import to_table
from gpuetl.formats.rejected import REJECTED
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, ImpossiblePath
from gpuetl.places.registry import folder_of, path_of
from gpuetl.source_methods import SourceMethods
from gpuetl.spec.alerts import alert_of, with_alert
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.document import pipeline_path, plain_node
from gpuetl.spec.expect.rules import Rule
from gpuetl.spec.fields import check_keys, form_of, keys_of, read_plain, with_parameters
from gpuetl.spec.files.environment import environment_of
from gpuetl.spec.format_keys import Entry, check_entry_names, made_entry, options_of
from gpuetl.spec.forms import NAME, NAMES, ORDER, PARAMETER_TYPE
from gpuetl.spec.incremental import INCREMENTAL
from gpuetl.spec.model import FrameSpec, ParameterSpec, PipelineSpec, SinkSpec, SourceSpec, StageSpec
from gpuetl.spec.parameters import parse_value
from gpuetl.spec.places import caller
from gpuetl.spec.profile import chosen_profile, with_profile
from gpuetl.spec.read import read_pipeline, read_pipeline_text
from gpuetl.spec.state import StateSpec
from gpuetl.spec.steps import Step
from gpuetl.spec.storage import STORAGE_OPTIONS
from gpuetl.spec.tests import read_tests
from gpuetl.spec.values import Formula, Located, Text, as_names, is_identifier
from gpuetl.spec.write import write_pipeline
from gpuetl.table import Table

if TYPE_CHECKING:  # what checking a pipeline does not need is imported by the methods that go further
    from gpuetl.file_tests.run_tests import TestReport, TestResult
    from gpuetl.optimize import Optimized
    from gpuetl.options import RunOptions
    from gpuetl.run.pipeline_run import Run
    from gpuetl.run.result_cache import ResultCache
    from gpuetl.run.table_evaluation import TableQuery
    from gpuetl.telemetry.recorder import Progress, WantedProgress
    from gpuetl.validation import Validation
    from gpuetl.verify.verification import VerifyReport


CHOICES = ("extra_columns", "missing_columns")
"""Keys of a source that take one of a few names."""


class Pipeline(PipelineDefinition, SourceMethods):
    """A pipeline: parameters, sources, stages and sinks, by name.

    A name that is declared again stands for the later declaration, so that a cell of a notebook can run again; a script
    gets a warning, `NameReplaced`.  `del pipeline.stages["clean"]` removes one.  Tables are immutable, and name what
    they begin with.  Nothing is read before a table shows rows, or `plan` or `run`.

    Parameters
    ----------
    root
        The folder at which relative paths start: the working folder, or the folder of the file it was loaded from.
    state
        The folder of what the pipeline remembers between its runs, or a prefix of an object store; by default
        `.gpuetl/NAME` in `root`.
    """

    def __init__(
        self, name: str, description: str = "", root: str | FilePath = ".", *, state: str | os.PathLike[str] = ""
    ) -> None:
        super().__init__(name, description, root)
        if state:
            self.spec = replace(self.spec, state=StateSpec(Text(os.fspath(state), caller())))
        self._numbers: dict[str, Iterator[int]] = {}
        self._unnamed: dict[str, StageSpec] = {}

    def __repr__(self) -> str:
        counts = [f"{len(names)} {kind}{'s' * (len(names) != 1)}" for kind, names in self._declared().items()]
        return f"<Pipeline {self.spec.name}: {', '.join(counts)}; kept rows: {self.result_cache.summary}>"

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import graph_page
        from gpuetl.report.pipeline_graph import pipeline_graph

        lines, plan = [f"Kept rows: {self.result_cache.summary}."], None
        try:
            plan = self.plan(unbound=True)
        except GpuetlError as error:  # the picture shows what there is
            lines += str(error).split("\n")
        return graph_page(str(self.spec.name), pipeline_graph(self.spec, plan), lines)

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

    @property
    def result_cache(self) -> ResultCache:
        """The rows that tables have computed, of all pipelines of this process; set its `limit` to `"2 GB"`, or 0."""
        from gpuetl.run.result_cache import result_cache

        return result_cache

    def clear_cache(self) -> None:
        """Forget the rows that tables have computed, of all pipelines of this process."""
        self.result_cache.clear()

    def query_of(
        self,
        origin: str,
        stage: StageSpec | None,
        params: Mapping[str, Any],
        options: RunOptions | None,
        progress: WantedProgress,
    ) -> TableQuery:
        """Return the query for the rows of a source or stage after further steps."""
        from gpuetl.run.table_evaluation import TableQuery

        spec = replace(self.spec, stages={**self._unnamed, **self.spec.stages})
        options = self.options_for(options, "auto")
        return TableQuery(spec, self.root, origin, stage, params, options, progress, self._problems)

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
        return Table(self, name)

    def table(self, name: str) -> Table:
        """Return the table of a source or stage that is declared."""
        if name.removesuffix(REJECTED) not in {*self.spec.sources, *self.spec.stages, *self._unnamed}:
            raise InvalidPipeline.because(
                coded("GE1020", f"unknown source or stage '{name}'"),
                have_hint(name, [*self.spec.sources, *self.spec.stages], noun="Sources and stages"),
            )
        return Table(self, name)

    def _source(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, Any]) -> Table:  # noqa: A002
        within = f"source '{name}'"
        check_entry_names(SourceSpec, format, keys, within)
        source = made_entry(SourceSpec, format, Text(os.fspath(path), caller()), _source_keys(format, keys, within))
        source = with_parameters(source, within)
        check_keys(source, within)
        self._declare("sources", name, source)
        return Table(self, name)

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
        if "sort_by" in keys:
            keys["sort_by"] = read_plain(ORDER, as_names(keys["sort_by"]), within)
        for several in ("partition_by", "run_key", "on"):
            if several in keys:
                keys[several] = read_plain(NAMES, as_names(keys[several]), within)
        keys |= _storage_values(keys, within)
        keys |= _option_values(SinkSpec, format, keys, within)
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

    def engine_for(self, engine: str = "auto") -> str:
        """Return the name of an engine; for `auto` that of the profile, if it names one."""
        return engine if engine != "auto" else str(self.spec.profile.engine) or engine

    def options_for(self, options: RunOptions | None, engine: str) -> RunOptions:
        """Return options of a run, and those of the profile where none are given."""
        from gpuetl.options import RunOptions

        return (options or RunOptions()).with_profile(self.spec.profile, self.engine_for(engine))

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Return the pipeline as YAML text, and write it to `path` if one is given."""
        text = write_pipeline(self.spec)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def validate(self, params: Mapping[str, Any] | None = None, *, files: bool = True) -> Validation:
        """Check the pipeline, its tests, the files of its sources, and that its kernels compile, without reading rows.

        Files are looked at by their footers and header lines.  Kernels are compiled where NVRTC or nvcc is installed.

        Parameters
        ----------
        params
            Values of parameters; required ones may be left out.
        files
            Whether to look at files and kernels' texts at all.

        Raises
        ------
        InvalidPipeline
            With everything that is wrong.
        """
        from gpuetl.validation import validate_pipeline

        return validate_pipeline(self, params or {}, files)

    def optimized(
        self, params: Mapping[str, Any] | None = None, options: RunOptions | None = None, before: str | None = None
    ) -> Optimized:
        """Return the plan after the optimizer's passes, or those before the pass named `before`."""
        from gpuetl.optimize import optimize
        from gpuetl.run.incremental.sources import next_run

        plan = next_run(self.plan(params).with_results(), self.root)
        return optimize(plan, options.skip_passes if options else (), before)

    def explain(
        self, params: Mapping[str, Any] | None = None, options: RunOptions | None = None, engine: str = "auto"
    ) -> str:
        """Return the physical plan of a run as text: what is read, what is expected, sorts, exchanges, memory.

        With `options.memory` it is that of any engine, whether it can run here or not.

        Raises
        ------
        EngineUnavailable
            For an engine that does not exist; without `options.memory` for one that cannot run here, too.
        """
        from gpuetl.run.incremental.sources import next_run
        from gpuetl.run.planning import explained

        plan = self.plan(params).with_results()
        with plan.pointing():
            plan = next_run(plan, self.root)
            return explained(plan, self.options_for(options, engine), self.engine_for(engine))

    def run(
        self,
        params: Mapping[str, Any] | None = None,
        *,
        engine: str = "auto",
        keep: str | Iterable[str] | None = None,
        options: RunOptions | None = None,
        progress: WantedProgress = None,
        client: Any = None,
        write: bool = True,
        resume: bool = False,
        select: str | Iterable[str] = (),
        until: str = "",
        limit: int | None = None,
        write_to: str | os.PathLike[str] | None = None,
    ) -> Run:
        """Run the pipeline: write its sinks, and return its results and its report.

        Parameters
        ----------
        params
            Values of parameters, typed or as text.
        engine
            `auto`, or the name of an engine.
        options
            How the plan is optimized and split.
        progress
            Called as operations finish partitions, with the operation's origin and how many of how many are done.  A
            Jupyter notebook shows the progress below the cell by default; False shows none.
        client
            A `distributed.Client` of the cluster on which the engines `dask` and `dask-cuda` run, as in
            `RunOptions.cluster`; by default the client that is current, or a cluster of the run's own.
        keep
            Stages and sources whose rows the run keeps in memory; by default the stages that no other stage reads.
        write
            False computes the stages and writes no sink: `run(write=False)["clean"].to_pandas()`.
        resume
            Read stages from their checkpoints where these are valid.
        select
            Write only the sinks that hang on these stages: `clean`, `clean+` with all that reads it, `+clean` with all
            that it reads.
        until
            Compute up to this stage and keep its rows; sinks that hang on later stages are not written.
        limit
            Read only the first rows of each source, and write no sink, unless `write_to` says where.
        write_to
            The folder in which sinks are written in the place of their own paths.

        Raises
        ------
        InvalidPipeline
            Before anything runs.
        RunFailed
            With the stage and step; no sink has changed then.
        """
        from gpuetl.engines.registry import choose_engine

        choice = choose_engine(self.engine_for(engine))
        if client is not None:
            from gpuetl.options import Cluster, RunOptions

            options = replace(options or RunOptions(), cluster=Cluster(client=client))
        options = self.options_for(options, choice.name)
        from gpuetl.report.notebook_progress import shown_progress
        from gpuetl.run.pipeline_run import RunRequest, run_pipeline  # while a GPU's context is opened
        from gpuetl.run.selection import Selection

        names = None if keep is None else as_names(keep)
        if names is None:  # stages that cells have left behind are not results
            self.spec = with_unnamed(self.spec, self._unnamed, prunes=True)
        place = None if write_to is None else path_of(os.fspath(write_to), Path())
        part = Selection(as_names(select), until, limit, place)
        request = RunRequest(
            names, write, False, in_notebook(), True, part, resume, self.spec.state is not None, has_alerts=True
        )
        with shown_progress(progress, f"run of {self.spec.name}") as shown:
            return run_pipeline(self, params or {}, choice, request, options, shown)

    def verify(
        self,
        params: Mapping[str, Any] | None = None,
        *,
        engine: str = "auto",
        stages: str | Iterable[str] | None = None,
        sample: int | None = None,
        options: RunOptions | None = None,
        progress: Progress | None = None,
    ) -> VerifyReport:
        """Run the pipeline on an engine and, as it is written, on the oracle; compare the rows stage by stage.

        No sink is written.  The engine runs the plan optimized, once with every stage kept, and once as a run does.

        Parameters
        ----------
        params, engine, options, progress
            As in `run`; the oracle is the pandas engine, in one partition.
        stages
            The stages to compare; by default all.
        sample
            Take about so many rows of the largest source, by a hash of keys, so that the rows that meet in joins and
            windows stay together.

        Raises
        ------
        InvalidPipeline
            Before anything runs.
        RunFailed
            With the engine on which the run failed.
        """
        from gpuetl.verify.verification import verify_pipeline

        names = None if stages is None else as_names(stages)
        engine = self.engine_for(engine)
        return verify_pipeline(self, params or {}, engine, names, sample, self.options_for(options, engine), progress)

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

    def test(
        self,
        params: Mapping[str, Any] | None = None,
        *,
        engine: str = "auto",
        names: str | Iterable[str] | None = None,
        options: RunOptions | None = None,
        done: Callable[[TestResult], None] = lambda result: None,
    ) -> TestReport:
        """Run the pipeline's tests: each on its given rows in place of the sources, and compare what comes of them.

        No sink is written.

        Parameters
        ----------
        params
            Values of parameters to which a test gives none of its own.
        engine, options
            As in `run`.
        names
            The tests to run, by name or pattern (`late *`); by default all.
        done
            Called with each test's result.

        Raises
        ------
        InvalidPipeline
            Before anything runs; also where there is no test.
        """
        from gpuetl.file_tests.run_tests import run_tests

        chosen = None if names is None else as_names(names)
        engine = self.engine_for(engine)
        options = self.options_for(options, engine)
        return run_tests(self, Problems(list(self._problems.found)), params or {}, engine, chosen, options, done)


def load(path: str | FilePath, root: str | FilePath | None = None, *, profile: str | None = None) -> Pipeline:
    """Load a pipeline from a YAML file, which may be in an object store or on an HTTP server.

    Relative paths in it start at its folder, or at `root`: those of `s3://shop/daily.yaml` are objects of the bucket.
    Credentials come from the environment.  A file `.env` next to the pipeline's file adds variables for `${env.NAME}`
    and `{env: NAME}`.

    Parameters
    ----------
    path
        The path of the file.
    root
        The folder at which relative paths start, by default that of the file.
    profile
        The profile to apply, by default that which the environment variable GPUETL_PROFILE names.

    Raises
    ------
    InvalidPipeline
        Where the file cannot be read at all, and for a profile that it does not have; other problems are told, all at
        once, when it is planned or run.
    """
    problems, file = Problems(), pipeline_path(path)
    spec = read_pipeline(file, problems, str(path))
    if spec is None:
        problems.check()
    spec = replace(spec or PipelineSpec(""), environment=environment_of(file.parent), stem=PurePath(file.name).stem)
    return Pipeline.from_spec(profiled(spec, profile, problems), file.parent if root is None else root, problems)


def loads(
    text: str, root: str | FilePath = ".", name: str = "pipeline.yaml", *, profile: str | None = None
) -> Pipeline:
    """Load a pipeline from YAML text, which `name` stands for in messages."""
    problems = Problems()
    try:
        folder = folder_of(root)
    except ImpossiblePath:  # `Pipeline` says so
        folder = Path()
    spec = read_pipeline_text(text, name, problems, folder)
    if spec is None:
        problems.check()
    return Pipeline.from_spec(profiled(spec or PipelineSpec(""), profile, problems), root, problems)


def profiled(spec: PipelineSpec, name: str | None, problems: Problems) -> PipelineSpec:
    """Return a pipeline with a profile applied, if one is chosen; one that may be unreadable is no second mistake."""
    try:
        chosen = chosen_profile(name, spec)
    except InvalidPipeline:
        problems.check()
        raise
    return with_profile(spec, chosen) if chosen else spec


def _source_keys(format: str, keys: Mapping[str, Any], within: str) -> dict[str, Any]:  # noqa: A002
    read, declared = dict(keys), keys_of(SourceSpec)
    for name in ("schema", "partitions", *CHOICES):
        if name in read:
            read[name] = read_plain(
                form_of(declared[name]), read[name], f"{within}: {name}" if name in CHOICES else within
            )
    if "incremental" in read:
        read["incremental"] = read_plain(INCREMENTAL, read["incremental"], f"{within}: incremental")
    for name in ("columns", "exclude"):
        if name in read:
            read[name] = read_plain(NAMES, as_names(read[name]), f"{within}: {name}")
    if "filter" in read:
        read["filter"] = Formula(as_syntax(read["filter"]))
    return read | _storage_values(keys, within) | _option_values(SourceSpec, format, keys, within)


def _storage_values(keys: Mapping[str, Any], within: str) -> dict[str, Any]:
    """Read the options of a store among the keys, and the name of storage."""
    read: dict[str, Any] = {}
    if "storage" in keys:
        read["storage"] = Text(read_plain(NAME, keys["storage"], f"{within}: storage"), caller())
    if "storage_options" in keys:
        read["storage_options"] = read_plain(STORAGE_OPTIONS, keys["storage_options"], f"{within}: storage_options")
    return read


def _option_values(entry: Entry, format: str, keys: Mapping[str, Any], within: str) -> dict[str, Any]:  # noqa: A002
    """Read the options of a format among the keys."""
    declared = keys_of(options_of(entry, format))
    return {
        name: read_plain(form_of(declared[name]), value, f"{within}: {name}")
        for name, value in keys.items()
        if name in declared
    }
