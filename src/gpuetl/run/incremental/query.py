"""Small aggregates of a source, computed on the engine of a run before it begins."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from gpuetl.errors import Problems
from gpuetl.expressions.ir import Column
from gpuetl.plan.nodes import Project, Read
from gpuetl.plan.plan import Plan
from gpuetl.run.incremental.choice import Query
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.model import FrameSpec, ParameterSpec
from gpuetl.spec.read import read_pipeline_text
from gpuetl.state.source_state import WatermarkValue
from gpuetl.types.data_types import DataType

COLUMN = "w"
ANSWER = "answer"


def query_on(run: Callable[[Plan], pa.Table]) -> Query:
    """Return a query that is computed by `run`, which returns the rows of a plan that keeps one relation."""

    def query(
        read: Read, column: str, values: Mapping[str, WatermarkValue], expressions: Mapping[str, str]
    ) -> Mapping[str, object]:
        rows = run(query_plan(read, column, values, expressions)).to_pylist()
        return dict(rows[0])

    return query


def query_plan(read: Read, column: str, values: Mapping[str, WatermarkValue], expressions: Mapping[str, str]) -> Plan:
    """Return the plan of aggregates over one column of a source."""
    dtype: DataType = read.dataset.schema[column]
    steps = [{"aggregate": {"columns": dict(expressions)}}]
    stages = {ANSWER: {"from": "rows", "steps": steps}}
    text = json.dumps({"gpuetl": 1, "name": "watermark", "stages": stages})
    problems = Problems()
    spec = read_pipeline_text(text, "watermark", problems)
    problems.check()
    assert spec is not None
    empty = FrameSpec(pa.schema([(COLUMN, dtype)]).empty_table())
    parameters = {name: ParameterSpec(dtype, default=value) for name, value in values.items()}
    spec = replace(spec, sources={"rows": empty}, parameters=parameters)
    bound = PipelineDefinition.from_spec(spec, ".", Problems()).plan()
    source = replace(read, columns=(column,))
    rows = Project(source=source, columns={COLUMN: Column(column, dtype)}, origin=read.origin)
    kept = bound.keeping([ANSWER])
    return kept.rewrite(lambda node: rows if isinstance(node, Read) else replace(node, origin=read.origin))
