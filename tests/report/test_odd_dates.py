"""Times that Python does not have are shown wherever a run shows values: years before 1 and after 9999, in lists too."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl import InvalidPipeline
from gpuetl.cli.render import head_table
from gpuetl.engines.no_result import shown
from gpuetl.report.checks import cell_strings
from gpuetl.report.html.page import page as report_page
from gpuetl.value_texts import values_of

DAYS = pa.array(np.array([-800_000, 0, 3_000_000], "int32")).cast(pa.date32())
MOMENTS = pa.array(np.array([-80_000_000_000_000_000, 0, 300_000_000_000_000_000])).cast(pa.timestamp("us"))
SHOWN = ["-0221-09-04", "1970-01-01", "10183-09-21"]
PIPELINE = """\
gpuetl: 1
name: p
sources:
  t: {parquet: t.parquet}
stages:
  s:
    from: t
    steps: []
    expect:
      - {that: n > 2, on_fail: warn}
      - {that: n <> 3, on_fail: quarantine}
sinks:
  o: {from: s, parquet: out}
  r: {from: s.rejected, parquet: rejected}
"""


@pytest.fixture
def pipeline(tmp_path):
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), DAYS)
    columns = {"n": [1, 2, 3], "d": DAYS, "t": MOMENTS, "z": MOMENTS.cast(pa.timestamp("us", "UTC")), "l": lists}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    return ge.loads(PIPELINE, tmp_path)


def test_days_and_lists_of_them_are_shown_with_their_years():
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), DAYS)
    assert values_of(DAYS) == SHOWN
    assert values_of(lists) == [f"[{SHOWN[0]}, {SHOWN[1]}]", f"[{SHOWN[2]}]"]
    assert cell_strings(pa.array([None, 5], pa.int32()).cast(pa.date32())) == ["null", "1970-01-06"]
    assert shown(MOMENTS[2]) == "11476-08-15 5:20:00"


def test_reports_tables_and_samples_show_them(pipeline):
    report = pipeline.run(engine="pandas").report
    page = report_page(report)
    for text in (SHOWN[0], f"[{SHOWN[0]}]", "11476-08-15"):
        assert text in page
    assert [cell for cells, _ in head_table(report.head["r"]).rows for cell in cells][1] == SHOWN[2]


def test_verify_compares_them(pipeline):
    assert pipeline.verify(engine="pandas").same


def test_a_folder_of_a_day_that_python_does_not_have_is_reported(tmp_path):
    (tmp_path / "in" / "day=0000-12-31").mkdir(parents=True)
    pq.write_table(pa.table({"n": [1]}), tmp_path / "in" / "day=0000-12-31" / "a.parquet")
    pipeline = ge.Pipeline("p", root=tmp_path)
    pipeline.read_parquet("t", "in", partitions={"day": "date"}).limit(1).stage("s")
    with pytest.raises((ge.RunFailed, InvalidPipeline), match="'day=0000-12-31' is not of type date"):
        pipeline.run(engine="pandas")
