"""Write docs/language.md; its examples run on the pandas engine.

python tools/generate_language.py            write docs/language.md
python tools/generate_language.py --check    fail if it is not what would be written
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gpuetl
from gpuetl.error_codes import PAGES, ErrorPage
from gpuetl.spec.language_page import language_markdown
from gpuetl.spec.language_page.example import RESULT, Example, Row
from gpuetl.spec.language_page.session import Session
from gpuetl.types.data_types import DataType
from gpuetl.types.nested_types import is_map, is_struct

SECONDS = re.compile(r"\b\d+\.\d+ s\b")
RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
KEY = re.compile(r"part-[0-9a-f]{12}-")
PAGE = Path(__file__).parents[1] / "docs" / "language.md"


def rows_of(example: Example, engine: str = "pandas") -> Sequence[Row]:
    """Run an example and return the rows of its result."""
    with TemporaryDirectory() as folder:
        pipeline = gpuetl.load(example.write(Path(folder)))
        table = pipeline.run(engine=engine, keep=RESULT, write=False)[RESULT].to_arrow()
    columns = {
        field.name: [plain(value, field.type) for value in table[field.name].to_pylist()] for field in table.schema
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain(value: Any, dtype: DataType) -> Any:
    """Return a value as JSON has it; maps are dicts."""
    if value is None:
        return None
    if is_map(dtype):
        return dict(value)
    if is_struct(dtype):
        return {field.name: plain(value[field.name], field.type) for field in dtype}
    return value.isoformat() if isinstance(value, date) else value


def printed(session: Session) -> str:
    """Run the command of a session and return what it prints, or the listed files; times and ids are always the same."""
    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1", "CUDA_VISIBLE_DEVICES": ""}
    with TemporaryDirectory() as folder:
        session.write(Path(folder))
        command = [sys.executable, "-m", "gpuetl", *session.command.split()]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if session.listed:
            return listing(Path(folder), session.listed)
    lines = [line.rstrip() for line in SECONDS.sub("0.01 s", done.stdout or done.stderr).splitlines()]
    return "\n".join(lines).strip("\n")


def listing(root: Path, folder: str) -> str:
    """Return the files of a folder, with names for ids."""
    files = sorted(str(path.relative_to(root)) for path in (root / folder).rglob("*") if path.is_file())
    return KEY.sub("part-<key>-", RUN.sub("<run>", "\n".join(files)))


def title_of(error: ErrorPage) -> str:
    """Return the title of an error, and whether it is only a warning."""
    return f"{error.title} (a warning)" if error.is_warning else error.title


@cache
def page() -> str:
    """Return the page as it would be written."""
    return language_markdown(rows_of, printed, {code: title_of(error) for code, error in PAGES.items()})


def main() -> int:
    """Write the page, or check it."""
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
