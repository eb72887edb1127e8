"""Errors and warnings of a run have the same code on every engine."""

import pickle
import re

import pytest

from gpuetl import RunFailed, loads

HEAD = """
gpuetl: 1
name: codes
sources: {t: {csv: t.csv, schema: {x: int64, f: float64, s: string}, on_bad_row: 'null'}}
stages: {out: {from: t, steps: [STEP]}}
sinks: {o: {from: out, csv: o.csv, mode: overwrite}}
"""
ROWS = "x,f,s\n4000000000000000000,1.5,a\n4000000000000000001,2.5,b\n"


def loaded(step, tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    return loads(HEAD.replace("STEP", step), tmp_path)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("select: {y: x * 3}", "GE2001"),
        ("select: {y: 'CAST(x AS decimal(38,0)) * CAST(x AS decimal(38,0)) * 1000'}", "GE2001"),
        ("aggregate: {columns: {y: sum(x * 2)}}", "GE2001"),
        ("select: {y: CAST(s AS int64)}", "GE2002"),
        ("select: {y: 'CAST(x AS decimal(3,0))'}", "GE2002"),
        ("select: {y: 'make_date(2026, 2, CAST(f * 20 AS int64))'}", "GE2003"),
        ("select: {y: \"strptime(s, '%Y-%m-%d')\"}", "GE2003"),
        ("select: {y: \"assume_zone(TIMESTAMP '2026-03-29 02:30:00', 'Europe/Berlin')\"}", "GE2010"),
        ("window: {order_by: x, columns: {y: cum_sum(x * 2)}}", "GE2001"),
    ],
)
def test_an_error_has_one_code_on_every_engine(engine, tmp_path, step, code):
    with pytest.raises(RunFailed) as caught:
        loaded(step, tmp_path).run(engine=engine)
    assert re.findall(r"\[(GE\d+)\]", str(caught.value)) == [code]
    assert str(caught.value).splitlines()[0].endswith(f"  [{code}]")


def test_a_warning_has_its_code_on_every_engine(engine, tmp_path):
    (tmp_path / "t.csv").write_text(ROWS + "z,3.5,c\n")
    (warning,) = loads(HEAD.replace("STEP", "select: x"), tmp_path).run(engine=engine).report.warnings
    assert warning.endswith("'z')  [GE1706]")


def test_an_error_keeps_its_code_on_its_way_from_a_worker(tmp_path):
    with pytest.raises(RunFailed) as caught:
        loaded("select: {y: x * 3}", tmp_path).run(engine="pandas")
    there = pickle.loads(pickle.dumps(caught.value))
    assert str(there) == str(caught.value)
    assert there.problem.message.code == "GE2001"
    assert str(there.pointed(there.problem.place)) == str(caught.value)
