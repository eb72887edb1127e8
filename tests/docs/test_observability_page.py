"""The page about logs, metrics, traces and lineage shows what commands print, and names all that there is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from command import gpuetl
from gpuetl.error_codes import PAGES
from receivers import receiver

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
HELLO = ROOT / "pipelines" / "hello.yaml"


def block_after(command):
    """Return the lines that a command prints, as the page shows them."""
    (found,) = (block for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) if f"$ {command}" in block)
    lines = found.splitlines()
    return [
        line for line in lines[max(i for i, line in enumerate(lines) if line.startswith("$ ")) + 1 :] if line != "…"
    ]


def run_hello(*options):
    done = gpuetl("run", HELLO, "--engine", "pandas", "--no-report", *options)
    assert done.exit_code == 0, done.output
    return done


def test_column_lineage():
    assert gpuetl("graph", HELLO, "--columns").stdout.splitlines() == block_after(
        "gpuetl graph pipelines/hello.yaml --columns"
    )


def test_log_records():
    printed = run_hello("--log-json").stderr.splitlines()

    def plain(lines):
        return [
            re.sub(r"\d", "0", re.sub(r'"(seconds|message)": ("[^"]*"|[^,]*),', "", line))[60:100] for line in lines
        ]

    assert plain(printed)[:2] == plain(block_after("gpuetl run pipelines/hello.yaml --log-json"))


def test_metrics(tmp_path):
    pytest.importorskip("prometheus_client")
    run_hello("--metrics", tmp_path / "hello.prom")
    text = (tmp_path / "hello.prom").read_text()
    assert [line for line in text.splitlines() if "rows" in line] == block_after(
        "gpuetl run pipelines/hello.yaml --metrics"
    )
    table = set(re.findall(r"^\| `(gpuetl_run_\w+)`", PAGE, re.MULTILINE))
    written = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    assert table - written == {"gpuetl_run_expectation_broken_rows"}
    assert written <= table


def test_spans(monkeypatch, capsys):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    spec = importlib.util.spec_from_file_location("otlp_receiver", ROOT / "examples" / "otlp_receiver.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        run_hello()
    example.print_spans(server.bodies("/v1/traces")[0])
    example.print_metrics(server.bodies("/v1/metrics")[0])

    def plain(lines):
        """Without times, and the peak of memory, which a process that had more before does not reach."""
        return [re.sub(r"  \d+ ms", "", line) for line in lines if "gpuetl.memory.peak" not in line]

    assert plain(capsys.readouterr().out.splitlines()) == plain(block_after("gpuetl run pipelines/hello.yaml --otel"))


def test_codes_are_of_this_page():
    assert set(re.findall(r"GE30\d\d", PAGE)) <= PAGES.keys()
