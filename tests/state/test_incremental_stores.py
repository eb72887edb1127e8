"""Incremental sources, sinks and state in an object store: each file is read once, by its ETag."""

from __future__ import annotations

import io

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import ObjectStore

from clusters import needs_this_process
from gpuetl import Pipeline, RunFailed, loads
from gpuetl.places.paths import StorePath
from gpuetl.state.run_store import RunStore
from state.every_day import rows, ts

PIPELINE = """\
gpuetl: 1
name: every_day
state: {place}/state
sources:
  landing: {{parquet: {place}/landing, incremental: {incremental}}}
sinks:
  all: {{from: landing, parquet: {place}/out/all, mode: append}}
  latest: {{from: landing, parquet: {place}/out/latest.parquet, mode: overwrite}}
"""


class EveryDayInStore:
    """A pipeline whose source, sinks and state are in one bucket."""

    def __init__(self, store: ObjectStore, place: str, engine: str, incremental: str) -> None:
        self.store, self.place, self.engine, self.incremental = store, place, engine, incremental

    @property
    def pipeline(self) -> Pipeline:
        return loads(PIPELINE.format(place=self.place, incremental=self.incremental))

    def arrives(self, name: str, table: pa.Table) -> None:
        data = io.BytesIO()
        pq.write_table(table, data)
        obstore.put(self.store, f"landing/{name}.parquet", data.getvalue())

    def run(self) -> bool:
        """Run once; return whether there was anything new."""
        return not self.pipeline.run(engine=self.engine).report.nothing_new

    def ids(self, prefix: str) -> list[int]:
        keys = [one["path"] for batch in obstore.list(self.store, "out/") for one in batch]
        found = [key for key in keys if key.startswith(prefix) and key.endswith(".parquet")]
        tables = (pq.read_table(io.BytesIO(bytes(obstore.get(self.store, key).bytes()))) for key in found)
        return sorted(number for table in tables for number in table["id"].to_pylist())


@pytest.fixture
def daily(store: ObjectStore, store_bucket: str, engine: str) -> EveryDayInStore:
    needs_this_process(engine, "environment")
    return EveryDayInStore(store, f"s3://{store_bucket}", engine, "{new_files: true}")


@pytest.mark.part(5)
@pytest.mark.parametrize("store_server", ["moto", "s3rver"], indirect=True)
def test_each_object_is_read_once(daily: EveryDayInStore) -> None:
    daily.arrives("a", rows([1, 2], [ts(1)] * 2))
    assert daily.run()
    daily.arrives("b", rows([3], [ts(1)]))
    assert daily.run()
    assert not daily.run()
    assert daily.ids("out/all") == [1, 2, 3]
    assert daily.ids("out/latest") == [3]
    plan_state = daily.pipeline.plan().state
    assert isinstance(plan_state, StorePath)
    state = RunStore.at(plan_state).read()
    assert state.version == 2
    assert state.sources["landing"]["count"] == 2


@pytest.mark.parametrize("store_server", ["moto"], indirect=True)
def test_an_object_with_another_content_has_changed(daily: EveryDayInStore) -> None:
    daily.arrives("a", rows([1], [ts(1)]))
    assert daily.run()
    daily.arrives("a", rows([1], [ts(1)]))  # the same bytes: another time, the same ETag
    assert not daily.run()
    daily.arrives("a", rows([2], [ts(1)]))
    with pytest.raises(RunFailed, match=r"landing/a\.parquet has changed since run .* its ETag is another one now"):
        daily.run()
    assert daily.ids("out/all") == [1]


@pytest.mark.parametrize("store_server", ["moto"], indirect=True)
def test_rows_beyond_a_watermark_are_read_once(daily: EveryDayInStore) -> None:
    daily.incremental = "{watermark: ts, lateness: interval '1 day'}"
    for day in (2, 3, 5):
        daily.arrives(str(day), rows([day], [ts(day)]))
        daily.run()
    assert daily.ids("out/all") == [2, 3]
    assert daily.ids("out/latest") == [3]


@pytest.mark.parametrize("store_server", ["moto"], indirect=True)
def test_a_state_folder_beside_a_pipeline_in_a_store(store: ObjectStore, store_bucket: str, engine: str) -> None:
    from gpuetl import load

    needs_this_process(engine, "environment")
    text = PIPELINE.format(place="..", incremental="{new_files: true}").replace("state: ../state\n", "")
    obstore.put(store, "pipelines/daily.yaml", text.encode())
    daily = EveryDayInStore(store, f"s3://{store_bucket}", engine, "{new_files: true}")
    daily.arrives("a", rows([1], [ts(1)]))
    path = f"s3://{store_bucket}/pipelines/daily.yaml"
    assert not load(path).run(engine=engine).report.nothing_new
    assert load(path).run(engine=engine).report.nothing_new
    assert daily.ids("out/all") == [1]
    assert obstore.head(store, "pipelines/.gpuetl/daily/state.json")["size"] > 0
