"""`gpuetl schema`: the columns and types of files, as sources of a pipeline; and the JSON Schema of pipeline files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gpuetl.errors import InvalidPipeline
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.formats.format import Format
    from gpuetl.spec.model import SourceSpec
    from gpuetl.types.data_types import DataType

WIDTH = 100


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = schema.__doc__ or ""
    command = commands.add_parser("schema", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=schema)
    command.add_argument("paths", metavar="FILE", nargs="*", help="a file, a glob or a folder")
    text = "print the JSON Schema of pipeline files, for editors, with the steps and formats of installed plugins"
    command.add_argument("--pipeline", action="store_true", help=text)
    text = "print the path of the JSON Schema that comes with gpuetl"
    command.add_argument("--pipeline-path", action="store_true", help=text)
    text = "print the JSON Schema of the manifests of runs"
    command.add_argument("--manifest", action="store_true", help=text)
    command.add_argument("--format", help="the format of the files; default: by their suffix")


def schema(paths: Sequence[str], format: str | None, pipeline: bool, pipeline_path: bool, manifest: bool) -> None:  # noqa: A002
    """Print the columns and types of files as sources of a pipeline, to copy into its file.

    For CSV the types are inferred from the first rows, and so are the delimiter, the encoding and whether there is a
    header.

    Raises
    ------
    InvalidPipeline
        For a path whose format is not known, and for a file that cannot be read.
    """
    if bool(paths) + pipeline + pipeline_path + manifest != 1:
        message = coded("GE3004", "give FILE, --pipeline, --pipeline-path or --manifest")
        raise InvalidPipeline.because(message, "gpuetl schema data/sales.csv prints a source.")
    if manifest:
        from gpuetl.report.manifest_schema import schema_text

        print(schema_text(), end="")
        return
    if pipeline or pipeline_path:
        from gpuetl.spec.json_schema import FILE, schema_with_plugins

        print(FILE if pipeline_path else schema_with_plugins(), end="\n" if pipeline_path else "")
        return
    print("\n".join(sources_text(paths, format)))


class FileSource(NamedTuple):
    """Files as a source: from which rows its types are, where the files do not state them, and hints by column."""

    spec: SourceSpec
    note: str = ""
    hints: Mapping[str, str] = {}

    @property
    def comments(self) -> list[str]:
        """The note and the hints as comments of YAML."""
        path = self.spec.path
        note = [f"# {path}: types of {self.note}"] if self.note else []
        return [*note, *map(comment, self.shown_hints)]

    @property
    def shown_hints(self) -> list[str]:
        """The hints with the path."""
        return [f"{self.spec.path}: {hint}" for hint in self.hints.values()]


def comment(hint: str) -> str:
    """Return a hint as comments of YAML, at most `WIDTH` characters wide."""
    return textwrap.fill(hint, WIDTH, initial_indent="# hint: ", subsequent_indent="#   ", break_on_hyphens=False)


def sources_text(paths: Sequence[str], format: str | None) -> list[str]:  # noqa: A002
    """Return notes and hints on files as comments, and the section `sources` that reads them."""
    from gpuetl.spec.model import PipelineSpec
    from gpuetl.spec.write import write_pipeline

    found = sources_of(paths, format)
    text = write_pipeline(PipelineSpec("schema", sources={name: source.spec for name, source in found.items()}))
    comments = [line for source in found.values() for line in source.comments]
    return [*comments, text[text.index("sources:") :].rstrip()]


def sources_of(paths: Sequence[str], format: str | None) -> dict[str, FileSource]:  # noqa: A002
    """Return files as sources by name.

    Raises
    ------
    InvalidPipeline
        For a path whose format is not known, and for a file that cannot be read.
    """
    sources: dict[str, FileSource] = {}
    for path in paths:
        source = described(path, format)
        sources[next(name for name in names_for(path) if name not in sources)] = source
    return sources


def described(path: str, format: str | None) -> FileSource:  # noqa: A002
    """Return the source of a path."""
    from gpuetl.formats.dataset import Dataset
    from gpuetl.formats.registry import FORMATS
    from gpuetl.places.registry import path_of
    from gpuetl.spec.model import SourceSpec
    from gpuetl.spec.values import Text

    if format is not None and FORMATS.find(format) is None:
        message = coded("GE3004", f"--format: '{format}' is not a format")
        raise InvalidPipeline.because(message, f"Formats: {', '.join(FORMATS)}.")
    try:
        form = FORMATS[format] if format else format_of(path)
        dataset, note, hints = Dataset("schema", form.name, path_of(path, Path())), "", dict[str, str]()
        if not form.states_types:
            dataset = replace(dataset, options=form.detected(dataset.files[0]))
            found = form.infer(dataset)
            hints |= form.type_hints(dataset, found.types)
            note = f"the first {found.rows:,} rows of {found.file}"
            dataset = replace(dataset, declared=found.types, inferred_rows=max(1, found.rows))
        types = {name: declarable(dtype) for name, dtype in dataset.schema.items()}
        source = SourceSpec(form.name, Text(path), schema=types, options=dataset.options)
    except DatasetError as error:
        hint = error.hint.replace("the pipeline's folder", "this folder")
        raise InvalidPipeline.because(error.args[0], hint) from None
    except OSError as error:
        message = coded("GE1403", f"cannot read {path}: {error.strerror or error}")
        raise InvalidPipeline.because(message) from None
    return FileSource(source, note, hints)


def declarable(dtype: DataType) -> DataType:
    """Return a type as a schema can declare it: values that are all null are strings."""
    import pyarrow as pa

    from gpuetl.types.data_types import NULL, STRING

    if pa.types.is_list(dtype):
        return pa.list_(declarable(dtype.value_type))
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, declarable(field.type)) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(dtype.key_type, declarable(dtype.item_type))
    return STRING if dtype == NULL else dtype


def format_of(path: str) -> Format:
    """Return the format of a path: that of its suffix, or of the files in a folder."""
    from gpuetl.formats.dataset import Dataset
    from gpuetl.formats.registry import FORMATS
    from gpuetl.places.registry import path_of

    for form in FORMATS.values():
        if path.endswith(form.suffixes):
            return form
    for form in FORMATS.values():
        listing = Dataset("schema", form.name, path_of(path, Path())).listing
        if listing.is_folder and listing.files:
            return form
    suffixes = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
    message = coded("GE1401", f"cannot tell the format of {path}: its name ends in none of {suffixes}")
    raise InvalidPipeline.because(message, "Check the path, or give its --format.")


def names_for(path: str) -> Iterator[str]:
    """Yield names for the source of a path, from that of its file on."""
    stem = re.sub(r"[^A-Za-z0-9_]+", "_", Path(path).name.partition(".")[0]).strip("_")
    name = stem if re.match(r"[A-Za-z_]", stem) else f"source_{stem}".strip("_")
    yield name
    yield from (f"{name}_{number}" for number in count(2))
