"""The rows of a stage, partition by partition, while a run on a thread of its own computes them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gpuetl.engines.interface import Backend, Frame
from gpuetl.engines.registry import Choice, is_clustered, load_driver_backend
from gpuetl.errors import InvalidPipeline
from gpuetl.executors.handover import Handover, HandoverClosed
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.pipeline_run import RunRequest, StageOutput, run_pipeline
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    from gpuetl.spec.definition import PipelineDefinition

T = TypeVar("T")
Convert = Callable[[Backend, Frame], T]
"""Makes of a frame what is handed over."""


@dataclass(frozen=True)
class StageStream:
    """A stage whose rows are computed when they are asked for, in as many passes as are wanted.

    Parameters
    ----------
    pipeline, params, choice, options
        As of a run.
    stage
        The stage or source.
    in_flight
        How many partitions are in memory at most, beside the one that is being computed.
    """

    pipeline: PipelineDefinition
    stage: str
    params: Mapping[str, Any]
    choice: Choice
    options: RunOptions
    in_flight: int

    def __post_init__(self) -> None:
        """Refuse clusters, whose frames are on other machines."""
        if is_clustered(self.choice.name):
            message = coded("GE3008", f"rows cannot be streamed from engine '{self.choice.name}'")
            raise InvalidPipeline.because(
                message, "Choose engine cudf or pandas, in each process that trains.", "engine"
            )

    @property
    def plan(self) -> Plan:
        """The plan that keeps the stage."""
        return self.pipeline.plan(self.params).keeping([self.stage])

    @property
    def schema(self) -> Schema:
        """The columns of the stage."""
        return self.plan.kept[self.stage].schema

    def partitions(self, columns: Sequence[str], convert: Convert[T]) -> RunningStage[T]:
        """Begin a run; return its partitions, of some columns."""
        handover = Handover(convert, self.in_flight)
        output = StageOutput(handover, tuple(columns))
        request = RunRequest(keep=[self.stage], write=False, streamed=output)
        setup = load_driver_backend(self.choice.name).thread_setup()  # this thread's device

        def run() -> None:
            setup()
            run_pipeline(self.pipeline, self.params, self.choice, request, self.options, handover.check_open)

        return RunningStage(handover, run)


class RunningStage(Generic[T]):
    """Partitions of a run that goes on; `close` ends it, and waits until it has ended."""

    def __init__(self, handover: Handover[T], run: Callable[[], object]) -> None:
        self.handover = handover
        self.thread = Thread(target=work, args=(handover, run), name="gpuetl-stream", daemon=True)
        handover.thread = self.thread
        self._finalizer = weakref.finalize(self, ended, handover, self.thread)  # also where the process ends
        self.thread.start()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return self.handover.next()

    def close(self) -> None:
        """End the run."""
        self._finalizer()


def work(handover: Handover[Any], run: Callable[[], object]) -> None:
    """Run, and say how it ended."""
    error: BaseException | None = None
    try:
        run()
    except HandoverClosed:
        pass
    except BaseException as raised:
        error = raised
    handover.end(error)


def ended(handover: Handover[Any], thread: Thread) -> None:
    """Wait until a run has ended, whose partitions are not wanted any more."""
    handover.close()
    thread.join()
