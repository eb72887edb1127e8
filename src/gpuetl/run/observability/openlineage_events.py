"""A run as OpenLineage events: START when its plan is known, and COMPLETE, FAIL or ABORT at its end.

The client decides where events go, by OPENLINEAGE_URL, `openlineage.yml` and its other variables.  A thread imports the
client and sends the events, so that a run does not wait for them; at its end it waits no longer than a limit.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from gpuetl.formats.rejected import RejectedRows
from gpuetl.messages import coded, redacted
from gpuetl.plan.column_lineage import Inputs, Lineage, column_lineage
from gpuetl.plan.nodes import Read, Write
from gpuetl.run.observability.dataset_names import DatasetName, name_of_path, name_of_source
from gpuetl.run.observability.libraries import LIMIT_S
from gpuetl.run.observers import RunObserver
from gpuetl.types.data_types import type_name
from gpuetl.version import __version__

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset
    from gpuetl.plan.plan import Plan
    from gpuetl.report.checks import CheckReport
    from gpuetl.report.run_report import RunReport
    from gpuetl.run.account import Account
    from gpuetl.types.schema import Schema

PRODUCER = f"https://pypi.org/project/gpuetl/{__version__}"
RULE_OF_COLUMN = re.compile(r"(?P<verb>[a-z_]+)\((?P<column>[^()]+)\)")
QUIET = logging.NullHandler()


class OpenLineageObserver(RunObserver):
    """Sends OpenLineage events of a run."""

    def __init__(self) -> None:
        if find_spec("openlineage") is None or find_spec("openlineage.client") is None:
            raise ImportError("No module named 'openlineage.client'")
        self.events: SimpleQueue[tuple[str, RunReport | None] | None] = SimpleQueue()
        self.problem = ""
        self.thread: Thread | None = None

    def bound(self, account: Account) -> None:
        """Send START, with the inputs and outputs that the plan has."""
        self.put(account, "START", None)

    def ended(self, account: Account, report: RunReport, error: BaseException | None) -> Iterable[str]:
        """Send the last event; return a warning if events were not sent."""
        if self.thread is None:  # the plan has mistakes
            self.put(account, "START", None)
        is_interrupt = report.failure is not None and report.failure.kind == "interrupted"
        last = "ABORT" if is_interrupt else "FAIL" if report.failure else "COMPLETE"
        thread = self.put(account, last, report)
        self.events.put(None)
        thread.join(LIMIT_S)
        if thread.is_alive():
            yield coded("GE3032", f"OpenLineage: events not sent within {LIMIT_S:g} s")
        elif self.problem:
            yield coded("GE3032", f"OpenLineage: events not sent: {self.problem}")

    def put(self, account: Account, kind: str, report: RunReport | None) -> Thread:
        """Have an event sent, by a thread that the first one starts."""
        self.events.put((kind, report))
        if self.thread is None:
            self.thread = Thread(target=self.send, args=(account,), daemon=True, name="openlineage")
            self.thread.start()
        return self.thread

    def send(self, account: Account) -> None:
        """Send events until there are no more; the last problem is kept."""
        logging.getLogger("openlineage").addHandler(QUIET)  # else Python prints what the library logs
        try:
            from openlineage.client import OpenLineageClient

            client = OpenLineageClient()
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"
            return
        while (event := self.events.get()) is not None:
            try:
                client.emit(run_event(account, *event))
            except Exception as error:
                self.problem = f"{type(error).__name__}: {error}"
        client.close(LIMIT_S)


# Events.


def run_event(account: Account, kind: str, report: RunReport | None) -> Any:
    """Return an event of a run; one that ends it has a report."""
    from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
    from openlineage.client.facet_v2 import documentation_job, job_type_job
    from openlineage.client.uuid import generate_static_uuid

    spec, started = account.pipeline.spec, account.timeline.start_unix
    at = datetime.fromtimestamp(started + (report.duration_s if report else 0.0), UTC)
    job_facets: dict[str, Any] = {
        "jobType": job_type_job.JobTypeJobFacet("BATCH", "GPUETL", "PIPELINE", producer=PRODUCER)
    }
    if spec.description:
        job_facets["documentation"] = documentation_job.DocumentationJobFacet(spec.description, producer=PRODUCER)
    run_id = generate_static_uuid(datetime.fromtimestamp(started, UTC), account.run_id.encode())
    inputs, outputs = datasets(account, report)
    return RunEvent(
        eventType=RunState[kind], eventTime=at.isoformat(), producer=PRODUCER, inputs=inputs, outputs=outputs,
        job=Job(os.environ.get("OPENLINEAGE_NAMESPACE") or "default", str(spec.name), job_facets),
        run=Run(str(run_id), run_facets(account, report)),
    )  # fmt: skip


def run_facets(account: Account, report: RunReport | None) -> dict[str, Any]:
    """Return what is known of a run: the engine, its parent, its failure, its expectations."""
    from openlineage.client.facet_v2 import error_message_run, parent_run, processing_engine_run, tags_run, test_run

    engine = processing_engine_run.ProcessingEngineRunFacet(__version__, "gpuetl", __version__, producer=PRODUCER)
    tags = [
        tags_run.TagsRunFacetFields(key, value, "GPUETL")
        for key, value in (("gpuetl.run_id", account.run_id), ("gpuetl.engine", account.choice.name))
    ]
    facets: dict[str, Any] = {
        "processing_engine": engine, "tags": tags_run.TagsRunFacet(tags, producer=PRODUCER),
    }  # fmt: skip
    parent = os.environ.get("OPENLINEAGE_PARENT_ID", "").rsplit("/", 2)
    if len(parent) == 3:
        namespace, name, run_id = parent
        job = parent_run.Job(namespace, name)
        facets["parent"] = parent_run.ParentRunFacet(parent_run.Run(run_id), job, producer=PRODUCER)
    if report is not None and report.failure is not None:
        message = redacted(report.failure.text)
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(message, "Python", producer=PRODUCER)
    if report is not None and report.checks:
        tests = [
            test_run.TestExecution(
                redacted(check.rule), "pass" if check.verdict == "passed" else "fail", severity(check),
                kind_of(check), redacted(f"stage '{check.stage}': {check.what}"),
            )
            for check in report.checks
        ]  # fmt: skip
        facets["test"] = test_run.TestRunFacet(tests, producer=PRODUCER)
    return facets


def severity(check: CheckReport) -> str:
    """Return whether a rule that is broken stops the run."""
    return "error" if check.on_fail == "fail" else "warn"


def kind_of(check: CheckReport) -> str:
    """Return the kind of a rule, if it is known: `not_null` of not_null(id)."""
    found = RULE_OF_COLUMN.fullmatch(check.rule)
    return found["verb"] if found else "expectation"


# Datasets.


def datasets(account: Account, report: RunReport | None) -> tuple[list[Any], list[Any]]:
    """Return the inputs and outputs of a run, with what is known of them; none before its plan is known."""
    if account.plan is None:
        return [], []
    plan, pipeline = account.plan, str(account.pipeline.spec.name)
    read = (node.dataset for node in plan.nodes if isinstance(node, Read))
    reads = {one.name: one for one in (one.source if isinstance(one, RejectedRows) else one for one in read)}
    names = {source: name_of_source(dataset, pipeline) for source, dataset in reads.items()}
    found = inputs_of(plan, reads, names, report)
    sinks = {name: node for name, node in plan.sinks.items() if isinstance(node, Write)}
    lineages = column_lineage(*sinks.values())
    made = [
        output(name, node, lineage, names, report)
        for (name, node), lineage in zip(sinks.items(), lineages, strict=True)
    ]
    return found, made


def inputs_of(
    plan: Plan, reads: Mapping[str, Dataset], names: Mapping[str, DatasetName], report: RunReport | None
) -> list[Any]:
    """Return the datasets that a run reads, each once, with the rows and bytes that were read."""
    from openlineage.client.event_v2 import InputDataset
    from openlineage.client.facet_v2 import data_quality_assertions_dataset as quality
    from openlineage.client.facet_v2 import input_statistics_input_dataset as statistics

    checks = assertions(plan, names, report)
    found: list[Any] = []
    for name in dict.fromkeys(names.values()):
        sources = [source for source in names if names[source] == name]
        schema = {column: kind for source in sources for column, kind in reads[source].schema.items()}
        facets: dict[str, Any] = {}
        stages = [one for one in (report.stages if report else ()) if one.kind == "source" and one.name in sources]
        if stages:
            rows, read = (sum(getattr(one, of) for one in stages) for of in ("rows_out", "file_bytes"))
            facets["inputStatistics"] = statistics.InputStatisticsInputDatasetFacet(rows, read, producer=PRODUCER)
        if checks.get(name):
            facets["dataQualityAssertions"] = quality.DataQualityAssertionsDatasetFacet(checks[name], producer=PRODUCER)
        found.append(InputDataset(*name, facets=described(name, schema), inputFacets=facets))
    return found


def output(sink: str, node: Write, lineage: Lineage, names: Mapping[str, DatasetName], report: RunReport | None) -> Any:
    """Return the dataset of a sink, with its column lineage, and the rows and bytes that were written."""
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.facet_v2 import column_lineage_dataset as of_columns
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    name = name_of_path(node.target.path)
    fields = {column: of_columns.Fields(input_fields(inputs, names)) for column, inputs in lineage.columns.items()}
    whole = of_columns.ColumnLineageDatasetFacet(fields, input_fields(lineage.rows, names), producer=PRODUCER)
    facets: dict[str, Any] = {}
    for one in report.sinks if report else ():
        if one.name == sink and one.written:
            facets["outputStatistics"] = statistics.OutputStatisticsOutputDatasetFacet(
                one.rows, one.file_bytes, one.files, producer=PRODUCER
            )
    return OutputDataset(*name, facets={**described(name, node.schema), "columnLineage": whole}, outputFacets=facets)


def input_fields(inputs: Inputs, names: Mapping[str, DatasetName]) -> list[Any]:
    """Return the columns that something depends on."""
    from openlineage.client.facet_v2 import column_lineage_dataset as of_columns

    return [
        of_columns.InputField(
            *names[column.source], column.column,
            [of_columns.Transformation(one.type, one.subtype, "", one.masking) for one in sorted(how)],
        )
        for column, how in sorted(inputs.items())
        if column.source in names
    ]  # fmt: skip


def described(name: DatasetName, schema: Mapping[str, Any] | Schema) -> dict[str, Any]:
    """Return the facets that each dataset has: its schema and its address."""
    from openlineage.client.facet_v2 import datasource_dataset, schema_dataset

    fields = [schema_dataset.SchemaDatasetFacetFields(column, type_name(kind)) for column, kind in schema.items()]
    return {
        "schema": schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER),
        "dataSource": datasource_dataset.DatasourceDatasetFacet(name.namespace, name.uri, producer=PRODUCER),
    }


def assertions(plan: Plan, names: Mapping[str, DatasetName], report: RunReport | None) -> dict[DatasetName, list[Any]]:
    """Return what was found of rules, by the datasets from which their stages are made.

    The column of a rule is that of the dataset, where the stage passes it on as it is.
    """
    from openlineage.client.facet_v2 import data_quality_assertions_dataset as quality

    checks: Sequence[CheckReport] = report.checks if report else ()
    stages = [name for name in dict.fromkeys(check.stage for check in checks) if name in plan.stages]
    lineages = dict(zip(stages, column_lineage(*(plan.stages[name] for name in stages)), strict=True))
    found: dict[DatasetName, list[Any]] = {}
    for check in checks:
        if check.stage not in lineages:
            continue
        lineage, rule = lineages[check.stage], RULE_OF_COLUMN.fullmatch(check.rule)
        parts = (*lineage.columns.values(), lineage.rows)
        own = lineage.columns.get(rule["column"], {}) if rule else {}
        columns = {
            column.source: column.column for column, how in own.items() if {one.subtype for one in how} == {"IDENTITY"}
        }
        for source in dict.fromkeys(column.source for inputs in parts for column in inputs):
            if source in names:
                one = quality.Assertion(
                    kind_of(check), check.verdict == "passed", columns.get(source), severity(check),
                    redacted(check.rule), redacted(f"stage '{check.stage}': {check.what}"), actual=str(check.broken),
                )  # fmt: skip
                found.setdefault(names[source], []).append(one)
    return found
