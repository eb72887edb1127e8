"""Sinks that would add files to a folder with files of another format: readers take one format of a folder."""

from __future__ import annotations

from gpuetl.errors import RunFailed
from gpuetl.formats.registry import FORMATS
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.places.registry import filesystem_of
from gpuetl.places.target import Target
from gpuetl.plan.nodes import Write

PART = "part-"
"""How names of files begin that gpuetl and other tools write to folders.  Other files may be notes or metadata."""


def check_format(sink: Write) -> None:
    """Raise `RunFailed` for a sink that adds files to a folder in which some files are of another format."""
    target = sink.target
    if target.is_file or target.mode not in ("append", "replace_partitions", "upsert"):
        return
    if found := part_of_another_format(target):
        file, title = found
        message = coded("GE1461", f"{target.path} has files of another format, {title}, such as {file.name}")
        own = FORMATS[target.format].title
        hint = f"Readers of {own} would not read those.  Write {title}, or give the sink a different path."
        raise RunFailed.at(sink.origin, message, hint)


def part_of_another_format(target: Target) -> tuple[FilePath, str] | None:
    """Return a file of another format in a sink's folder, and the title of that format; None where there is none."""
    titles = {suffix: form.title for form in FORMATS.values() if form.name != target.format for suffix in form.suffixes}
    try:
        files = filesystem_of(target.path).list_files(target.path, tuple(titles)).files
    except (DatasetError, OSError):
        return None  # the sink says so
    for path, _ in files:
        if path.name.startswith(PART):
            return path, next(title for suffix, title in titles.items() if path.name.endswith(suffix))
    return None
