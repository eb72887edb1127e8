"""The options of a run, validated once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from gpuetl.engines.registry import capabilities_of, cluster_engines, engine_choices, is_clustered
from gpuetl.errors import InvalidPipeline
from gpuetl.messages import coded
from gpuetl.optimize import NAMES, check_pass
from gpuetl.physical import layout as physical
from gpuetl.records import dataclass
from gpuetl.spec.profile import ProfileSpec
from gpuetl.spec.telemetry import Telemetry
from gpuetl.units import read_size
from gpuetl.user_kernels.kernel_options import KernelOptions

BROADCAST_BYTES = 64 << 20


def read_bytes(option: str, value: int | str | None) -> int | None:
    """Return the bytes of an option that takes a number or a size; raise `InvalidPipeline` for another text."""
    if not isinstance(value, str):
        return value
    try:
        return read_size(value)
    except ValueError as error:
        raise InvalidPipeline.because(coded("GE3004", f"option {option}: {error}")) from None


@dataclass(frozen=True)
class Cluster:
    """Where the engines `dask` and `dask-cuda` run: on workers that the run starts here, or on those of a scheduler.

    Without any of these, a run takes the client that is current (`distributed.Client.current`), if there is one.

    Parameters
    ----------
    address
        An existing scheduler, such as `tcp://host:8786` or `tls://host:8786`.
    client
        A `distributed.Client`, which the run leaves open.
    tls_ca, tls_cert, tls_key
        Files of the authority, the certificate and its key with which to connect.
    workers
        How many to start: by default one a processor, or one a GPU.
    worker_memory
        Bytes from which a worker that is started moves results to disk, or a size such as `60GB`; None is no limit.
    dashboard
        Where a cluster that is started serves its pages, such as `127.0.0.1:8787`; None is nowhere.
    worker_timeout_s
        Seconds, from 1, after which a worker that sends no heartbeat is given up: its work is done elsewhere.  A
        scheduler that does not answer for so long ends the run.  A busy worker sends heartbeats; one whose task holds
        the GIL all the time does not.
    """

    address: str | None = None
    client: Any = None
    tls_ca: str | Path | None = None
    tls_cert: str | Path | None = None
    tls_key: str | Path | None = None
    workers: int | None = None
    worker_memory: int | str | None = None
    dashboard: str | None = None
    worker_timeout_s: float = 60.0

    def __post_init__(self) -> None:
        tls = [Path(file) for file in (self.tls_ca, self.tls_cert, self.tls_key) if file]
        if tls and not (len(tls) == 3 and (self.address or "").startswith("tls://")):
            needs = coded(
                "GE3004", "TLS takes a cluster's address, tls://host:port, an authority, a certificate and its key"
            )
            raise InvalidPipeline.because(needs)
        for file in tls:
            if not file.is_file():
                raise InvalidPipeline.because(coded("GE3004", f"there is no file {file}"))
        seconds = self.worker_timeout_s
        if not isinstance(seconds, int | float) or not 1 <= seconds < inf:
            raise InvalidPipeline.because(
                coded("GE3004", f"option worker_timeout_s takes a number of seconds from 1, got {seconds!r}")
            )
        object.__setattr__(self, "worker_memory", read_bytes("worker_memory", self.worker_memory))
        for name in ("workers", "worker_memory"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InvalidPipeline.because(
                    coded("GE3004", f"option {name} takes a whole number from 1, got {value!r}")
                )
            if value is not None and (self.address or self.client is not None):
                raise InvalidPipeline.because(coded("GE3004", f"option {name} is for a cluster that the run starts"))

    @property
    def worker_memory_bytes(self) -> int | None:
        """The bytes of `worker_memory`, which is a number by now."""
        assert not isinstance(self.worker_memory, str)
        return self.worker_memory

    def check_engine(self, engine: str) -> None:
        """Refuse these options for an engine that does not run on a cluster."""
        if self != Cluster() and not is_clustered(engine):
            engines = " or ".join(cluster_engines())
            raise InvalidPipeline.because(
                coded("GE3004", f"engine '{engine}' does not run on a cluster"), f"Choose engine {engines}."
            )


@dataclass(frozen=True)
class RunOptions:
    """How a plan is optimized, split and run.

    Parameters
    ----------
    partition_rows
        A source is split into partitions of at most so many rows, or of one row group where that has more; None is as
        many as suit the engine and fit memory.
    broadcast_bytes
        The right side of a join goes whole to every partition of the left up to this many bytes in memory.
    carried_share
        A window over partitions that follow each other in its order, as files do that are written while time goes on,
        takes rows of earlier partitions along in the place of an exchange, if these are expected to be at most this
        part of a partition; on a cluster, whose workers do not wait for each other, those of all partitions together.
        None is a quarter; and a window with `by` exchanges its rows where memory holds them all several times over (of
        a GPU: half of the host's memory does), and on a cluster.
    optimize
        False runs the plan as it was written, and none of the engine's choices: the oracle's way.
    skip_passes
        Optimizer passes, choices of lowering (`gpuetl.physical.layout`) and of engines
        (`gpuetl.engines.cudf.choices` has those of the cudf engine) to leave out, by name.
    head_rows
        How many rows of each sink the report keeps to show.
    resident_bytes
        Frames that wait to be read stay in the engine's memory up to so many bytes, and are spilled beyond: the GPU's
        to host memory, and to files where that is short; None is what the plan is expected to leave.  Where memory runs
        out all are.
    spill_folder
        Where these files are, which have no names; None is the system's folder for temporary files.
    profile
        The report says how much memory the run and each stage took at most, which takes some time to measure.
    memory
        The bytes that the run may take where frames are, or a size such as `8GB`: partitions are made so small that
        they fit, and the cudf engine allocates no more.  None is what is free.
    kernel_timeout_s
        Seconds after which a user's CUDA kernel that has not ended fails the run; None is no limit.
    sanitize
        Put guard bands around the outputs of users' CUDA kernels, and fail the run if a kernel wrote outside
        of them.  It takes memory for one more copy of the outputs.
    trace
        Where to write a timeline of the run, also of one that fails, as Chrome's trace events, which Perfetto opens;
        with `profile` it has a track of what the device did when.
    sync
        Bring files and folders to disk before and after the sinks change, so that a power failure loses no sink.  False
        is faster for many small files; a process that is killed loses nothing either way.
    cluster
        Where the engines `dask` and `dask-cuda` run.
    report
        Where to write the report, also of a run that fails or is interrupted: a file that ends in .html, else it is
        JSON; or a folder, in which it is named after the pipeline and the run.
    column_stats
        The report has statistics of the columns of each sink: nulls, distinct values, least and greatest, a histogram
        or the most frequent values.  All are exact.  They are computed from the sink's rows, which takes time.
    checkpoint_limit
        The bytes that all checkpoints of the pipeline may take: after a run that succeeded the oldest ones go, but none
        that the run has written or read.  None is 50 GB.
    telemetry
        Where the run reports to: traces, metrics, lineage.  It counts before `telemetry` of the pipeline.
    full_refresh
        Read all of incremental sources, as if no run had read them, and replace the state when the sinks change.
    """

    partition_rows: int | None = None
    broadcast_bytes: int = BROADCAST_BYTES
    carried_share: float | None = None
    optimize: bool = True
    skip_passes: tuple[str, ...] = ()
    head_rows: int = 10
    resident_bytes: int | None = None
    spill_folder: str | Path | None = None
    profile: bool = False
    memory: int | str | None = None
    kernel_timeout_s: float | None = None
    sanitize: bool = False
    trace: str | Path | None = None
    sync: bool = True
    cluster: Cluster = Cluster()
    report: str | Path | None = None
    column_stats: bool = False
    checkpoint_limit: int | None = None
    telemetry: Telemetry = Telemetry()
    full_refresh: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", read_bytes("memory", self.memory))
        object.__setattr__(self, "checkpoint_limit", read_bytes("checkpoint_limit", self.checkpoint_limit))
        leasts = {
            "partition_rows": 1,
            "broadcast_bytes": 0,
            "head_rows": 0,
            "resident_bytes": 0,
            "memory": 1,
            "checkpoint_limit": 0,
        }
        for name, least in leasts.items():
            value = getattr(self, name)
            if value is None and name in ("partition_rows", "resident_bytes", "memory", "checkpoint_limit"):
                continue
            if not isinstance(value, int) or value < least:
                counted = "It counts rows." if name.endswith("_rows") else "It counts bytes."
                counted += '  Write a size such as memory="8GB".' if name == "memory" else ""
                raise InvalidPipeline.because(
                    coded("GE3004", f"option {name} takes a whole number from {least}, got {value!r}"), counted
                )
        object.__setattr__(self, "skip_passes", tuple(self.skip_passes))  # a list, too: plans are kept by it
        for name in self.skip_passes:
            check_pass(name, (*NAMES, *physical.CHOICES, *engine_choices()))
        limit = self.kernel_timeout_s
        if limit is not None and (not isinstance(limit, int | float) or not limit > 0):
            raise InvalidPipeline.because(
                coded("GE3004", f"option kernel_timeout_s takes a number of seconds above 0, got {limit!r}")
            )
        share = self.carried_share
        if share is not None and (not isinstance(share, int | float) or not share >= 0):
            raise InvalidPipeline.because(coded("GE3004", f"option carried_share takes a number from 0, got {share!r}"))
        for name in ("trace", "report"):
            path = getattr(self, name)
            if path is not None and not Path(path).parent.is_dir():
                raise InvalidPipeline.because(
                    coded("GE3004", f"option {name}: there is no folder {Path(path).parent}"),
                    "Make it, or name another.",
                )
        if self.spill_folder is not None and not Path(self.spill_folder).is_dir():
            raise InvalidPipeline.because(
                coded("GE3004", f"option spill_folder: there is no folder {self.spill_folder}"),
                "Make it, or name another.",
            )

    @property
    def memory_bytes(self) -> int | None:
        """The bytes of `memory`, which is a number by now."""
        assert not isinstance(self.memory, str)
        return self.memory

    @property
    def kernels(self) -> KernelOptions:
        """How users' kernels run."""
        return KernelOptions(self.kernel_timeout_s, self.sanitize)

    @property
    def skipped_choices(self) -> frozenset[str]:
        """The choices of engines that are not to be taken."""
        return frozenset(self.skip_passes if self.optimize else engine_choices())

    def lowers_by(self, choice: str) -> bool:
        """Tell whether a choice of lowering may be taken; raise `KeyError` where there is none of the name."""
        return bool(physical.CHOICES[choice]) and self.optimize and choice not in self.skip_passes

    def rows_a_partition(self, engine: str) -> int:
        """Return how many rows of a source a partition has at most."""
        return self.partition_rows or capabilities_of(engine).partition_rows

    def with_profile(self, profile: ProfileSpec, engine: str) -> RunOptions:
        """Return the options with those of a profile where they are at their defaults.

        What a profile says of a cluster counts for engines that run on one, and if no option of the cluster is given.
        """
        names = ("memory", "partition_rows", "spill_folder", "checkpoint_limit")
        changes: dict[str, Any] = {
            name: value for name in names if (value := getattr(profile, name)) and getattr(self, name) is None
        }
        cluster = {"address": profile.cluster, "workers": profile.workers, "worker_memory": profile.worker_memory}
        given = {name: value for name, value in cluster.items() if value}
        if given and self.cluster == Cluster() and is_clustered(engine):
            changes["cluster"] = Cluster(**given)  # type: ignore[arg-type]
        return replace(self, **changes) if changes else self

    @classmethod
    def of(cls, skip_passes: Iterable[str] = (), **options: object) -> RunOptions:
        """Build the options from keywords; raise `InvalidPipeline` for one that does not exist."""
        unknown = options.keys() - cls.__dataclass_fields__.keys()
        if unknown:
            raise InvalidPipeline.because(
                coded("GE3004", f"unknown option '{min(unknown)}'"), f"Options: {', '.join(cls.__dataclass_fields__)}."
            )
        return cls(skip_passes=tuple(skip_passes), **options)  # type: ignore[arg-type]
