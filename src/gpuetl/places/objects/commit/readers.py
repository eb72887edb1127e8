"""What a source reads below a prefix while runs commit to sinks there: all files of a run, or none.

A reader looks at the lists of sinks and at the records of their commits, lists the objects, and looks again.  If a list
or a record has changed meanwhile, it begins again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.objects.commit.bucket import Bucket, StoredObject
from gpuetl.places.objects.commit.manifests import FORWARD, FileList, hidden_files
from gpuetl.places.paths import LISTS

MOST_LOOKS = 20

SinkState = tuple[Mapping[str, FileList], frozenset[str]]
"""The lists of a sink by their keys, and which of them belong to commits that are decided."""


def visible_objects(bucket: Bucket, prefix: str) -> Sequence[StoredObject]:
    """Return the objects below a prefix, in the order of their keys, without those of commits under way.

    Raises
    ------
    DatasetError
        Where commits follow each other so fast that no state was seen twice.
    OSError
        Where the store refuses a request.
    """
    objects, sinks = list(bucket.objects_below(prefix)), {prefix, sink_of(prefix)}
    if not sinks_with_lists(objects) and not any(any(lists_of(bucket, sink)) for sink in sinks):
        return objects
    for _ in range(MOST_LOOKS):
        sinks |= sinks_with_lists(objects)
        before = {sink: state_of(bucket, sink) for sink in sinks}
        objects = list(bucket.objects_below(prefix))
        if sinks_with_lists(objects) <= sinks and before == {sink: state_of(bucket, sink) for sink in sinks}:
            hidden = {key for sink, state in before.items() for key in hidden_files(sink, *state)}
            return [one for one in objects if one.key not in hidden]
    message = f"the files below {prefix} were changing all the time"
    raise DatasetError(coded("GE1512", message), "Run again when the runs that write there have ended.")


def sink_of(prefix: str) -> str:
    """Return the sink of a prefix, which may be one of its partitions."""
    path = PurePosixPath(prefix)
    while "=" in path.name:
        path = path.parent
    return str(path) if path.name else ""


def sinks_with_lists(objects: Sequence[StoredObject]) -> set[str]:
    """Return the sinks whose lists are among objects."""
    keys = (one.key for one in objects)
    return {key.rpartition(f"/{LISTS}/")[0] for key in keys if f"/{LISTS}/" in key and key.endswith(".json")}


def lists_of(bucket: Bucket, sink: str) -> list[StoredObject]:
    """Return the lists of a sink."""
    return [one for one in bucket.objects_below(f"{sink}/{LISTS}".lstrip("/")) if one.key.endswith(".json")]


def state_of(bucket: Bucket, sink: str) -> SinkState:
    """Return the lists of a sink, and which of their commits are decided."""
    found = {one.key: FileList.read(bucket.get(one.key)) for one in lists_of(bucket, sink)}
    lists = {key: one for key, one in found.items() if one is not None}
    return lists, frozenset(key for key, one in lists.items() if one.record and bucket.get(one.record) == FORWARD)
