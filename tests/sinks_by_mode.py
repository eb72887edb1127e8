"""Five sinks of small files, one for each mode, which are written and committed in a few milliseconds."""

from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from gpuetl.io.commit import commit_sinks
from gpuetl.io.staging import FileWriter, SinkWriter, close_writers
from gpuetl.places.publishing import FilesRead
from gpuetl.places.target import Target

OLD_RUN, NEW_RUN, RETRY = (f"2026010{day}T000000-0000000{day}" for day in (1, 2, 3))
PARTITIONS = {OLD_RUN: ("a", "b", "c"), NEW_RUN: ("a", "b", "d"), RETRY: ("a", "b", "d")}
OLD = {
    "deep/file.csv": "old", "whole": ["old 0", "old 1"], "parts/k=a": ["old"], "parts/k=b": ["old"],
    "parts/k=c": ["old"], "facts": ["old 0", "old 1"],
    "rows/k=a": ["old"], "rows/k=b": ["old"], "rows/k=c": ["old"],
}  # fmt: skip
NEW = {
    "deep/file.csv": "new", "whole": ["new 0", "new 1"], "parts/k=a": ["new"], "parts/k=b": ["new"],
    "parts/k=c": ["old"], "parts/k=d": ["new"], "facts": ["new 0", "new 1"],
    "rows/k=a": ["old"], "rows/k=b": ["new"], "rows/k=d": ["new"],
}  # fmt: skip
SINKS = ("deep/file.csv", "whole", "parts", "facts", "rows")
READ_BY_UPSERT = frozenset(("k=b", "k=c", "k=d"))
"""The partitions that the new run rewrites: one, another one that becomes empty, and a new one."""


def targets(folder: Path) -> list[Target]:
    return [
        Target("file", "csv", folder / "deep/file.csv", mode="overwrite"),
        Target("whole", "csv", folder / "whole", mode="overwrite"),
        Target("parts", "csv", folder / "parts", ("k",), "replace_partitions"),
        Target("facts", "csv", folder / "facts", mode="append", run_key=("day",), mark="0123456789ab"),
        Target("rows", "csv", folder / "rows", ("k",), "upsert", on=("id",)),
    ]


def write_text(text: str, path: Path) -> None:
    path.write_text(text)


def writer_of(target: Target, run_id: str, threads: Executor, sync: bool = False) -> SinkWriter:
    """Return a writer of strings: a table is a list of strings, or of pairs (partition, string)."""
    files = FileWriter(write_text, parts=list, split=lambda table, keys: table)
    return SinkWriter(target, run_id, files, threads, sync)


def rows_of(target: Target, run_id: str) -> str | list[str] | list[tuple[str, str]]:
    word = "old" if run_id == OLD_RUN else "new"
    if target.is_file:
        return word
    if target.mode == "upsert" and run_id != OLD_RUN:
        return [("k=b", word), ("k=d", word)]
    if target.partition_by:
        return [(f"k={name}", word) for name in PARTITIONS[run_id]]
    return [f"{word} 0", f"{word} 1"]


def write(folder: Path, run_id: str, sync: bool = False) -> None:
    """Write and commit all five sinks, as a run does."""
    threads = ThreadPoolExecutor(1)
    writers = [writer_of(target, run_id, threads, sync) for target in targets(folder)]
    try:
        for writer in writers:
            writer.prepare()
            writer.write(rows_of(writer.target, run_id), 1)
            writer.finish()
            if writer.target.mode == "upsert":
                folders = READ_BY_UPSERT if run_id != OLD_RUN else frozenset(("k=a", "k=b", "k=c"))
                writer.staged.files_read = FilesRead(writer.staged.current_versions(), folders)
        commit_sinks(writers)
    finally:
        close_writers(writers, threads)


def state(folder: Path) -> dict[str, str | list[str]]:
    """Return what the sinks' files contain, as readers find them: a string for a file, a sorted list for a folder."""
    files: dict[str, str] = {}
    folders: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.csv")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            if name.parent.name == "deep":
                files[str(name)] = path.read_text()
            else:
                folders.setdefault(str(name.parent), []).append(path.read_text())
    return files | {name: sorted(contents) for name, contents in folders.items()}
