"""`gpuetl validate`: everything that is wrong with a pipeline file, at once, without reading rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpuetl.cli.arguments import Params, add_command, show_warnings
from gpuetl.cli.json_output import document, print_document
from gpuetl.errors import InvalidPipeline
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import redacted

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.errors import Problem
    from gpuetl.places.paths import FilePath


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, validate)
    text = "leave out the sources' files and kernels' code"
    command.add_argument("--json", action="store_true", help="print the outcome as JSON only")
    command.add_argument("--no-files", dest="files", action="store_false", help=text)


def validate(
    file: FilePath,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    files: bool = True,
    json: bool = False,
) -> None:
    """Check names, types, expressions and tests, the files of sources, and that kernels compile.

    Of files, footers and header lines are read, never rows.  Kernels are compiled where NVRTC or nvcc is installed, and
    those in Triton where Triton is.
    Exits with 2 if something is wrong.
    """
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.pipeline import load

    try:
        pipeline = load(file, root, profile=profile)
        with scan_progress():
            checked = pipeline.validate(dict(params), files=files)
    except InvalidPipeline as error:
        if not json:
            raise
        print_document(_as_data(file, problems=error.problems))
        raise SystemExit(error.exit_code) from None
    spec, plan = pipeline.spec, checked.plan
    counts = {"source": len(spec.sources), "stage": len(spec.stages), "sink": len(spec.sinks), "test": len(spec.tests)}
    if json:
        warnings = (*plan.warnings, *plan.unused)
        print_document(
            _as_data(file, counts, warnings=warnings, not_checked=checked.not_checked, next_run=checked.next_run)
        )
        return
    show_warnings(plan)
    for item in checked.not_checked:
        print(f"not checked: {item}")
    for item in checked.next_run:
        print(redacted(f"next run, {item}"))
    shown = (_counted(count, what) for what, count in counts.items() if count or what != "test")
    print(f"{file}: valid, {', '.join(shown)}")


def _as_data(
    file: FilePath,
    counts: Mapping[str, int] | None = None,
    problems: Sequence[Problem] = (),
    warnings: Sequence[Problem] = (),
    not_checked: Sequence[str] = (),
    next_run: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the outcome as data; a pipeline that is not valid has no counts, since some of it may not be readable."""
    return document(
        ExitCode.INVALID if problems else ExitCode.DONE,
        [problem.to_dict() for problem in problems],
        file=str(file),
        valid=not problems,
        warnings=[warning.to_dict() for warning in warnings],
        not_checked=[redacted(sentence) for sentence in not_checked],
        next_run=[redacted(sentence) for sentence in next_run],
        counts={f"{what}s": count for what, count in (counts or {}).items()} or None,
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
