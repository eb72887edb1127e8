"""What a run is for: the sinks, written while it goes on and committed together, and the stages that are kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.backends.backend import Backend, Frame
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner
from gpuetl.io.commit import commit_sinks
from gpuetl.io.staging import FileWriter, SinkWriter, close_writers
from gpuetl.io.write_files import WRITERS
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Physical
from gpuetl.plan.node import Origin
from gpuetl.plan.nodes import Write
from gpuetl.plan.schema import Schema
from gpuetl.report.recorder import Recorder, Work
from gpuetl.report.report import SinkReport
from gpuetl.report.trace import spanned, timed
from gpuetl.report.traffic import write_traffic
from gpuetl.threads import thread_count


def execute(
    physical: PhysicalPlan, backend: Backend, recorder: Recorder, run_id: str, head_rows: int, seconds: dict[str, float]
) -> tuple[tuple[SinkReport, ...], dict[str, pa.Table], dict[str, Any]]:
    """Compute all roots, write the sinks beside their targets, and commit them together at the end."""
    executor = LocalExecutor(Runner(backend, recorder), physical.roots)
    threads = ThreadPoolExecutor(thread_count(), "gpuetl-writer")
    writers = {
        name: SinkWriter(write.target, run_id, file_writer(backend, name, write, source.schema), threads)
        for name, (write, source) in physical.sinks.items()
    }
    try:
        with timed(seconds, "run"):
            for writer in writers.values():
                writer.prepare()
            heads = {
                name: write_sink(executor, source, write, writers[name], head_rows)
                for name, (write, source) in physical.sinks.items()
            }
            kept = {name: next(executor.partitions(node)) for name, node in physical.kept.items()}
            for name, (write, _) in physical.sinks.items():
                writers[name].finish()
                note_files(recorder.of(write, write.origin, Origin("", "")), writers[name], backend)
        heads |= {name: backend.head(frame, head_rows) for name, frame in kept.items()}
        with timed(seconds, "commit"):
            commit_sinks(list(writers.values()), recorder.commit)
    finally:
        close_writers(list(writers.values()), threads)
    reports = (SinkReport(n, str(w.target.path), w.rows, len(w.files), w.file_bytes) for n, w in writers.items())
    return tuple(reports), heads, kept


def file_writer(backend: Backend, sink: str, write: Write, schema: Schema) -> FileWriter:
    """Return what writes a sink's files, the engine itself where it can; the trace of the run shows each file."""
    writer = backend.file_writer(write.target, schema) or WRITERS[write.target.format]
    return replace(writer, write=spanned(writer.write, f"write {sink}", "file"))


def note_files(work: Work, writer: SinkWriter, backend: Backend) -> None:
    """Record the files of a sink; what a GPU has encoded comes from it as it is in the file."""
    work.seconds += writer.seconds
    work.moved["host to file"] += writer.file_bytes
    if backend.device == "GPU" and not writer.writer.takes_arrow:
        work.moved["device to host"] += writer.file_bytes


def write_sink(executor: LocalExecutor, source: Physical, write: Write, writer: SinkWriter, head_rows: int) -> pa.Table:
    """Write a sink's partitions as they come; return its first rows."""
    runner, backend = executor.runner, executor.runner.backend
    work = runner.recorder.of(write, write.origin, Origin("", ""))
    heads: list[pa.Table] = []
    for frame in executor.partitions(source):
        write_frame(runner, work, frame, source.schema, writer)
        missing = head_rows - sum(head.num_rows for head in heads)
        if missing > 0:
            heads.append(backend.head(frame, missing))
        runner.finish(work, frame, source.partitions)
    return pa.concat_tables(heads) if heads else write.schema.to_arrow().empty_table()


def write_frame(runner: Runner, work: Work, frame: Frame, schema: Schema, writer: SinkWriter) -> None:
    """Begin to write one partition of a sink."""
    backend, as_arrow = runner.backend, writer.writer.takes_arrow
    rows = backend.rows(frame)
    with runner.recorder.timed(work):
        table = backend.to_arrow(frame) if as_arrow else frame
    if as_arrow:
        work.moved.update(write_traffic(backend, frame, schema))
    writer.write(table, rows)
    work.rows_in += rows
