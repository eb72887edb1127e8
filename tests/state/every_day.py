"""A pipeline with an incremental source in a folder of its own, files that arrive there, and what its runs gave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from gpuetl import Pipeline, RunOptions, loads
from gpuetl.records import dataclass
from gpuetl.report.run_report import RunReport
from gpuetl.state.pipeline_state import PipelineState
from gpuetl.state.run_store import RunStore

PIPELINE = """\
gpuetl: 1
name: every_day
sources:
  landing: {{{format}: landing, {keys}incremental: {incremental}}}
stages:
  clean: {{from: landing, steps: [{{with_columns: {{twice: id + id}}}}]}}
sinks:
  all: {{from: clean, parquet: out/all, mode: append}}
  latest: {{from: clean, parquet: out/latest.parquet, mode: overwrite}}
"""
SCHEMA = "schema: {id: int64, ts: timestamp}, "


def ts(day: int, hour: int = 0, minute: int = 0) -> datetime:
    """Return a time in January 2026."""
    return datetime(2026, 1, day, hour, minute)


def rows(ids: Iterable[int], times: Iterable[datetime | None]) -> pa.Table:
    """Return rows with ids and times."""
    return pa.table({"id": pa.array(ids, pa.int64()), "ts": pa.array(times, pa.timestamp("us"))})


@dataclass
class EveryDay:
    """A pipeline that runs again and again, on one engine."""

    folder: Path
    engine: str
    format: str = "parquet"
    incremental: str = "{new_files: true}"
    options: RunOptions = field(default_factory=RunOptions)

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline, loaded anew."""
        keys = SCHEMA if self.format == "csv" else ""
        return loads(PIPELINE.format(format=self.format, keys=keys, incremental=self.incremental), self.folder)

    def arrives(self, name: str, table: pa.Table, row_group_size: int = 2) -> Path:
        """Put a file into the folder of the source."""
        path = self.folder / "landing" / f"{name}.{self.format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.format == "csv":
            pyarrow.csv.write_csv(table, path)
        else:
            pq.write_table(table, path, row_group_size=row_group_size)
        return path

    def run(self, **options: Any) -> RunReport:
        """Run once."""
        return self.pipeline.run(engine=self.engine, options=self.with_options(options)).report

    def with_options(self, options: Mapping[str, Any]) -> RunOptions:
        """Return the options of a run."""
        from dataclasses import replace

        return replace(self.options, **options)

    @property
    def ids(self) -> list[int]:
        """The ids in the sink that appends, sorted; a row that is there twice is listed twice."""
        return ids_in(self.folder / "out/all")

    @property
    def latest(self) -> list[int]:
        """The ids in the sink that is overwritten."""
        return ids_in(self.folder / "out/latest.parquet")

    @property
    def store(self) -> RunStore:
        """The state folder."""
        return RunStore.at(self.folder / ".gpuetl/every_day")

    @property
    def state(self) -> PipelineState:
        """What the last run left."""
        return self.store.read()


def ids_in(path: Path) -> list[int]:
    """Return the ids in the files of a sink, sorted."""
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path] if path.exists() else []
    return sorted(number for file in files for number in pq.ParquetFile(file).read()["id"].to_pylist())
