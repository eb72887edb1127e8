"""The comparison: each job on gpuetl and on its peers, from the same Parquet files, in a process for each peer.

    python tests/benchmarks/gpu.py FOLDER                                      all jobs, all peers that are installed
    python tests/benchmarks/gpu.py FOLDER --jobs events/q1,h2o --peers gpuetl,cudf --rows 10000000

Makes the data in FOLDER unless it is there, reads it once (the page cache is warm), runs each job once and then as often
as asked for, compares the answers, and only then tells the times.  Times end when rows are on the host or files are
written.  Each result is merged into results/gpu-DATE.json at once, so that the whole can run in pieces; docs/performance.md
is rendered from it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from environment import described, today
from suites import SUITES, Job, jobs
from suites.answers import assert_same_answers
from suites.events.codec import CODECS, choose_codec
from suites.folders import make_whole
from suites.measure import Process, answer_folder, serve
from suites.pdsh.make import generator
from suites.peer import Peer
from suites.peers import PEERS
from suites.results import Results, installed

from gpuetl.engines.registry import look_for_gpu

HERE = Path(__file__).parent


def main() -> None:
    """Measure."""
    asked = arguments()
    choose_codec(asked.codec)
    if asked.serve:
        data = data_folder(asked, asked.serve[1])
        serve(asked.serve[0], data, answers_folder(data), asked.engine, asked.runs, asked.budget)
        return
    wanted = jobs(asked.jobs)
    if any(job.suite == "pdsh" for job in wanted) and not data_folder(asked, "pdsh").exists():
        generator()
    peers = present(asked)
    results = Results(asked.results, described(installed()))
    for suite in dict.fromkeys(job.suite for job in wanted):
        made(asked, suite)
        ours = [job for job in wanted if job.suite == suite]
        for peer in peers:
            measure(asked, suite, ours, peer, results)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and answers go")
    parser.add_argument(
        "--jobs", type=names, default=list(SUITES), help=f"suites and jobs; suites: {', '.join(SUITES)}"
    )
    parser.add_argument(
        "--peers", type=names, help=f"of {', '.join(PEERS)}; default: those for one GPU that are installed"
    )
    parser.add_argument("--engine", default="cudf", help="gpuetl's engine")
    parser.add_argument("--rows", type=int, default=100_000_000, help="of the largest table, where no scale is")
    parser.add_argument("--scale", type=float, default=10, help="of PDS-H")
    parser.add_argument("--runs", type=int, default=5, help="after the first one")
    parser.add_argument("--codec", choices=CODECS, default=CODECS[0], help="of the files that all peers write")
    parser.add_argument("--budget", type=float, default=20, metavar="S", help="no run begins after so many seconds")
    parser.add_argument("--limit", type=float, default=120, metavar="S", help="of a job on a peer, which then ends")
    parser.add_argument(
        "--results", type=Path, default=HERE / "results" / f"gpu-{today()}.json", help="JSON, merged into"
    )
    parser.add_argument("--serve", nargs=2, metavar=("PEER", "SUITE"), help=argparse.SUPPRESS)
    return parser.parse_args()


def present(asked: argparse.Namespace) -> list[str]:
    """Return the peers to measure; say at once which cannot be, and end where one of those was asked for."""
    names = asked.peers or [name for name, peer in PEERS.items() if not peer.on_cluster]
    if unknown := set(names) - set(PEERS):
        raise SystemExit(f"no peer {', '.join(unknown)}.  have: {', '.join(PEERS)}")
    problems = {name: PEERS[name].missing() or no_gpu(PEERS[name], asked.engine) for name in names}
    problems = {name: problem for name, problem in problems.items() if problem}
    for name, problem in problems.items():
        print(f"{name}: not measured: {problem}", file=sys.stderr)
    if problems and asked.peers:
        raise SystemExit(1)
    return [name for name in PEERS if name in names and name not in problems]


def no_gpu(peer: type[Peer], engine: str) -> str:
    """Say why there is no GPU, of a peer that needs one."""
    return look_for_gpu().problem if peer.on_gpu(engine) else ""


def data_folder(asked: argparse.Namespace, suite: str) -> Path:
    """Return where a suite's data is: a folder for each table."""
    return Path(asked.folder) / "data" / f"{suite}-{size(asked, suite)}"


def answers_folder(data: Path) -> Path:
    """Return where the answers on some data are kept: those that others are compared with, for later commands too."""
    return data.parents[1] / "answers" / data.name


def size(asked: argparse.Namespace, suite: str) -> float:
    """Return how large a suite's data is: a scale factor, or rows."""
    return float(asked.scale) if suite == "pdsh" else int(asked.rows)


def made(asked: argparse.Namespace, suite: str) -> None:
    """Make a suite's data unless it is there, and read it into the page cache."""
    data = data_folder(asked, suite)
    make_whole(data, lambda begun: import_module(f"suites.{suite}.make").make(begun, size(asked, suite)))
    for path in data.rglob("*.parquet"):
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass


def measure(asked: argparse.Namespace, suite: str, wanted: list[Job], peer: str, results: Results) -> None:
    """Run the jobs on a peer, compare each with the first peer's answer, then tell and keep its times."""
    data = data_folder(asked, suite)
    process = Process([sys.executable, *sys.argv, "--serve", peer, suite], asked.folder / f"{peer}.log", asked.limit)
    for job in wanted:
        record = process.run(job)
        if "best_s" in record:
            record = checked(record, answers_folder(data), job, peer)
        results.add(job, data, asked.engine, peer, record)
        print(f"{job}  {peer:22}{summary(record)}", flush=True)
    process.close()


def checked(record: dict[str, Any], answers: Path, job: Job, peer: str) -> dict[str, Any]:
    """Compare a peer's answer with the one that is kept, or keep it; return its times, or how it differs."""
    folder = answers / job.name
    first = next((name for name in PEERS if name != peer and (folder / name / ".right").exists()), None)
    own = answer_folder(answers, job, peer)
    if first is None:
        (own / ".right").touch()
        return record
    try:
        assert_same_answers(own, folder / first)
    except AssertionError as error:
        return {"error": f"its answer is not that of {first}: {error}"[:600]}
    shutil.rmtree(own)
    return {**record, "equals": first}


def summary(record: dict[str, Any]) -> str:
    """Say in a few words what became of a job."""
    if "best_s" not in record:
        return f"left out: {record['left_out']}" if "left_out" in record else f"error: {record['error'][:200]}"
    return f"first {record['first_s'] * 1e3:9.1f} ms, best of {len(record['seconds']) - 1} {record['best_s'] * 1e3:9.1f} ms"


if __name__ == "__main__":
    main()
