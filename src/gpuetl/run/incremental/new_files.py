"""The files of a source that no successful run has read."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.errors import RunFailed, system_reason
from gpuetl.formats.dataset import Dataset
from gpuetl.messages import coded
from gpuetl.places.filesystem import ListedFile
from gpuetl.places.paths import FilePath
from gpuetl.plan.incremental import NewFiles, Selection
from gpuetl.run.incremental.choice import Choice
from gpuetl.state.run_store import RunStore
from gpuetl.state.source_state import FilesState
from gpuetl.state.taken_files import ChangedFile, Found, compared, entries, from_bytes, joined, next_files
from gpuetl.telemetry.origin import Origin

SHOWN = 3
"""Changed files that a message names."""


def choose_files(
    dataset: Dataset, wanted: NewFiles, before: FilesState, store: RunStore, root: FilePath, run_id: str
) -> Choice:
    """Return the files of a source that no successful run has read.

    Raises
    ------
    RunFailed
        For a file that has changed since a run read it, unless the source says what to do; for a list of files in the
        state folder that cannot be read.
    DatasetError
        For a source whose files cannot be listed.
    """
    name = dataset.name
    listed = [ListedFile(file.path, file.state) for file in dataset.all_files if file.state is not None]
    known = known_files(name, before, store)
    found = compared(listed, known, root)
    if found.changed and wanted.changed == "error":
        raise changed_error(name, found.changed)
    taken = [*found.new, *(one.file for one in found.changed if wanted.changed == "take")]
    paths = {path for path, _ in taken}
    chosen = dataset.with_files(tuple(file for file in dataset.all_files if file.path in paths))
    label = store.new_file("sources", name, run_id)
    after = next_files(before, known, entries(taken, root, run_id), label) if taken else None
    return Choice(
        selection_of(name, found, wanted),
        chosen,
        state=after.state if after else None,
        entries=(label, after.entries) if after else None,
    )


def known_files(source: str, state: FilesState, store: RunStore) -> pa.Table:
    """Return the entries of all files that runs have read, those of the latest run first."""
    tables = []
    for name in reversed(state.files):
        try:
            data = store.files.read(name)
            if data is None:
                raise ValueError("it is gone")
            tables.append(from_bytes(data))
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = system_reason(error) if isinstance(error, OSError) else str(error)
            message = coded("GE1543", f"cannot use {store.files.at(name)}, which lists files that were read: {reason}")
            hint = "Restore it, or begin anew with gpuetl run --full-refresh."
            raise RunFailed.at(Origin("source", source), message, hint) from None
    return joined(tables)


def changed_error(source: str, changed: list[ChangedFile]) -> RunFailed:
    """Word files that have changed since a run read them."""
    first = changed[0]
    when = f"{first.taken:%Y-%m-%d %H:%M:%S} UTC"
    others = f"  {len(changed) - 1:,} more files have changed, too." if len(changed) > 1 else ""
    message = f"{first.file.path} has changed since run {first.run_id} read it, {when}: {first.difference}.{others}"
    hint = (
        "Put new rows in new files. Or set changed: take to read such files again as a whole, or changed: skip to "
        "leave them. To read everything again: gpuetl run --full-refresh."
    )
    return RunFailed.at(Origin("source", source), coded("GE1540", message.rstrip(".")), hint)


def selection_of(source: str, found: Found, wanted: NewFiles) -> Selection:
    """Say what is read of a source."""
    again = len(found.changed) if wanted.changed == "take" else 0
    total = len(found.new) + len(found.changed) + found.known
    numbers = {"files": total, "new": len(found.new), "changed": len(found.changed)}
    has_new = bool(found.new or again)
    text = new_text(len(found.new), total) if found.new or again else nothing_new(total)
    if not found.changed:
        return Selection(source, "new_files", has_new, text, numbers)
    count = f"{counted(len(found.changed), 'file')} {'has' if len(found.changed) == 1 else 'have'}"
    what = f"{count} changed since a run read {'it' if len(found.changed) == 1 else 'them'}"
    be = "is" if len(found.changed) == 1 else "are"
    done = f"{be} read again as a whole (changed: take)" if again else f"{be} not read again (changed: skip)"
    paths = [str(one.file.path) for one in found.changed]
    named = ", ".join(paths[:SHOWN]) + ", …" * (len(paths) > SHOWN)
    warning = coded("GE1540", f"source '{source}': {what}, and {done}: {named}")
    return Selection(source, "new_files", has_new, f"{text}; {what}, and {done}", numbers, warnings=(warning,))


def new_text(new: int, total: int) -> str:
    """Say how many files are new."""
    if not new:
        return "no file is new"
    if new == total:
        return "1 file is new" if total == 1 else f"all {total:,} files are new"
    return f"{new:,} of {total:,} files {'is' if new == 1 else 'are'} new"


def nothing_new(total: int) -> str:
    """Say that no file is new."""
    if not total:
        return "nothing new: there is no file"
    return f"nothing new: runs have read {'the file' if total == 1 else f'all {total:,} files'}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
