"""Reports in a real browser, Chromium, from 400 to 1600 pixels, light and dark; screenshots are in build/screenshots."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Cluster, Pipeline, RunFailed, RunOptions, Table, col, count, expr
from gpuetl.report.limits import Limit

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'")

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
CHROMIUM = next(filter(None, (os.environ.get("CHROMIUM"), *map(shutil.which, ("chromium", "google-chrome")))), None)
NO_BROWSER = "needs Chromium: make browser"
WIDTHS = (400, 1600)
SCHEMES = ("light", "dark")
ROWS = 20_000
COLORS = """e => {
  let at = e;
  while (at.parentElement && getComputedStyle(at).backgroundColor == 'rgba(0, 0, 0, 0)') at = at.parentElement;
  return [getComputedStyle(e).color, getComputedStyle(at).backgroundColor];
}"""
"""The colors of an element's text, and of what is behind it."""
SMALL = """[...document.querySelectorAll('body *')].filter(e => e.offsetParent
  && [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())
  && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.outerHTML.slice(0, 80))"""
"""Elements whose text is smaller than 11 pixels."""


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with playwright.sync_playwright() as started:
        if CHROMIUM is None and not Path(started.chromium.executable_path).exists():
            (pytest.fail if os.environ.get("CI") else pytest.skip)(NO_BROWSER)
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


def orders(folder: Path) -> tuple[Pipeline, Table]:
    """Return a pipeline with a join of two sources, and its rows."""
    rng = np.random.default_rng(7)
    groups = [f"group {place % 5}" for place in range(1000)]
    amounts = pa.array(rng.normal(10, 3, ROWS), mask=rng.random(ROWS) < 0.05)
    keys = rng.zipf(1.6, ROWS) % 1000
    pq.write_table(pa.table({"customer": keys, "amount": amounts}), folder / "orders.parquet", row_group_size=2000)
    pq.write_table(pa.table({"customer": np.arange(1000), "segment": groups}), folder / "customers.parquet")
    pipeline = Pipeline("orders by segment", root=folder)
    pipeline.param(
        "market", "string", "a parameter whose value is long enough to need more than one line on a telephone"
    )
    rows = pipeline.read_parquet("orders", "orders.parquet")
    customers = pipeline.read_parquet("customers", "customers.parquet")
    return pipeline, rows.filter(col("amount") > 0).join(customers, "customer").stage("enriched_orders")


def outputs(rows: Table) -> None:
    checked = rows.expect(not_null="segment").expect(that=col("amount") > 1, name="not tiny", on_fail="warn")
    checked = checked.stage("checked_orders")
    checked.aggregate("segment", orders=count(), mean=col("amount").mean()).write_csv("totals", "totals.csv")
    checked.write_parquet("orders_out", "out", partition_by=["segment"])


def good(folder: Path) -> Path:
    pipeline, rows = orders(folder)
    outputs(rows)
    done = pipeline.run(
        engine="pandas", options=RunOptions(column_stats=True, profile=True, trace=folder / "trace.json")
    )
    stages = tuple(with_limit(stage, place) for place, stage in enumerate(done.report.stages))
    object.__setattr__(done.report, "stages", stages)
    done.report(folder / "good.html")
    return folder / "good.html"


def with_limit(stage, place):
    """Return a stage with a limit, which is there on a machine that was measured."""
    return replace(stage, limit=Limit("host to device", 45e9, 0.1, 0.86 / (1 + place)))


def failed(folder: Path) -> Path:
    pipeline, rows = orders(folder)
    narrow = rows.with_columns(cents=expr("CAST(amount * 100 AS int8)")).stage("narrow")
    narrow.aggregate("segment", most=col("cents").max()).write_csv("totals", "totals.csv")
    with pytest.raises(RunFailed):
        pipeline.run(engine="pandas", options=RunOptions(partition_rows=4000, report=folder / "failed.html"))
    return folder / "failed.html"


def cluster(folder: Path) -> Path:
    pytest.importorskip("distributed")
    pipeline, rows = orders(folder)
    outputs(rows)
    options = RunOptions(
        partition_rows=4000, broadcast_bytes=0, report=folder / "cluster.html", cluster=Cluster(workers=2)
    )
    pipeline.run(engine="dask", options=options)
    return folder / "cluster.html"


@pytest.mark.slow
@pytest.mark.parametrize("make", [good, failed, cluster])
def test_a_report_is_readable_at_every_width_in_light_and_dark(browser, tmp_path, make):
    path = make(tmp_path)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        for scheme in SCHEMES:
            look(browser, path, width, scheme)


def look(browser, path, width, scheme):
    """Open a page as a reader does; it loads nothing else, says nothing on the console, and is as wide as the window."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, said, requests = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.screenshot(path=SCREENSHOTS / f"{path.stem}-{width}-{scheme}.png", full_page=True)
    assert said == []
    assert requests == [path.as_uri()]
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    back, ink = page.evaluate("(s => [s.backgroundColor, s.color])(getComputedStyle(document.documentElement))")
    assert contrast(back, ink) >= 7
    assert (luminance(back) > 0.5) is (scheme == "light")
    assert page.evaluate(SMALL) == []
    first = page.evaluate("document.querySelector('.badge').getBoundingClientRect().bottom")
    assert first < 200, "the status is at the top"
    for badge in page.query_selector_all(".badge, .panel h2, .verdict, .lead, dt"):
        colors = badge.evaluate(COLORS)
        assert contrast(*colors) >= 4.5, badge.inner_text()
    context.close()


def luminance(color: str) -> float:
    """Return the relative luminance of a color, as WCAG 2 defines it."""
    shares = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colors, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


JUPYTERLAB = ".jp-RenderedHTMLCommon tr, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon td {text-align: right}"
"""What JupyterLab's style says of all tables in outputs."""


@pytest.mark.slow
def test_texts_stand_at_the_left_and_numbers_at_the_right_in_jupyterlab(browser, tmp_path):
    rows = Pipeline("p", root=tmp_path).from_frame("t", pa.table({"name": ["a"], "count": [1]})).collect()
    page = browser.new_page()
    page.set_content(f"<style>{JUPYTERLAB}</style><div class='jp-RenderedHTMLCommon'>{rows._repr_html_()}</div>")
    for cells in ("th", "td"):
        sides = page.eval_on_selector_all(cells, "all => all.map(one => getComputedStyle(one).textAlign)")
        assert sides == ["left", "right"]
    page.close()
