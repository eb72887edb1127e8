"""What a compiler of CUDA says of a user's text, and what a kernel takes."""

from __future__ import annotations

import re
from pathlib import Path

from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.user_kernels.cuda_headers import COMMENTS, line_at, line_mark

_SAID = re.compile(
    r"^(?P<file>.+?)(?:\((?P<line>\d+)\)|:(?P<other_line>\d+):\d+): "
    r"(?P<what>(?:(?:catastrophic|fatal) )?(?:error|warning).*)$"
)
"""As NVRTC and C++ compilers word where an error is."""
_MARGIN = re.compile(r"^ *\d* \|(?= )")
_ERROR = re.compile(r": (?:catastrophic |fatal )?error: ")


def named(source: str, path: Path) -> str:
    """Return a user's text under the name of its file, which the compiler then tells places by."""
    return line_mark(1, path) + source


def is_c_function(source: str, entry: str) -> bool:
    """Tell whether a kernel is declared `extern "C"`, by itself or in a block; a header may have such a block, too."""
    text = COMMENTS.sub(" ", source)
    declared = re.search(rf"\b{re.escape(entry)}\s*\(", text)
    before = text[: declared.start()] if declared else text
    if re.search(r'extern\s*"C"[^;{}]*$', before):
        return True
    blocks = [found.end() for found in re.finditer(r'extern\s*"C"\s*\{', before)]
    return any(_is_open(before[start:]) for start in blocks)


def _is_open(text: str) -> bool:
    """Tell whether a block goes on at the end of a text that begins inside of it."""
    depth = 1
    for sign in re.findall(r"[{}]", text):
        depth += 1 if sign == "{" else -1
        if not depth:
            return False
    return True


def users_lines(log: str) -> str:
    """Return the errors of a compiler's log, each with its place, line and caret; the log where it has none."""
    lines, kept = log.splitlines(), []
    for place, line in enumerate(lines):
        if (said := _SAID.match(line)) and "warning" not in said["what"]:
            shown = [_MARGIN.sub("   ", line) for line in lines[place + 1 : place + 3]]
            caret = len(shown) == 2 and shown[1].strip().rstrip("~") == "^"
            line_number = said["line"] or said["other_line"]
            kept += [f"{Path(said['file']).name}:{line_number}: {said['what']}", *(shown if caret else [])]
    return "\n".join(kept) or log


def does_not_compile(entry: str, log: str, source: str) -> EvaluationError:
    """Return the error of a user's kernel: its first line says what is wrong in which line of the user's text."""
    first, *others = users_lines(log).splitlines()
    place, *reason = _ERROR.split(first, 1)
    what = f"kernel '{entry}' does not compile" + (f": {place}: {reason[0]}" if reason else "")
    failed = EvaluationError(coded("GE1305", what))
    if reason and not (others and others[0].startswith(" ")):
        others = [*filter(None, [line_of(source, place)]), *others]
    failed.shown = "\n".join(others if reason else [first, *others])
    failed.args = (coded("GE1305", f"{what}\n{failed.shown}".rstrip()),)
    return failed


def line_of(source: str, place: str) -> str:
    """Return the line of a place such as `body:2`, where a text has said by `#line` what follows; else nothing."""
    name, _, number = place.rpartition(":")
    line = line_at(source, name, int(number))
    return f"    {line}" if line else ""


def refuse_block(entry: str, threads: int, most: int) -> None:
    """Raise `EvaluationError` for a block of more threads than a kernel's registers, or its declaration, allow."""
    if threads > most:
        found = f"kernel '{entry}' takes at most {most} threads a block on this GPU, and block is {threads}"
        raise EvaluationError(coded("GE1306", f"{found}.  Set block: {most // 32 * 32 or most}"))
