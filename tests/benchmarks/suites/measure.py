"""A peer's process: it runs jobs as it is told to, and is ended where one takes too long."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import Job
from .peer import LeftOut, Peer
from .peers import PEERS
from .results import first_and_best


def serve(name: str, data: Path, answers: Path, engine: str, runs: int, budget_s: float) -> None:
    """Run the jobs whose names come in, one a line; tell what became of each in a line of JSON."""
    tell = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no line of ours
    peer = PEERS[name](data, engine)
    peer.open()
    for line in sys.stdin:
        suite, _, job = line.strip().partition("/")
        try:
            record: dict[str, Any] = measured(peer, Job(suite, job), answers, runs, budget_s)
        except LeftOut as reason:
            record = {"left_out": str(reason)}
        except Exception as error:
            record = {"error": f"{type(error).__name__}: {error}"[:600]}
        tell.write(json.dumps(record) + "\n")
    tell.close()
    os._exit(0)  # engines with threads of their own may not end by themselves


def measured(peer: Peer, job: Job, answers: Path, runs: int, budget_s: float) -> dict[str, Any]:
    """Run a job once and then `runs` times more, or as often as the budget allows; keep its answer of the last run."""
    seconds: list[float] = []
    out = answer_folder(answers, job, peer.name)
    rows = None
    while not seconds or (len(seconds) <= runs and sum(seconds) < budget_s):
        rows = None
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        began = time.perf_counter()
        rows = peer.run(job, out)
        seconds.append(time.perf_counter() - began)
    if rows is not None:
        pq.write_table(pa.table(rows), out / "answer.parquet")
        return first_and_best(seconds)
    written = sum(path.stat().st_size for path in out.rglob("*.parquet") if path.is_file())
    return {**first_and_best(seconds), "bytes_written": written}


def answer_folder(answers: Path, job: Job, peer: str) -> Path:
    """Return where a peer's answer lies."""
    return answers / job.name / peer


class Process:
    """A peer's process, started when it is first needed and again after it died."""

    def __init__(self, command: list[str], log: Path, limit_s: float) -> None:
        self.command, self.log, self.limit_s = command, log, limit_s
        self.process: subprocess.Popen[str] | None = None

    def run(self, job: Job) -> dict[str, Any]:
        """Return what became of a job: times, `left_out` or `error`."""
        process = self.process = self.process or self.start()
        assert process.stdin
        try:
            process.stdin.write(f"{job}\n")
            process.stdin.flush()
            line = self.lines.get(timeout=self.limit_s)
        except queue.Empty:
            self.close()
            return {"error": f"took longer than {self.limit_s:g} s"}
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            return {"error": f"the process ended: {self.last_words()}"}
        record: dict[str, Any] = json.loads(line)
        return record

    def start(self) -> subprocess.Popen[str]:
        """Start it; what it prints goes to the log."""
        self.lines: queue.Queue[str] = queue.Queue()
        with self.log.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                env={"KVIKIO_NTHREADS": "16", **os.environ},
            )  # fmt: skip
        threading.Thread(target=collect, args=(process.stdout, self.lines), daemon=True).start()
        return process

    def last_words(self) -> str:
        """Return the last line of the log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1][:600] if lines else "it said nothing"

    def close(self) -> None:
        """End it."""
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None


def collect(stream: IO[str] | None, lines: queue.Queue[str]) -> None:
    """Pass lines on; the last one is empty."""
    assert stream
    for line in stream:
        lines.put(line)
    lines.put("")
