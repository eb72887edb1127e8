"""What `gpuetl validate` looks at beside the text of a pipeline: the files of its sources, and its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpuetl.errors import EvaluationError, InvalidPipeline, Place, Problems, RunFailed
from gpuetl.expressions.ir import Expr, Parameter
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.overlooked import overlooked_warnings
from gpuetl.messages import code_of, coded, recoded
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable, Read
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.spec.model import PipelineSpec, SourceSpec
from gpuetl.spec.parameters import UnboundScalar, bind_parameters, resolve_scalars
from gpuetl.spec.storage import parameters_in
from gpuetl.spec.values import node_of
from gpuetl.user_kernels.triton_kernel import MISSING, TritonKernel

if TYPE_CHECKING:
    from gpuetl.spec.definition import PipelineDefinition

MOST_FILES = 5
"""The files of one source whose errors are shown."""
NO_FILES = "files were not looked at"


USUAL_GPU = ("sm_90",)
"""Triton kernels are compiled for this one where there is no GPU."""
CODE_KEYS = ("cuda", "triton", "body", "reduce", "combine")
"""The keys of a kernel step that have its text, or the path to it."""


@dataclass(frozen=True)
class Validation:
    """A pipeline in which nothing wrong was found: its plan, and a sentence for each thing that was not checked.

    `next_run` says what the next run will read of incremental sources.
    """

    plan: Plan
    not_checked: tuple[str, ...] = ()
    next_run: tuple[str, ...] = ()


def validate_pipeline(pipeline: PipelineDefinition, params: Mapping[str, Any], files: bool) -> Validation:
    """Check a pipeline and, unless `files` is false, the files that it reads; see `Pipeline.validate`."""
    problems, plan = Problems(), None
    try:
        plan = pipeline.plan(params, unbound=True, files=files)
    except InvalidPipeline as error:
        problems.found += error.problems
    pipeline.alerts(params, "", problems)
    if pipeline.spec.tests:
        from gpuetl.file_tests.case import prepared_cases

        prepared_cases(pipeline, pipeline.spec.tests, params, problems, unbound=True)
    if plan is None or not files:
        problems.check()
        assert plan is not None
        return Validation(plan, tuple(unknown_columns(plan, files)))
    problems.warnings += plan.warnings
    parameters = bind_parameters(pipeline.spec.parameters, params, need_all=False)
    unchecked = [
        *unknown_columns(plan, files),
        *check_sources(plan, pipeline.spec, parameters, problems),
        *check_kernels(plan, pipeline.spec, problems),
    ]
    coming = next_reads(pipeline, plan, params, problems)
    problems.check()
    return Validation(replace(plan, warnings=tuple(problems.warnings)), tuple(unchecked), coming)


def next_reads(
    pipeline: PipelineDefinition, plan: Plan, params: Mapping[str, Any], problems: Problems
) -> tuple[str, ...]:
    """Say what the next run reads of incremental sources, as far as metadata of files tells.

    Nothing is said where a parameter has no value, or something else is wrong.
    """
    lacking = any(one.required and name not in params for name, one in pipeline.spec.parameters.items())
    if not plan.incremental or lacking or problems.found:
        return ()
    from gpuetl.run.incremental.sources import next_run

    try:
        with plan.pointing():
            coming = next_run(plan.with_results(), pipeline.root)
    except RunFailed as error:
        if error.problem is None:
            raise
        problems.found.append(error.problem)
        return ()
    for one in coming.selections.values():
        for warning in one.warnings:
            problems.warn(warning)
    return tuple(one.note for one in coming.selections.values())


def unknown_columns(plan: Plan, files: bool) -> Iterator[str]:
    """Yield a sentence for each source whose columns are not known."""
    reason = "needs a value for a parameter" if files else f"states no schema, and {NO_FILES}"
    return (f"source '{name}' {reason}" for name, node in plan.sources.items() if node.schema.open)


def check_sources(plan: Plan, spec: PipelineSpec, parameters: Mapping[str, Expr], problems: Problems) -> Iterator[str]:
    """Look at the footers and the header lines of all files; yield a sentence for each source whose path is open."""
    from gpuetl.formats.file_columns import disagreements

    for name, dataset in datasets_of(plan):
        path = getattr(spec.sources[name], "path", "")
        try:
            resolve_scalars(path, parameters, "", spec.environment)
        except UnboundScalar:
            yield f"files of source '{name}', whose path needs a value for a parameter"
            continue
        if has_open_storage(spec, name, parameters):
            yield f"files of source '{name}', whose storage needs a value for a parameter"
            continue
        place = node_of(path)
        at, within = place.place() if place else None, f"source '{name}'"
        try:
            found = list(disagreements(dataset, MOST_FILES + 1))
        except DatasetError as error:
            found = [error]
        for wrong in found[:MOST_FILES]:
            problems.add(str(wrong), wrong.hint, at, within)
        for warning in () if found else overlooked_warnings(dataset):
            problems.warn(warning, "", at, within)
        if len(found) > MOST_FILES:
            more = recoded(f"more than {MOST_FILES} files do not match the source", found[-1])
            problems.add(more, "", at, within)


def has_open_storage(spec: PipelineSpec, name: str, parameters: Mapping[str, Expr]) -> bool:
    """Tell whether the storage of a source has the value of a parameter that is not known."""
    source = spec.sources[name]
    if not isinstance(source, SourceSpec):
        return False
    options = (*source.storage_options, *spec.storage.get(source.storage, ()))
    return any(isinstance(parameters.get(parameter), Parameter) for parameter in parameters_in(options))


def datasets_of(plan: Plan) -> Iterator[tuple[str, Dataset]]:
    """Yield the sources of files whose columns and paths are known."""
    for name, node in plan.sources.items():
        read = next((one for one in walk_graph(node) if isinstance(one, Read)), None)
        if read and not read.dataset.file_format.in_memory:
            yield name, read.dataset


def check_kernels(plan: Plan, spec: PipelineSpec, problems: Problems) -> Iterator[str]:
    """Compile the kernels of all stages where there is a compiler; yield a sentence for each that was not compiled."""
    for operation in kernels_of([*plan.stages.values(), *plan.sinks.values()]):
        entry, origin = operation.contract.entry, operation.origin
        label = f"kernel '{entry}' of {origin}"
        if any(child.schema.open for child in operation.inputs):
            yield f"{label}, because its columns are not known"
            continue
        step = spec.stages[origin.name].steps[origin.step - 1]
        node = node_of(next((text for name in CODE_KEYS if (text := getattr(step, name, ""))), None))
        place = node.place() if node else None
        if isinstance(operation, Kernel) and isinstance(operation.contract, TritonKernel):
            yield from (f"{label}, because {reason}" for reason in check_triton(operation, place, problems))
            continue
        from gpuetl.engines.cudf.codegen.nvrtc import NotChecked, compile_log, users_lines
        from gpuetl.engines.cudf.programs.plan_programs import user_kernels

        try:
            logs = [compile_log(kernel) for kernel in user_kernels(operation)]
        except (NotChecked, EvaluationError) as error:
            yield f"{label}, because {error.args[0]}"
            continue
        for log in filter(None, logs):
            lines = users_lines(log)
            problems.add(
                coded("GE1305", f"kernel '{entry}' does not compile"),
                lines,
                place,
                str(origin),
            )


def check_triton(operation: Kernel, place: Place | None, problems: Problems) -> Iterator[str]:
    """Compare names, and compile for the GPUs that are here, or else a usual one; yield why it was not compiled."""
    from gpuetl.engines import gpu_driver
    from gpuetl.engines.cudf.codegen.triton_compiler import compiled_ahead

    kernel, within = operation.contract, str(operation.origin)
    assert isinstance(kernel, TritonKernel)
    grouped, masked = operation.kind == "groups", operation.nulls == "masks"
    for what in kernel.misplaced_names(operation.reads, operation.outputs, operation.arguments, grouped, masked):
        problems.warn(coded("GE1302", f"{what}.  Are two of them swapped?"), "", place, within)
    for architecture in gpu_driver.architectures() or USUAL_GPU:
        try:
            compiled_ahead(operation, architecture)
        except EvaluationError as error:
            if code_of(error) == MISSING or isinstance(error.__cause__, ImportError):
                yield f"{error.args[0]}.  {error.hint}".rstrip(". ")
                return
            problems.add(
                recoded(f"{error.args[0]} (for {architecture})", error), error.shown or error.hint, place, within
            )
            return


def kernels_of(roots: Iterable[Node]) -> list[Kernel | KernelReduction | KernelTable]:
    """Return the kernel steps below these nodes, each once."""
    return [node for node in walk_graph(*roots) if isinstance(node, Kernel | KernelReduction | KernelTable)]
