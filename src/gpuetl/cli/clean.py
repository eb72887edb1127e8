"""`gpuetl clean`: what runs that died left at a place, removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuetl.cli.recover import (
    add_places,
    left_line,
    recovered_in_stores,
    recovered_line,
    settled,
    split_by_kind,
    stagings_at,
)
from gpuetl.errors import RunFailed
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


def clean(paths: Sequence[FilePath], hosts: Sequence[str] = ()) -> None:
    """Remove the staging folders of runs that died.  Commits that they had begun are finished or undone before.

    Runs that are alive, and those of other hosts, are left alone.
    """
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
