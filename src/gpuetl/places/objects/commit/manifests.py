"""The lists of a sink's files on an object store: what gpuetl wrote there, and what a reader takes.

`<sink>/.gpuetl/<run>.json` lists all files that gpuetl wrote below the sink and that are there after the run, with
their sizes, as in local folders.  A list whose commit has not ended also names the object that decides, its record, and
the files that the commit removes:

| record | what a reader takes |
|---|---|
| missing, or `back` | all objects but the files that only this list names |
| `forward` | all objects but the files that this commit removes |

So a reader that reads the lists sees the sink as it was before a commit or as it is after it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gpuetl.places.objects.commit.bucket import Bucket, StoredObject
from gpuetl.places.paths import LISTS
from gpuetl.records import dataclass

VERSION = 1
FORWARD, BACK = b"forward", b"back"


class FileList(NamedTuple):
    """One list: the files that it names with their sizes, and of a commit that has not ended, its record and removals.

    `record` is the key of the record in the same bucket, empty where the commit has ended.  `removes` are files below
    the sink.
    """

    run_id: str
    files: Mapping[str, int]
    record: str = ""
    removes: Sequence[str] = ()

    @property
    def text(self) -> bytes:
        """The bytes of the object."""
        pending = {"record": self.record, "removes": list(self.removes)} if self.record else {}
        return json.dumps({"gpuetl": VERSION, "run": self.run_id, "files": dict(self.files), **pending}).encode()

    @classmethod
    def read(cls, text: bytes | None) -> FileList | None:
        """Return what a list holds; None for an object that is no list of gpuetl."""
        try:
            found = json.loads(text or b"")
            files = {str(name): int(size) for name, size in found["files"].items()}
            removes = tuple(map(str, found.get("removes", ())))
            return cls(str(found["run"]), files, str(found.get("record", "")), removes)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def list_key(folder: str, run_id: str) -> str:
    """Return the key of a run's list; `folder` is the sink's prefix."""
    return f"{folder}/{LISTS}/{run_id}.json"


def lists_in(objects: Iterable[StoredObject], folder: str) -> list[StoredObject]:
    """Return the lists among the objects of a sink."""
    return [one for one in objects if one.key.startswith(f"{folder}/{LISTS}/") and one.key.endswith(".json")]


@dataclass(frozen=True)
class ObjectManifest:
    """The files that gpuetl wrote below a prefix, by all lists together, and the objects that are there.

    `objects` are those below the prefix, by their names there, lists included.
    """

    folder: str
    lists: Mapping[str, FileList]
    objects: Mapping[str, StoredObject]

    @classmethod
    def read(cls, bucket: Bucket, folder: str) -> ObjectManifest:
        """Look at a sink."""
        objects = {one.key.removeprefix(f"{folder}/"): one for one in bucket.objects_below(folder)}
        found = {one.key: FileList.read(bucket.get(one.key)) for one in lists_in(objects.values(), folder)}
        return cls(folder, {key: one for key, one in found.items() if one is not None}, objects)

    @cached_property
    def files(self) -> dict[str, int]:
        """The listed files that are there, with their listed sizes."""
        listed = {name: size for one in self.lists.values() for name, size in one.files.items()}
        return {name: size for name, size in listed.items() if name in self.objects}

    def foreign(self, names: Iterable[str]) -> list[str]:
        """Return the names of objects that gpuetl did not write, or that others have changed, in their order."""
        return sorted(
            name for name in names if name.split("/", 1)[0] != LISTS and self.files.get(name) != self.objects[name].size
        )


def hidden_files(folder: str, lists: Mapping[str, FileList], decided: Collection[str]) -> frozenset[str]:
    """Return the keys below a sink that a reader leaves out, because of commits that have not ended.

    `decided` are the keys of the lists whose commits are decided.
    """
    hidden = set[str]()
    for key, one in lists.items():
        if key in decided:
            hidden.update(f"{folder}/{name}" for name in one.removes)
        elif one.record:
            others = {name for other, found in lists.items() if other != key for name in found.files}
            hidden.update(f"{folder}/{name}" for name in one.files if name not in others)
    return frozenset(hidden)
