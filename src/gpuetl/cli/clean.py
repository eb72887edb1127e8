"""`gpuetl clean`: what runs that died left at a place, and checkpoints of a pipeline, removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, UniqueNames, name_and_value
from gpuetl.cli.clean_checkpoints import age, clean_checkpoints, is_pipeline, whole_number
from gpuetl.cli.recover import (
    add_places,
    left_line,
    recovered_in_stores,
    recovered_line,
    settled,
    split_by_kind,
    stagings_at,
)
from gpuetl.errors import InvalidPipeline, RunFailed
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.units import size

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = clean.__doc__ or ""
    command = commands.add_parser("clean", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=clean)
    add_places(command)
    group = command.add_argument_group("checkpoints, where PATH is a pipeline's YAML file")
    text = "remove only checkpoints older than this, such as 12h, 7d or 4w"
    group.add_argument("--older-than", metavar="AGE", dest="older_than_s", type=age, help=text)
    text = "keep the newest checkpoints of each stage, so many of them"
    group.add_argument("--keep-last", metavar="COUNT", type=whole_number, default=0, help=text)
    group.add_argument("--dry-run", action="store_true", help="list what would be removed, and remove nothing")
    group.add_argument(
        "-p", "--param", dest="params", metavar="NAME=VALUE", type=name_and_value, action=UniqueNames, default=(),
        help="a parameter's value, where the state folder depends on it; may be repeated",
    )  # fmt: skip
    group.add_argument("--profile", metavar="NAME", help="apply this profile of the file; default: GPUETL_PROFILE")


def clean(
    paths: Sequence[FilePath],
    hosts: Sequence[str] = (),
    older_than_s: float | None = None,
    keep_last: int = 0,
    dry_run: bool = False,
    params: Params = (),
    profile: str | None = None,
) -> None:
    """Remove the staging folders of runs that died, or checkpoints of a pipeline.

    At a sink's path or in a folder, commits that dead runs had begun are finished or undone before.  Runs that are
    alive, and those of other hosts, are left alone.  Of a pipeline's YAML file, all checkpoints go, or those that
    --older-than and --keep-last choose.
    """
    files = [path for path in paths if is_pipeline(path)]
    places = [path for path in paths if path not in files]
    if places and (older_than_s is not None or keep_last or dry_run):
        what = "--older-than, --keep-last and --dry-run are for checkpoints"
        message = coded("GE1563", f"{what}, and {places[0]} is no pipeline")
        raise InvalidPipeline.because(message, "Name the pipeline's YAML file, or leave these options out.")
    for file in files:
        clean_checkpoints(file, dict(params), profile, older_than_s, keep_last, dry_run)
    if places:
        clean_places(places, hosts)


def clean_places(paths: Sequence[FilePath], hosts: Sequence[str]) -> None:
    """Remove the staging folders of runs that died; raise `RunFailed` for those that cannot be removed."""
    from gpuetl.places.local.commit.recovery import Left, Recovered

    removed: list[Recovered] = []
    left: list[Left] = []
    failed: list[str] = []
    stores, folders = split_by_kind(paths)
    for line in recovered_in_stores(stores, hosts):
        print(line)
    if stores and not folders:
        return
    for staging in stagings_at(folders):
        try:
            outcomes = settled(staging, hosts)
        except RunFailed as error:  # the others are cleaned all the same
            failed.append(str(error))
            continue
        for outcome in outcomes:
            if isinstance(outcome, Recovered):
                removed.append(outcome)
                print(recovered_line(outcome))
            elif outcome not in left:
                left.append(outcome)
                print(left_line(outcome))
    total, runs = size(sum(outcome.size for outcome in removed)), len({outcome.run_id for outcome in removed})
    print(f"removed {total} of {runs} dead run{'s' * (runs != 1)}; left {len(left) + len(failed)}")
    if failed:
        raise RunFailed("\n".join(failed))
