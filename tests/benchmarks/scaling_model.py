"""How long a pipeline would take on many GPUs, by the rates of links: a calculation, and no measurement.

    python tests/benchmarks/scaling_model.py
    python tests/benchmarks/scaling_model.py --gpus 64 --rows-a-gpu 400000000 --partitions 2 --rate "file system=40"

A phase takes as long as the slowest of its links, all of which work at the same time, and phases follow each other.
Rows are spread evenly.  The table is in docs/scaling.md.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

GB = 1e9
Links = Mapping[str, float]
"""Seconds by link."""

MEASURED = {
    "file to device": 44.8,  # page cache to one GPU, KvikIO with 16 threads
    "decoding": 27.0,  # of file, by one GPU: 2.54 GB in 94 ms
    "host memory": 60.0,  # what the page cache of a host of 4 GPUs and 64 processors gives, to all of them
    "NVLink": 395.0,  # one GPU to one other
    "device memory": 4_000.0,  # a copy on one GPU, read and written
    "encoding and copying": 17.6,  # of Parquet files, from one GPU: 3.87 GB in 220 ms
    "host writes": 40.0,  # what 4 GPUs, 16 threads each, write into that page cache: 15.5 GB in 390 ms
}
ASSUMED = {
    "file system": float("inf"),  # a host's share of the one that all hosts see; files are in the page cache
    "network": 40.0,  # a GPU's own port to other hosts: most of 400 Gb/s
}
ROWS_S = 720e6
"""Measured: rows that one GPU takes through the pipeline, what is left of its 0.44 s without reading and writing."""
TASK_S, PEER_S = 0.0125, 0.008
"""Measured with 2 and 4 GPUs: what a task costs a worker beside its work, and what it costs to take pieces from a peer."""
SCHEDULED_S = 0.001
"""Assumed, as dask's documentation has it: what a task costs the one scheduler."""
MOST_PIECES = 256
"""That are tasks of their own; readers fetch more themselves."""


@dataclass(frozen=True)
class Job:
    """A pipeline, by bytes for each row of its source.

    `exchanged` has the bytes of each hash exchange, of which one that moves groups alone has next to none.
    """

    in_file: float = 24
    exchanged: tuple[float, ...] = (40, 0)
    written: float = 35


@dataclass(frozen=True)
class Cluster:
    """GPUs, as many in each host; `partitions` of the source for each of them."""

    gpus: int
    gpus_a_host: int = 4
    partitions: int = 1

    @property
    def local(self) -> int:
        """How many GPUs share a host."""
        return min(self.gpus, self.gpus_a_host)


@dataclass(frozen=True)
class Model:
    """A job on a cluster, with `rows` rows a GPU; `rates` are GB/s."""

    job: Job
    cluster: Cluster
    rows: float
    rates: Mapping[str, float]

    def seconds(self, link: str, bytes_a_row: float, gpus: int = 1) -> float:
        """Return how long a link takes that so many GPUs share."""
        return bytes_a_row * self.rows * gpus / (self.rates[link] * GB)

    def read(self) -> Links:
        """From the page cache, or a file system that all hosts share where it has a rate."""
        size, local = self.job.in_file, self.cluster.local
        shared = {link: self.seconds(link, size, local) for link in ("file system", "host memory")}
        return shared | {link: self.seconds(link, size) for link in ("file to device", "decoding")}

    def moved(self) -> Links:
        """All exchanges, by what is moved: rows are split and put together, each read and written; most leave."""
        gpus, local, size = self.cluster.gpus, self.cluster.local, sum(self.job.exchanged)
        if gpus == 1:
            return {"none": 0.0}
        return {
            "device memory": self.seconds("device memory", 4 * size),
            "NVLink": self.seconds("NVLink", size * (local - 1) / gpus),
            "network": self.seconds("network", size * (gpus - local) / gpus),
        }

    def tasks(self) -> Links:
        """All exchanges, by their tasks: one splits a partition, one takes a piece, and one reads all its pieces.

        Of more pieces than are tasks, one says where a partition was split.
        """
        gpus, own = self.cluster.gpus, self.cluster.partitions
        if gpus == 1:
            return {"none": 0.0}
        count, exchanges = gpus * own, len(self.job.exchanged)
        pieces = count * count if count * count <= MOST_PIECES else count
        return {
            "workers": exchanges * (2 * own * TASK_S + (gpus - 1) * PEER_S),
            "scheduler": exchanges * (pieces + 2 * count) * SCHEDULED_S,
        }

    def compute(self) -> Links:
        """What operations do, and the tasks that they are in."""
        return {"GPU": self.rows / ROWS_S, "workers": self.cluster.partitions * TASK_S}

    def write(self) -> Links:
        """Into the page cache, and on where the file system has a rate."""
        size, local = self.job.written, self.cluster.local
        shared = {link: self.seconds(link, size, local) for link in ("host writes", "file system")}
        return shared | {"encoding and copying": self.seconds("encoding and copying", size)}

    def phases(self) -> Iterator[tuple[float, str]]:
        """Yield the seconds of reading, exchange, computation and writing, and the link that binds each."""
        for links in (self.read(), {**self.moved(), **self.tasks()}, self.compute(), self.write()):
            yield slowest(links)


def slowest(links: Links) -> tuple[float, str]:
    """Return the seconds of the link that binds, and its name."""
    return max((seconds, link) for link, seconds in links.items())


def table(models: Sequence[Model]) -> str:
    """Return a row a cluster; what it loses is told against the first one."""
    head = (
        "GPUs",
        "rows",
        "read",
        "exchange",
        "of that, moving",
        "compute",
        "write",
        "all, s",
        "of the first's rows a GPU",
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    first = 0.0
    for model in models:
        phases, moving = list(model.phases()), slowest(model.moved())
        total = sum(seconds for seconds, _ in phases)
        speed = model.rows / total
        first = first or speed
        record = [f"{seconds:.2f} {link}" for seconds, link in phases]
        cells = (
            record[0],
            record[1],
            f"{moving[0]:.2f} {moving[1]}",
            record[2],
            record[3],
            f"{total:.2f}",
            f"{speed / first:.0%}",
        )
        lines.append(f"| {model.cluster.gpus} | {model.rows * model.cluster.gpus / 1e9:,.1f} G | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for the clusters and rates that were asked for."""
    command = ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    command.add_argument("--gpus", type=int, nargs="+", default=[1, 4, 8, 16, 64])
    command.add_argument("--gpus-a-host", type=int, default=Cluster.gpus_a_host)
    command.add_argument("--rows-a-gpu", type=float, default=100e6)
    command.add_argument("--partitions", type=int, default=1, help="of the source, for each GPU")
    command.add_argument("--in-file", type=float, default=Job.in_file, help="bytes of file a row")
    command.add_argument("--written", type=float, default=Job.written, help="bytes of file a row")
    command.add_argument(
        "--exchanged", type=float, nargs="*", default=Job.exchanged, help="bytes a row, of each exchange by hash"
    )
    command.add_argument(
        "--rate", action="append", default=[], metavar="LINK=GB/S", help=f"one of {', '.join(MEASURED | ASSUMED)}"
    )
    given = command.parse_args(arguments)
    rates = MEASURED | ASSUMED | {name: float(value) for name, value in (text.split("=") for text in given.rate)}
    job = Job(given.in_file, tuple(given.exchanged), given.written)
    clusters = [Cluster(gpus, given.gpus_a_host, given.partitions) for gpus in given.gpus]
    print(table([Model(job, cluster, given.rows_a_gpu, rates) for cluster in clusters]))


if __name__ == "__main__":
    main()
