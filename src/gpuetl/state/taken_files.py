"""The files that runs have read, as Arrow tables: one file of the state folder for each run, and few in all.

An entry names a file by its path, and the state in which a run read it: size and time on local disks, size and ETag in
object stores.  Lookups are joins of Arrow columns, so that a source may have a million files.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import pyarrow as pa

from gpuetl.output_files import whole
from gpuetl.places.file_state import FileState
from gpuetl.places.filesystem import ListedFile
from gpuetl.places.paths import FilePath
from gpuetl.state.source_state import FilesState

MOST_FILES = 20
"""Arrow files of one source; a run that would add one more writes all entries into one."""
SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("mtime_ns", pa.int64()),
        ("e_tag", pa.string()),
        ("run_id", pa.string()),
        ("taken", pa.timestamp("us", tz="UTC")),
    ]
)


class ChangedFile(NamedTuple):
    """A file that has changed since a run read it: what is different, the run, and when it ran."""

    file: ListedFile
    difference: str
    run_id: str
    taken: datetime


class Found(NamedTuple):
    """The files of a listing that no run has read, those that changed since, and the number of the others."""

    new: list[ListedFile]
    changed: list[ChangedFile]
    known: int


def path_text(path: FilePath, root: FilePath) -> str:
    """Return how the state names a file: relative to the pipeline's folder if it is below, so that both can move."""
    return str(whole(str(path).removeprefix(f"{root}/")))


def columns_of(files: Sequence[ListedFile], root: FilePath) -> pa.Table:
    """Return the paths and states of files."""
    columns = {
        "path": pa.array([path_text(path, root) for path, _ in files], pa.string()),
        "size": pa.array([state.size for _, state in files], pa.int64()),
        "mtime_ns": pa.array([state.mtime_ns for _, state in files], pa.int64()),
        "e_tag": pa.array([e_tag_of(state) for _, state in files], pa.string()),
    }
    return pa.table(columns)


def entries(files: Sequence[ListedFile], root: FilePath, run_id: str, now: datetime | None = None) -> pa.Table:
    """Return the entries of files that a run reads."""
    count = len(files)
    run = pa.repeat(pa.scalar(run_id, pa.string()), count)
    taken = pa.repeat(pa.scalar(now or datetime.now(UTC), SCHEMA.field("taken").type), count)
    return pa.Table.from_arrays([*columns_of(files, root).columns, run, taken], schema=SCHEMA)


def e_tag_of(state: FileState) -> str:
    """Return the ETag that stands for one content; an empty string where there is none."""
    return str(getattr(state, "e_tag", "")) if state.guards_reads else ""


def compared(files: Sequence[ListedFile], known: pa.Table, root: FilePath) -> Found:
    """Look up files among the entries of earlier runs, of which the first one of a path counts."""
    import pyarrow.compute as pc

    now = columns_of(files, root)
    places = pc.index_in(now["path"].combine_chunks(), value_set=known["path"].combine_chunks())
    was = known.take(places)  # of a file that is new: nulls
    by_tag = pc.and_(pc.not_equal(was["e_tag"], ""), pc.not_equal(now["e_tag"], ""))
    content = pc.if_else(by_tag, pc.equal(was["e_tag"], now["e_tag"]), pc.equal(was["mtime_ns"], now["mtime_ns"]))
    same = pc.and_(pc.equal(was["size"], now["size"]), content)  # null for a file that is new
    new = [files[place] for place in places_of(pc.is_null(same))]
    changed = [changed_file(files[place], was, place) for place in places_of(pc.invert(same))]
    return Found(new, changed, len(files) - len(new) - len(changed))


def places_of(marks: pa.ChunkedArray) -> list[int]:
    """Return where marks are true."""
    import pyarrow.compute as pc

    found: list[int] = pc.indices_nonzero(pc.fill_null(marks, False)).to_pylist()
    return found


def changed_file(file: ListedFile, was: pa.Table, place: int) -> ChangedFile:
    """Return a file that is not as a run has read it."""
    (entry,) = was.slice(place, 1).to_pylist()
    what = difference(entry["size"], entry["mtime_ns"], entry["e_tag"], file.state)
    return ChangedFile(file, what, entry["run_id"], entry["taken"])


def difference(size: int, mtime_ns: int, e_tag: str, now: FileState) -> str:
    """Say what of a file is different now; an ETag stands for the content, and else the time does."""
    if size != now.size:
        return f"it had {size:,} bytes and has {now.size:,} now"
    if e_tag and (other := e_tag_of(now)):
        return "" if e_tag == other else "its ETag is another one now"
    return "" if mtime_ns == now.mtime_ns else "it was modified later"


# Arrow files in the state folder.


def to_bytes(table: pa.Table) -> bytes:
    """Return entries as an Arrow IPC file."""
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(sink, SCHEMA, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def from_bytes(data: bytes) -> pa.Table:
    """Return the entries of an Arrow IPC file; raise `ValueError` or `pa.ArrowException` for what is none."""
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    if table.schema != SCHEMA:
        raise ValueError("it has other columns than a list of files")
    return table


def joined(newest_first: Sequence[pa.Table]) -> pa.Table:
    """Return the entries of several runs, those of the latest one first."""
    return pa.concat_tables([*newest_first]) if newest_first else SCHEMA.empty_table()


def latest(known: pa.Table) -> pa.Table:
    """Return the first entry of each path."""
    import pyarrow.compute as pc

    paths = known["path"].combine_chunks()
    return known.filter(pc.equal(pc.index_in(paths, value_set=paths), pa.array(range(known.num_rows), pa.int32())))


class NextFiles(NamedTuple):
    """What `state.json` names after a run, and the entries of the new file."""

    state: FilesState
    entries: pa.Table


def next_files(before: FilesState, known: pa.Table, new: pa.Table, name: str) -> NextFiles:
    """Return the state after a run that reads `new`; where there would be too many files, `name` has all entries."""
    if len(before.files) < MOST_FILES:
        return NextFiles(FilesState(before.path, (*before.files, name), before.count + new.num_rows), new)
    every = latest(joined([new, known]))
    return NextFiles(FilesState(before.path, (name,), every.num_rows), every)
