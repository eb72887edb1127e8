"""`gpuetl validate`: everything that is wrong with a pipeline file, at once, without reading data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command, show_warnings

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    add_command(commands, validate)


def validate(file: Path, params: Params = (), root: Path | None = None) -> None:
    """Check names, types, expressions, kernels and tests.  Reads footers of sources without a schema, never data."""
    from gpuetl.pipeline import load

    pipeline = load(file, root)
    plan = pipeline.check(dict(params))
    show_warnings(plan)
    for name, source in plan.sources.items():
        if source.schema.open:
            print(f"not checked: source '{name}' needs a value for a parameter")
    counts = [(len(plan.sources), "source"), (len(plan.stages), "stage"), (len(plan.sinks), "sink")]
    if pipeline.spec.tests:
        counts.append((len(pipeline.spec.tests), "test"))
    print(f"{file}: valid, {', '.join(_counted(*c) for c in counts)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
