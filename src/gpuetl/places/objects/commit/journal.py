"""What the commit of one sink changes, how it is decided for all sinks of a bucket, and how it is finished or undone.

| object below the first sink's staging prefix | what holds | what recovery does |
|---|---|---|
| no `record` | some new files may be there, and nothing is removed | decides `back`, then undoes |
| `record` holds `forward` | all new files are there; old files may be, too | finishes |
| `record` holds `back` | some new files may be there still | undoes |

The record is created only if there is none.  So a run that was taken for dead, and goes on, cannot decide otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from gpuetl.places.objects.commit.bucket import Bucket
from gpuetl.places.objects.commit.manifests import BACK, FORWARD, FileList, list_key
from gpuetl.records import dataclass

VERSION = 1


class UnreadableJournal(Exception):
    """A journal that cannot be read; worded for the user."""


@dataclass(frozen=True)
class ObjectJournal:
    """What the commit of one sink changes.

    Parameters
    ----------
    run_id
        The run.
    staging
        The staging prefix of the sink.
    stagings
        Those of all sinks of the run in the bucket; the first one has the record.
    target
        The key or the prefix of the sink.
    is_file
        Whether the sink is one object.
    copies
        Each new file: the key where it is staged, its key at the target, its bytes.
    removes
        The keys of gpuetl's files that the commit removes.
    files
        The files of the sink after the commit, by their names below the target, with their bytes.
    old_lists
        The keys of the lists that the new one replaces.
    """

    run_id: str
    staging: str
    stagings: Sequence[str]
    target: str
    is_file: bool
    copies: Sequence[tuple[str, str, int]] = ()
    removes: Sequence[str] = ()
    files: tuple[tuple[str, int], ...] = ()
    old_lists: Sequence[str] = ()

    @property
    def record(self) -> str:
        """The key of the record."""
        return f"{self.stagings[0]}/record"

    @property
    def key(self) -> str:
        """The key of the journal itself."""
        return f"{self.staging}/journal.json"

    @property
    def changes_nothing(self) -> bool:
        """Whether the target stays as it is."""
        return not (self.copies or self.removes or self.files)

    def write(self, bucket: Bucket) -> None:
        """Write the journal."""
        bucket.put(self.key, json.dumps({"gpuetl": VERSION, **asdict(self)}).encode())

    @classmethod
    def read(cls, bucket: Bucket, staging: str) -> ObjectJournal | None:
        """Return the journal of a run; None where there is none.

        Raises
        ------
        UnreadableJournal
            For one that no run of this version has written.
        """
        text = bucket.get(f"{staging}/journal.json")
        if text is None:
            return None
        try:
            found = json.loads(text)
            if found.pop("gpuetl") != VERSION:
                raise UnreadableJournal(f"{staging}/journal.json is of another version of gpuetl")
            found["copies"] = [(str(a), str(b), int(size)) for a, b, size in found["copies"]]
            found["files"] = tuple((str(name), int(size)) for name, size in found["files"])
            journal = cls(**found)
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableJournal(f"{staging}/journal.json cannot be read") from error
        journal.check()
        return journal

    def check(self) -> None:
        """Refuse a journal that touches what is not its sink's: somebody may have put it there.

        Raises
        ------
        UnreadableJournal
            With the key that does not belong to the commit.
        """
        targets = [key for _, key, _ in self.copies] + [*self.removes, *self.old_lists]
        inside = (self.target,) if self.is_file else ()
        strange = [key for key in targets if key not in inside and not key.startswith(f"{self.target}/")]
        strange += [key for key, _, _ in self.copies if not key.startswith(f"{self.staging}/")]
        strange += [key for key in self.stagings if not key.endswith(f".{self.run_id}")]
        if strange or not self.staging.endswith(f".{self.run_id}"):
            raise UnreadableJournal(
                f"{self.key} names {(strange or [self.staging])[0]}, which is no part of this commit.  Look who put it "
                "there, and remove the prefix"
            )

    def stage_list(self, bucket: Bucket) -> None:
        """Write the new list, which names the record: readers of the list take no new file yet."""
        if not self.is_file and not self.changes_nothing:
            removes = [key.removeprefix(f"{self.target}/") for key in self.removes]
            pending = FileList(self.run_id, dict(self.files), self.record, removes)
            bucket.put(list_key(self.target, self.run_id), pending.text)

    def copy_files(self, bucket: Bucket) -> None:
        """Put the new files of a folder in place.  No object is replaced, so this can be undone."""
        if not self.is_file:
            bucket.copy_all(self.copies)

    def finish(self, bucket: Bucket) -> None:
        """Make the changes that cannot be undone; again does no harm."""
        if self.is_file:
            bucket.copy_all(self.copies)
        elif not self.changes_nothing:
            bucket.delete(self.removes)
            bucket.put(list_key(self.target, self.run_id), FileList(self.run_id, dict(self.files)).text)
            bucket.delete(self.old_lists)

    def undo(self, bucket: Bucket) -> None:
        """Remove the new files; again does no harm."""
        if not self.is_file and not self.changes_nothing:
            bucket.delete([key for _, key, _ in self.copies])
            bucket.delete([list_key(self.target, self.run_id)])


def decide(bucket: Bucket, record: str, decision: bytes) -> bool:
    """Write the record if there is none; return whether it holds the decision."""
    return bucket.create(record, decision) or bucket.get(record) == decision


def settle(bucket: Bucket, journals: Sequence[ObjectJournal]) -> bytes:
    """Finish or undo the commit of a dead run; return which, `forward` or `back`."""
    if decide(bucket, journals[0].record, BACK):
        for journal in reversed(journals):
            journal.undo(bucket)
        return BACK
    finish_all(bucket, journals)
    return FORWARD


def finish_all(bucket: Bucket, journals: Sequence[ObjectJournal]) -> None:
    """Finish a commit, and remove its journals: what is staged may stay longer, and is not committed again."""
    for journal in journals:
        journal.finish(bucket)
    bucket.delete([journal.key for journal in reversed(journals)])
