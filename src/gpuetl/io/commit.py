"""The commit of a run: its sinks change together in each kind of store, one kind after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuetl.io.staging import SinkWriter
from gpuetl.places.publishing import Publisher, StagedSink
from gpuetl.places.registry import publisher_of


def commit_sinks(
    writers: Sequence[SinkWriter], committed: Callable[[], None] = lambda: None, also: Sequence[StagedSink] = ()
) -> None:
    """Put all that was written into place; call `committed` when the last sink is there.

    `also` are further targets that change with the sinks, such as the state of the pipeline.

    The sinks of one kind of store change together or not at all.  Object stores come first, since their commit can
    fail for more reasons; a run that dies between two kinds has changed the first one only.

    Raises
    ------
    SinkExists, RunFailed
        Where a sink cannot change: see `Publisher.commit`.
    """
    groups = dict[int, tuple[Publisher, list[StagedSink]]]()
    for writer in writers:
        writer.staged.unchanged = writer.leaves_target
    for staged in (*(writer.staged for writer in writers), *also):
        publisher = publisher_of(staged.target.path)
        groups.setdefault(id(publisher), (publisher, []))[1].append(staged)
    ordered = sorted(groups.values(), key=lambda group: group[0].commits_last)
    for publisher, sinks in ordered[:-1]:
        publisher.commit(sinks, lambda: None)
    if not ordered:
        committed()
    for publisher, sinks in ordered[-1:]:
        publisher.commit(sinks, committed)
