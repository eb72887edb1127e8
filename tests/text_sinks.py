"""Four sinks of text files, one for each mode, which are written and committed in a few milliseconds."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuetl.io.commit import commit_sinks
from gpuetl.io.staging import FileWriter, SinkWriter, close_writers
from gpuetl.places.target import Target

OLD_RUN, NEW_RUN = "20260101T000000-00000001", "20260102T000000-00000002"
PARTITIONS = {OLD_RUN: ("a", "b", "c"), NEW_RUN: ("a", "b", "d")}
OLD = {
    "deep/file.csv": "old", "whole": ["old 0", "old 1"], "parts/k=a": ["old"], "parts/k=b": ["old"],
    "parts/k=c": ["old"], "facts": ["old 0", "old 1"],
}  # fmt: skip
NEW = {
    "deep/file.csv": "new", "whole": ["new 0", "new 1"], "parts/k=a": ["new"], "parts/k=b": ["new"],
    "parts/k=c": ["old"], "parts/k=d": ["new"], "facts": ["new 0", "new 1"],
}  # fmt: skip
SINKS = ("deep/file.csv", "whole", "parts", "facts")


def targets(folder: Path) -> list[Target]:
    return [
        Target("file", "csv", folder / "deep/file.csv", mode="overwrite"),
        Target("whole", "csv", folder / "whole", mode="overwrite"),
        Target("parts", "csv", folder / "parts", ("k",), "replace_partitions"),
        Target("facts", "csv", folder / "facts", mode="append", run_key=("day",), mark="0123456789ab"),
    ]


def write_text(text: str, path: Path) -> None:
    path.write_text(text)


def writer_of(target: Target, run_id: str, threads, sync=False) -> SinkWriter:
    """Return a writer of texts; tables are lists of them, or of a partition's name and a text."""
    files = FileWriter(write_text, parts=list, split=lambda table, keys: table)
    return SinkWriter(target, run_id, files, threads, sync)


def rows_of(target: Target, run_id: str):
    word = "old" if run_id == OLD_RUN else "new"
    if target.is_file:
        return word
    if target.partition_by:
        return [(f"k={name}", word) for name in PARTITIONS[run_id]]
    return [f"{word} 0", f"{word} 1"]


def write(folder: Path, run_id: str, sync: bool = False) -> None:
    """Write and commit all four sinks, as a run does."""
    threads = ThreadPoolExecutor(1)
    writers = [writer_of(target, run_id, threads, sync) for target in targets(folder)]
    try:
        for writer in writers:
            writer.prepare()
            writer.write(rows_of(writer.target, run_id), 1)
            writer.finish()
        commit_sinks(writers)
    finally:
        close_writers(writers, threads)


def state(folder: Path) -> dict[str, str | list[str]]:
    """Return the texts of the sinks, as readers find them."""
    found: dict[str, str | list[str]] = {}
    for path in sorted(folder.rglob("*.csv")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            if name.parent.name == "deep":
                found[str(name)] = path.read_text()
            else:
                found.setdefault(str(name.parent), []).append(path.read_text())
    return {name: sorted(texts) if isinstance(texts, list) else texts for name, texts in found.items()}
