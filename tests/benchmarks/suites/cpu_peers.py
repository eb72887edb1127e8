"""DuckDB, and Polars on the CPU."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import Job
from .events.codec import codec_of_library, zstd_level
from .peer import LeftOut, Peer


class DuckDB(Peer):
    """DuckDB on all cores, the suite's tables as views."""

    name = "duckdb"
    needs = ("duckdb",)

    def open(self) -> None:
        """Connect."""
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("set preserve_insertion_order = false")
        for table in sorted(path for path in self.data.iterdir() if path.is_dir()):
            self.connection.execute(f"create view {table.name} as from '{table}/*.parquet'")

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Run the statements; the last one's rows are the answer."""
        text = job.file(".sql").read_text(encoding="utf-8")
        if text.startswith("-- left out: "):
            raise LeftOut(text.removeprefix("-- left out: ").strip())
        if "$OUT" in text:
            codec = f"{codec_of_library('uncompressed')}" + (", compression_level 1" if zstd_level() else "")
            self.connection.execute(text.replace("$OUT", str(out)).replace("$CODEC", codec))
            return None
        rows: pa.Table = self.connection.sql(text).to_arrow_table()
        return rows


class Polars(Peer):
    """Polars' streaming engine on all cores."""

    name = "polars"
    needs: tuple[str, ...] = ("polars",)
    module = "by_polars"

    @cached_property
    def collector(self) -> Any:
        """What collects: Polars' engine."""
        return "streaming"

    def open(self) -> None:
        """Import it, and make the engine."""
        import_module("polars")
        assert self.collector

    def run(self, job: Job, out: Path) -> Any:
        """Collect the lazy frame, or let the job write its files."""
        import polars as pl

        function = self.function(job)
        if "out" in function.__annotations__:
            function(lambda table: pl.scan_parquet(self.files(table)), out, self.collector)
            return None
        lazy = function(lambda table: pl.scan_parquet(self.files(table)))
        return lazy.collect(engine=self.collector)
