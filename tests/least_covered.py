"""Print what tests cover of each package, and the functions that they cover least.

Run it on a report of coverage: python tests/least_covered.py coverage.json
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

SHOWN, LEAST_STATEMENTS = 20, 3
"""Functions to print, and the fewest statements of a function to be printed."""
PARTS = ("num_statements", "num_branches"), ("covered_lines", "covered_branches")
"""What a report counts of a file in all, and what tests run of that."""


def package_of(path: str) -> str:
    """Return the package of a file below src/gpuetl: an engine or executor of its own, else the first folder."""
    folders = PurePath(path).parts[2:-1]
    return "/".join(folders[: 2 if folders[:1] in (("engines",), ("executors",)) else 1]) or "modules of gpuetl"


def package_coverage(files: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return each package's lines and branches in all, and how many of them tests run."""
    packages: dict[str, tuple[int, int]] = {}
    for path, file in files.items():
        total, covered = (sum(file["summary"].get(part, 0) for part in parts) for parts in PARTS)
        before = packages.get(package_of(path), (0, 0))
        packages[package_of(path)] = (before[0] + total, before[1] + covered)
    return dict(sorted(packages.items()))


def least_covered(files: Mapping[str, Any]) -> list[tuple[float, int, str, int, str]]:
    """Return (percent, lines and branches missed, file, line, name), the least covered function first."""
    found = []
    for path, file in files.items():
        for name, function in file["functions"].items():
            summary = function["summary"]
            if name and summary["num_statements"] >= LEAST_STATEMENTS:
                missed = summary["missing_lines"] + summary.get("missing_branches", 0)
                found.append((summary["percent_covered"], missed, path, function["start_line"], name))
    return sorted(found, key=lambda each: (each[0], -each[1], *each[2:]))


def main(path: str) -> None:
    """Print both tables of a report."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    print(f"\n{report['totals']['percent_covered']:.1f} % of lines and branches.  By package:")
    for package, (total, covered) in package_coverage(report["files"]).items():
        print(f"{100 * covered / total if total else 100:5.1f} %  {total:6,} lines and branches  {package}")
    print(f"\nThe {SHOWN} least covered functions:")
    for percent, missed, file, line, name in least_covered(report["files"])[:SHOWN]:
        print(f"{percent:5.0f} %  {missed:3} missed  {file}:{line} {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
