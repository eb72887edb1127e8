"""What commands print where there is no terminal is what rich would write."""

from __future__ import annotations

import io
import random

import pytest

from gpuetl.cli import console
from gpuetl.cli.console import Console
from gpuetl.cli.rich_console import rich_table
from gpuetl.cli.tables import Table, new_table


class Output(io.TextIOWrapper):
    """stdout, which is no terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def console(self, quiet: bool = False) -> Console:
        """Return a console that prints there."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", self)
            return Console(quiet)

    def written(self) -> str:
        """Return what was printed since the last call."""
        self.flush()
        text = self.buffer.getvalue().decode(self.encoding)
        self.buffer.seek(0)
        self.buffer.truncate()
        return text


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    for name in console.TERMINAL_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return Output()


def random_table(seed: int) -> Table:
    draw = random.Random(seed)
    sides = [draw.choice(["left", "right"]) for _ in range(draw.randint(1, 9))]
    table = new_table(*(("name" * draw.randint(0, 3), side) for side in sides))
    signs = ("abc 0,.-…é语", "abc 0,.-\x1b\n", "ab0,.-", "ab0, …")[seed % 4]
    longest = 40 if seed % 5 == 0 else 12
    for _ in range(draw.randint(0, 5)):
        cells = ("".join(draw.choices(signs, k=draw.randint(0, longest))) for _ in sides)
        table.add_row(*cells, style=draw.choice([None, "red"]))
    return table


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", range(300))
def test_a_table_is_the_one_of_rich(output: Output, seed: int):
    table, shown = random_table(seed), output.console()
    shown.print(table)
    ours = output.written()
    shown.rich.print(rich_table(table))
    assert ours == output.written() != ""


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "a b", "a  ", "[red]x[/red] :smile:", "two\nlines\n", "x" * 159, "x" * 161, "word " * 40, "语" * 100,
        "a\tb", "\x1b[1m", "  source a …",
    ],
)  # fmt: skip
def test_a_line_is_the_one_of_rich(output: Output, text: str):
    shown = output.console()
    shown.print(text, style="yellow")
    ours = output.written()
    shown.rich.print(text, style="yellow")
    assert ours == output.written() != ""


def test_a_table_is_printed_as_it_was(output: Output):
    table = new_table(("", "left"), ("name", "left"), ("rows out", "right"))
    table.add_row("source", "flights", "336,776")
    table.add_row("stage", "a", "10")
    output.console().print(table)
    assert output.written().splitlines() == [
        "                             ",
        "          name      rows out ",
        " ─────────────────────────── ",
        " source   flights    336,776 ",
        " stage    a               10 ",
        "                             ",
    ]


def test_another_encoding_is_left_to_rich():
    output, table = Output("ascii"), new_table(("name", "left"))
    table.add_row("a")
    output.console().print(table)
    assert "----" in output.written()


def test_a_quiet_console_prints_nothing(output: Output):
    output.console(quiet=True).print("a")
    assert output.written() == ""


def test_a_user_may_say_that_the_output_is_a_terminal(output: Output, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = output.console()
    assert shown.is_terminal
    shown.print("a", style="yellow")
    assert "\x1b[" in output.written()
