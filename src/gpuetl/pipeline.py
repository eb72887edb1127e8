"""`Pipeline`: load → bind → optimize → lower → run.  Built in Python or loaded from YAML, it is the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from gpuetl.declarations import in_notebook, with_unnamed
from gpuetl.errors import GpuetlError, InvalidPipeline, Problems, have_hint
from gpuetl.formats.rejected import REJECTED
from gpuetl.messages import coded
from gpuetl.pipeline_declarations import PipelineDeclarations
from gpuetl.places.paths import FilePath, ImpossiblePath
from gpuetl.places.registry import folder_of, path_of
from gpuetl.spec.document import pipeline_path, twin_of
from gpuetl.spec.files.environment import environment_of
from gpuetl.spec.model import PipelineSpec, StageSpec
from gpuetl.spec.profile import profiled
from gpuetl.spec.read import read_pipeline, read_pipeline_text
from gpuetl.spec.values import as_names
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


class Pipeline(PipelineDeclarations):
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

    def table(self, name: str) -> Table:
        """Return the table of a source or stage that is declared."""
        if name.removesuffix(REJECTED) not in {*self.spec.sources, *self.spec.stages, *self._unnamed}:
            raise InvalidPipeline.because(
                coded("GE1020", f"unknown source or stage '{name}'"),
                have_hint(name, [*self.spec.sources, *self.spec.stages], noun="Sources and stages"),
            )
        return Table(self, name)

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
        self,
        params: Mapping[str, Any] | None = None,
        options: RunOptions | None = None,
        engine: str = "auto",
        *,
        resume: bool = False,
        select: str | Iterable[str] = (),
        until: str = "",
        limit: int | None = None,
        write_to: str | os.PathLike[str] | None = None,
    ) -> str:
        """Return the physical plan of a run as text: what is read, what is expected, sorts, exchanges, memory.

        With `options.memory` it is that of any engine, whether it can run here or not.  `resume`, `select`, `until`,
        `limit` and `write_to` are those of `run`: the text begins with what they leave out, and what is read from
        checkpoints.

        Raises
        ------
        EngineUnavailable
            For an engine that does not exist; without `options.memory` for one that cannot run here, too.
        """
        from gpuetl.run.planned_run import as_it_would_run, chosen_part
        from gpuetl.run.planning import explained
        from gpuetl.run.selection import Selection

        part = Selection(as_names(select), until, limit, place_of(write_to))
        bound = self.plan(params)
        chosen = chosen_part(bound, self.spec, part)
        with chosen.pointing():
            plan, notes = as_it_would_run(chosen, bound, self.spec, self.root, resume and limit is None)
            text = explained(plan, self.options_for(options, engine), self.engine_for(engine))
        return "\n".join([*notes, text])

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
        part = Selection(as_names(select), until, limit, place_of(write_to))
        request = RunRequest(
            names, write, False, in_notebook(), True, part, resume, self.spec.state is not None, has_alerts=True
        )
        with shown_progress(progress, f"run of {self.spec.name}") as shown:
            return run_pipeline(self, params or {}, choice, request, options, shown)

    def torch_dataset(
        self, stage: str, params: Mapping[str, Any] | None = None, *, engine: str = "auto", batch_rows: int = 65_536,
        features: Sequence[str] | None = None, label: str | None = None, matrix: bool = False, shuffle: bool = False,
        seed: int = 0, in_flight: int = 2, options: RunOptions | None = None,
    ) -> Any:  # fmt: skip
        """Return a PyTorch `IterableDataset` of the rows of a stage, which a run computes while they are used.

        Each pass over it runs the pipeline up to the stage, on a thread, and writes no sink.  A partition is handed
        over by DLPack when it is computed, and its memory is free when its rows were used: the stage may be larger than
        the memory of the GPU.  An error of the run is raised where the next batch is asked for.  Breaking off ends it.

        Parameters
        ----------
        stage
            The stage or source.  Columns that are no features are not computed.
        params, engine, options
            As for `run`.  Engines of clusters are refused.
        batch_rows
            Each batch has exactly so many rows, but for the last one.
        features, label, matrix
            A batch is a dictionary of tensors by column; with `matrix` it is one tensor of float32, a column each.
            With `label` it is a pair: the features, and the tensor of that column.  `features` are the columns in
            order, by default all others.
        shuffle, seed
            Puts the rows of each partition in another order in each pass.
        in_flight
            As many partitions are in memory at most, with the one in use, while the run computes the next one.

        Raises
        ------
        InvalidPipeline
            For an unknown stage or column, a cluster's engine, and a `batch_rows` or `in_flight` below 1.
        EvaluationError
            For a column that is not of numbers or booleans.
        PackageMissing
            Without the package torch.
        """
        from gpuetl.engines.registry import choose_engine
        from gpuetl.options import RunOptions
        from gpuetl.run.stage_stream import StageStream
        from gpuetl.run.streamed_batches import streamed_dataset

        choice = choose_engine(self.engine_for(engine))
        own = self.options_for(options, choice.name) or RunOptions()
        stream = StageStream(self, stage, dict(params or {}), choice, own, in_flight)
        return streamed_dataset(stream, batch_rows, features, label, matrix, shuffle, seed)

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
    stem = PurePath(file.name).stem
    spec = replace(spec or PipelineSpec(""), environment=environment_of(file.parent), stem=stem, twin=twin_of(file))
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


def place_of(write_to: str | os.PathLike[str] | None) -> FilePath | None:
    """Return the folder in which sinks are written in the place of their own paths."""
    return None if write_to is None else path_of(os.fspath(write_to), Path())
