"""What a compiler of CUDA says of a user's text, and what a kernel takes."""

from __future__ import annotations

import re
from pathlib import Path

from gpuetl.errors import EvaluationError

_SAID = re.compile(r"^(?P<file>.+)\((?P<line>\d+)\): (?P<what>(?:catastrophic )?(?:error|warning).*)$")


def named(source: str, path: Path) -> str:
    """Return a user's text under the name of its file, which the compiler then tells places by."""
    name = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{name}"\n{source}'


def users_lines(log: str) -> str:
    """Return the errors of a compiler's log, each with its place, line and caret; the log where it has none."""
    lines, kept = log.splitlines(), []
    for place, line in enumerate(lines):
        if (said := _SAID.match(line)) and "warning" not in said["what"]:
            shown = lines[place + 1 : place + 3]
            caret = len(shown) == 2 and shown[1].strip() == "^"
            kept += [f"{Path(said['file']).name}:{said['line']}: {said['what']}", *(shown if caret else [])]
    return "\n".join(kept) or log


def refuse_block(entry: str, threads: int, most: int) -> None:
    """Raise `EvaluationError` for a block of more threads than a kernel's registers, or its declaration, allow."""
    if threads > most:
        found = f"kernel '{entry}' takes at most {most} threads a block on this GPU, and block is {threads}"
        raise EvaluationError(f"{found}.  Set block: {most // 32 * 32 or most}")
