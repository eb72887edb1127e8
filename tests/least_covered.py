"""Prints the functions of which tests take the fewest lines and branches: python tests/least_covered.py coverage.json."""

import json
import sys
from pathlib import Path
from typing import Any

SHOWN, LEAST_STATEMENTS = 20, 3
"""Functions to print, and how many statements a function has that is worth a line."""


def least_covered(report: dict[str, Any]) -> list[tuple[float, int, str, int, str]]:
    """Return (percent, what is not taken, file, line, name), the least covered function first; ties have most to take first."""
    found = []
    for path, file in report["files"].items():
        for name, function in file["functions"].items():
            summary = function["summary"]
            if name and summary["num_statements"] >= LEAST_STATEMENTS:
                missing = summary["missing_lines"] + summary.get("missing_branches", 0)
                found.append((summary["percent_covered"], missing, path, function["start_line"], name))
    return sorted(found, key=lambda each: (each[0], -each[1], *each[2:]))


def main(path: str) -> None:
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    total = report["totals"]["percent_covered"]
    print(f"\n{total:.1f} % of lines and branches.  The {SHOWN} least covered functions:")
    for percent, missing, file, line, name in least_covered(report)[:SHOWN]:
        print(f"{percent:5.0f} %  {missing:3} not taken  {file}:{line} {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
