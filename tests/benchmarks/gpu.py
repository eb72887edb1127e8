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
import json
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from environment import described, today
from suites import SUITES, Job, jobs
from suites.answers import assert_same_answers
from suites.measure import Process, answer_folder, serve
from suites.peers import PEERS, Peer

from gpuetl.backends.engines import look_for_gpu

HERE = Path(__file__).parent
PACKAGES = (
    "gpuetl", "pyarrow", "duckdb", "polars",
    *(f"{name}-cu{cuda}" for name in ("cudf", "pylibcudf", "cudf-polars") for cuda in (12, 13)),
    "cupy-cuda12x", "cupy-cuda13x",
)  # fmt: skip


def main() -> None:
    """Measure."""
    asked = arguments()
    if asked.serve:
        data = data_folder(asked, asked.serve[1])
        serve(asked.serve[0], data, asked.folder / "answers", asked.engine, asked.runs, asked.budget)
        return
    wanted = jobs(asked.jobs)
    peers = present(asked)
    results = Results(asked.results)
    for suite in dict.fromkeys(job.suite for job in wanted):
        made(asked, suite)
        ours = [job for job in wanted if job.suite == suite]
        for peer in peers:
            measure(asked, suite, ours, peer, results)
        shutil.rmtree(asked.folder / "answers" / suite, ignore_errors=True)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and answers go")
    parser.add_argument(
        "--jobs", type=names, default=list(SUITES), help=f"suites and jobs; suites: {', '.join(SUITES)}"
    )
    parser.add_argument("--peers", type=names, help=f"of {', '.join(PEERS)}; default: those that are installed")
    parser.add_argument("--engine", default="cudf", help="gpuetl's engine")
    parser.add_argument("--rows", type=int, default=100_000_000, help="of the largest table, where no scale is")
    parser.add_argument("--scale", type=float, default=10, help="of PDS-H")
    parser.add_argument("--runs", type=int, default=5, help="after the first one")
    parser.add_argument("--budget", type=float, default=20, metavar="S", help="no run begins after so many seconds")
    parser.add_argument("--limit", type=float, default=120, metavar="S", help="of a job on a peer, which then ends")
    parser.add_argument(
        "--results", type=Path, default=HERE / "results" / f"gpu-{today()}.json", help="JSON, merged into"
    )
    parser.add_argument("--serve", nargs=2, metavar=("PEER", "SUITE"), help=argparse.SUPPRESS)
    return parser.parse_args()


def present(asked: argparse.Namespace) -> list[str]:
    """Return the peers to measure; say at once which cannot be, and end where one of those was asked for."""
    names = asked.peers or list(PEERS)
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
    return Path(asked.folder) / "data" / f"{suite}-{size(asked, suite):g}"


def size(asked: argparse.Namespace, suite: str) -> float:
    """Return how large a suite's data is: a scale factor, or rows."""
    return float(asked.scale) if suite == "pdsh" else int(asked.rows)


def made(asked: argparse.Namespace, suite: str) -> None:
    """Make a suite's data unless it is there, and read it into the page cache."""
    data = data_folder(asked, suite)
    if not data.exists():
        begun = data.with_suffix(".begun")
        shutil.rmtree(begun, ignore_errors=True)
        import_module(f"suites.{suite}.make").make(begun, size(asked, suite))
        begun.rename(data)
    for path in data.rglob("*.parquet"):
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass


def measure(asked: argparse.Namespace, suite: str, wanted: list[Job], peer: str, results: Results) -> None:
    """Run the jobs on a peer, compare each with the first peer's answer, then tell and keep its times."""
    data, answers = data_folder(asked, suite), asked.folder / "answers"
    answers.mkdir(exist_ok=True)
    command = [sys.executable, str(HERE / "gpu.py"), str(asked.folder), "--rows", str(asked.rows), "--scale", str(asked.scale), "--runs", str(asked.runs),
               "--budget", str(asked.budget), "--engine", asked.engine, "--serve", peer, suite]  # fmt: skip
    process = Process(command, asked.folder / f"{peer}.log", asked.limit)
    for job in wanted:
        told = process.run(job)
        told |= {} if told.keys() & {"error", "left_out"} else compared(answers, job, peer)
        if "differs" in told:
            told = {"error": told["differs"]}
        results.add(job, data, asked.engine, peer, told)
        print(f"{job}  {peer:22}{summary(told)}", flush=True)
    process.close()


def compared(answers: Path, job: Job, peer: str) -> dict[str, Any]:
    """Compare a peer's answer with that of the peer before it in the list, which then stands for all."""
    folder = answers / job.suite / job.name
    first = next((name for name in PEERS if name != peer and (folder / name / ".right").exists()), None)
    own = answer_folder(answers, job, peer)
    if first:
        try:
            assert_same_answers(own, folder / first)
        except AssertionError as error:
            return {"differs": f"its answer is not that of {first}: {error}"[:600]}
        shutil.rmtree(own)
        return {"equals": first}
    (own / ".right").touch()
    return {}


def summary(told: dict[str, Any]) -> str:
    """Say in a few words what became of a job."""
    if "best_s" not in told:
        return f"left out: {told['left_out']}" if "left_out" in told else f"error: {told['error'][:200]}"
    return f"first {told['first_s'] * 1e3:9.1f} ms, best of {len(told['seconds']) - 1} {told['best_s'] * 1e3:9.1f} ms"


class Results:
    """The results of a day and a machine, kept in a JSON file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        now = described(name for name in PACKAGES if installed(name))
        now["hardware"] |= gpu()
        self.found: dict[str, Any] = {"benchmark": "gpu", **now, "jobs": {}}
        if path.exists():
            before = json.loads(path.read_text(encoding="utf-8"))
            if before["hardware"] != now["hardware"]:
                raise SystemExit(f"{path} is of another machine, {before['hardware']}: give another --results")
            self.found["jobs"] = before["jobs"]

    def add(self, job: Job, data: Path, engine: str, peer: str, told: dict[str, Any]) -> None:
        """Keep a result beside those of other peers on the same data; write the file."""
        size = {path.name: table_size(path) for path in sorted(data.iterdir())}
        kept = self.found["jobs"].get(str(job), {})
        if kept.get("tables") != size:
            kept = {"tables": size, "peers": {}}
        if peer == "gpuetl":
            told = {"engine": engine, **told}
        kept["peers"][peer] = told
        self.found["jobs"][str(job)] = kept
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")


def table_size(folder: Path) -> dict[str, int]:
    """Return the rows and bytes of a table."""
    import pyarrow.parquet as pq

    files = sorted(folder.glob("*.parquet"))
    return {"rows": sum(pq.read_metadata(f).num_rows for f in files), "bytes": sum(f.stat().st_size for f in files)}


def installed(package: str) -> bool:
    """Tell whether a package is installed."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def gpu() -> dict[str, str]:
    """Return the GPU's name and driver, where there is one."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    if shutil.which(query[0]) is None:
        return {}
    lines = subprocess.run(query, capture_output=True, text=True, check=False).stdout.splitlines()
    return {"gpu": lines[0].replace(", ", ", driver ")} if lines else {}


if __name__ == "__main__":
    main()
