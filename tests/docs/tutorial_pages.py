"""Runs the pages of docs/tutorial, and writes their outputs.

python tests/docs/tutorial_pages.py [--write]

A block of `console` has commands, each after `$ `, and what they print.  A block after a line that ends with
"save this as `NAME`:" is the text of a file.  All pages run one after another in one folder.  A line `…` of a page stands
for any lines, and `…` in a line for any characters; a command that ends with `# not run here` is not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[2] / "docs/tutorial"
BLOCK = re.compile(r"(?P<before>(?:^[^\n]+\n\n)?)^```(?P<kind>\w+)\n(?P<text>.*?)^```\n", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"save this as `(?P<name>[^`]+)`:$", re.IGNORECASE)
NOT_RUN = "# not run here"
HOME = "/home/you"
"""Where the reader of the pages is at home: the real folder has another name, which the pages do not show."""
VARYING = (
    (re.compile(r"\b\d+(\.\d+)? (ms|µs|s|min)\b"), "… s"),
    (re.compile(r"\b\d+(\.\d+)? ([kMG]i?B|bytes)(/s)?"), "… MB"),
    (re.compile(r"\b\d{8}T\d{6}-[0-9a-f]{8}\b"), "…"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)
"""What differs from run to run: written as in the pages, and put in place of what was printed."""


class Command(NamedTuple):
    """A command of a page, and the lines that it prints."""

    line: str
    output: list[str]


def pages() -> list[Path]:
    """Return the pages in their order."""
    return sorted(FOLDER.glob("[0-9]*.md"))


def commands_of(text: str) -> Iterator[Command]:
    """Yield the commands of a block."""
    found = list[Command]()
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], []))
        elif line.startswith("> ") and found and not found[-1].output:
            found[-1] = Command(f"{found[-1].line}\n{line[2:]}", [])
        else:
            found[-1].output.append(line)
    yield from found


def run_pages(root: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Run all pages in a user's folder below `root`; yield each, its text with what was printed, and differences."""
    folder = root.resolve() / HOME.lstrip("/") / "tutorial"
    folder.mkdir(parents=True)
    for page in pages():
        yield page, *run_page(page, folder)


def run_page(page: Path, folder: Path) -> tuple[str, list[str]]:
    """Run a page in a folder; return its text with what was printed, and where that differs from the page."""
    differences = list[str]()

    def replaced(block: re.Match[str]) -> str:
        if named := FILE.search(block["before"].strip()):
            target = folder / named["name"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block["text"], encoding="utf-8")
        if block["kind"] != "console":
            return block[0]
        lines = list[str]()
        for command in commands_of(block["text"]):
            shown = command.output if command.line.endswith(NOT_RUN) else printed(command, folder)
            if not agrees(shown, command.output):
                differences.append("\n".join([f"{page.name}: $ {command.line}", *shown]))
            kept = command.output if agrees(shown, command.output) else shown
            lines += ["$ " + command.line.replace("\n", "\n> "), *kept]
        return f"{block['before']}```console\n" + "\n".join(lines) + "\n```\n"

    return BLOCK.sub(replaced, page.read_text(encoding="utf-8")), differences


def printed(command: Command, folder: Path) -> list[str]:
    """Run a command by the shell; return the lines that it prints, without what varies."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GPUETL_", "XDG_"))},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1",
        "HOME": str(folder.parent), "CUDA_VISIBLE_DEVICES": "",
    }  # fmt: skip
    ran = subprocess.run(
        ["bash", "-c", command.line], cwd=folder, env=environment, text=True, timeout=300, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    text = ran.stdout.replace(f"{folder}/", "").replace(str(folder.parent), HOME)
    text = "\n".join(without_times(text.splitlines()))
    for pattern, shown in VARYING:
        text = pattern.sub(shown, text)
    lines = text.rstrip("\n").splitlines()
    return lines if ran.returncode == 0 else [*lines, f"(exit code {ran.returncode})"]


def without_times(lines: list[str]) -> Iterator[str]:
    """Yield lines; those of the table of stages up to the rows: the columns behind them, and their widths, vary."""
    width = 0
    for line in lines:
        if line.lstrip().startswith("name ") and "rows out" in line:
            width = line.index("rows out") + len("rows out")
        width = width if line.strip() else 0
        yield f"{line[:width].rstrip()}   …" if width and "─" not in line else line[:width] if width else line


def agrees(shown: list[str], expected: list[str]) -> bool:
    """Tell whether lines are what a page shows."""
    pattern = re.escape("\n".join(expected)).replace("…\\\n", "(?:.*\\\n)*?").replace("…", ".*")
    return re.fullmatch(pattern, "\n".join(shown)) is not None


def main() -> int:
    """Run all pages; write what they print with `--write`, else print the differences."""
    with tempfile.TemporaryDirectory() as name:
        different = False
        for page, text, differences in run_pages(Path(name)):
            different = different or bool(differences)
            print(*differences, sep="\n\n")
            if "--write" in sys.argv:
                page.write_text(text, encoding="utf-8")
    return int(different)


if __name__ == "__main__":
    raise SystemExit(main())
