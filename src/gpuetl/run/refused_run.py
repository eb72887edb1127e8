"""A run that is refused before it begins: its file is no pipeline, or its engine cannot run here."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from gpuetl.errors import GpuetlError, Problems
from gpuetl.exit_codes import exit_code_of
from gpuetl.messages import redacted, without_secrets_in
from gpuetl.places.paths import FilePath
from gpuetl.report.environment import environment
from gpuetl.report.failure import failure_of
from gpuetl.report.run_report import PipelineText, RunReport
from gpuetl.run.account import declared, parameter_text, pipeline_text
from gpuetl.run.run_record import RunRecord, new_run_id
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.document import read_text

OUTCOME = "no sink has changed"


def leave_refused(
    file: FilePath,
    pipeline: PipelineDefinition | None,
    params: Mapping[str, str],
    engine: str,
    error: GpuetlError,
) -> RunReport | None:
    """Leave the manifest of a run that was refused, and tell whom the pipeline names; return the report.

    Where its file was not read as a pipeline, the manifest is in the default state folder, and nobody is told: the file
    does not say whom.  None where the file cannot be read at all.
    """
    texts: tuple[PipelineText, ...]
    run_id, definition = new_run_id(), pipeline
    if definition is None:
        try:
            text = read_text(file, Problems(), str(file))
        except GpuetlError:
            return None
        definition = PipelineDefinition(file.name.partition(".")[0], root=file.parent)
        texts = (PipelineText(redacted(str(file)), without_secrets_in(text or "")),)
    else:
        texts = pipeline_text(definition.spec, writes=False)
    failure = failure_of(error, OUTCOME)
    report = RunReport(
        pipeline=str(definition.spec.name), run_id=run_id, engine=engine, reason="", device="", fingerprint="",
        stages=(), sinks=(), seconds={}, passes={}, error=failure.text, failure=failure, started=time.time(),
        params={name: redacted(parameter_text(value)) for name, value in params.items()},
        environment=environment("CPU"), declared=declared(definition), pipeline_text=texts,
        profile=definition.spec.profile_name,
        exit_code=exit_code_of(error),
    )  # fmt: skip
    record = RunRecord.of(definition, params, run_id, has_manifest=True)
    return record.end(replace(report, manifest=record.path))
