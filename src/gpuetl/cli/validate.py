"""`gpuetl validate`: everything that is wrong with a pipeline file, at once, without reading data."""

from __future__ import annotations

import typer

from gpuetl.cli.arguments import File, Params, Root, exit_codes, parse_params


def validate(file: File, param: Params = [], root: Root = None) -> None:
    """Check names, types, expressions and kernels.  Reads footers where a source states no schema, never data."""
    with exit_codes():
        from gpuetl.pipeline import load

        plan = load(file, root).plan(parse_params(param), unbound=True)
        for name, source in plan.sources.items():
            if source.schema.open:
                typer.echo(f"not checked: source '{name}' needs a value for a parameter")
        counts = ((len(plan.sources), "source"), (len(plan.stages), "stage"), (len(plan.sinks), "sink"))
        typer.echo(f"{file}: valid, {', '.join(_counted(*c) for c in counts)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
