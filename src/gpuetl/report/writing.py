"""Where reports go: the file that the user names, one in a folder, or the folder of all reports."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gpuetl import messages
from gpuetl.errors import system_reason
from gpuetl.messages import coded
from gpuetl.report.run_report import RunReport
from gpuetl.uncaught import unexpected

MOST_REPORTS = 100
"""In the folder of all reports; the oldest go."""
NO_NAME = re.compile(r"[^\w.-]+")


def reports_folder() -> Path:
    """Return the folder of all reports: GPUETL_REPORTS, or one in the user's state, `~/.local/state/gpuetl/reports`."""
    if named := os.environ.get("GPUETL_REPORTS"):
        return Path(named)
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "gpuetl" / "reports"


def prepared_folder() -> Path:
    """Return the folder of all reports, made if it is missing, with room for one more.

    Raises
    ------
    OSError
        Where it cannot be made.
    """
    folder = reports_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    forget_oldest(folder, MOST_REPORTS - 1)
    return folder


def report_file(report: RunReport, place: str | Path) -> Path:
    """Return the file of a report: `place`, or one of the pipeline's and the run's name in the folder `place`."""
    path = Path(place)
    if not path.is_dir():
        return path
    name = NO_NAME.sub("_", report.pipeline)[:80].strip("._") or "pipeline"
    return path / f"{name}-{report.run_id}.html"


def written_report(report: RunReport, place: str | Path | None) -> RunReport:
    """Write a report; return it with the path of its file, or with a warning (GE3011) if it could not be written."""
    if place is None:
        return report
    path = Path(place)
    try:
        path = report_file(report, path)
        done = replace(report, path=str(path))
        done.write(path)
    except Exception as error:
        why = system_reason(error) if isinstance(error, OSError) else "\n".join(unexpected(error))
        message = coded("GE3011", f"cannot write the report to {path}: {why}")
        return replace(report, warnings=(*report.warnings, messages.with_code(message, message)))
    return done


def forget_oldest(folder: Path, most: int) -> None:
    """Remove the oldest reports of a folder, and leave `most`; another run may do so, too."""
    with suppress(OSError):
        found = sorted(folder.glob("*.html"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in found[most:]:
            with suppress(OSError):
                file.unlink()
