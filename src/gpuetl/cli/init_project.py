"""The files of a new project, as `gpuetl init` writes them: a pipeline that runs, its test, profiles and CI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from gpuetl.cli.schema import FileSource
from gpuetl.expressions.unparse import quote_name
from gpuetl.records import dataclass
from gpuetl.spec.model import PipelineSpec
from gpuetl.spec.write import pipeline_data, yaml_text
from gpuetl.types.data_types import DATE, DURATION, STRING, DataType, is_floating, is_integer
from gpuetl.types.decimal_types import is_decimal
from gpuetl.version import __version__

PIPELINE, SCHEMA, CI = "pipeline.yaml", "pipeline.schema.json", ".github/workflows/pipeline.yml"
LANGUAGE_SERVER = f"# yaml-language-server: $schema={SCHEMA}\n"
IGNORED = "out/\n.env\n.gpuetl/\n"
SALES = """\
day,store,product,amount,pieces
2026-11-01,Berlin,coffee,3.20,1
2026-11-01,Berlin,tea,2.80,2
2026-11-01,Paris,coffee,3.50,3
2026-11-02,Paris,,1.00,1
2026-11-02,Paris,tea,2.90,1
2026-11-03,Berlin,coffee,3.20,2
"""
"""The data of a project that is not made for files."""
SALES_PIPELINE = """\
gpuetl: 1
name: {name}
description: The revenue of each store and day.

params:
  least_amount: {{type: "decimal(8,2)", default: "0.00"}}

profiles:                        # gpuetl run pipeline.yaml --profile dev
  dev:  {{engine: pandas}}
  prod: {{engine: auto}}           # a GPU where there is one

sources:
  sales:
    csv: data/sales.csv
    schema: {{day: date, store: string, product: string, amount: "decimal(8,2)", pieces: int64}}

stages:
  clean:
    from: sales
    steps:
      - filter: product IS NOT NULL AND amount >= $least_amount
    expect:
      - not_null: [day, store, product]
      - range: {{pieces: [1, 1000]}}

  revenue:
    from: clean
    steps:
      - aggregate:
          by: [day, store]
          columns: {{revenue: sum(amount * pieces), sales: count(*)}}
      - sort: [day, store]

sinks:
  revenue_out: {{from: revenue, parquet: out/revenue.parquet, mode: overwrite}}

tests:                           # gpuetl test pipeline.yaml
  - name: revenue is the sum of amounts times pieces
    given:
      sales:
        - {{day: 2026-11-01, store: Berlin, product: tea, amount: "2.80", pieces: 2}}
        - {{day: 2026-11-01, store: Berlin, product: coffee, amount: "3.20", pieces: 1}}
        - {{day: 2026-11-01, store: Berlin, amount: "9.99", pieces: 1}}
    expect:
      revenue: [{{day: 2026-11-01, store: Berlin, revenue: "8.80", sales: 2}}]
"""
CI_TEXT = f"""\
name: pipeline
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-python@v6
        with:
          python-version: "3.12"
      - run: pip install "gpuetl=={__version__}"
      - run: gpuetl validate {PIPELINE} --no-files
      - run: gpuetl test {PIPELINE} --engine pandas
"""


@dataclass(frozen=True)
class Key:
    """The column that the example's stage filters by: its name, and a value of its type as YAML has it."""

    name: str
    value: Any


def sample_project(name: str) -> dict[str, str]:
    """Return the files of a project with data of its own."""
    return {
        PIPELINE: LANGUAGE_SERVER + SALES_PIPELINE.format(name=json.dumps(name)),
        "data/sales.csv": SALES,
        ".gitignore": IGNORED,
        CI: CI_TEXT,
    }


def project_of(name: str, sources: Mapping[str, FileSource]) -> dict[str, str]:
    """Return the files of a project for sources; comments on them are at its top."""
    comments = [f"{line}\n" for source in sources.values() for line in source.comments]
    text = "".join([LANGUAGE_SERVER, *comments, pipeline_text(name, sources)])
    return {PIPELINE: text, ".gitignore": IGNORED, CI: CI_TEXT}


def pipeline_text(name: str, sources: Mapping[str, FileSource]) -> str:
    """Return a pipeline with the sources, and for each a stage that checks it, a sink and a test."""
    data = pipeline_data(PipelineSpec(name, sources={one: source.spec for one, source in sources.items()}))
    data["profiles"] = {"dev": {"engine": "pandas"}, "prod": {"engine": "auto"}}
    data |= {"stages": {}, "sinks": {}, "tests": []}
    for source, found in sources.items():
        key = key_of(found)
        stage = free_name("clean" if len(sources) == 1 else f"{source}_clean", [*sources, *data["stages"]])
        steps = [{"filter": f"{quote_name(key.name)} IS NOT NULL"}] if key else []
        rules: list[dict[str, Any]] = [{"not_null": [key.name]}] if key else []
        rules.append({"rows": {"min": 1}, "on_fail": "warn"})
        data["stages"][stage] = {"from": source, "steps": steps, "expect": rules}
        data["sinks"][f"{stage}_out"] = {"from": stage, "parquet": f"out/{stage}.parquet", "mode": "overwrite"}
        data["tests"].append(test_of(source, stage, key))
    order = ("gpuetl", "name", "profiles", "sources", "stages", "sinks", "tests")
    return "\n".join(yaml_text({section: data[section]}) for section in order).replace("gpuetl: 1\n\n", "gpuetl: 1\n")


def test_of(source: str, stage: str, key: Key | None) -> dict[str, Any]:
    """Return a test of the stage: of two rows, one has no key."""
    if key is None:
        return {"name": f"{stage}: no rows give no rows", "given": {source: []}, "expect": {stage: []}}
    row = {key.name: key.value}
    given = {"columns": [key.name], "rows": [[key.value], [None]]}
    return {"name": f"{stage} leaves out rows without {key.name}", "given": {source: given}, "expect": {stage: [row]}}


def key_of(source: FileSource) -> Key | None:
    """Return the first column for which YAML has a value, if possible one without a hint; None where there is none.

    A column with a hint will get another type.
    """
    values = [(name, example_value(dtype)) for name, dtype in source.spec.schema.items()]
    keys = [Key(name, value) for name, value in values if value is not None]
    return next((key for key in keys if key.name not in source.hints), next(iter(keys), None))


def example_value(dtype: DataType) -> Any:
    """Return a value of a type as it is written in a test; None for types that YAML has no text for."""
    if is_integer(dtype):
        return 1
    if is_floating(dtype):
        return 1.5
    if is_decimal(dtype):
        return "0" if dtype.precision == dtype.scale else "1"
    if pa.types.is_timestamp(dtype) and dtype.unit == "us":
        written = datetime(2026, 11, 1, 12).isoformat()
        return f"{written}Z" if dtype.tz else written
    return {DATE: date(2026, 11, 1).isoformat(), STRING: "a", pa.bool_(): True, DURATION: "8 hours"}.get(dtype)


def free_name(name: str, names: Iterable[str]) -> str:
    """Return a name that no source has."""
    taken = set(names)
    return next(one for one in (name, f"{name}_rows", *(f"{name}_{i}" for i in range(2, 1000))) if one not in taken)
