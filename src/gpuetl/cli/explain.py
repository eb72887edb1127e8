"""`gpuetl explain`: the page of an error code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.errors import InvalidPipeline, suggestion
from gpuetl.messages import coded

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    text = explain.__doc__ or ""
    command = commands.add_parser("explain", description=text, help=text.partition(".")[0], allow_abbrev=False)
    command.set_defaults(command=explain)
    command.add_argument("code", help="the code of an error, such as GE1003; 'all' lists them")


def explain(code: str) -> None:
    """Explain an error code: its cause, an example, and the fix.

    Raises
    ------
    InvalidPipeline
        For a code that does not exist.
    """
    from gpuetl.error_codes import PAGES

    if code == "all":
        print("\n".join(f"{page.code}  {page.title}" for page in PAGES.values()))
        return
    page = PAGES.get(code.strip("[]").upper())
    if page is None:
        hint = suggestion(code.upper(), PAGES) or "gpuetl explain all lists the codes."
        if code.endswith((".yaml", ".yml")):
            hint = f"This command explains codes of errors.  The plan of a pipeline: gpuetl plan {code}"
        raise InvalidPipeline.because(coded("GE3004", f"'{code}' is not an error code"), hint)
    print(page.text, end="")
