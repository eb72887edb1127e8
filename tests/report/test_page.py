"""The page of a report: what it shows, and that texts of users are texts."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl import RunFailed, RunOptions, col, count
from gpuetl.report.html.elements import Column, tag
from gpuetl.report.html.elements import table as html_table
from gpuetl.report.html.page import page
from gpuetl.report.html.sinks import number, shown
from gpuetl.report.limits import Limit
from tables import table

EVIL = "<script>alert('x')</script>&\""
VOID = {"meta", "link"}


class Checked(HTMLParser):
    """Collects elements and attributes, and checks that each element is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.attributes, self.texts = [], set(), [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.seen.add(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture
def report(pipeline, source):
    """A run with two sources, a join, a rule that warns, and a sink."""
    t = source(table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2), ("a", 3)))
    u = source(table({"k": "string", "y": "int64"}, ("a", 1)), "u")
    joined = t.filter(col("x") > 1).join(u, "k").expect(that=col("x") > 5, on_fail="warn").stage("joined")
    joined.aggregate(by="k", n=count()).write_csv("out", "out.csv", mode="overwrite")
    return pipeline.run(engine="pandas", options=RunOptions(column_stats=True)).report


def test_the_page_is_whole_and_has_no_script_and_nothing_from_elsewhere(report):
    found = Checked(page(report))
    assert "script" not in found.seen
    links = [value for name, value in found.attributes if name in ("src", "href", "action")]
    assert links == ["data:,"]
    assert "url(" not in page(report)
    assert "@import" not in page(report)


def test_the_status_comes_first_and_then_warnings(report):
    text = Checked(page(report)).text
    places = [
        text.index(part) for part in ("✓ Done", "1 warning", "Started", "Pipeline", "Timeline", "Stages", "Output")
    ]
    assert places == sorted(places)
    assert "1 row written to 1 sink" in text


def test_the_graph_has_rows_and_seconds_on_its_edges(report):
    text = Checked(page(report)).text
    assert re.search(r"3 · [\d.]+ (µs|ms)", text)
    assert re.search(r"join 1 · [\d.]+ (µs|ms)", text)


def test_a_stage_is_held_against_its_slowest_link(report):
    stage = replace(report.stages[0], limit=Limit("host to device", 45e9, 0.86, 0.86))
    text = page(replace(report, stages=(stage, *report.stages[1:])))
    assert "host to device, 86 % of 45 GB/s" in text
    assert "width:86.00%" in text
    assert "gpuetl bench device" in page(report)


def test_texts_of_users_are_no_markup(tmp_path):
    """In names, parameters, values, rules and errors; names of stages are checked, those of pipelines and columns not."""
    p = ge.Pipeline(EVIL, root=tmp_path)
    p.param("who", "string", EVIL)
    rows = p.from_frame("t", table({EVIL: "string"}, (EVIL,)))
    rows.stage("s").write_parquet("o", f"{tmp_path}/o<b>", mode="overwrite")
    report = p.run(engine="pandas", options=RunOptions(column_stats=True)).report
    found = Checked(page(report))
    assert "script" not in found.seen
    assert "b" not in found.seen - {"b"} or "<b>" not in page(report).replace("<b>pandas</b>", "")
    assert found.text.count("<script>alert('x')</script>&\"") >= 4


def test_an_error_is_text(tmp_path):
    p = ge.Pipeline("p", root=tmp_path)
    rows = p.from_frame("t", table({"x": "string"}, (EVIL,)))
    rows.select(y=ge.expr("CAST(x AS int64)")).stage("s")
    with pytest.raises(RunFailed) as failed:
        p.run(engine="pandas")
    text = page(failed.value.report)
    found = Checked(text)
    assert "script" not in found.seen
    assert "<script>alert(" in found.text
    assert "✗ Failed" in found.text
    assert found.text.index("gpuetl explain GE") < found.text.index("Pipeline")


def test_elements_escape_text_and_attributes():
    assert tag("p", "a<b", class_='"><script>') == '<p class="&#34;&gt;&lt;script&gt;">a&lt;b</p>'
    assert "\\x1b[31m" in tag("p", "\x1b[31m")
    cells = html_table("c", [Column("<i>")], [["<b>"]])
    assert "<i>" not in cells
    assert "<b>" not in cells


def test_a_page_of_a_run_that_did_not_begin(report):
    """Of which only the message is known."""
    bare = replace(
        report, stages=(), sinks=(), checks=(), head={}, timeline=(), memory_curves=(), declared=(), error="no"
    )
    assert "no" in Checked(page(bare)).text


def test_a_section_that_cannot_be_made_says_so(report, monkeypatch):
    """A bug in a drawing must not lose the message of the run."""

    def broken(*_):
        raise ValueError("a bug")

    assert "cannot be shown" not in page(report)
    monkeypatch.setattr("gpuetl.report.html.graph_section.draw_svg", broken)
    text = Checked(page(report)).text
    assert "This part of the report cannot be shown" in text
    assert "ValueError: a bug" in text
    assert "Timeline" in text


def test_a_pipeline_that_names_what_it_does_not_declare(tmp_path):
    """Of which the graph has no box."""
    text = "gpuetl: 1\nname: p\nstages: {s: {from: none, steps: [{limit: 1}]}}\n"
    with pytest.raises(ge.InvalidPipeline) as failed:
        ge.loads(text, tmp_path).run(engine="pandas")
    shown = Checked(page(failed.value.report)).text
    assert "unknown source or stage" in shown
    assert "cannot be shown" not in shown


def test_the_trace_is_linked_from_the_folder_of_the_page(report, tmp_path):
    traced = replace(report, trace=str(tmp_path / "traces" / "a b.json"))
    assert 'href="../traces/a%20b.json"' in page(traced, tmp_path / "reports")


def test_values_of_variables_are_not_shown(tmp_path, monkeypatch):
    """A parameter whose value is a secret of a path is shown as its reference."""
    monkeypatch.setenv("LAKE", f"{tmp_path}/secret-lake")
    (tmp_path / "secret-lake").mkdir()
    pq.write_table(table({"x": "int64"}, (1,)), tmp_path / "secret-lake" / "t.parquet")
    text = (
        "gpuetl: 1\nname: p\nparams: {at: {type: string, default: here}}\nsources: {t: {parquet: '${env.LAKE}/t.parquet'}}\n"
        "stages: {s: {from: t, steps: [{limit: 1}]}}\n"
    )
    report = ge.loads(text, tmp_path).run({"at": f"{tmp_path}/secret-lake"}, engine="pandas").report
    assert "secret-lake" not in page(report)


def test_a_run_on_both_says_gpu_and_cpu(report):
    stages = (replace(report.stages[0], device="GPU"), replace(report.stages[1], device="CPU"), *report.stages[2:])
    mixed = replace(report, device="MIXED", stages=stages)
    assert "on GPU and CPU" in mixed.summary
    assert "on GPU and CPU" in page(mixed)
    assert "MIXED" not in page(mixed)


def test_numbers_of_first_rows_and_statistics_have_commas():
    assert [shown(value) for value in (1234, Decimal("-1234.50"), 1234.5, True, None)] == [
        "1,234", "-1,234.50", "1,234.5", "True", "null",
    ]  # fmt: skip
    assert number("208637.86", "decimal(38,2)") == "208,637.86"
